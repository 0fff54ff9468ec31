#include "mcp/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "helpers.h"
#include "mcp_world.h"
#include "suites.h"

/* Calls that run, on a stand-in for an engine. */

START_TEST(call_prints)
{
	initialize("2025-06-18");
	receive(CALL("1", "run_python_code", "{\"code\":\"show hello\"}"));
	wait_sent(2);
	assert_json(LAST, "/id", "1");
	assert_json(LAST, "/result/content",
	    "[{\"type\":\"text\",\"text\":\"hello\"}]");
	assert_json(LAST, "/result/isError", "false");
	assert_json(LAST, "/result/structuredContent/exit_code", "0");
	assert_json(LAST, "/result/structuredContent/stdout", "\"hello\\n\"");
	assert_json(LAST, "/result/structuredContent/timed_out", "false");
}
END_TEST

START_TEST(call_fails)
{
	initialize("2025-11-25");
	receive(CALL("1", "run_python_code", "{\"code\":\"exit 3\"}"));
	wait_sent(2);
	assert_json(LAST, "/result/isError", "false");
	assert_json(LAST, "/result/structuredContent/exit_code", "3");
	assert_json(LAST, "/result/structuredContent/stderr", "\"oops\\n\"");
}
END_TEST

START_TEST(call_times_out)
{
	initialize("2025-06-18");
	receive(CALL("1", "run_python_code",
	    "{\"code\":\"wait\",\"timeout_seconds\":1}"));
	wait_sent(2);
	assert_json(LAST, "/result/structuredContent/timed_out", "true");
	assert_json(LAST, "/result/structuredContent/exit_code", "null");
	assert_json(LAST, "/result/isError", "false");
}
END_TEST

START_TEST(ping_during_a_call)
{
	receive(CALL("1", "run_python_code", "{\"code\":\"wait\"}"));
	loop_for(world.base, 300);
	ask("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
	assert_json(LAST, "/id", "2");
}
END_TEST

START_TEST(call_is_cancelled)
{
	receive(CALL("1", "run_python_code", "{\"code\":\"wait\"}"));
	loop_for(world.base, 300);
	receive("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	        "\"params\":{\"requestId\":1}}");
	/* Its id is free again, and the next call is served. */
	receive(CALL("1", "run_python_code", "{\"code\":\"show next\"}"));
	wait_sent(1);
	loop_for(world.base, 100);
	ck_assert_uint_eq(world.sent.count, 1);
	assert_json(LAST, "/result/content/0/text", "\"next\"");
}
END_TEST

/* Two run, the others wait, and all are answered. */
START_TEST(calls_beyond_the_limit)
{
	for (int i = 0; i < 6; i++) {
		char *message = xasprintf(
		    CALL("%d", "run_python_code", "{\"code\":\"show %d\"}"), i,
		    i);

		receive(message);
		free(message);
	}
	wait_sent(6);
	for (int i = 0; i < 6; i++) {
		char id[16], text[16];

		snprintf(id, sizeof(id), "%d", i);
		snprintf(text, sizeof(text), "\"%d\"", i);
		ck_assert_ptr_nonnull(answer_to(id));
		assert_json(answer_to(id), "/result/content/0/text", text);
	}
}
END_TEST

static size_t
progress_count(const char *token, const char *mention)
{
	size_t count = 0;

	for (size_t i = 0; i < world.sent.count; i++) {
		char *own =
		    json_at(world.sent.items[i], "/params/progressToken");
		char *words = json_at(world.sent.items[i], "/params/message");

		count +=
		    strcmp(own, token) == 0 && strstr(words, mention) != NULL;
		free(own);
		free(words);
	}
	return count;
}

#define CALL_WITH_TOKEN(token, tool, code) \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"," \
	"\"params\":{\"_meta\":{\"progressToken\":" token "}," \
	"\"name\":\"" tool "\",\"arguments\":{\"code\":\"" code "\"}}}"

START_TEST(pull_is_told)
{
	long long deadline = milliseconds_now() + PATIENCE_SECONDS * 500;

	receive(CALL_WITH_TOKEN("\"t\"", "run_js_code", "show pulled"));
	while (answer_to("1") == NULL && milliseconds_now() < deadline)
		loop_for(world.base, 10);
	ck_assert_ptr_nonnull(answer_to("1"));
	assert_json(answer_to("1"), "/result/content/0/text", "\"pulled\"");
	ck_assert_uint_ge(progress_count("\"t\"", "pulling image missing"), 1);
	ck_assert_uint_ge(progress_count("\"t\"", "layer done"), 1);
	ck_assert_msg(progress_count("\"t\"", "copying") >= 1,
	    "a line with a bad byte was lost");
	/* Nothing comes behind the result. */
	ck_assert_str_eq(LAST, answer_to("1"));
}
END_TEST

START_TEST(progress_of_a_long_call)
{
	receive(CALL_WITH_TOKEN("9", "run_python_code", "wait"));
	wait_sent(2);
	assert_json(
	    world.sent.items[0], "/method", "\"notifications/progress\"");
	assert_json(world.sent.items[0], "/params/progressToken", "9");
	assert_json(world.sent.items[0], "/params/progress", "1");
	assert_json(world.sent.items[1], "/params/progress", "2");
}
END_TEST

static const char *const bad_tokens[] = {
    CALL_WITH_TOKEN("null", "run_js_code", "show x"),
    CALL_WITH_TOKEN("1.5", "run_js_code", "show x"),
    CALL_WITH_TOKEN("{}", "run_js_code", "show x"),
    CALL("1", "run_js_code", "{\"code\":\"show x\"}"),
};

START_TEST(no_progress_without_a_token)
{
	receive(bad_tokens[_i]);
	wait_sent(1);
	loop_for(world.base, 50);
	ck_assert_uint_eq(world.sent.count, 1);
	assert_json(LAST, "/id", "1");
}
END_TEST

Suite *
calls_suite(void)
{
	Suite *suite = suite_create("calls");
	TCase *tcase = tcase_create("calls");

	tcase_set_timeout(tcase, 2 * PATIENCE_SECONDS);
	tcase_add_checked_fixture(
	    tcase, world_set_up_fake, world_tear_down_fake);
	tcase_add_test(tcase, call_prints);
	tcase_add_test(tcase, call_fails);
	tcase_add_test(tcase, call_times_out);
	tcase_add_test(tcase, ping_during_a_call);
	tcase_add_test(tcase, call_is_cancelled);
	tcase_add_test(tcase, calls_beyond_the_limit);
	tcase_add_test(tcase, pull_is_told);
	tcase_add_test(tcase, progress_of_a_long_call);
	tcase_add_loop_test(
	    tcase, no_progress_without_a_token, 0, COUNT(bad_tokens));
	suite_add_tcase(suite, tcase);
	return suite;
}
