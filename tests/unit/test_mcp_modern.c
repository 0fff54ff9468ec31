#include "mcp_world.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "helpers.h"
#include "mcp/reply.h"
#include "mcp/revision.h"
#include "suites.h"

/* The newest revision: each request stands for itself. */

#define META(version, capabilities) \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":" version "," \
	"\"io.modelcontextprotocol/clientCapabilities\":" capabilities "}"
#define MODERN(id, method, params) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"," \
	"\"params\":{" META("\"2026-07-28\"", "{}") params "}}"
#define TASKS "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}"
#define WITH_TASKS(id, method, params) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"," \
	"\"params\":{" META("\"2026-07-28\"", TASKS) params "}}"

START_TEST(modern_discover)
{
	ask(MODERN("1", "server/discover", ""));
	assert_json(LAST, "/result/supportedVersions",
	    "[\"2026-07-28\",\"2025-11-25\",\"2025-06-18\",\"2025-03-26\","
	    "\"2024-11-05\"]");
	assert_json(LAST, "/result/capabilities/tools", "{}");
	assert_json(LAST, "/result/resultType", "\"complete\"");
}
END_TEST

static const struct {
	const char *message;
	bool cacheable;
} modern_results[] = {
    {MODERN("1", "server/discover", ""), true},
    {MODERN("1", "tools/list", ""), true},
    {MODERN("1", "resources/list", ""), true},
    {MODERN("1", "resources/templates/list", ""), true},
    {MODERN("1", "resources/read", ",\"uri\":\"sandbox://environments\""),
        true},
    {MODERN("1", "tools/list", ",\"cursor\":null"), true},
    {MODERN("1", "tools/call", ",\"name\":\"run_js_code\""), false},
};

START_TEST(modern_result_fields)
{
	char *ttl, *scope;

	ask(modern_results[_i].message);
	assert_json(LAST, "/result/resultType", "\"complete\"");
	assert_json(LAST,
	    "/result/_meta/io.modelcontextprotocol~1serverInfo/name",
	    "\"code-sandbox\"");
	ttl = json_at(LAST, "/result/ttlMs");
	scope = json_at(LAST, "/result/cacheScope");
	ck_assert_int_eq(
	    strcmp(ttl, "(none)") != 0, modern_results[_i].cacheable);
	ck_assert_int_eq(
	    strcmp(scope, "(none)") != 0, modern_results[_i].cacheable);
	free(ttl);
	free(scope);
}
END_TEST

START_TEST(legacy_results_have_no_modern_fields)
{
	initialize("2025-11-25");
	ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
	assert_json(LAST, "/result/resultType", "(none)");
	assert_json(LAST, "/result/ttlMs", "(none)");
	assert_json(LAST, "/result/_meta", "(none)");
}
END_TEST

/* What one client says in the old way does not change what it says in the
 * new, and the other way round. */
START_TEST(eras_side_by_side)
{
	initialize("2024-11-05");
	ask(MODERN("1", "tools/list", ""));
	assert_json(LAST, "/result/tools/0/title", "\"Run Python code\"");
	ask("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}");
	assert_json(LAST, "/result/tools/0/title", "(none)");
}
END_TEST

static const struct {
	const char *name;
	const char *message;
	const char *code;
} modern_errors[] = {
    {"ping", MODERN("1", "ping", ""), "-32601"},
    {"initialize",
        MODERN("1", "initialize", ",\"protocolVersion\":\"2025-11-25\""),
        "-32601"},
    {"unknown method", MODERN("1", "x/y", ""), "-32601"},
    {"unknown resource", MODERN("1", "resources/read", ",\"uri\":\"x://y\""),
        "-32602"},
    {"resource with a NUL in it",
        MODERN("1", "resources/read",
            ",\"uri\":\"sandbox://environments\\u0000\""),
        "-32602"},
    {"a file of no session",
        MODERN("1", "resources/read", ",\"uri\":\"sandbox://session/x/a\""),
        "-32602"},
    {"unknown tool", MODERN("1", "tools/call", ",\"name\":\"x\""), "-32602"},
    {"cursor", MODERN("1", "tools/list", ",\"cursor\":\"x\""), "-32602"},
    {"no capabilities",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{"
        "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
        "\"2026-07-28\"}}}",
        "-32602"},
    {"capabilities an array",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
        "list\",\"params\":{" META("\"2026-07-28\"", "[]") "}}",
        "-32602"},
    {"unknown version",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
        "list\",\"params\":{" META("\"2030-01-01\"", "{}") "}}",
        "-32022"},
    {"a version that is a number",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
        "list\",\"params\":{" META("20260728", "{}") "}}",
        "-32602"},
    {"a version that is null",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
        "list\",\"params\":{" META("null", "{}") "}}",
        "-32602"},
    {"a version of the old era",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
        "list\",\"params\":{" META("\"2025-11-25\"", "{}") "}}",
        "-32022"},
    {"tasks without the capability",
        MODERN("1", "tasks/get", ",\"taskId\":\"x\""), "-32021"},
    {"unknown task", WITH_TASKS("1", "tasks/get", ",\"taskId\":\"x\""),
        "-32602"},
    {"task of a number", WITH_TASKS("1", "tasks/cancel", ",\"taskId\":1"),
        "-32602"},
    {"no task named", WITH_TASKS("1", "tasks/update", ""), "-32602"},
    {"subscription without wishes", MODERN("1", "subscriptions/listen", ""),
        "-32602"},
};

START_TEST(modern_error_answers)
{
	char *code;

	ask(modern_errors[_i].message);
	code = json_at(LAST, "/error/code");
	ck_assert_msg(strcmp(code, modern_errors[_i].code) == 0, "%s: %s",
	    modern_errors[_i].name, LAST);
	assert_json(LAST, "/id", "1");
	free(code);
}
END_TEST

START_TEST(unsupported_version_names_the_supported)
{
	ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
	    "\"params\":{" META("\"2030-01-01\"", "{}") "}}");
	assert_json(LAST, "/error/data/requested", "\"2030-01-01\"");
	assert_json(LAST, "/error/data/supported/0", "\"2026-07-28\"");
}
END_TEST

