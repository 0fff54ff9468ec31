#include "mcp/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "helpers.h"
#include "mcp_world.h"
#include "suites.h"

/* Batches, which one revision has. */

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define NOTIFICATION "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}"

START_TEST(batch_of_pings)
{
	initialize("2025-03-26");
	ck_assert_str_eq(ask("[" PING("1") "," NOTIFICATION "," PING("2") "]"),
	    "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},"
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}]");
}
END_TEST

/* Over HTTP such a message is held against its headers. */
START_TEST(batch_with_a_modern_message)
{
	initialize("2025-03-26");
	ask("[" PING(
	    "1") ",{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\","
	         "\"params\":{\"_meta\":{"
	         "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
	         "\"io.modelcontextprotocol/clientCapabilities\":{}}}}]");
	assert_json(LAST, "/0/result", "{}");
	assert_json(LAST, "/1/id", "2");
	assert_json(LAST, "/1/error/code", "-32600");
}
END_TEST

START_TEST(batch_of_notifications_is_not_answered)
{
	initialize("2025-03-26");
	receive("[" NOTIFICATION "," NOTIFICATION "]");
	ck_assert_uint_eq(world.sent.count, 1);
}
END_TEST

START_TEST(batch_of_nothing)
{
	initialize("2025-03-26");
	ask("[]");
	assert_json(LAST, "/error/code", "-32600");
}
END_TEST

START_TEST(batch_of_garbage)
{
	initialize("2025-03-26");
	ask("[1,[],{\"id\":7}]");
	assert_json(LAST, "/0/error/code", "-32600");
	assert_json(LAST, "/1/error/code", "-32600");
	assert_json(LAST, "/2/id", "7");
	assert_json(LAST, "/3", "(none)");
}
END_TEST

START_TEST(batch_waits_for_its_calls)
{
	initialize("2025-03-26");
	receive(
	    "[" CALL("1", "run_js_code", "{\"code\":\"x\"}") "," PING("2") "]");
	ck_assert_msg(
	    world.sent.count == 1, "answered before its call was over");
	wait_sent(2);
	assert_json(LAST, "/0/id", "2");
	assert_json(LAST, "/1/id", "1");
	assert_json(LAST, "/2", "(none)");
}
END_TEST

START_TEST(batch_whose_call_is_cancelled)
{
	initialize("2025-03-26");
	receive(
	    "[" CALL("1", "run_js_code", "{\"code\":\"x\"}") "," PING("2") "]");
	receive("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	        "\"params\":{\"requestId\":1}}");
	ck_assert_uint_eq(world.sent.count, 2);
	assert_json(LAST, "/0/id", "2");
	assert_json(LAST, "/1", "(none)");
}
END_TEST

/* Each is answered, although it looks like a response: were it not counted,
 * the batch would be sent, and its memory given back, while its call is still
 * under way. */
static const char *const miscounted[] = {
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"result\":{}}",
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"error\":{}}",
    "{\"id\":2,\"result\":{}}",
};

START_TEST(batch_counts_what_it_answers)
{
	char *message = xasprintf("[%s,%s]", miscounted[_i],
	    CALL("1", "run_js_code", "{\"code\":\"x\"}"));

	initialize("2025-03-26");
	receive(message);
	free(message);
	ck_assert_msg(world.sent.count == 1, "sent before its call was over");
	wait_sent(2);
	loop_for(world.base, 50);
	ck_assert_uint_eq(world.sent.count, 2);
	ck_assert_ptr_nonnull(strstr(LAST, "\"id\":1"));
}
END_TEST

static const struct {
	size_t items;
	const char *error;
} batch_sizes[] = {{100, "(none)"}, {101, "-32600"}};

START_TEST(batch_has_an_end)
{
	struct text message = {0};

	text_add(&message, "[", 1);
	for (size_t i = 1; i < batch_sizes[_i].items; i++)
		text_addf(&message, "%s,", PING("1"));
	text_addf(&message, "%s]", PING("1"));
	initialize("2025-03-26");
	ask(text_string(&message));
	text_release(&message);
	assert_json(LAST, "/error/code", batch_sizes[_i].error);
}
END_TEST

START_TEST(batch_of_long_answers)
{
	size_t length = (size_t)40 * 1024 * 1024;
	char *answer = xcalloc(1, length);
	struct batch *batch = batch_new(&world_outlet);
	struct outlet part;

	memset(answer, '1', length);
	batch_outlet(batch, &part);
	for (int i = 0; i < 3; i++)
		batch_expect(batch);
	batch_close(batch);
	for (int i = 0; i < 3; i++)
		part.reply(part.arg, answer, length, ERR_NONE);
	free(answer);
	ck_assert_uint_eq(world.sent.count, 1);
	assert_json(LAST, "/error/code", "-32603");
	assert_json(LAST, "/id", "(none)");
}
END_TEST

static const char *const no_batches[] = {
    "2024-11-05", "2025-06-18", "2025-11-25"};

START_TEST(no_batches_in_other_revisions)
{
	initialize(no_batches[_i]);
	ask("[" PING("1") "]");
	assert_json(LAST, "/error/code", "-32600");
	assert_json(LAST, "/id", "(none)");
}
END_TEST

Suite *
batch_suite(void)
{
	Suite *suite = suite_create("batch");
	TCase *tcase = tcase_create("batch");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_checked_fixture(tcase, world_set_up, world_tear_down);
	tcase_add_test(tcase, batch_of_pings);
	tcase_add_test(tcase, batch_with_a_modern_message);
	tcase_add_test(tcase, batch_of_notifications_is_not_answered);
	tcase_add_test(tcase, batch_of_nothing);
	tcase_add_test(tcase, batch_of_garbage);
	tcase_add_test(tcase, batch_waits_for_its_calls);
	tcase_add_test(tcase, batch_whose_call_is_cancelled);
	tcase_add_loop_test(
	    tcase, batch_counts_what_it_answers, 0, COUNT(miscounted));
	tcase_add_loop_test(tcase, batch_has_an_end, 0, COUNT(batch_sizes));
	tcase_add_test(tcase, batch_of_long_answers);
	tcase_add_loop_test(
	    tcase, no_batches_in_other_revisions, 0, COUNT(no_batches));
	suite_add_tcase(suite, tcase);
	return suite;
}
