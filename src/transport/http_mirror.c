#include "transport/http_mirror.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/json.h"

/* What Mcp-Name repeats. */
static const struct {
	const char *method;
	const char *parameter;
} named[] = {
    {"tools/call", "name"},
    {"prompts/get", "name"},
    {"resources/read", "uri"},
    {"tasks/get", "taskId"},
    {"tasks/update", "taskId"},
    {"tasks/cancel", "taskId"},
};

/* What a header may hold as it is: visible characters and blanks of ASCII. */
static bool
is_plain(const char *text)
{
	while (isblank((unsigned char)*text) || (*text > ' ' && *text <= '~'))
		text++;
	return *text == '\0';
}

/* The value without white space around it, and, where it may be encoded,
 * decoded if it says that it is; NULL when that cannot be done, or gives more
 * than a string, or when it is none that a header may have. */
static char *
header_value(const char *text, bool may_be_encoded)
{
	static const char prefix[] = "=?base64?", suffix[] = "?=";
	const size_t before = strlen(prefix), after = strlen(suffix);
	size_t length;
	char *value;

	if (!is_plain(text))
		return NULL;
	while (isblank((unsigned char)*text))
		text++;
	length = strlen(text);
	while (length > 0 && isblank((unsigned char)text[length - 1]))
		length--;
	if (!may_be_encoded || length < before + after ||
	    strncmp(text, prefix, before) != 0 ||
	    strncmp(text + length - after, suffix, after) != 0)
		return xstrndup(text, length);
	value = base64_decode(text + before, length - before - after, &length);
	if (value != NULL && strlen(value) == length)
		return value;
	free(value);
	return NULL;
}

#define NAME "Mcp-Name"

static int
refuse_missing(const char *header, struct err *err)
{
	return err_set(err, ERR_HEADER,
	    "Header mismatch: the header %s is missing", header);
}

static int
refuse_other(const char *header, struct err *err)
{
	return err_set(err, ERR_HEADER,
	    "Header mismatch: %s does not say what the body says", header);
}

static int
check_one(
    const char *header, const char *text, const char *expected, struct err *err)
{
	char *value;
	bool same;

	if (text == NULL)
		return refuse_missing(header, err);
	value = header_value(text, strcmp(header, NAME) == 0);
	same =
	    value != NULL && expected != NULL && strcmp(value, expected) == 0;
	free(value);
	return same ? 0 : refuse_other(header, err);
}

int
http_mirror_check(const struct http_mirror *mirror,
    const struct rpc_message *message, const char *revision, struct err *err)
{
	if (check_one("MCP-Protocol-Version", mirror->version, revision, err) !=
	    0)
		return -1;
	if (message->kind != RPC_REQUEST && mirror->method == NULL)
		return 0;
	if (check_one("Mcp-Method", mirror->method, message->method, err) != 0)
		return -1;
	/* A notification that is called like a request does nothing. */
	if (message->kind != RPC_REQUEST)
		return 0;
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (strcmp(named[i].method, message->method) == 0)
			return check_one(NAME, mirror->name,
			    rpc_text(yyjson_obj_get(
			        message->params, named[i].parameter)),
			    err);
	return 0;
}

static bool
is_call(const struct rpc_message *message, const char *tool)
{
	return message->kind == RPC_REQUEST &&
	    strcmp(message->method, "tools/call") == 0 &&
	    yyjson_equals_str(yyjson_obj_get(message->params, "name"), tool);
}

/* Of numbers only integers are repeated, and 42.0 is 42. */
static void
cut_zeros(char *number)
{
	char *point = strchr(number, '.');

	if (point != NULL && point[1 + strspn(point + 1, "0")] == '\0')
		*point = '\0';
}

static bool
says(const char *text, yyjson_val *value)
{
	char *said = header_value(text, true), *expected;
	bool same;

	/* A string with a NUL in it cannot be repeated. */
	if (!yyjson_is_str(value))
		expected = json_write_read_value(value);
	else
		expected =
		    rpc_text(value) != NULL ? xstrdup(rpc_text(value)) : NULL;
	if (said != NULL && expected != NULL && yyjson_is_num(value)) {
		cut_zeros(said);
		cut_zeros(expected);
	}
	same = said != NULL && expected != NULL && strcmp(said, expected) == 0;
	free(expected);
	free(said);
	return same;
}

/* A client leaves out the header of an argument that it leaves out; and of
 * what is neither text, number nor boolean, which the tool will not take. */
int
http_mirror_check_argument(const struct mirrored_argument *argument,
    const char *text, const struct rpc_message *message, struct err *err)
{
	yyjson_val *value = yyjson_obj_get(
	    yyjson_obj_get(message->params, "arguments"), argument->argument);
	bool repeated = yyjson_is_str(value) || yyjson_is_num(value) ||
	    yyjson_is_bool(value);

	if (!is_call(message, argument->tool) || (text == NULL && !repeated))
		return 0;
	if (text == NULL)
		return refuse_missing(argument->header, err);
	if (!repeated || !says(text, value))
		return refuse_other(argument->header, err);
	return 0;
}
