#include "mcp/rpc.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"

#define FFFD "\xEF\xBF\xBD"

static const struct {
	const char *name;
	const char *json;
	enum rpc_kind kind;
	const char *id; /* NULL: none */
	const char *method;
	bool params;
} good[] = {
    {"a request with an integer id",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", RPC_REQUEST, "1",
        "ping", false},
    {"id 0", "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}", RPC_REQUEST,
        "0", "ping", false},
    {"a negative id", "{\"jsonrpc\":\"2.0\",\"id\":-7,\"method\":\"ping\"}",
        RPC_REQUEST, "-7", "ping", false},
    {"a big id",
        "{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"method\":\"ping\"}",
        RPC_REQUEST, "9007199254740993", "ping", false},
    {"the biggest id",
        "{\"jsonrpc\":\"2.0\",\"id\":18446744073709551615,\"method\":\"x\"}",
        RPC_REQUEST, "18446744073709551615", "x", false},
    {"a string id", "{\"jsonrpc\":\"2.0\",\"id\":\"a b\",\"method\":\"ping\"}",
        RPC_REQUEST, "\"a b\"", "ping", false},
    {"an empty string id",
        "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"ping\"}", RPC_REQUEST,
        "\"\"", "ping", false},
    {"a string id that is a number",
        "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"ping\"}", RPC_REQUEST,
        "\"1\"", "ping", false},
    {"an id with escapes",
        "{\"jsonrpc\":\"2.0\",\"id\":\"\\u0000\\\"\\n\",\"method\":\"ping\"}",
        RPC_REQUEST, "\"\\u0000\\\"\\n\"", "ping", false},
    {"params", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{}}",
        RPC_REQUEST, "1", "x", true},
    {"members in another order",
        "{\"params\":{},\"method\":\"x\",\"id\":1,\"jsonrpc\":\"2.0\"}",
        RPC_REQUEST, "1", "x", true},
    {"unknown members",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"more\":[1]}",
        RPC_REQUEST, "1", "x", false},
    {"white space",
        " \t{ \"jsonrpc\" : \"2.0\",\n\"id\":1 , \"method\":\"x\" } \r",
        RPC_REQUEST, "1", "x", false},
    {"a notification", "{\"jsonrpc\":\"2.0\",\"method\":\"n/x\"}",
        RPC_NOTIFICATION, NULL, "n/x", false},
    {"a notification with params",
        "{\"jsonrpc\":\"2.0\",\"method\":\"n/x\",\"params\":{\"a\":1}}",
        RPC_NOTIFICATION, NULL, "n/x", true},
    {"a response", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", RPC_RESPONSE,
        "1", NULL, false},
    {"a response that is null",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}", RPC_RESPONSE, "1",
        NULL, false},
    {"an error response",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"\"}"
        "}",
        RPC_RESPONSE, "1", NULL, false},
    {"an error response without an id",
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"\"}}",
        RPC_RESPONSE, NULL, NULL, false},
    /* How JSON-RPC answers what it could not read; answering that again may
     * go on for ever. */
    {"an error response with the id null",
        "{\"jsonrpc\":\"2.0\",\"id\":null,"
        "\"error\":{\"code\":1,\"message\":\"\"}}",
        RPC_RESPONSE, NULL, NULL, false},
    {"a request that is called result",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"result\":{}}",
        RPC_REQUEST, "1", "x", false},
    /* As texts are sent that were cut in the middle of a character. */
    {"half a pair", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud83d\"}",
        RPC_REQUEST, "1", FFFD, false},
    {"the other half", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\uDE00!\"}",
        RPC_REQUEST, "1", FFFD "!", false},
    {"two halves in the wrong order",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ude00\\ud83d\"}",
        RPC_REQUEST, "1", FFFD FFFD, false},
    {"a half ahead of a pair",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud83d\\ud83d\\ude00\"}",
        RPC_REQUEST, "1", FFFD "\xF0\x9F\x98\x80", false},
    {"a half ahead of another escape",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud83d\\n\\u0041\"}",
        RPC_REQUEST, "1", FFFD "\nA", false},
    {"what only looks like a half",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\\\ud83d\\ud83d\"}",
        RPC_REQUEST, "1", "\\ud83d" FFFD, false},
};

static void
assert_same(
    const char *name, const char *what, const char *found, const char *expected)
{
	ck_assert_msg((found == NULL) == (expected == NULL) &&
	        (found == NULL || strcmp(found, expected) == 0),
	    "%s: %s is %s and not %s", name, what,
	    found != NULL ? found : "(none)",
	    expected != NULL ? expected : "(none)");
}

