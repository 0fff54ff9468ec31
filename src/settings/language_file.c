#include "settings/language_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/json.h"
#include "settings/names.h"

#define FILE_MAX ((size_t)1024 * 1024)
#define NAME_MAX_LENGTH 32
#define TEXT_MAX_LENGTH 4096
#define WORDS_MAX 64

static bool
is_made_of(const char *text, const char *more)
{
	for (; *text != '\0'; text++)
		if (!isalnum((unsigned char)*text) &&
		    strchr(more, *text) == NULL)
			return false;
	return true;
}

static int
check_name(const char *value, size_t place, struct err *err)
{
	bool lower = true;

	(void)place;
	if (strcmp(value, LANGUAGE_ALL) == 0)
		return err_set(err, ERR_ARGUMENT,
		    "\"%s\" cannot be the name of a language: --languages "
		    "takes it for all of them",
		    value);
	for (const char *byte = value; *byte != '\0'; byte++)
		lower &= !isupper((unsigned char)*byte);
	if (lower && isalpha((unsigned char)*value) && is_made_of(value, "_") &&
	    strlen(value) <= NAME_MAX_LENGTH)
		return 0;
	return err_set(err, ERR_ARGUMENT,
	    "\"%.100s\" is not a name of up to %d characters out of a-z, 0-9 "
	    "and _, with a letter first",
	    value, NAME_MAX_LENGTH);
}

static int
check_image(const char *value, size_t place, struct err *err)
{
	(void)place;
	return names_check_image(value, err);
}

static int
check_file(const char *value, size_t place, struct err *err)
{
	(void)place;
	if (isalnum((unsigned char)*value) && is_made_of(value, "._-") &&
	    strlen(value) <= NAME_MAX_LENGTH)
		return 0;
	return err_set(err, ERR_ARGUMENT,
	    "\"%.100s\" is not a plain file name such as code.py", value);
}

static int
check_suffix(const char *value, size_t place, struct err *err)
{
	(void)place;
	if (*value == '.' && value[1] != '\0' && is_made_of(value + 1, "+_-") &&
	    strlen(value) <= NAME_MAX_LENGTH)
		return 0;
	return err_set(err, ERR_ARGUMENT,
	    "\"%.100s\" is not the end of a file name such as .py", value);
}

/* Text that clients get to see. */
static int
check_text(const char *value, size_t place, struct err *err)
{
	(void)place;
	for (const char *byte = value; *byte != '\0'; byte++)
		if (iscntrl((unsigned char)*byte))
			return err_set(err, ERR_ARGUMENT,
			    "there is a control character in it");
	if (*value == '\0')
		return err_set(err, ERR_ARGUMENT, "it is empty");
	return 0;
}

/* The first one is a program; to others, anything may be of use. */
static int
check_word(const char *value, size_t place, struct err *err)
{
	if (place > 0 || (*value != '\0' && *value != '-'))
		return 0;
	return err_set(err, ERR_ARGUMENT, "\"%.100s\" is not a program", value);
}

/* The words of an installer are handed on one a line (see runner.sh). */
static int
check_install(const char *value, size_t place, struct err *err)
{
	if (check_text(value, place, err) != 0)
		return -1;
	return check_word(value, place, err);
}

#define FIELD(name) offsetof(struct language, name)

static const struct field {
	const char *name;
	bool required;
	bool list;
	size_t offset;
	int (*check)(const char *value, size_t place, struct err *err);
} fields[] = {
    {"name", true, false, FIELD(name), check_name},
    {"title", true, false, FIELD(title), check_text},
    {"image", true, false, FIELD(image), check_image},
    {"file", true, false, FIELD(file), check_file},
    {"command", true, true, FIELD(command), check_word},
    {"suffixes", true, true, FIELD(suffixes), check_suffix},
    {"libraries", false, true, FIELD(libraries), check_text},
    {"install", false, true, FIELD(install), check_install},
    {"print", false, false, FIELD(print), check_text},
};
#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

static int
check_value(
    const struct field *field, yyjson_val *value, size_t place, struct err *err)
{
	const char *text = yyjson_get_str(value);

	if (text == NULL)
		return err_set(err, ERR_ARGUMENT, "it must be %s",
		    field->list ? "an array of strings" : "a string");
	if (strlen(text) != yyjson_get_len(value))
		return err_set(err, ERR_ARGUMENT, "there is a NUL in it");
	if (strlen(text) > TEXT_MAX_LENGTH)
		return err_set(err, ERR_ARGUMENT, "it is longer than %d bytes",
		    TEXT_MAX_LENGTH);
	return field->check(text, place, err);
}

static int
read_text(struct language_file_row *row, const struct field *field,
    yyjson_val *value, struct err *err)
{
	if (check_value(field, value, 0, err) != 0)
		return -1;
	strlist_add(&row->texts, yyjson_get_str(value));
	*(const char **)((char *)&row->language + field->offset) =
	    row->texts.items[row->texts.count - 1];
	return 0;
}

static int
read_list(struct language_file_row *row, struct strlist *list,
    const struct field *field, yyjson_val *value, struct err *err)
{
	yyjson_arr_iter iter = yyjson_arr_iter_with(value);
	size_t count = yyjson_arr_size(value);
	yyjson_val *item;

	/* None of what is optional is as good as nothing said. */
	if (yyjson_is_arr(value) && count == 0 && !field->required)
		return 0;
	if (!yyjson_is_arr(value) || count == 0 || count > WORDS_MAX)
		return err_set(err, ERR_ARGUMENT,
		    "it must be an array of 1 to %d strings", WORDS_MAX);
	while ((item = yyjson_arr_iter_next(&iter)) != NULL) {
		if (check_value(field, item, list->count, err) != 0)
			return -1;
		strlist_add(list, yyjson_get_str(item));
	}
	*(const char *const **)((char *)&row->language + field->offset) =
	    (const char *const *)list->items;
	return 0;
}

