#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* A surrogate pair is two escapes such as \uD83D\uDE00. */
#define UNIT_LENGTH ((size_t)6)
#define HIGH 0xD800L
#define LOW 0xDC00L
#define REPLACEMENT "\\ufffd"

/* The number of such an escape; -1: it is another one, or none. */
static long
unit_at(const char *text, size_t length)
{
	char digits[5] = "";

	if (length < UNIT_LENGTH || text[0] != '\\' || text[1] != 'u')
		return -1;
	memcpy(digits, text + 2, 4);
	if (strspn(digits, "0123456789abcdefABCDEF") != 4)
		return -1;
	return strtol(digits, NULL, 16);
}

static bool
is_half(long unit, long first)
{
	return unit >= first && unit < first + 0x400;
}

/* How far it is to the next character; alone: this one is half of a pair. */
static size_t
step(const char *text, size_t length, bool *alone)
{
	long unit = unit_at(text, length);

	*alone = false;
	if (text[0] != '\\')
		return 1;
	if (unit < 0)
		return 2;
	if (is_half(unit, HIGH) &&
	    is_half(unit_at(text + UNIT_LENGTH, length - UNIT_LENGTH), LOW))
		return 2 * UNIT_LENGTH;
	*alone = is_half(unit, HIGH) || is_half(unit, LOW);
	return UNIT_LENGTH;
}

static bool
mend_pairs(char *text, size_t length)
{
	bool alone, mended = false;
	size_t at = 0;

	while (at < length) {
		size_t next = at + step(text + at, length - at, &alone);

		if (alone)
			memcpy(text + at, REPLACEMENT, UNIT_LENGTH);
		mended = mended || alone;
		at = next;
	}
	return mended;
}

static yyjson_doc *
read_strictly(const char *data, size_t length, yyjson_read_err *err)
{
	/* Without the flag for it the reader does not write to data. */
	return yyjson_read_opts(
	    (char *)(uintptr_t)data, length, 0, &memory, err);
}

yyjson_doc *
json_read(const char *data, size_t length, yyjson_read_err *err)
{
	yyjson_read_err problem;
	yyjson_doc *doc = read_strictly(data, length, &problem);

	if (doc == NULL && problem.code == YYJSON_READ_ERROR_INVALID_STRING) {
		char *copy = xmalloc(length);

		memcpy(copy, data, length);
		if (mend_pairs(copy, length))
			doc = read_strictly(copy, length, &problem);
		free(copy);
	}
	if (err != NULL)
		*err = problem;
	return doc;
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
