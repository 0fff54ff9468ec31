#include "fuzz.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "mcp/mcp.h"
#include "transport/http_guard.h"
#include "transport/http_mirror.h"

/*
 * Input, a line each: Host, Origin, Authorization, Mcp-Method, Mcp-Name, and
 * the message.  The guard lets in whom a plain description of it lets in, and
 * headers that are said to agree with a message do, to the last byte.
 */

#define TOKEN "0123456789abcdef"
#define REVISION "2026-07-28"
#define META_VERSION "/params/_meta/io.modelcontextprotocol~1protocolVersion"
#define LOOPBACK "((localhost|127\\.0\\.0\\.1|\\[::1\\])(:[0-9]*)?|::1)$"

/* --- who is let in -------------------------------------------------------- */

/* An extended regular expression, compiled when it is first seen. */
static bool
matches(const char *text, const char *pattern)
{
	static struct {
		const char *pattern;
		regex_t compiled;
	} known[8];
	size_t i = 0;

	while (known[i].pattern != NULL && known[i].pattern != pattern)
		i++;
	if (known[i].pattern == NULL)
		EXPECT(regcomp(&known[i].compiled, pattern,
		           REG_EXTENDED | REG_ICASE | REG_NOSUB) == 0);
	known[i].pattern = pattern;
	return regexec(&known[i].compiled, text, 0, NULL, 0) == 0;
}

static void
expect_guarded(const char *host, const char *origin, const char *authorization)
{
	char token[] = TOKEN, name[] = "box.example", *names[] = {name, NULL};
	char page[] = "https://page.example", *pages[] = {page, NULL};
	const struct http_guard open = {.token = NULL};
	const struct http_guard guard = {
	    .hosts = {names, 1}, .origins = {pages, 1}, .token = token};

	EXPECT(http_guard_host(&open, host) == matches(host, "^" LOOPBACK));
	EXPECT(http_guard_host(&guard, host) ==
	    matches(host, "^box\\.example(:[0-9]*)?$|^" LOOPBACK));
	EXPECT(http_guard_origin(&open, origin) ==
	    matches(origin, "^https?://" LOOPBACK));
	EXPECT(http_guard_origin(&guard, origin) ==
	    matches(origin, "^https://page\\.example$|^https?://" LOOPBACK));
	EXPECT(http_guard_token(&open, authorization));
	EXPECT(http_guard_token(&guard, authorization) ==
	    (strncasecmp(authorization, "Bearer ", 7) == 0 &&
	        strcmp(authorization + 7, TOKEN) == 0));
}

/* --- headers that repeat what the body says ------------------------------- */

/* Whether a header means that, by the book: as it is, or, where that may be,
 * decoded if it says that it is encoded; and all of it. */
static bool
means(const char *header, yyjson_val *value, bool may_be_encoded)
{
	static const char prefix[] = "=?base64?";
	const size_t start = sizeof(prefix) - 1;
	char *text = xstrdup(header + strspn(header, " \t"));
	char *decoded = NULL;
	size_t length = strlen(text), got;
	bool same;

	/* What no header may hold means nothing. */
	for (const char *byte = header; *byte != '\0'; byte++)
		if (*byte != '\t' && !isprint((unsigned char)*byte)) {
			free(text);
			return false;
		}
	while (length > 0 && strchr(" \t", text[length - 1]) != NULL)
		text[--length] = '\0';
	if (!may_be_encoded || length < start + 2 ||
	    strncmp(text, prefix, start) != 0 ||
	    strcmp(text + length - 2, "?=") != 0) {
		same = yyjson_equals_str(value, text);
	} else {
		decoded = base64_decode(text + start, length - start - 2, &got);
		same =
		    decoded != NULL && yyjson_equals_strn(value, decoded, got);
	}
	free(decoded);
	free(text);
	return same;
}

/* A header that says so; NULL when none can. */
static char *
encode(yyjson_val *value)
{
	const char *text = rpc_text(value);
	char *encoded, *header;

	if (text == NULL)
		return NULL;
	encoded = base64_encode(text, yyjson_get_len(value), NULL);
	header = xasprintf("=?base64?%s?=", encoded);
	free(encoded);
	return header;
}

