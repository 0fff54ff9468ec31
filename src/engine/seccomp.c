#include "engine/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "scripts.h"

#define PROFILE script_seccomp_json
#define PROFILE_LENGTH (sizeof(PROFILE) - 1)

static int
write_profile(int fd)
{
	ssize_t written = write(fd, PROFILE, PROFILE_LENGTH);

	/* A part of it: there was room for no more, and errno is another's. */
	if (written >= 0 && written < (ssize_t)PROFILE_LENGTH)
		errno = ENOSPC;
	return written == (ssize_t)PROFILE_LENGTH ? 0 : -1;
}

static int
open_in_memory(struct seccomp *seccomp)
{
	static const int seals =
	    F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
	int fd = memfd_create("seccomp.json", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	if (write_profile(fd) != 0 || fcntl(fd, F_ADD_SEALS, seals) != 0) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	seccomp->fd = fd;
	seccomp->path = xasprintf("/proc/%d/fd/%d", (int)getpid(), seccomp->fd);
	return 0;
}

/* Written anew and put into place in one step: the same for all servers of
 * this user, and never half of it. */
static int
open_in_directory(struct seccomp *seccomp, const char *directory)
{
	char *path = xasprintf("%s/code-sandbox-mcp-seccomp.json", directory);
	char *fresh = xasprintf("%s.%d", path, (int)getpid());
	/* The name can be guessed, and the directory be somebody else's. */
	int fd = unlink(fresh) == 0 || errno == ENOENT
	    ? open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
	    : -1;
	int status = fd >= 0 ? write_profile(fd) : -1, error = errno;

	if (fd >= 0)
		close(fd);
	if (status == 0) {
		status = rename(fresh, path);
		error = errno;
	}
	if (fd >= 0 && status != 0)
		unlink(fresh);
	free(fresh);
	seccomp->path = status == 0 ? path : NULL;
	if (status != 0)
		free(path);
	errno = error;
	return status;
}

static int
open_for_user(struct seccomp *seccomp, struct err *err)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *home = getenv("HOME");
	char *cache;
	int status;

	if (runtime != NULL && open_in_directory(seccomp, runtime) == 0)
		return 0;
	cache = xasprintf("%s/.cache", home != NULL ? home : "");
	if (home != NULL)
		mkdir(cache, 0700);
	status = open_in_directory(seccomp, cache);
	if (status != 0)
		err_system(err, errno,
		    "the seccomp profile must be written to a file for podman, "
		    "and neither XDG_RUNTIME_DIR nor %s takes it; --seccomp "
		    "names a file to use instead",
		    cache);
	free(cache);
	return status;
}

int
seccomp_open(struct seccomp *seccomp, struct err *err)
{
	if (geteuid() != 0)
		return open_for_user(seccomp, err);
	if (open_in_memory(seccomp) == 0)
		return 0;
	return err_system(err, errno, "the seccomp profile");
}

void
seccomp_close(struct seccomp *seccomp)
{
	if (seccomp->fd >= 0)
		close(seccomp->fd);
	free(seccomp->path);
	*seccomp = (struct seccomp){.fd = -1};
}
