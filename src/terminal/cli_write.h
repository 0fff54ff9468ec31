#ifndef CLI_WRITE_H
#define CLI_WRITE_H

#include <stddef.h>

/*
 * Writes to a descriptor that somebody may read slowly, or not at all.
 * Returns -1 if a signal that is to end us came in the meantime (errno is
 * EINTR; see shutdown.c), or if nobody reads any more.
 */
int cli_write(int fd, const char *data, size_t length);

#endif
