#include "transport/http_mirror.h"

#include <string.h>

#include "helpers.h"
#include "suites.h"

#define REVISION "2026-07-28"

static const struct mirrored_argument region = {
    "query", "region", "Mcp-Param-Region"};

/* A call of the tool with these arguments, as members of an object. */
static void
parse_call(struct rpc_message *message, const char *tool, const char *arguments)
{
	struct text text = {0};
	struct err err;

	text_addf(&text,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
	    "\"params\":{\"name\":\"%s\",\"arguments\":{%s}}}",
	    tool, arguments);
	ck_assert_int_eq(rpc_parse(message, text.data, text.length, &err), 0);
	text_release(&text);
}

static const struct {
	const char *name;
	const char *header; /* NULL: it did not come */
	const char *arguments;
	const char *mention; /* of the error; NULL: they agree */
} cases[] = {
    {"the same", "west", "\"region\":\"west\"", NULL},
    {"with blanks around it", " west\t", "\"region\":\"west\"", NULL},
    {"encoded", "=?base64?SGVsbG8=?=", "\"region\":\"Hello\"", NULL},
    {"half encoded is as it is",
        "=?base64?SGVsbG8=", "\"region\":\"=?base64?SGVsbG8=\"", NULL},
    {"encoded, but badly", "=?base64?SGVsbG8?=", "\"region\":\"Hello\"",
        "does not say"},
    {"another", "east", "\"region\":\"west\"", "does not say"},
    {"in capitals", "WEST", "\"region\":\"west\"", "does not say"},
    {"missing", NULL, "\"region\":\"west\"", "is missing"},
    {"empty", "", "\"region\":\"\"", NULL},
    {"behind a NUL", "west", "\"region\":\"west\\u0000x\"", "does not say"},
    {"missing, of a text with a NUL", NULL, "\"region\":\"\\u0000\"",
        "is missing"},
    {"of an argument that is not there", "west", "", "does not say"},
    {"of null", "null", "\"region\":null", "does not say"},
    {"nothing of nothing", NULL, "", NULL},
    {"nothing of null", NULL, "\"region\":null", NULL},
    {"nothing of a list", NULL, "\"region\":[1]", NULL},
    {"a list", "[1]", "\"region\":[1]", "does not say"},
    {"a number", "42", "\"region\":42", NULL},
    {"a number with zeros behind it", "42.0", "\"region\":42", NULL},
    {"a number whose body has zeros", "-7", "\"region\":-7.00", NULL},
    {"a number that is another", "42.5", "\"region\":42", "does not say"},
    {"a large number", "9007199254740993", "\"region\":9007199254740992",
        "does not say"},
    {"true", "true", "\"region\":true", NULL},
    {"not true", "false", "\"region\":true", "does not say"},
    {"a text that has zeros", "1.0", "\"region\":\"1\"", "does not say"},
};

START_TEST(argument_is_repeated)
{
	struct rpc_message message;
	struct err err = {0};
	int status;

	parse_call(&message, "query", cases[_i].arguments);
	status = http_mirror_check_argument(
	    &region, cases[_i].header, &message, &err);
	ck_assert_msg(status == (cases[_i].mention != NULL ? -1 : 0),
	    "%s: %d, %s", cases[_i].name, status, err.message);
	if (cases[_i].mention != NULL) {
		ck_assert_int_eq(err.code, ERR_HEADER);
		ck_assert_ptr_nonnull(strstr(err.message, cases[_i].mention));
		ck_assert_ptr_nonnull(strstr(err.message, "Mcp-Param-Region"));
	}
	rpc_message_release(&message);
}
END_TEST

START_TEST(other_tools_are_left_alone)
{
	struct rpc_message message;
	struct err err;

	parse_call(&message, "other", "\"region\":\"west\"");
	ck_assert_int_eq(
	    http_mirror_check_argument(&region, "east", &message, &err), 0);
	ck_assert_int_eq(
	    http_mirror_check_argument(&region, NULL, &message, &err), 0);
	rpc_message_release(&message);
}
END_TEST

static const struct {
	struct http_mirror mirror;
	bool agrees;
} calls[] = {
    {{REVISION, "tools/call", "query"}, true},
    {{REVISION, "tools/call", "=?base64?cXVlcnk=?="}, true},
    {{REVISION, "=?base64?dG9vbHMvY2FsbA==?=", "query"}, false},
    {{REVISION, "tools/call", "other"}, false},
    {{REVISION, "tools/list", "query"}, false},
    {{"2025-11-25", "tools/call", "query"}, false},
    {{REVISION, "tools/call", NULL}, false},
    {{REVISION, NULL, "query"}, false},
    {{NULL, "tools/call", "query"}, false},
};

START_TEST(call_is_repeated)
{
	struct rpc_message message;
	struct err err;
	int status;

	parse_call(&message, "query", "");
	status = http_mirror_check(&calls[_i].mirror, &message, REVISION, &err);
	ck_assert_int_eq(status, calls[_i].agrees ? 0 : -1);
	if (status != 0)
		ck_assert_int_eq(err.code, ERR_HEADER);
	rpc_message_release(&message);
}
END_TEST

Suite *
http_mirror_suite(void)
{
	Suite *suite = suite_create("http_mirror");
	TCase *tcase = tcase_create("http_mirror");

	tcase_add_loop_test(tcase, argument_is_repeated, 0, (int)COUNT(cases));
	tcase_add_test(tcase, other_tools_are_left_alone);
	tcase_add_loop_test(tcase, call_is_repeated, 0, (int)COUNT(calls));
	suite_add_tcase(suite, tcase);
	return suite;
}