START_TEST(parsed)
{
	struct rpc_message message;
	struct err err = {0};
	int status =
	    rpc_parse(&message, good[_i].json, strlen(good[_i].json), &err);

	ck_assert_msg(status == 0, "%s: %s", good[_i].name, err.message);
	ck_assert_int_eq(err.code, ERR_NONE);
	ck_assert_msg(message.kind == good[_i].kind, "%s: kind %d",
	    good[_i].name, message.kind);
	assert_same(good[_i].name, "the id", message.id, good[_i].id);
	assert_same(
	    good[_i].name, "the method", message.method, good[_i].method);
	ck_assert_msg((message.params != NULL) == good[_i].params, "%s: params",
	    good[_i].name);
	rpc_message_release(&message);
}
END_TEST

static const struct {
	const char *name;
	const char *json;
	size_t length;
	enum err_code code;
	const char *id;
	bool notification; /* must not be answered */
} bad[] = {
    {"nothing", BYTES(""), ERR_PARSE, NULL, false},
    {"white space", BYTES("  "), ERR_PARSE, NULL, false},
    {"a word", BYTES("hello"), ERR_PARSE, NULL, false},
    {"half a message", BYTES("{\"jsonrpc\":\"2.0\",\"id\":1,"), ERR_PARSE, NULL,
        false},
    {"something behind it",
        BYTES("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"} {}"), ERR_PARSE,
        NULL, false},
    {"a trailing comma", BYTES("{\"jsonrpc\":\"2.0\",}"), ERR_PARSE, NULL,
        false},
    {"a comment", BYTES("/* */{}"), ERR_PARSE, NULL, false},
    {"single quotes", BYTES("{'jsonrpc':'2.0'}"), ERR_PARSE, NULL, false},
    {"NaN", BYTES("{\"id\":NaN}"), ERR_PARSE, NULL, false},
    {"a byte order mark",
        BYTES("\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}"),
        ERR_PARSE, NULL, false},
    {"invalid UTF-8",
        BYTES("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xFF\"}"), ERR_PARSE,
        NULL, false},
    {"overlong UTF-8",
        BYTES("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xC0\x80\"}"),
        ERR_PARSE, NULL, false},
    {"a surrogate in UTF-8",
        BYTES("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xED\xA0\x80\"}"),
        ERR_PARSE, NULL, false},
    {"half a surrogate pair in escapes, and no JSON",
        BYTES("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\xFF\"}"),
        ERR_PARSE, NULL, false},
    {"NUL in a string",
        BYTES("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\0b\"}"), ERR_PARSE,
        NULL, false},
    {"NUL behind the message",
        BYTES("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\0"), ERR_PARSE,
        NULL, false},
    {"only NUL", BYTES("\0\0"), ERR_PARSE, NULL, false},
    {"a control character in a string",
        BYTES("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\tb\"}"), ERR_PARSE,
        NULL, false},
    {"a number", BYTES("1"), ERR_REQUEST, NULL, false},
    {"a string", BYTES("\"ping\""), ERR_REQUEST, NULL, false},
    {"null", BYTES("null"), ERR_REQUEST, NULL, false},
    {"an empty array", BYTES("[]"), ERR_REQUEST, NULL, false},
    {"a batch", BYTES("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]"),
        ERR_REQUEST, NULL, false},
    {"id null", BYTES("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}"),
        ERR_REQUEST, NULL, false},
    {"id a fraction",
        BYTES("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"x\"}"), ERR_REQUEST,
        NULL, false},
    {"id a float that is whole",
        BYTES("{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"x\"}"), ERR_REQUEST,
        NULL, false},
    {"id past all integers",
        BYTES("{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999999,"
              "\"method\":\"x\"}"),
        ERR_REQUEST, NULL, false},
    {"id true", BYTES("{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"x\"}"),
        ERR_REQUEST, NULL, false},
    {"id an object", BYTES("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}"),
        ERR_REQUEST, NULL, false},
    {"id an array", BYTES("{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"x\"}"),
        ERR_REQUEST, NULL, false},
    {"jsonrpc missing", BYTES("{\"id\":1,\"method\":\"x\"}"), ERR_REQUEST, "1",
        false},
    {"jsonrpc 1.0", BYTES("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"x\"}"),
        ERR_REQUEST, "1", false},
    {"jsonrpc a number", BYTES("{\"jsonrpc\":2.0,\"id\":1,\"method\":\"x\"}"),
        ERR_REQUEST, "1", false},
    {"method missing", BYTES("{\"jsonrpc\":\"2.0\",\"id\":1}"), ERR_REQUEST,
        "1", false},
    {"method a number",
        BYTES("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":1}"), ERR_REQUEST,
        "\"a\"", false},
    {"method null", BYTES("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":null}"),
        ERR_REQUEST, "1", false},
    {"params an array",
        BYTES("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[]}"),
        ERR_PARAMS, "1", false},
    {"params a string",
        BYTES("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\","
              "\"params\":\"\"}"),
        ERR_PARAMS, "1", false},
    {"params of a notification an array",
        BYTES("{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":[]}"),
        ERR_PARAMS, NULL, true},
    {"jsonrpc of a notification missing", BYTES("{\"method\":\"x\"}"),
        ERR_REQUEST, NULL, true},
};

