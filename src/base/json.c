#include "base/json.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"

static void *
get(void *context, size_t size)
{
	(void)context;
	return xmalloc(size);
}

static void *
resize(void *context, void *old, size_t old_size, size_t size)
{
	(void)context;
	(void)old_size;
	return xrealloc(old, size);
}

static void
give_back(void *context, void *memory)
{
	(void)context;
	free(memory);
}

static const yyjson_alc memory = {get, resize, give_back, NULL};

yyjson_mut_doc *
json_new(void)
{
	return yyjson_mut_doc_new(&memory);
}

yyjson_doc *
json_read(const char *data, size_t length, yyjson_read_err *err)
{
	/* Without the flag for it the reader does not write to data. */
	return yyjson_read_opts(
	    (char *)(uintptr_t)data, length, 0, &memory, err);
}

yyjson_mut_val *
json_copy_text(yyjson_mut_doc *doc, const char *text, size_t length)
{
	yyjson_doc *parsed = json_read(text, length, NULL);
	yyjson_mut_val *copy =
	    yyjson_val_mut_copy(doc, yyjson_doc_get_root(parsed));

	yyjson_doc_free(parsed);
	return copy;
}

char *
json_write(const yyjson_mut_doc *doc, yyjson_write_flag flags, size_t *length)
{
	return yyjson_mut_write_opts(doc, flags, &memory, length, NULL);
}

char *
json_write_value(const yyjson_mut_val *value)
{
	return yyjson_mut_val_write_opts(value, 0, &memory, NULL, NULL);
}

char *
json_write_read_value(const yyjson_val *value)
{
	return yyjson_val_write_opts(value, 0, &memory, NULL, NULL);
}
