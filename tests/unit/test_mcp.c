#include "mcp/mcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "helpers.h"
#include "mcp_world.h"
#include "suites.h"

/* An error says which resource it is about, but not megabytes of it. */
START_TEST(long_uri_is_not_repeated)
{
	static const size_t lengths[] = {100, 1 << 20};

	for (size_t i = 0; i < COUNT(lengths); i++) {
		char *uri = xcalloc(1, lengths[i] + 1), *message, *data;

		memset(uri, 'x', lengths[i]);
		message = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
		                    "\"resources/read\","
		                    "\"params\":{\"uri\":\"%s\"}}",
		    uri);
		ask(message);
		data = json_at(LAST, "/error/data");
		ck_assert_int_eq(strstr(data, uri) != NULL, i == 0);
		ck_assert_uint_lt(strlen(LAST), 1000);
		free(data);
		free(message);
		free(uri);
	}
}
END_TEST

static const struct {
	const char *asked;
	const char *given;
	bool title, icon;
} versions[] = {
    {"2024-11-05", "\"2024-11-05\"", false, false},
    {"2025-03-26", "\"2025-03-26\"", false, false},
    {"2025-06-18", "\"2025-06-18\"", true, false},
    {"2025-11-25", "\"2025-11-25\"", true, true},
    {"2026-07-28", "\"2025-11-25\"", true, true},
    {"2024-10-07", "\"2025-11-25\"", true, true},
    {"", "\"2025-11-25\"", true, true},
    {"nonsense", "\"2025-11-25\"", true, true},
    {"2024-11-05\\u0000x", "\"2025-11-25\"", true, true},
};

START_TEST(initialize_negotiates)
{
	initialize(versions[_i].asked);
	assert_json(LAST, "/id", "\"init\"");
	assert_json(LAST, "/jsonrpc", "\"2.0\"");
	assert_json(LAST, "/result/protocolVersion", versions[_i].given);
	assert_json(LAST, "/result/serverInfo/name", "\"code-sandbox\"");
	assert_json(LAST, "/result/serverInfo/version", "\"" VERSION "\"");
	assert_json(LAST, "/result/serverInfo/title",
	    versions[_i].title ? "\"Code sandbox\"" : "(none)");
	assert_json(LAST, "/result/serverInfo/icons/0/mimeType",
	    versions[_i].icon ? "\"image/svg+xml\"" : "(none)");
	assert_json(
	    LAST, "/result/capabilities", "{\"tools\":{},\"resources\":{}}");
}
END_TEST

START_TEST(what_was_negotiated_is_kept)
{
	initialize("2025-06-18");
	ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
	assert_json(LAST, "/result/tools/0/title", "\"Run Python code\"");
	initialize("2024-11-05");
	ask("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}");
	assert_json(LAST, "/result/tools/0/title", "(none)");
	assert_json(LAST, "/result/tools/0/annotations", "(none)");
}
END_TEST

START_TEST(without_initialize)
{
	ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
	assert_json(LAST, "/result/tools/0/name", "\"run_python_code\"");
	assert_json(LAST, "/result/tools/0/outputSchema", "(none)");
}
END_TEST

START_TEST(ping_is_answered_with_nothing)
{
	ck_assert_str_eq(
	    ask("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}"),
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}");
	ck_assert_str_eq(ask("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":"
	                     "\"ping\",\"params\":{\"_meta\":{\"x\":1}}}"),
	    "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}");
}
END_TEST

START_TEST(tools_are_listed)
{
	ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
	    "\"params\":{}}");
	assert_json(LAST, "/result/tools/0/name", "\"run_python_code\"");
	assert_json(LAST, "/result/tools/1/name", "\"run_js_code\"");
	assert_json(LAST, "/result/tools/2/name", "\"end_session\"");
	assert_json(LAST, "/result/nextCursor", "(none)");
}
END_TEST

START_TEST(resources_are_listed_and_read)
{
	ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}");
	assert_json(
	    LAST, "/result/resources/0/uri", "\"sandbox://environments\"");
	ask("{\"jsonrpc\":\"2.0\",\"id\":2,"
	    "\"method\":\"resources/templates/list\"}");
	assert_json(LAST, "/result/resourceTemplates/0/uriTemplate",
	    "\"sandbox://session/{session}/{+path}\"");
	ask("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/read\","
	    "\"params\":{\"uri\":\"sandbox://environments\"}}");
	assert_json(
	    LAST, "/result/contents/0/uri", "\"sandbox://environments\"");
}
END_TEST