START_TEST(refused)
{
	struct rpc_message message;
	struct err err = {0};
	int status = rpc_parse(&message, bad[_i].json, bad[_i].length, &err);

	ck_assert_msg(status == -1, "%s: taken", bad[_i].name);
	ck_assert_msg(err.code == bad[_i].code, "%s: code %d: %s", bad[_i].name,
	    err.code, err.message);
	assert_same(bad[_i].name, "the id", message.id, bad[_i].id);
	ck_assert_msg(
	    (message.kind == RPC_NOTIFICATION) == bad[_i].notification,
	    "%s: kind %d", bad[_i].name, message.kind);
	ck_assert(is_utf8(err.message, strlen(err.message)));
	rpc_message_release(&message);
}
END_TEST

/* A message whose params nest so deep, the two outer objects included. */
static void
nested(struct text *text, int depth, const char *open, const char *close)
{
	text_addf(text,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\","
	    "\"params\":{\"a\":");
	for (int i = 2; i < depth; i++)
		text_addf(text, "%s", open);
	text_addf(text, "1");
	for (int i = 2; i < depth; i++)
		text_addf(text, "%s", close);
	text_addf(text, "}}");
}

static const struct {
	const char *open, *close;
} nests[] = {{"[", "]"}, {"{\"a\":", "}"}, {"[{\"]}\":", "}]"}};

START_TEST(depth_up_to_the_limit)
{
	struct text text = {0};
	struct rpc_message message;
	struct err err = {0};
	int levels = _i == 2 ? 2 : 1;

	nested(&text, 2 + 62 / levels, nests[_i].open, nests[_i].close);
	ck_assert_msg(rpc_parse(&message, text.data, text.length, &err) == 0,
	    "%s: %s", nests[_i].open, err.message);
	rpc_message_release(&message);
	text_release(&text);
	nested(&text, 2 + 62 / levels + 1, nests[_i].open, nests[_i].close);
	ck_assert_msg(rpc_parse(&message, text.data, text.length, &err) == -1,
	    "%s: too deep", nests[_i].open);
	ck_assert_int_eq(err.code, ERR_PARSE);
	ck_assert_ptr_nonnull(strstr(err.message, "64"));
	rpc_message_release(&message);
	text_release(&text);
}
END_TEST

START_TEST(brackets_in_strings_are_no_depth)
{
	struct text text = {0};
	struct rpc_message message;
	struct err err = {0};

	text_addf(&text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\\"\\\\");
	for (int i = 0; i < 1000; i++)
		text_addf(&text, "[{\\\"[");
	text_addf(&text, "\"}");
	ck_assert_msg(rpc_parse(&message, text.data, text.length, &err) == 0,
	    "%s", err.message);
	rpc_message_release(&message);
	text_release(&text);
}
END_TEST

START_TEST(a_million_brackets)
{
	size_t length = 1000000;
	char *data = xcalloc(1, length);
	struct rpc_message message;
	struct err err = {0};

	memset(data, '[', length);
	ck_assert_int_eq(rpc_parse(&message, data, length, &err), -1);
	ck_assert_int_eq(err.code, ERR_PARSE);
	rpc_message_release(&message);
	free(data);
}
END_TEST

START_TEST(data_need_not_end_in_nul)
{
	static const char json[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}";
	size_t length = sizeof(json) - 1;
	char *data = malloc(length);
	struct rpc_message message;
	struct err err = {0};

	ck_assert_ptr_nonnull(data);
	memcpy(data, json, length);
	ck_assert_int_eq(rpc_parse(&message, data, length, &err), 0);
	ck_assert_mem_eq(data, json, length);
	free(data);
	/* It keeps nothing of what it was given. */
	ck_assert_str_eq(message.method, "x");
	rpc_message_release(&message);
}
END_TEST

static void
assert_text(char *text, size_t length, const char *expected)
{
	ck_assert_ptr_nonnull(text);
	ck_assert_str_eq(text, expected);
	ck_assert_uint_eq(length, strlen(expected));
	free(text);
}