START_TEST(missing_capability_is_named)
{
	ask(MODERN("1", "tasks/get", ",\"taskId\":\"x\""));
	assert_json(LAST, "/error/data/requiredCapabilities", TASKS);
}
END_TEST

#define LISTEN(id) MODERN(id, "subscriptions/listen", ",\"notifications\":{}")

START_TEST(subscription_is_acknowledged_first)
{
	receive(LISTEN("\"s\""));
	ck_assert_uint_eq(world.sent.count, 1);
	assert_json(
	    LAST, "/method", "\"notifications/subscriptions/acknowledged\"");
	assert_json(LAST,
	    "/params/_meta/io.modelcontextprotocol~1subscriptionId", "\"s\"");
	/* Its response is its end. */
	mcp_client_free(world.client);
	world.client = NULL;
	ck_assert_uint_eq(world.sent.count, 2);
	assert_json(LAST, "/id", "\"s\"");
	assert_json(LAST, "/result/resultType", "\"complete\"");
}
END_TEST

/* The outlet must hear that no response will come: over HTTP a connection
 * waits for it. */
START_TEST(cancelled_subscription_drops_its_outlet)
{
	receive(LISTEN("1"));
	receive("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	        "\"params\":{\"requestId\":1}}");
	ck_assert_uint_eq(world.sent.count, 1);
	ck_assert_msg(
	    world.dropped == 1, "drop() was called %d times", world.dropped);
}
END_TEST

START_TEST(subscription_has_an_id_of_its_own)
{
	receive(LISTEN("1"));
	ck_assert_uint_eq(world.sent.count, 1);
	ask(LISTEN("1"));
	assert_json(LAST, "/error/code", "-32600");
	ask(MODERN("1", "tools/call",
	    ",\"name\":\"run_js_code\",\"arguments\":{\"code\":\"x\"}"));
	assert_json(LAST, "/error/code", "-32600");
	receive(MODERN("2", "tools/call",
	    ",\"name\":\"run_js_code\",\"arguments\":{\"code\":\"x\"}"));
	ask(LISTEN("2"));
	assert_json(LAST, "/error/code", "-32600");
}
END_TEST

START_TEST(subscriptions_are_bounded)
{
	for (int i = 0; i < 64; i++) {
		char *message = xasprintf(LISTEN("%d"), i);

		receive(message);
		free(message);
	}
	ask(LISTEN("64"));
	assert_json(LAST, "/error/code", "-32600");
}
END_TEST

START_TEST(modern_disconnect_cancels)
{
	receive(MODERN("1", "tools/call",
	    ",\"name\":\"run_js_code\",\"arguments\":{\"code\":\"x\"}"));
	mcp_client_disconnect(world.client, &world.sent);
	loop_for(world.base, 100);
	ck_assert_uint_eq(world.sent.count, 0);
}
END_TEST

START_TEST(disconnect_of_another_outlet)
{
	receive(MODERN("1", "tools/call",
	    ",\"name\":\"run_js_code\",\"arguments\":{\"code\":\"x\"}"));
	mcp_client_disconnect(world.client, &world.dropped);
	wait_sent(1);
	assert_json(LAST, "/id", "1");
}
END_TEST

/* What is to be JSON is cleaned long before; if it ever is not, the client
 * must not wait for ever. */
START_TEST(answer_that_cannot_be_written)
{
	struct reply reply;

	reply_init(&reply);
	yyjson_mut_obj_add_str(reply.doc, reply.result, "text", "\xFF");
	reply_send(&reply, &world_outlet, "7", REVISION_2025_11_25);
	reply_release(&reply);
	assert_json(LAST, "/id", "7");
	assert_json(LAST, "/error/code", "-32603");
}
END_TEST

Suite *
mcp_modern_suite(void)
{
	Suite *suite = suite_create("mcp_modern");
	TCase *tcase = tcase_create("modern");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_checked_fixture(tcase, world_set_up, world_tear_down);
	tcase_add_test(tcase, modern_discover);
	tcase_add_loop_test(
	    tcase, modern_result_fields, 0, COUNT(modern_results));
	tcase_add_test(tcase, legacy_results_have_no_modern_fields);
	tcase_add_test(tcase, eras_side_by_side);
	tcase_add_loop_test(
	    tcase, modern_error_answers, 0, COUNT(modern_errors));
	tcase_add_test(tcase, unsupported_version_names_the_supported);
	tcase_add_test(tcase, missing_capability_is_named);
	tcase_add_test(tcase, subscription_is_acknowledged_first);
	tcase_add_test(tcase, cancelled_subscription_drops_its_outlet);
	tcase_add_test(tcase, subscription_has_an_id_of_its_own);
	tcase_add_test(tcase, subscriptions_are_bounded);
	tcase_add_test(tcase, modern_disconnect_cancels);
	tcase_add_test(tcase, disconnect_of_another_outlet);
	tcase_add_test(tcase, answer_that_cannot_be_written);
	suite_add_tcase(suite, tcase);
	return suite;
}