static const struct {
	const char *name;
	const char *message;
	const char *code;
	const char *mention;
} errors[] = {
    {"unknown method", "\"method\":\"bogus/list\"", "-32601", "bogus/list"},
    {"a method of the newest revision, without its _meta",
        "\"method\":\"server/discover\"", "-32602", "server/discover"},
    {"an empty method", "\"method\":\"\"", "-32601", ""},
    {"a method in capitals", "\"method\":\"PING\"", "-32601", "PING"},
    {"a notification as a request", "\"method\":\"notifications/cancelled\"",
        "-32601", ""},
    {"a method that goes on behind a NUL", "\"method\":\"ping\\u0000x\"",
        "-32601", ""},
    {"cursor of tools",
        "\"method\":\"tools/list\",\"params\":{\"cursor\":\"x\"}", "-32602",
        "cursor"},
    {"cursor of resources",
        "\"method\":\"resources/list\",\"params\":{\"cursor\":\"x\"}", "-32602",
        "cursor"},
    {"cursor of templates",
        "\"method\":\"resources/templates/list\",\"params\":{\"cursor\":1}",
        "-32602", "cursor"},
    {"initialize without params", "\"method\":\"initialize\"", "-32602",
        "protocolVersion"},
    {"initialize with a number",
        "\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}",
        "-32602", "protocolVersion"},
    {"unknown resource",
        "\"method\":\"resources/read\",\"params\":{\"uri\":\"file:///x\"}",
        "-32002", "file:///x"},
    {"a resource that goes on behind a NUL",
        "\"method\":\"resources/read\","
        "\"params\":{\"uri\":\"sandbox://environments\\u0000x\"}",
        "-32002", ""},
    {"a file of no session",
        "\"method\":\"resources/read\","
        "\"params\":{\"uri\":\"sandbox://session/x/a\"}",
        "-32002", "unknown resource"},
    {"a file outside a session",
        "\"method\":\"resources/read\",\"params\":{\"uri\":"
        "\"sandbox://session/0123456789abcdef0123456789abcdef/%2e%2e/a\"}",
        "-32002", "\\\"..\\\""},
    {"no uri", "\"method\":\"resources/read\"", "-32602", "uri"},
    {"uri a number", "\"method\":\"resources/read\",\"params\":{\"uri\":1}",
        "-32602", "uri"},
    {"a call without params", "\"method\":\"tools/call\"", "-32602", "name"},
    {"a call by a number", "\"method\":\"tools/call\",\"params\":{\"name\":1}",
        "-32602", "name"},
    {"unknown tool",
        "\"method\":\"tools/call\",\"params\":{\"name\":\"rm_rf\"}", "-32602",
        "rm_rf"},
    {"a tool that goes on behind a NUL",
        "\"method\":\"tools/call\",\"params\":{"
        "\"name\":\"run_python_code\\u0000x\",\"arguments\":{}}",
        "-32602", ""},
    {"arguments an array",
        "\"method\":\"tools/call\",\"params\":{\"name\":\"run_python_code\","
        "\"arguments\":[]}",
        "-32602", "arguments"},
    {"arguments a string",
        "\"method\":\"tools/call\",\"params\":{\"name\":\"run_python_code\","
        "\"arguments\":\"x\"}",
        "-32602", "arguments"},
    {"params an array", "\"method\":\"ping\",\"params\":[]", "-32602",
        "params"},
    {"no method", "\"x\":1", "-32600", "method"},
};

START_TEST(error_answers)
{
	char *message =
	    xasprintf("{\"jsonrpc\":\"2.0\",\"id\":5,%s}", errors[_i].message);
	char *code, *words;

	ask(message);
	code = json_at(LAST, "/error/code");
	words = json_at(LAST, "/error/message");
	ck_assert_msg(strcmp(code, errors[_i].code) == 0, "%s: %s",
	    errors[_i].name, LAST);
	ck_assert_msg(strstr(words, errors[_i].mention) != NULL, "%s: %s",
	    errors[_i].name, LAST);
	assert_json(LAST, "/id", "5");
	free(code);
	free(words);
	free(message);
}
END_TEST

