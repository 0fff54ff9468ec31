#include "settings/language_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/strlist.h"

void
language_table_init(struct language_table *table)
{
	*table = (struct language_table){.count = LANGUAGE_BUILT_IN};
	for (size_t i = 0; i < LANGUAGE_BUILT_IN; i++)
		table->rows[i] = &languages[i];
	table->on[LANGUAGE_PYTHON] = true;
	table->on[LANGUAGE_JAVASCRIPT] = true;
}

const struct language *
language_by_name(const struct language_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->rows[i]->name, name) == 0)
			return table->rows[i];
	return NULL;
}

static bool
has_suffix(const struct language *language, const char *suffix)
{
	for (const char *const *known = language->suffixes; *known != NULL;
	    known++)
		if (strcmp(*known, suffix) == 0)
			return true;
	return false;
}

const struct language *
language_by_file(const struct language_table *table, const char *file_name)
{
	const char *suffix = strrchr(file_name, '.');

	for (size_t i = 0; suffix != NULL && i < table->count; i++)
		if (has_suffix(table->rows[i], suffix))
			return table->rows[i];
	return NULL;
}

const struct language *
language_by_tool(const struct language_table *table, const char *tool)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct language *row = table->rows[i];

		if (strcmp(row->tool, tool) == 0 ||
		    (row->tool_alias != NULL &&
		        strcmp(row->tool_alias, tool) == 0))
			return row;
	}
	return NULL;
}

char *
language_names(const struct language_table *table)
{
	const char *names[LANGUAGE_MAX + 1] = {NULL};

	for (size_t i = 0; i < table->count; i++)
		names[i] = table->rows[i]->name;
	return strlist_join(names, ", ", ", ");
}

const struct language *
language_find(
    const struct language_table *table, const char *name, struct err *err)
{
	const struct language *language = language_by_name(table, name);
	char *names;

	if (language != NULL)
		return language;
	names = language_names(table);
	err_set(err, ERR_ARGUMENT,
	    "there is no language \"%.100s\"; the known ones are %s", name,
	    names);
	free(names);
	return NULL;
}

/* Whatever it is called or chosen by must be its own. */
static int
check_new(const struct language_table *table, const struct language *row,
    struct err *err)
{
	const struct language *other = language_by_tool(table, row->tool);

	if (language_by_name(table, row->name) != NULL)
		return err_set(err, ERR_ARGUMENT,
		    "there is a language named %s already", row->name);
	if (other != NULL)
		return err_set(err, ERR_ARGUMENT,
		    "%s cannot be the name of a language: %s is the tool of %s",
		    row->name, row->tool, other->name);
	for (const char *const *suffix = row->suffixes; *suffix != NULL;
	    suffix++) {
		other = language_by_file(table, *suffix);
		if (other != NULL)
			return err_set(err, ERR_ARGUMENT,
			    "%s: the suffix %s is that of %s", row->name,
			    *suffix, other->name);
	}
	if (table->count == LANGUAGE_MAX)
		return err_set(err, ERR_ARGUMENT,
		    "there are more than %d languages", LANGUAGE_MAX);
	return 0;
}

int
language_table_load(
    struct language_table *table, const char *path, struct err *err)
{
	struct err why;

	if (language_file_read(&table->file, path, err) != 0)
		return -1;
	for (size_t i = 0; i < table->file.count; i++) {
		struct language *row = &table->file.rows[i].language;

		if (check_new(table, row, &why) != 0)
			return err_set(
			    err, ERR_ARGUMENT, "%s: %s", path, why.message);
		row->id = table->count;
		table->on[table->count] = true;
		table->rows[table->count++] = row;
	}
	return 0;
}

static int
turn_on(struct language_table *table, const char *name, struct err *err)
{
	const struct language *language;

	if (strcmp(name, LANGUAGE_ALL) == 0) {
		for (size_t i = 0; i < table->count; i++)
			table->on[i] = true;
		return 0;
	}
	language = language_find(table, name, err);
	if (language == NULL)
		return -1;
	table->on[language->id] = true;
	return 0;
}

int
language_table_choose(
    struct language_table *table, const char *names, struct err *err)
{
	struct strlist list = {0};
	int status = 0;

	strlist_add_split(&list, names, ',');
	if (list.count == 0)
		status = err_set(
		    err, ERR_ARGUMENT, "\"%s\" names no language", names);
	memset(table->on, 0, sizeof(table->on));
	for (size_t i = 0; i < list.count && status == 0; i++)
		status = turn_on(table, list.items[i], err);
	strlist_release(&list);
	return status;
}

void
language_table_release(struct language_table *table)
{
	language_file_release(&table->file);
	*table = (struct language_table){0};
}