/* The key of what a method is about; NULL: of nothing. */
static const char *
subject_key(const char *method)
{
	if (strcmp(method, "tools/call") == 0 ||
	    strcmp(method, "prompts/get") == 0)
		return "name";
	if (strcmp(method, "resources/read") == 0)
		return "uri";
	if (strcmp(method, "tasks/get") == 0 ||
	    strcmp(method, "tasks/update") == 0 ||
	    strcmp(method, "tasks/cancel") == 0)
		return "taskId";
	return NULL;
}

static bool
agrees(const char *method, const char *name, const struct rpc_message *message)
{
	struct http_mirror mirror = {REVISION, method, name};
	struct err err = {0};

	if (http_mirror_check(
	        &mirror, message, mcp_named_revision(message), &err) == 0)
		return true;
	EXPECT(err.code == ERR_HEADER);
	EXPECT(is_utf8(err.message, strlen(err.message)));
	return false;
}

static void
expect_mirrored(
    const char *method, const char *name, const struct rpc_message *message)
{
	yyjson_val *root = yyjson_doc_get_root(message->doc);
	yyjson_val *said = yyjson_obj_get(root, "method");
	const char *key = subject_key(message->method);
	yyjson_val *subject =
	    key != NULL ? yyjson_obj_get(message->params, key) : NULL;
	bool current =
	    yyjson_equals_str(yyjson_ptr_get(root, META_VERSION), REVISION);
	char *encoded_method, *encoded_name;

	/* Of what is not a request only the revision must be repeated. */
	if (message->kind != RPC_REQUEST) {
		EXPECT(agrees(NULL, NULL, message) == current);
		EXPECT(agrees(method, NULL, message) ==
		    (current && means(method, said, false)));
		return;
	}
	EXPECT(agrees(method, name, message) ==
	    (current && means(method, said, false) &&
	        (key == NULL || means(name, subject, true))));
	encoded_method = encode(said);
	encoded_name = encode(subject);
	EXPECT(!agrees(encoded_method, encoded_name, message));
	EXPECT(agrees(message->method, encoded_name, message) ==
	    (current && means(message->method, said, false) &&
	        (key == NULL || encoded_name != NULL)));
	free(encoded_method);
	free(encoded_name);
}

/* An argument that the tool wants repeated: a text is, to the last byte; what
 * has no header of its own must have none. */
static void
expect_argument_mirrored(const char *header, const struct rpc_message *message)
{
	const char *tool = rpc_text(yyjson_obj_get(message->params, "name"));
	const struct mirrored_argument row = {tool, "code", "Mcp-Param-Code"};
	yyjson_val *value = yyjson_obj_get(
	    yyjson_obj_get(message->params, "arguments"), "code");
	bool scalar = yyjson_is_str(value) || yyjson_is_num(value) ||
	    yyjson_is_bool(value);
	struct err err;
	bool agreed;

	if (tool == NULL || message->kind != RPC_REQUEST ||
	    strcmp(message->method, "tools/call") != 0)
		return;
	agreed = http_mirror_check_argument(&row, header, message, &err) == 0;
	if (yyjson_is_str(value))
		EXPECT(agreed ==
		    (rpc_text(value) != NULL && means(header, value, true)));
	else
		EXPECT(scalar || !agreed);
	EXPECT((http_mirror_check_argument(&row, NULL, message, &err) == 0) ==
	    !scalar);
}

static char *
next(struct input *input)
{
	struct input line;

	input_line(input, &line);
	return xstrndup(line.data, line.length);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_begin(data, size);
	char *headers[5];
	struct rpc_message message;
	struct err err;

	for (size_t i = 0; i < 5; i++)
		headers[i] = next(&input);
	expect_guarded(headers[0], headers[1], headers[2]);
	if (rpc_parse(&message, input.data, input.length, &err) == 0 &&
	    message.method != NULL) {
		expect_mirrored(headers[3], headers[4], &message);
		expect_argument_mirrored(headers[4], &message);
	}
	rpc_message_release(&message);
	for (size_t i = 0; i < 5; i++)
		free(headers[i]);
	return 0;
}
