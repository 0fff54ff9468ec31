#include "mcp/tool_arguments_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "sandbox/work_path.h"

#define FILES_MAX 100
#define BYTES_MAX ((size_t)16 * 1024 * 1024)

void
files_describe(yyjson_mut_doc *doc, yyjson_mut_val *property,
    const struct language *language, const struct settings *settings)
{
	static const char item[] =
	    "{\"type\":\"object\",\"properties\":{"
	    "\"path\":{\"type\":\"string\",\"description\":"
	    "\"Relative, such as data.csv or input/a.json\"},"
	    "\"text\":{\"type\":\"string\"},"
	    "\"base64\":{\"type\":\"string\",\"description\":"
	    "\"Instead of text, for binary files\"}},"
	    "\"required\":[\"path\"],\"additionalProperties\":false}";

	(void)language;
	(void)settings;
	yyjson_mut_obj_add_str(doc, property, "type", "array");
	yyjson_mut_obj_add_val(doc, property, "items",
	    json_copy_text(doc, item, sizeof(item) - 1));
	yyjson_mut_obj_add_uint(doc, property, "maxItems", FILES_MAX);
	yyjson_mut_obj_add_str(doc, property, "description",
	    "Files to put into the working directory before the program "
	    "runs.");
}

static int
check_keys(yyjson_val *file, struct err *err)
{
	yyjson_obj_iter iter = yyjson_obj_iter_with(file);
	yyjson_val *key;

	if (!yyjson_is_obj(file))
		return err_set(err, ERR_ARGUMENT,
		    "Each item of \"files\" must be an object with \"path\", "
		    "and \"text\" or \"base64\".");
	while ((key = yyjson_obj_iter_next(&iter)) != NULL)
		if (!yyjson_equals_str(key, "path") &&
		    !yyjson_equals_str(key, "text") &&
		    !yyjson_equals_str(key, "base64"))
			return err_set(err, ERR_ARGUMENT,
			    "An item of \"files\" has \"%.100s\"; it takes "
			    "\"path\", and \"text\" or \"base64\".",
			    yyjson_get_str(key));
	return 0;
}

/* A file of this name can be put there. */
static int
check_path(yyjson_val *value, const struct job *job, struct err *err)
{
	const char *path = yyjson_get_str(value);

	if (path == NULL)
		return err_set(err, ERR_ARGUMENT,
		    "Each item of \"files\" must have a \"path\", a string.");
	if (work_path_check(path, yyjson_get_len(value), err) != 0)
		return -1;
	if (work_path_clash(path, job->language->file))
		return err_set(err, ERR_ARGUMENT,
		    "The path \"%.100s\" is taken: the program itself is "
		    "\"%s\".",
		    path, job->language->file);
	for (size_t i = 0; i < job->file_count; i++)
		if (work_path_clash(path, job->files[i].path))
			return err_set(err, ERR_ARGUMENT,
			    "The paths \"%.100s\" and \"%.100s\" of \"files\" "
			    "cannot both be: they are the same, or one would "
			    "be a directory.",
			    job->files[i].path, path);
	return 0;
}

static int
add_file(yyjson_val *file, struct job *job, struct err *err)
{
	const char *path = yyjson_get_str(yyjson_obj_get(file, "path"));
	yyjson_val *text = yyjson_obj_get(file, "text");
	yyjson_val *base64 = yyjson_obj_get(file, "base64");
	size_t length;
	char *data;

	if (yyjson_is_str(text) && base64 == NULL) {
		job_add_file(
		    job, path, yyjson_get_str(text), yyjson_get_len(text));
		return 0;
	}
	if (text != NULL || !yyjson_is_str(base64))
		return err_set(err, ERR_ARGUMENT,
		    "The file \"%.100s\" must have either \"text\" or "
		    "\"base64\", a string.",
		    path);
	data = base64_decode(
	    yyjson_get_str(base64), yyjson_get_len(base64), &length);
	if (data == NULL)
		return err_set(err, ERR_ARGUMENT,
		    "The \"base64\" of the file \"%.100s\" is not base64: the "
		    "standard alphabet, with padding and without white space.",
		    path);
	job_add_file(job, path, data, length);
	free(data);
	return 0;
}

int
files_read(yyjson_val *value, const struct settings *settings, struct job *job,
    struct err *err)
{
	size_t i, count, total = 0;
	yyjson_val *file;

	(void)settings;
	if (value == NULL || yyjson_is_null(value))
		return 0;
	if (!yyjson_is_arr(value))
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"files\" must be an array of objects, not "
		    "%s.",
		    yyjson_get_type_desc(value));
	if (yyjson_arr_size(value) > FILES_MAX)
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"files\" has %zu items; the limit is %d.",
		    yyjson_arr_size(value), FILES_MAX);
	yyjson_arr_foreach(value, i, count, file)
	{
		if (check_keys(file, err) != 0 ||
		    check_path(yyjson_obj_get(file, "path"), job, err) != 0 ||
		    add_file(file, job, err) != 0)
			return -1;
		total += job->files[i].length;
	}
	if (total > BYTES_MAX)
		return err_set(err, ERR_ARGUMENT,
		    "The files have %zu bytes together; the limit is %zu.",
		    total, BYTES_MAX);
	return 0;
}
