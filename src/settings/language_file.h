#ifndef LANGUAGE_FILE_H
#define LANGUAGE_FILE_H

#include <stddef.h>

#include "base/err.h"
#include "base/strlist.h"
#include "settings/language.h"

/*
 * Languages that a user adds: rows in JSON, an object or an array of objects.
 * The fields are named as in struct language; what is in them is checked as if
 * it were an option.
 */

/* Not a language: all of them. */
#define LANGUAGE_ALL "all"

/* command, suffixes, libraries, install */
#define LANGUAGE_FILE_LISTS 4

struct language_file_row {
	struct language language; /* its id is for the caller to set */
	struct strlist texts;     /* what it points to */
	struct strlist lists[LANGUAGE_FILE_LISTS];
};

/* All zero is an empty one. */
struct language_file {
	struct language_file_row *rows;
	size_t count;
};

/* On a mistake, the file is empty and the message says where it is. */
int language_file_read(
    struct language_file *file, const char *path, struct err *err);
int language_file_parse(struct language_file *file, const char *data,
    size_t length, struct err *err);
void language_file_release(struct language_file *file);

#endif
