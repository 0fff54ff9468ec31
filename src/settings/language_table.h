#ifndef LANGUAGE_TABLE_H
#define LANGUAGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "settings/language.h"
#include "settings/language_file.h"

/* The languages that one server knows: the built-in ones, then those of a
 * file.  Some of them are on: these it offers to clients. */

struct language_table {
	const struct language *rows[LANGUAGE_MAX]; /* each at its id */
	size_t count;
	bool on[LANGUAGE_MAX];
	struct language_file file;
};

/* Those that are on then: Python and JavaScript. */
void language_table_init(struct language_table *table);
/* Adds those of the file, which are on; to be called once at most. */
int language_table_load(
    struct language_table *table, const char *path, struct err *err);
/* Turns these on and the others off: names with commas, or "all". */
int language_table_choose(
    struct language_table *table, const char *names, struct err *err);
void language_table_release(struct language_table *table);

/* NULL when there is none: of that name, for that file name, or with that tool
 * (by its alias, too).  Whether it is on does not matter. */
const struct language *language_by_name(
    const struct language_table *table, const char *name);
const struct language *language_by_file(
    const struct language_table *table, const char *file_name);
const struct language *language_by_tool(
    const struct language_table *table, const char *tool);
/* By its name, too; without one the error says which there are. */
const struct language *language_find(
    const struct language_table *table, const char *name, struct err *err);
/* The names of all, with commas between them; to be freed. */
char *language_names(const struct language_table *table);

#endif
