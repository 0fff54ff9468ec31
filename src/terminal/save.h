#ifndef SAVE_H
#define SAVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * Puts a file of a program that nobody trusts below a directory of the user's:
 * never outside of it, never through a link, and over another file only with
 * force.  Directories on the way are made.
 */
int save_file(int directory, const char *path, const char *data, size_t length,
    bool force, struct err *err);
/* Whether something of that name is there already, be it a dangling link. */
bool save_is_taken(int directory, const char *path);

#endif
