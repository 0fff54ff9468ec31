#ifndef TAR_H
#define TAR_H

#include <stddef.h>

/*
 * A tar stream that holds one directory, writable by all as /tmp is, and one
 * file in it: what "ENGINE cp - CONTAINER:/" unpacks.  The caller frees it.
 */
char *tar_single_file(const char *directory, const char *file, const char *data,
    size_t length, size_t *tar_length);

#endif
