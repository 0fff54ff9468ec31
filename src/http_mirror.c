#include "http_mirror.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base64.h"

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

/* The value without white space around it, and, where it may be encoded,
 * decoded if it says that it is; NULL when that cannot be done, or gives more
 * than a string. */
static char *
header_value(const char *text, bool may_be_encoded)
{
	static const char prefix[] = "=?base64?", suffix[] = "?=";
	const size_t before = strlen(prefix), after = strlen(suffix);
	size_t length;
	char *value;

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
check_one(
    const char *header, const char *text, const char *expected, struct err *err)
{
	char *value;
	bool same;

	if (text == NULL)
		return err_set(err, ERR_HEADER,
		    "Header mismatch: the header %s is missing", header);
	value = header_value(text, strcmp(header, NAME) == 0);
	same =
	    value != NULL && expected != NULL && strcmp(value, expected) == 0;
	free(value);
	if (same)
		return 0;
	return err_set(err, ERR_HEADER,
	    "Header mismatch: %s does not say what the body says", header);
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
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (strcmp(named[i].method, message->method) == 0)
			return check_one(NAME, mirror->name,
			    rpc_text(yyjson_obj_get(
			        message->params, named[i].parameter)),
			    err);
	return 0;
}
