#include "mcp/mcp.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "helpers.h"
#include "mcp/batch.h"
#include "mcp/reply.h"
#include "mcp/revision.h"
#include "suites.h"

/*
 * A stand-in for podman: it does what the code says by itself, and speaks as
 * the runner does.  "show ..." prints, "exit N" ends so, "wait" goes on until
 * its stdin is closed; "missing" as the image fails until it has been pulled.
 */
static const char fake_engine[] =
    "#!/bin/sh\n"
    "pulled=${0%/*}/pulled\n"
    "case $1 in\n"
    "--version) echo 'podman version 5.0.0';;\n"
    "info) echo 'crun v2 [memory pids]';;\n"
    "ps | rm) ;;\n"
    "image) [ -e \"$pulled\" ];;\n"
    "pull) printf 'copying \\377 layer\\nlayer done\\n' >&2\n"
    "  : >\"$pulled\";;\n"
    "run)\n"
    "  case \"$*\" in *' missing '*) [ -e \"$pulled\" ] || {\n"
    "    echo 'no such image' >&2; exit 125; };; esac\n"
    "  while [ \"$1\" != runner ]; do shift; done\n"
    "  nonce=$2\n"
    "  say() {\n"
    "    printf '\\036%s %s\\n' $nonce \"$1\"\n"
    "    printf '\\036%s %s\\n' $nonce \"$1\" >&2\n"
    "  }\n"
    "  say ready\n"
    "  read -r _ size || exit 0\n"
    "  code=$(head -c $size)\n"
    "  printf '\\036%s started\\n' $nonce\n"
    "  case $code in\n"
    "  show*) echo \"${code#show }\"; say 'exit 0';;\n"
    "  exit*) echo oops >&2; say \"$code\";;\n"
    "  esac\n"
    "  cat >/dev/null;;\n"
    "*) echo \"unknown: $*\" >&2; exit 2;;\n"
    "esac\n";

static struct event_base *base;
static struct settings settings;
static struct sandbox *sandbox;
static struct mcp *mcp;
static struct mcp_client *client;
static struct strlist sent;
static int dropped;
static char *scratch;

static void
on_notify(void *arg, const char *message, size_t length)
{
	(void)arg;
	ck_assert_uint_eq(strlen(message), length);
	ck_assert_ptr_null(strchr(message, '\n'));
	strlist_add(&sent, message);
}

/* The message of a batch does not end in NUL. */
static void
on_reply(void *arg, const char *message, size_t length, enum err_code code)
{
	char *text = xstrndup(message, length);
	char *found =
	    *text == '{' ? json_at(text, "/error") : xstrdup("(none)");

	(void)arg;
	ck_assert_ptr_null(strchr(text, '\n'));
	ck_assert_msg((code == ERR_NONE) == (strcmp(found, "(none)") == 0),
	    "code %d goes with %s", code, text);
	strlist_add(&sent, text);
	free(found);
	free(text);
}

static void
on_drop(void *arg)
{
	(void)arg;
	dropped++;
}

static const struct outlet outlet = {.notify = on_notify,
    .reply = on_reply,
    .drop = on_drop,
    .arg = &sent,
    .owner = &sent};

static void
start(void)
{
	dropped = 0;
	base = event_base_new();
	sandbox = sandbox_new(base, &settings);
	mcp = mcp_new(&(struct mcp_config){
	    .base = base, .settings = &settings, .sandbox = sandbox});
	client = mcp_client_new(mcp);
}

static void
set_up(void)
{
	settings_make(&settings, "--engine=/nonexistent/engine", NULL);
	start();
}

static void
set_up_fake(void)
{
	char *path, *engine;

	scratch = scratch_new();
	path = scratch_program(scratch, "podman", fake_engine);
	engine = xasprintf("--engine=%s", path);
	settings_make(&settings, engine, "--pool=0", "--interpreter=plain",
	    "--max-parallel=2", "--js-image=missing", NULL);
	free(engine);
	free(path);
	start();
}

static void
on_gone(void *arg)
{
	*(bool *)arg = true;
}

static void
tear_down(void)
{
	bool gone = false;

	if (client != NULL)
		mcp_client_free(client);
	sandbox_shut_down(sandbox, on_gone, &gone);
	ck_assert_msg(loop_until(base, &gone), "containers are left");
	mcp_free(mcp);
	sandbox_free(sandbox);
	event_base_free(base);
	settings_release(&settings);
	strlist_release(&sent);
}

static void
tear_down_fake(void)
{
	tear_down();
	scratch_free(scratch);
}

