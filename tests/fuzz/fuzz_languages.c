#include "fuzz.h"

#include <ctype.h>
#include <string.h>

#include "settings/language_file.h"
#include "settings/names.h"

/*
 * Input: a file of languages.  A mistake is explained in text; a row that is
 * taken has all that others rely on, and no word of it can be taken by the
 * engine for a flag of its own.
 */

static bool
is_word(const char *text, const char *more)
{
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++)
		if (!isalnum((unsigned char)*text) &&
		    strchr(more, *text) == NULL)
			return false;
	return true;
}

static void
expect_listed(const char *const *list)
{
	EXPECT(list != NULL);
	for (size_t i = 0; list[i] != NULL; i++)
		EXPECT(i < 64 && strlen(list[i]) <= 4096);
}

static void
expect_row(const struct language *row)
{
	struct err err;

	EXPECT(is_word(row->name, "_") && strcmp(row->name, "all") != 0);
	EXPECT(strncmp(row->tool, "run_", 4) == 0 && is_word(row->tool, "_"));
	EXPECT(strlen(row->tool) <= 64); /* clients have limits */
	EXPECT(*row->title != '\0' && *row->print != '\0');
	EXPECT(names_check_image(row->image, &err) == 0);
	EXPECT(is_word(row->file, "._-") && isalnum((unsigned char)*row->file));
	expect_listed(row->command);
	EXPECT(*row->command != NULL && **row->command != '\0' &&
	    **row->command != '-');
	expect_listed(row->suffixes);
	for (const char *const *suffix = row->suffixes; *suffix != NULL;
	    suffix++)
		EXPECT(**suffix == '.' && is_word(*suffix + 1, "+_-"));
	expect_listed(row->libraries);
	if (row->install != NULL)
		expect_listed(row->install);
	EXPECT(row->hook == NULL && row->tool_alias == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_begin(data, size);
	struct language_file file;
	struct err err = {0};

	if (language_file_parse(&file, input.data, input.length, &err) != 0) {
		EXPECT(err.code == ERR_ARGUMENT && *err.message != '\0');
		EXPECT(is_utf8(err.message, strlen(err.message)));
		EXPECT(file.rows == NULL && file.count == 0);
		return 0;
	}
	EXPECT(file.count > 0 && file.count <= LANGUAGE_MAX);
	for (size_t i = 0; i < file.count; i++)
		expect_row(&file.rows[i].language);
	language_file_release(&file);
	return 0;
}