static const struct {
	const char *message;
	const char *code;
} unreadable[] = {
    {"hello", "-32700"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,", "-32700"},
    {"\"text\"", "-32600"},
    {"[]", "-32600"},
    {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", "-32600"},
    {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", "-32600"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", "-32600"},
};

START_TEST(unreadable_is_answered_without_an_id)
{
	ask(unreadable[_i].message);
	assert_json(LAST, "/id", "(none)");
	assert_json(LAST, "/error/code", unreadable[_i].code);
}
END_TEST

static const char *const silent[] = {
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\"}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"tools/list\"}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"initialize\",\"params\":{}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":"
    "\"run_python_code\",\"arguments\":{\"code\":\"x\"}}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":[]}",
    "{\"method\":\"x\"}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
    "\"params\":{}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
    "\"params\":{\"requestId\":77}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
    "\"params\":{\"requestId\":null}}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"\"}}",
    /* Were this one answered, two such peers would never stop. */
    "{\"jsonrpc\":\"2.0\",\"id\":null,"
    "\"error\":{\"code\":-32700,\"message\":\"\"}}",
};

START_TEST(never_answered)
{
	receive(silent[_i]);
	loop_for(world.base, 20);
	ck_assert_msg(
	    world.sent.count == 0, "%s: %s", silent[_i], world.sent.items[0]);
}
END_TEST

static const struct {
	const char *message;
	const char *mention;
} arguments[] = {
    {CALL("5", "run_python_code", "{}"), "missing"},
    {CALL("5", "run_js_code", "{\"code\":\"\"}"), "empty"},
    {CALL("5", "run_javascript_code", "{\"code\":7}"), "string"},
    {CALL("5", "run_python_code", "{\"code\":\"x\",\"timeout_seconds\":601}"),
        "600"},
    {CALL("5", "run_python_code", "{\"code\":\"x\",\"y\":1}"), "\\\"y\\\""},
    {"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\","
     "\"params\":{\"name\":\"run_python_code\"}}",
        "missing"},
    {CALL("5", "run_python_code", "{\"code\":\"x\",\"session\":\"old\"}"),
        "handle"},
    {CALL("5", "run_python_code",
         "{\"code\":\"x\",\"files\":[{\"path\":\"/a\",\"text\":\"\"}]}"),
        "absolute"},
    {CALL("5", "end_session", "{}"), "handle"},
    {CALL("5", "end_session", "{\"session\":\"x\"}"), "handle"},
    {CALL("5", "end_session",
         "{\"session\":\"0123456789abcdef0123456789abcdef\"}"),
        "no session"},
};

/* Told to the model, not to the client. */
START_TEST(bad_arguments_are_a_result)
{
	char *words;

	ask(arguments[_i].message);
	assert_json(LAST, "/id", "5");
	assert_json(LAST, "/result/isError", "true");
	words = json_at(LAST, "/result/content/0/text");
	ck_assert_msg(
	    strstr(words, arguments[_i].mention) != NULL, "%s", words);
	free(words);
}
END_TEST

START_TEST(no_engine_says_what_was_tried)
{
	char *words;

	receive(CALL("1", "run_python_code", "{\"code\":\"x\"}"));
	ck_assert_msg(world.sent.count == 0, "answered from within the call");
	wait_sent(1);
	assert_json(LAST, "/id", "1");
	assert_json(LAST, "/result/isError", "true");
	words = json_at(LAST, "/result/content/0/text");
	ck_assert_ptr_nonnull(strstr(words, "/nonexistent/engine"));
	ck_assert_ptr_nonnull(strstr(words, "no such program"));
	free(words);
}
END_TEST

START_TEST(no_engine_for_many_calls)
{
	for (int i = 0; i < 20; i++) {
		char *message =
		    xasprintf(CALL("%d", "run_js_code", "{\"code\":\"x\"}"), i);

		receive(message);
		free(message);
	}
	wait_sent(20);
	loop_for(world.base, 20);
	ck_assert_uint_eq(world.sent.count, 20);
	for (int i = 0; i < 20; i++) {
		char id[16];

		snprintf(id, sizeof(id), "%d", i);
		ck_assert_ptr_nonnull(answer_to(id));
	}
}
END_TEST

START_TEST(an_id_may_be_used_again_when_it_is_answered)
{
	receive(CALL("1", "run_python_code", "{\"code\":\"x\"}"));
	wait_sent(1);
	receive(CALL("1", "run_python_code", "{\"code\":\"x\"}"));
	wait_sent(2);
	assert_json(world.sent.items[1], "/result/isError", "true");
}
END_TEST

START_TEST(an_id_in_use_is_refused)
{
	receive(CALL("1", "run_python_code", "{\"code\":\"x\"}"));
	ask(CALL("1", "run_python_code", "{\"code\":\"x\"}"));
	assert_json(LAST, "/error/code", "-32600");
	/* The same as a string is another id. */
	receive(CALL("\"1\"", "run_python_code", "{\"code\":\"x\"}"));
	ck_assert_uint_eq(world.sent.count, 1);
	wait_sent(3);
}
END_TEST

START_TEST(cancelled_before_it_began)
{
	receive(CALL("1", "run_python_code", "{\"code\":\"x\"}"));
	receive(CALL("2", "run_python_code", "{\"code\":\"x\"}"));
	receive("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	        "\"params\":{\"requestId\":1,\"reason\":\"no\"}}");
	wait_sent(1);
	loop_for(world.base, 50);
	ck_assert_uint_eq(world.sent.count, 1);
	ck_assert_int_eq(world.dropped, 1);
	assert_json(LAST, "/id", "2");
}
END_TEST

START_TEST(cancel_of_another_kind_of_id)
{
	receive(CALL("1", "run_python_code", "{\"code\":\"x\"}"));
	receive("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	        "\"params\":{\"requestId\":\"1\"}}");
	wait_sent(1);
	assert_json(LAST, "/id", "1");
}
END_TEST

START_TEST(freed_with_calls_under_way)
{
	receive(CALL("1", "run_python_code", "{\"code\":\"x\"}"));
	mcp_client_free(world.client);
	world.client = NULL;
	loop_for(world.base, 50);
	ck_assert_uint_eq(world.sent.count, 0);
}
END_TEST

START_TEST(a_queue_that_is_full)
{
	size_t refused = 0;

	for (int i = 0; i < 1010; i++) {
		char *message =
		    xasprintf(CALL("%d", "run_js_code", "{\"code\":\"x\"}"), i);

		receive(message);
		free(message);
	}
	refused = world.sent.count;
	ck_assert_uint_gt(refused, 0);
	ck_assert_uint_le(refused, 10);
	assert_json(LAST, "/result/isError", "true");
	wait_sent(1010);
}
END_TEST
/* What somebody who asks the client hears, a line each. */
static struct text heard;

static void
hear_answer(struct mcp_client *from, const struct rpc_message *response)
{
	ck_assert_ptr_eq(from, world.client);
	text_addf(&heard, "%s %s\n", response->id,
	    response->result != NULL ? "result" : "error");
}

static void
hear_disconnect(struct mcp_client *from, const void *owner)
{
	ck_assert_ptr_eq(from, world.client);
	text_addf(&heard, "%s\n", owner != NULL ? "disconnected" : "gone");
}

static const struct mcp_asker asker = {hear_answer, hear_disconnect};

static void
set_up_asker(void)
{
	world_set_up();
	mcp_client_free(world.client);
	mcp_free(world.mcp);
	world.mcp = mcp_new(&(struct mcp_config){.base = world.base,
	    .settings = &world.settings,
	    .sandbox = world.sandbox,
	    .asker = &asker});
	world.client = mcp_client_new(world.mcp);
}

START_TEST(asker_hears_of_its_client)
{
	receive("{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"result\":{}}");
	receive("{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":"
	        "{\"code\":-32601,\"message\":\"no\"}}");
	receive("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":"
	        "{\"code\":-32700,\"message\":\"what?\"}}");
	ck_assert_uint_eq(world.sent.count, 0);
	ask("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}");
	mcp_client_disconnect(world.client, &world.sent);
	mcp_client_free(world.client);
	world.client = NULL;
	ck_assert_str_eq(text_string(&heard),
	    "\"q1\" result\n2 error\ndisconnected\ngone\n");
	text_release(&heard);
}
END_TEST

Suite *
mcp_suite(void)
{
	Suite *suite = suite_create("mcp");
	TCase *tcase = tcase_create("protocol");
	TCase *asking = tcase_create("asking");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_checked_fixture(tcase, world_set_up, world_tear_down);
	tcase_add_loop_test(tcase, initialize_negotiates, 0, COUNT(versions));
	tcase_add_test(tcase, what_was_negotiated_is_kept);
	tcase_add_test(tcase, without_initialize);
	tcase_add_test(tcase, ping_is_answered_with_nothing);
	tcase_add_test(tcase, tools_are_listed);
	tcase_add_test(tcase, resources_are_listed_and_read);
	tcase_add_test(tcase, long_uri_is_not_repeated);
	tcase_add_loop_test(tcase, error_answers, 0, COUNT(errors));
	tcase_add_loop_test(
	    tcase, unreadable_is_answered_without_an_id, 0, COUNT(unreadable));
	tcase_add_loop_test(tcase, never_answered, 0, COUNT(silent));
	tcase_add_loop_test(
	    tcase, bad_arguments_are_a_result, 0, COUNT(arguments));
	tcase_add_test(tcase, no_engine_says_what_was_tried);
	tcase_add_test(tcase, no_engine_for_many_calls);
	tcase_add_test(tcase, an_id_may_be_used_again_when_it_is_answered);
	tcase_add_test(tcase, an_id_in_use_is_refused);
	tcase_add_test(tcase, cancelled_before_it_began);
	tcase_add_test(tcase, cancel_of_another_kind_of_id);
	tcase_add_test(tcase, freed_with_calls_under_way);
	tcase_add_test(tcase, a_queue_that_is_full);
	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(asking, set_up_asker, world_tear_down);
	tcase_add_test(asking, asker_hears_of_its_client);
	suite_add_tcase(suite, asking);
	return suite;
}