static void
receive(const char *message)
{
	mcp_client_receive(client, message, strlen(message), &outlet);
}

/* Turns the loop until so many messages have been sent. */
static void
wait_sent(size_t count)
{
	long long deadline = milliseconds_now() + PATIENCE_SECONDS * 500;

	while (sent.count < count && milliseconds_now() < deadline)
		loop_for(base, 10);
	ck_assert_msg(
	    sent.count >= count, "%zu messages and not %zu", sent.count, count);
}

/* The answer to this message; it must come at once. */
static const char *
ask(const char *message)
{
	size_t before = sent.count;

	receive(message);
	ck_assert_msg(sent.count == before + 1, "%zu answers to %s",
	    sent.count - before, message);
	return sent.items[before];
}

/* The answer with this id, as JSON text, however many others there are. */
static const char *
answer_to(const char *id)
{
	const char *found = NULL;

	for (size_t i = 0; i < sent.count; i++) {
		char *own = json_at(sent.items[i], "/id");

		if (strcmp(own, id) == 0) {
			ck_assert_msg(found == NULL, "two answers to %s", id);
			found = sent.items[i];
		}
		free(own);
	}
	return found;
}

static void
initialize(const char *version)
{
	char *message = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":\"init\","
	                          "\"method\":\"initialize\",\"params\":{"
	                          "\"protocolVersion\":\"%s\","
	                          "\"capabilities\":{},\"clientInfo\":{"
	                          "\"name\":\"t\",\"version\":\"1\"}}}",
	    version);

	ask(message);
	free(message);
}

#define LAST sent.items[sent.count - 1]

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
	loop_for(base, 20);
	ck_assert_msg(sent.count == 0, "%s: %s", silent[_i], sent.items[0]);
}
END_TEST

#define CALL(id, tool, arguments) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\"," \
	"\"params\":{\"name\":\"" tool "\",\"arguments\":" arguments "}}"

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
	ck_assert_msg(sent.count == 0, "answered from within the call");
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
	loop_for(base, 20);
	ck_assert_uint_eq(sent.count, 20);
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
	assert_json(sent.items[1], "/result/isError", "true");
}
END_TEST

START_TEST(an_id_in_use_is_refused)
{
	receive(CALL("1", "run_python_code", "{\"code\":\"x\"}"));
	ask(CALL("1", "run_python_code", "{\"code\":\"x\"}"));
	assert_json(LAST, "/error/code", "-32600");
	/* The same as a string is another id. */
	receive(CALL("\"1\"", "run_python_code", "{\"code\":\"x\"}"));
	ck_assert_uint_eq(sent.count, 1);
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
	loop_for(base, 50);
	ck_assert_uint_eq(sent.count, 1);
	ck_assert_int_eq(dropped, 1);
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
	mcp_client_free(client);
	client = NULL;
	loop_for(base, 50);
	ck_assert_uint_eq(sent.count, 0);
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
	refused = sent.count;
	ck_assert_uint_gt(refused, 0);
	ck_assert_uint_le(refused, 10);
	assert_json(LAST, "/result/isError", "true");
	wait_sent(1010);
}
END_TEST

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
	ck_assert_uint_eq(sent.count, 1);
	assert_json(
	    LAST, "/method", "\"notifications/subscriptions/acknowledged\"");
	assert_json(LAST,
	    "/params/_meta/io.modelcontextprotocol~1subscriptionId", "\"s\"");
	/* Its response is its end. */
	mcp_client_free(client);
	client = NULL;
	ck_assert_uint_eq(sent.count, 2);
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
	ck_assert_uint_eq(sent.count, 1);
	ck_assert_msg(dropped == 1, "drop() was called %d times", dropped);
}
END_TEST

START_TEST(subscription_has_an_id_of_its_own)
{
	receive(LISTEN("1"));
	ck_assert_uint_eq(sent.count, 1);
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
	mcp_client_disconnect(client, &sent);
	loop_for(base, 100);
	ck_assert_uint_eq(sent.count, 0);
}
END_TEST

