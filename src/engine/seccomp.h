#ifndef SECCOMP_H
#define SECCOMP_H

#include "base/err.h"

/*
 * The system calls that a program may use.  The profile (seccomp.json) travels
 * inside the binary, and the engine's CLI gets it as a file: one in memory, or,
 * because a rootless podman works in a user namespace from which it cannot look
 * into ours, one in the user's own runtime or cache directory.
 */

struct seccomp {
	int fd;     /* of the file in memory, or -1 */
	char *path; /* NULL: not open */
};

int seccomp_open(struct seccomp *seccomp, struct err *err);
void seccomp_close(struct seccomp *seccomp);

#endif