static int
read_fields(struct language_file_row *row, yyjson_val *object, struct err *err)
{
	struct strlist *list = row->lists;
	struct err why;

	for (size_t i = 0; i < FIELD_COUNT; i++) {
		const struct field *field = &fields[i];
		yyjson_val *value = yyjson_obj_get(object, field->name);
		int status = 0;

		if (value == NULL && field->required)
			return err_set(err, ERR_ARGUMENT, "\"%s\" is missing",
			    field->name);
		if (value != NULL)
			status = field->list
			    ? read_list(row, list, field, value, &why)
			    : read_text(row, field, value, &why);
		if (status != 0)
			return err_set(err, ERR_ARGUMENT, "\"%s\": %s",
			    field->name, why.message);
		list += field->list;
	}
	return 0;
}

/* A field by a wrong name, or there twice, was meant to do something. */
static int
check_keys(yyjson_val *object, struct err *err)
{
	yyjson_obj_iter iter = yyjson_obj_iter_with(object);
	bool seen[FIELD_COUNT] = {false};
	yyjson_val *key;

	while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
		size_t i = 0;

		while (
		    i < FIELD_COUNT && !yyjson_equals_str(key, fields[i].name))
			i++;
		if (i == FIELD_COUNT)
			return err_set(err, ERR_ARGUMENT,
			    "there is no field \"%.100s\"",
			    yyjson_get_str(key));
		if (seen[i])
			return err_set(err, ERR_ARGUMENT,
			    "\"%s\" is there twice", fields[i].name);
		seen[i] = true;
	}
	return 0;
}

static int
read_row(struct language_file_row *row, yyjson_val *object, struct err *err)
{
	static const char *const none[] = {NULL};
	struct language *language = &row->language;

	if (!yyjson_is_obj(object))
		return err_set(err, ERR_ARGUMENT, "it must be an object");
	if (check_keys(object, err) != 0 || read_fields(row, object, err) != 0)
		return -1;
	if (language->libraries == NULL)
		language->libraries = none;
	if (language->print == NULL)
		language->print = "a print statement";
	strlist_addf(&row->texts, "run_%s_code", language->name);
	language->tool = row->texts.items[row->texts.count - 1];
	return 0;
}

static int
read_rows(struct language_file *file, yyjson_val *root, struct err *err)
{
	size_t count = yyjson_is_arr(root) ? yyjson_arr_size(root) : 1;
	struct err why;

	if (count == 0 || count > LANGUAGE_MAX)
		return err_set(err, ERR_ARGUMENT,
		    "there must be 1 to %d languages in it", LANGUAGE_MAX);
	file->rows = xcalloc(count, sizeof(*file->rows));
	for (; file->count < count; file->count++) {
		yyjson_val *object = yyjson_is_arr(root)
		    ? yyjson_arr_get(root, file->count)
		    : root;

		if (read_row(&file->rows[file->count], object, &why) == 0)
			continue;
		err_set(err, ERR_ARGUMENT, "language %zu: %s", file->count + 1,
		    why.message);
		file->count++; /* what there is of it is to be released */
		return -1;
	}
	return 0;
}

int
language_file_parse(struct language_file *file, const char *data, size_t length,
    struct err *err)
{
	yyjson_read_err problem;
	yyjson_doc *doc = json_read(data, length, &problem);
	int status;

	*file = (struct language_file){0};
	if (doc == NULL)
		return err_set(err, ERR_ARGUMENT,
		    "it is not JSON: %s at byte %zu", problem.msg, problem.pos);
	status = read_rows(file, yyjson_doc_get_root(doc), err);
	yyjson_doc_free(doc);
	if (status != 0)
		language_file_release(file);
	return status;
}

/* Into a buffer that has room for one byte more than is allowed. */
static int
read_all(const char *path, char *data, size_t *length, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat stat;
	ssize_t got = 1;

	*length = 0;
	if (fd < 0)
		return err_system(err, errno, "%s", path);
	/* Others could keep us waiting. */
	if (fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode)) {
		close(fd);
		return err_set(
		    err, ERR_ARGUMENT, "%s is not a regular file", path);
	}
	while (got > 0 && *length <= FILE_MAX) {
		got = read(fd, data + *length, FILE_MAX + 1 - *length);
		if (got > 0)
			*length += (size_t)got;
	}
	if (got < 0)
		err_system(err, errno, "%s", path);
	close(fd);
	return got < 0 ? -1 : 0;
}

int
language_file_read(
    struct language_file *file, const char *path, struct err *err)
{
	char *data = xmalloc(FILE_MAX + 1);
	struct err why;
	size_t length;
	int status = read_all(path, data, &length, err);

	if (status == 0 && length > FILE_MAX)
		status = err_set(err, ERR_ARGUMENT,
		    "%s is larger than %zu bytes", path, FILE_MAX);
	else if (status == 0 &&
	    language_file_parse(file, data, length, &why) != 0)
		status =
		    err_set(err, ERR_ARGUMENT, "%s: %s", path, why.message);
	free(data);
	return status;
}

void
language_file_release(struct language_file *file)
{
	for (size_t i = 0; i < file->count; i++) {
		strlist_release(&file->rows[i].texts);
		for (size_t list = 0; list < LANGUAGE_FILE_LISTS; list++)
			strlist_release(&file->rows[i].lists[list]);
	}
	free(file->rows);
	*file = (struct language_file){0};
}