START_TEST(disconnect_of_another_outlet)
{
	receive(MODERN("1", "tools/call",
	    ",\"name\":\"run_js_code\",\"arguments\":{\"code\":\"x\"}"));
	mcp_client_disconnect(client, &dropped);
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
	reply_send(&reply, &outlet, "7", REVISION_2025_11_25);
	reply_release(&reply);
	assert_json(LAST, "/id", "7");
	assert_json(LAST, "/error/code", "-32603");
}
END_TEST

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
	ck_assert_uint_eq(sent.count, 1);
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
	ck_assert_msg(sent.count == 1, "answered before its call was over");
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
	ck_assert_uint_eq(sent.count, 2);
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
	ck_assert_msg(sent.count == 1, "sent before its call was over");
	wait_sent(2);
	loop_for(base, 50);
	ck_assert_uint_eq(sent.count, 2);
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
	struct batch *batch = batch_new(&outlet);
	struct outlet part;

	memset(answer, '1', length);
	batch_outlet(batch, &part);
	for (int i = 0; i < 3; i++)
		batch_expect(batch);
	batch_close(batch);
	for (int i = 0; i < 3; i++)
		part.reply(part.arg, answer, length, ERR_NONE);
	free(answer);
	ck_assert_uint_eq(sent.count, 1);
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

/* From here on with the stand-in for an engine. */

START_TEST(fake_call_prints)
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

START_TEST(fake_call_fails)
{
	initialize("2025-11-25");
	receive(CALL("1", "run_python_code", "{\"code\":\"exit 3\"}"));
	wait_sent(2);
	assert_json(LAST, "/result/isError", "false");
	assert_json(LAST, "/result/structuredContent/exit_code", "3");
	assert_json(LAST, "/result/structuredContent/stderr", "\"oops\\n\"");
}
END_TEST

START_TEST(fake_call_times_out)
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