START_TEST(result_text)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *result = yyjson_mut_obj(doc);
	size_t length;
	char *text;

	yyjson_mut_obj_add_str(doc, result, "a", "line\nline");
	text = rpc_result("\"x\\\"y\"", doc, result, &length);
	assert_text(text, length,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"x\\\"y\","
	    "\"result\":{\"a\":\"line\\nline\"}}");
	yyjson_mut_doc_free(doc);
}
END_TEST

START_TEST(notification_text)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *params = yyjson_mut_obj(doc);
	size_t length;
	char *text;

	yyjson_mut_obj_add_int(doc, params, "a", 1);
	text = rpc_notification("n/x", doc, params, &length);
	assert_text(text, length,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"n/x\",\"params\":{\"a\":1}}");
	yyjson_mut_doc_free(doc);
}
END_TEST

static const struct {
	enum err_code code;
	int number;
} numbers[] = {
    {ERR_PARSE, -32700},
    {ERR_REQUEST, -32600},
    {ERR_METHOD, -32601},
    {ERR_PARAMS, -32602},
    {ERR_RESOURCE, -32002},
    {ERR_META, -32602},
    {ERR_HEADER, -32020},
    {ERR_CAPABILITY, -32021},
    {ERR_VERSION, -32022},
    {ERR_INTERNAL, -32603},
    {ERR_SYSTEM, -32603},
    {ERR_ENGINE, -32603},
};

START_TEST(error_with_an_id)
{
	struct err err;
	size_t length;
	char *text, *expected;

	err_set(&err, numbers[_i].code, "why \"this\"\n");
	text = rpc_error("0", &err, NULL, &length);
	expected =
	    xasprintf("{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{"
	              "\"code\":%d,\"message\":\"why \\\"this\\\"\\n\"}}",
	        numbers[_i].number);
	assert_text(text, length, expected);
	free(expected);
}
END_TEST

START_TEST(error_without_an_id)
{
	struct err err;
	size_t length;
	char *text;

	err_set(&err, ERR_PARSE, "x");
	text = rpc_error(NULL, &err, NULL, &length);
	assert_text(text, length,
	    "{\"jsonrpc\":\"2.0\","
	    "\"error\":{\"code\":-32700,\"message\":\"x\"}}");
}
END_TEST

START_TEST(error_with_data)
{
	struct err err;
	size_t length;
	char *text;

	err_set(&err, ERR_VERSION, "x");
	text = rpc_error("1", &err, "{\"a\":[1]}", &length);
	assert_text(text, length,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32022,"
	    "\"message\":\"x\",\"data\":{\"a\":[1]}}}");
}
END_TEST

START_TEST(error_with_a_cut_message_is_still_json)
{
	struct err err;
	struct text words = {0};
	size_t length;
	char *text;

	while (words.length < 2 * sizeof(err.message))
		text_addf(&words, "\xE2\x82\xAC");
	err_set(&err, ERR_INTERNAL, "%s", words.data);
	text = rpc_error("1", &err, NULL, &length);
	ck_assert_ptr_nonnull(text);
	assert_json(text, "/error/code", "-32603");
	free(text);
	text_release(&words);
}
END_TEST

START_TEST(id_text_of_what_is_no_id)
{
	static const char json[] = "[null,true,1.5,{},[]]";
	yyjson_doc *doc = yyjson_read(json, sizeof(json) - 1, 0);

	for (size_t i = 0; i < 5; i++)
		ck_assert_ptr_null(
		    rpc_id_text(yyjson_arr_get(yyjson_doc_get_root(doc), i)));
	ck_assert_ptr_null(rpc_id_text(NULL));
	yyjson_doc_free(doc);
}
END_TEST

Suite *
rpc_suite(void)
{
	Suite *suite = suite_create("rpc");
	TCase *tcase = tcase_create("rpc");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_loop_test(tcase, parsed, 0, COUNT(good));
	tcase_add_loop_test(tcase, refused, 0, COUNT(bad));
	tcase_add_loop_test(tcase, depth_up_to_the_limit, 0, COUNT(nests));
	tcase_add_test(tcase, brackets_in_strings_are_no_depth);
	tcase_add_test(tcase, a_million_brackets);
	tcase_add_test(tcase, data_need_not_end_in_nul);
	tcase_add_test(tcase, result_text);
	tcase_add_test(tcase, notification_text);
	tcase_add_loop_test(tcase, error_with_an_id, 0, COUNT(numbers));
	tcase_add_test(tcase, error_without_an_id);
	tcase_add_test(tcase, error_with_data);
	tcase_add_test(tcase, error_with_a_cut_message_is_still_json);
	tcase_add_test(tcase, id_text_of_what_is_no_id);
	suite_add_tcase(suite, tcase);
	return suite;
}