START_TEST(fake_ping_during_a_call)
{
	receive(CALL("1", "run_python_code", "{\"code\":\"wait\"}"));
	loop_for(base, 300);
	ask("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
	assert_json(LAST, "/id", "2");
}
END_TEST

START_TEST(fake_call_is_cancelled)
{
	receive(CALL("1", "run_python_code", "{\"code\":\"wait\"}"));
	loop_for(base, 300);
	receive("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	        "\"params\":{\"requestId\":1}}");
	/* Its id is free again, and the next call is served. */
	receive(CALL("1", "run_python_code", "{\"code\":\"show next\"}"));
	wait_sent(1);
	loop_for(base, 100);
	ck_assert_uint_eq(sent.count, 1);
	assert_json(LAST, "/result/content/0/text", "\"next\"");
}
END_TEST

/* Two run, the others wait, and all are answered. */
START_TEST(fake_calls_beyond_the_limit)
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

	for (size_t i = 0; i < sent.count; i++) {
		char *own = json_at(sent.items[i], "/params/progressToken");
		char *words = json_at(sent.items[i], "/params/message");

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

START_TEST(fake_pull_is_told)
{
	long long deadline = milliseconds_now() + PATIENCE_SECONDS * 500;

	receive(CALL_WITH_TOKEN("\"t\"", "run_js_code", "show pulled"));
	while (answer_to("1") == NULL && milliseconds_now() < deadline)
		loop_for(base, 10);
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

START_TEST(fake_progress_of_a_long_call)
{
	receive(CALL_WITH_TOKEN("9", "run_python_code", "wait"));
	wait_sent(2);
	assert_json(sent.items[0], "/method", "\"notifications/progress\"");
	assert_json(sent.items[0], "/params/progressToken", "9");
	assert_json(sent.items[0], "/params/progress", "1");
	assert_json(sent.items[1], "/params/progress", "2");
}
END_TEST

static const char *const bad_tokens[] = {
    CALL_WITH_TOKEN("null", "run_js_code", "show x"),
    CALL_WITH_TOKEN("1.5", "run_js_code", "show x"),
    CALL_WITH_TOKEN("{}", "run_js_code", "show x"),
    CALL("1", "run_js_code", "{\"code\":\"show x\"}"),
};

START_TEST(fake_no_progress_without_a_token)
{
	receive(bad_tokens[_i]);
	wait_sent(1);
	loop_for(base, 50);
	ck_assert_uint_eq(sent.count, 1);
	assert_json(LAST, "/id", "1");
}
END_TEST

/* What somebody who asks the client hears, a line each. */
static struct text heard;

static void
hear_answer(struct mcp_client *from, const struct rpc_message *response)
{
	ck_assert_ptr_eq(from, client);
	text_addf(&heard, "%s %s\n", response->id,
	    response->result != NULL ? "result" : "error");
}

static void
hear_disconnect(struct mcp_client *from, const void *owner)
{
	ck_assert_ptr_eq(from, client);
	text_addf(&heard, "%s\n", owner != NULL ? "disconnected" : "gone");
}

static const struct mcp_asker asker = {hear_answer, hear_disconnect};

static void
set_up_asker(void)
{
	set_up();
	mcp_client_free(client);
	mcp_free(mcp);
	mcp = mcp_new(&(struct mcp_config){.base = base,
	    .settings = &settings,
	    .sandbox = sandbox,
	    .asker = &asker});
	client = mcp_client_new(mcp);
}

START_TEST(asker_hears_of_its_client)
{
	receive("{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"result\":{}}");
	receive("{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":"
	        "{\"code\":-32601,\"message\":\"no\"}}");
	receive("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":"
	        "{\"code\":-32700,\"message\":\"what?\"}}");
	ck_assert_uint_eq(sent.count, 0);
	ask("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}");
	mcp_client_disconnect(client, &sent);
	mcp_client_free(client);
	client = NULL;
	ck_assert_str_eq(text_string(&heard),
	    "\"q1\" result\n2 error\ndisconnected\ngone\n");
	text_release(&heard);
}
END_TEST

Suite *
mcp_suite(void)
{
	Suite *suite = suite_create("mcp");
	TCase *tcase = tcase_create("protocol"), *fake = tcase_create("fake");
	TCase *modern = tcase_create("modern"), *batch = tcase_create("batch");
	TCase *asking = tcase_create("asking");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, initialize_negotiates, 0, COUNT(versions));
	tcase_add_test(tcase, what_was_negotiated_is_kept);
	tcase_add_test(tcase, without_initialize);
	tcase_add_test(tcase, ping_is_answered_with_nothing);
	tcase_add_test(tcase, tools_are_listed);
	tcase_add_test(tcase, resources_are_listed_and_read);
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
	tcase_set_timeout(modern, PATIENCE_SECONDS);
	tcase_add_checked_fixture(modern, set_up, tear_down);
	tcase_add_test(modern, modern_discover);
	tcase_add_loop_test(
	    modern, modern_result_fields, 0, COUNT(modern_results));
	tcase_add_test(modern, legacy_results_have_no_modern_fields);
	tcase_add_test(modern, eras_side_by_side);
	tcase_add_loop_test(
	    modern, modern_error_answers, 0, COUNT(modern_errors));
	tcase_add_test(modern, unsupported_version_names_the_supported);
	tcase_add_test(modern, missing_capability_is_named);
	tcase_add_test(modern, subscription_is_acknowledged_first);
	tcase_add_test(modern, cancelled_subscription_drops_its_outlet);
	tcase_add_test(modern, subscription_has_an_id_of_its_own);
	tcase_add_test(modern, subscriptions_are_bounded);
	tcase_add_test(modern, modern_disconnect_cancels);
	tcase_add_test(modern, disconnect_of_another_outlet);
	tcase_add_test(modern, answer_that_cannot_be_written);
	suite_add_tcase(suite, modern);
	tcase_set_timeout(batch, PATIENCE_SECONDS);
	tcase_add_checked_fixture(batch, set_up, tear_down);
	tcase_add_test(batch, batch_of_pings);
	tcase_add_test(batch, batch_with_a_modern_message);
	tcase_add_test(batch, batch_of_notifications_is_not_answered);
	tcase_add_test(batch, batch_of_nothing);
	tcase_add_test(batch, batch_of_garbage);
	tcase_add_test(batch, batch_waits_for_its_calls);
	tcase_add_test(batch, batch_whose_call_is_cancelled);
	tcase_add_loop_test(
	    batch, batch_counts_what_it_answers, 0, COUNT(miscounted));
	tcase_add_loop_test(batch, batch_has_an_end, 0, COUNT(batch_sizes));
	tcase_add_test(batch, batch_of_long_answers);
	tcase_add_loop_test(
	    batch, no_batches_in_other_revisions, 0, COUNT(no_batches));
	suite_add_tcase(suite, batch);
	tcase_set_timeout(fake, 2 * PATIENCE_SECONDS);
	tcase_add_checked_fixture(fake, set_up_fake, tear_down_fake);
	tcase_add_test(fake, fake_call_prints);
	tcase_add_test(fake, fake_call_fails);
	tcase_add_test(fake, fake_call_times_out);
	tcase_add_test(fake, fake_ping_during_a_call);
	tcase_add_test(fake, fake_call_is_cancelled);
	tcase_add_test(fake, fake_calls_beyond_the_limit);
	tcase_add_test(fake, fake_pull_is_told);
	tcase_add_test(fake, fake_progress_of_a_long_call);
	tcase_add_loop_test(
	    fake, fake_no_progress_without_a_token, 0, COUNT(bad_tokens));
	suite_add_tcase(suite, fake);
	tcase_add_checked_fixture(asking, set_up_asker, tear_down);
	tcase_add_test(asking, asker_hears_of_its_client);
	suite_add_tcase(suite, asking);
	return suite;
}
