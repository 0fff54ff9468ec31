/*
 * The tools, resources and prompts that the conformance suite wants to see,
 * served by the protocol library of the real server: same transport, same
 * dispatch, other rows in the table of methods.  Takes the same options.
 *
 * Every answer is given at once; nothing here outlives its request but tasks.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include <yyjson.h>

#include "alloc.h"
#include "log.h"
#include "mcp_private.h"
#include "method.h"
#include "options.h"
#include "reply.h"
#include "rpc.h"
#include "tasks.h"
#include "token.h"
#include "transport_http.h"

#define PNG \
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwAD" \
	"hgGAWjR9awAAAABJRU5ErkJggg=="
#define WAV "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define CONTENT(items) "{\"content\":[" items "]}"
#define IMAGE \
	"{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"}"
#define MIXED \
	"{\"type\":\"resource\",\"resource\":{" \
	"\"uri\":\"test://mixed-content-resource\"," \
	"\"mimeType\":\"application/json\"," \
	"\"text\":\"{\\\"test\\\":\\\"data\\\"}\"}}"
#define MESSAGE(content) "{\"role\":\"user\",\"content\":" content "}"
#define NO_ARGUMENTS "{\"type\":\"object\",\"properties\":{}}"

static yyjson_mut_val *
json(yyjson_mut_doc *doc, const char *text)
{
	yyjson_doc *parsed = yyjson_read(text, strlen(text), 0);
	yyjson_mut_val *copy =
	    yyjson_val_mut_copy(doc, yyjson_doc_get_root(parsed));

	yyjson_doc_free(parsed);
	return copy;
}

/* The suite's arguments need no escaping in JSON. */
static char *
fill_in(const char *text, const char *const *values)
{
	char *filled = xstrdup(text), *place;

	while ((place = strstr(filled, "%s")) != NULL) {
		char *longer = xasprintf("%.*s%s%s", (int)(place - filled),
		    filled, *values++, place + 2);

		free(filled);
		filled = longer;
	}
	return filled;
}

static const char *
parameter(const struct request *request, const char *name)
{
	return rpc_text(yyjson_obj_get(request->message->params, name));
}

static yyjson_val *
argument(const struct request *request, const char *name)
{
	return yyjson_obj_get(
	    yyjson_obj_get(request->message->params, "arguments"), name);
}

static yyjson_mut_val *
add_content(yyjson_mut_doc *doc, yyjson_mut_val *object)
{
	yyjson_mut_val *item = yyjson_mut_arr_add_obj(
	    doc, yyjson_mut_obj_add_arr(doc, object, "content"));

	yyjson_mut_obj_add_str(doc, item, "type", "text");
	return item;
}

static void
notify(const struct request *request, const char *method, const char *params,
    yyjson_val *token)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *object = json(doc, params);
	size_t length;
	char *text;

	if (token != NULL)
		yyjson_mut_obj_add_val(doc, object, "progressToken",
		    yyjson_val_mut_copy(doc, token));
	text = rpc_notification(method, doc, object, &length);
	request->outlet.notify(request->outlet.arg, text, length);
	free(text);
	yyjson_mut_doc_free(doc);
}

/* --- tools ---------------------------------------------------------------- */

static int
with_progress(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	static const char *const steps[] = {
	    "{\"progress\":0,\"total\":100}",
	    "{\"progress\":50,\"total\":100}",
	    "{\"progress\":100,\"total\":100}",
	};
	yyjson_val *token = yyjson_obj_get(
	    yyjson_obj_get(request->message->params, "_meta"), "progressToken");

	(void)client;
	(void)later;
	(void)err;
	for (size_t i = 0; token != NULL && i < 3; i++)
		notify(request, "notifications/progress", steps[i], token);
	reply->result = json(reply->doc, CONTENT(TEXT("done")));
	return 0;
}

/* The modern revisions want log messages only when a request asks for them. */
static int
with_logging(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	yyjson_val *level =
	    yyjson_obj_get(yyjson_obj_get(request->message->params, "_meta"),
	        "io.modelcontextprotocol/logLevel");
	bool wanted = level != NULL || !revision_is_modern(request->revision);

	(void)client;
	(void)later;
	(void)err;
	for (int i = 0; wanted && i < 3; i++)
		notify(request, "notifications/message",
		    "{\"level\":\"info\",\"data\":\"Tool execution\"}", NULL);
	reply->result = json(reply->doc, CONTENT(TEXT("done")));
	return 0;
}

static int
missing_capability(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	(void)client;
	(void)reply;
	*later = true;
	err_set(err, ERR_CAPABILITY, "Missing required client capability");
	reply_send_error(&request->outlet, request->message->id, err,
	    "{\"requiredCapabilities\":{\"sampling\":{}}}");
	return 0;
}

static int
greet(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	const char *name = rpc_text(argument(request, "name"));
	char *text = xasprintf("Hello, %s!", name != NULL ? name : "you");

	(void)client;
	(void)later;
	(void)err;
	yyjson_mut_obj_add_strcpy(
	    reply->doc, add_content(reply->doc, reply->result), "text", text);
	free(text);
	return 0;
}

struct chore {
	struct task *task;
	struct event *timer;
	char *result;
};

static void
chore_free(struct chore *chore)
{
	event_free(chore->timer);
	free(chore->result);
	free(chore);
}

static void
on_chore_cancelled(void *arg)
{
	chore_free(arg);
}

static void
on_chore_done(evutil_socket_t fd, short what, void *arg)
{
	struct chore *chore = arg;

	(void)fd;
	(void)what;
	task_complete(chore->task, chore->result);
	chore->result = NULL;
	chore_free(chore);
}

static void
start_job(struct mcp_client *client, struct reply *reply, int seconds,
    const char *result)
{
	struct chore *chore = xcalloc(1, sizeof(*chore));
	struct timeval delay = {.tv_sec = seconds};

	chore->result = xstrdup(result);
	chore->timer =
	    evtimer_new(client->mcp->config.base, on_chore_done, chore);
	evtimer_add(chore->timer, &delay);
	chore->task =
	    task_new(client->mcp->tasks, seconds, on_chore_cancelled, chore);
	reply->result_type = "task";
	task_describe(chore->task, reply->doc, reply->result);
}

/* As a task for those who know tasks; others get the result at once. */
static int
slow_compute(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	int seconds = yyjson_get_int(argument(request, "seconds"));

	(void)later;
	(void)err;
	if (request->tasks && seconds > 0)
		start_job(client, reply, seconds, CONTENT(TEXT("computed")));
	else
		reply->result = json(reply->doc, CONTENT(TEXT("computed")));
	return 0;
}

/* Wants a client that knows tasks. */
static int
failing_job(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	if (request->tasks) {
		start_job(client, reply, 1,
		    "{\"content\":[" TEXT("failed") "],\"isError\":true}");
		return 0;
	}
	*later = true;
	err_set(err, ERR_CAPABILITY, "Missing required client capability");
	reply_send_error(&request->outlet, request->message->id, err,
	    "{\"requiredCapabilities\":{\"extensions\":"
	    "{\"" TASKS_EXTENSION "\":{}}}}");
	return 0;
}

#define FORM(message, field, type) \
	"{\"method\":\"elicitation/create\",\"params\":{" \
	"\"message\":\"" message "\",\"requestedSchema\":{" \
	"\"type\":\"object\"," \
	"\"properties\":{\"" field "\":{\"type\":\"" type "\"}}," \
	"\"required\":[\"" field "\"]}}}"
#define ELICIT(key, message, field) \
	{key, "elicitation", FORM(message, field, "string"), \
	    "/" key "/content/" field}
#define NAME ELICIT("user_name", "What is your name?", "name")
#define CONFIRM \
	{"confirm", "elicitation", FORM("Please confirm", "ok", "boolean"), \
	    "/confirm/action"}
#define SAMPLE(key, text) \
	{key, "sampling", \
	    "{\"method\":\"sampling/createMessage\",\"params\":{" \
	    "\"messages\":[" MESSAGE(TEXT(text)) "],\"maxTokens\":100}}", \
	    "/" key "/content/text"}
#define CAPITAL SAMPLE("capital_question", "What is the capital of France?")
#define ROOTS \
	{"client_roots", "roots", "{\"method\":\"roots/list\",\"params\":{}}", \
	    "/client_roots/roots/0/uri"}

struct question {
	const char *key;
	const char *capability; /* of a client that can be asked */
	const char *request;
	const char *answer; /* where it is in the responses */
};

#define ROUNDS 2
#define QUESTIONS 3

/* What asks the client before it answers.  In the result, %s stands for the
 * answers of the last round, in their order. */
static const struct {
	const char *name;
	struct question rounds[ROUNDS][QUESTIONS];
	bool keeps_state;
	bool makes_task;
	const char *result;
} dialogues[] = {
    {"test_input_required_result_elicitation", {{NAME}}, false, false,
        CONTENT(TEXT("Hello, %s!"))},
    {"test_input_required_result_sampling", {{CAPITAL}}, false, false,
        CONTENT(TEXT("%s"))},
    {"test_input_required_result_list_roots", {{ROOTS}}, false, false,
        CONTENT(TEXT("%s"))},
    {"test_input_required_result_request_state", {{CONFIRM}}, true, false,
        CONTENT(TEXT("state-ok"))},
    {"test_input_required_result_multiple_inputs",
        {{NAME, SAMPLE("greeting", "Generate a greeting"), ROOTS}}, true, false,
        CONTENT(TEXT("%s, %s, %s"))},
    {"test_input_required_result_multi_round",
        {{ELICIT("step1", "Step 1: What is your name?", "name")},
            {ELICIT("step2", "Step 2: What is your favorite color?", "color")}},
        true, false, CONTENT(TEXT("%s"))},
    {"test_input_required_result_tampered_state", {{CONFIRM}}, true, false,
        CONTENT(TEXT("state-ok"))},
    {"test_input_required_result_capabilities", {{NAME, CAPITAL}}, false, false,
        CONTENT(TEXT("%s, %s"))},
    {"test_tool_with_task", {{NAME}}, false, true, CONTENT(TEXT("Hello, %s!"))},
    {"test_input_required_result_prompt",
        {{ELICIT(
            "user_context", "What context should the prompt use?", "context")}},
        false, false, "{\"messages\":[" MESSAGE(TEXT("Use this: %s")) "]}"},
};
#define DIALOGUE_COUNT (sizeof(dialogues) / sizeof(dialogues[0]))

/* What comes back with the answers tells which round they are of; random, so
 * that nobody makes one of another. */
static char states[DIALOGUE_COUNT][ROUNDS][TOKEN_LENGTH + 1];

static void
make_states(void)
{
	for (size_t i = 0; i < DIALOGUE_COUNT; i++)
		for (size_t round = 0; round < ROUNDS; round++)
			token_make(states[i][round]);
}

static int
find_round(size_t dialogue, yyjson_val *state, size_t *round, struct err *err)
{
	const char *text = rpc_text(state);

	*round = 0;
	if (state == NULL)
		return 0;
	for (; text != NULL && *round < ROUNDS; ++*round)
		if (token_equal(text, states[dialogue][*round]))
			return 0;
	return err_set(err, ERR_PARAMS, "this requestState is not from here");
}

static bool
can_ask(const struct request *request, const struct question *question)
{
	yyjson_val *capabilities =
	    yyjson_obj_get(yyjson_obj_get(request->message->params, "_meta"),
	        "io.modelcontextprotocol/clientCapabilities");

	return question->key != NULL &&
	    yyjson_is_obj(yyjson_obj_get(capabilities, question->capability));
}

/* False when an answer is missing, of those that can be had. */
static bool
take_answers(const struct request *request, const struct question *round,
    yyjson_val *responses, const char **values)
{
	for (size_t i = 0; i < QUESTIONS; i++) {
		if (!can_ask(request, &round[i]))
			continue;
		values[i] =
		    rpc_text(yyjson_ptr_get(responses, round[i].answer));
		if (values[i] == NULL)
			return false;
	}
	return true;
}

static void
ask(const struct request *request, const struct question *round,
    const char *state, struct reply *reply)
{
	yyjson_mut_val *requests =
	    yyjson_mut_obj_add_obj(reply->doc, reply->result, "inputRequests");

	for (size_t i = 0; i < QUESTIONS; i++)
		if (can_ask(request, &round[i]))
			yyjson_mut_obj_add_val(reply->doc, requests,
			    round[i].key, json(reply->doc, round[i].request));
	if (state != NULL)
		yyjson_mut_obj_add_str(
		    reply->doc, reply->result, "requestState", state);
	reply->result_type = "input_required";
}

static int
converse(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	yyjson_val *params = request->message->params;
	yyjson_val *responses = yyjson_obj_get(params, "inputResponses");
	yyjson_val *state = yyjson_obj_get(params, "requestState");
	const char *values[QUESTIONS] = {"", "", ""};
	size_t i = 0, round;
	char *text;

	(void)later;
	while (strcmp(dialogues[i].name, parameter(request, "name")) != 0)
		i++;
	if (find_round(i, state, &round, err) != 0)
		return -1;
	if (dialogues[i].keeps_state && state == NULL)
		responses = NULL;
	for (; round < ROUNDS; round++) {
		if (take_answers(
		        request, dialogues[i].rounds[round], responses, values))
			continue;
		ask(request, dialogues[i].rounds[round],
		    dialogues[i].keeps_state ? states[i][round] : NULL, reply);
		return 0;
	}
	text = fill_in(dialogues[i].result, values);
	if (dialogues[i].makes_task && request->tasks)
		start_job(client, reply, 1, text);
	else
		reply->result = json(reply->doc, text);
	free(text);
	return 0;
}

static const struct {
	const char *name;
	const char *input_schema; /* NULL: no arguments */
	const char *result;       /* or */
	method_fn *run;
} tools[] = {
    {"test_simple_text", NULL,
        CONTENT(TEXT("This is a simple text response for testing.")), NULL},
    {"test_image_content", NULL, CONTENT(IMAGE), NULL},
    {"test_audio_content", NULL,
        CONTENT("{\"type\":\"audio\",\"data\":\"" WAV
                "\",\"mimeType\":\"audio/wav\"}"),
        NULL},
    {"test_embedded_resource", NULL,
        CONTENT("{\"type\":\"resource\",\"resource\":{"
                "\"uri\":\"test://embedded-resource\","
                "\"mimeType\":\"text/plain\","
                "\"text\":\"This is an embedded resource content.\"}}"),
        NULL},
    {"test_multiple_content_types", NULL,
        CONTENT(TEXT("Multiple content types test:") "," IMAGE "," MIXED),
        NULL},
    {"test_error_handling", NULL,
        "{\"isError\":true,\"content\":[" TEXT(
            "This tool intentionally returns an error for testing") "]}",
        NULL},
    {"test_tool_with_progress", NULL, NULL, with_progress},
    {"test_tool_with_logging", NULL, NULL, with_logging},
    {"test_logging_tool", NULL, NULL, with_logging},
    {"test_missing_capability", NULL, NULL, missing_capability},
    /* We send the client no requests; the check is that we do not. */
    {"test_streaming_elicitation", NULL, NULL, with_progress},
    /* Our lists do not change. */
    {"test_trigger_tool_change", NULL, CONTENT(TEXT("nothing changed")), NULL},
    {"json_schema_2020_12_tool",
        "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
        "\"type\":\"object\",\"$defs\":{\"address\":{\"$anchor\":"
        "\"addressDef\",\"type\":\"object\",\"properties\":{\"street\":"
        "{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},"
        "\"properties\":{\"name\":{\"type\":\"string\"},\"address\":"
        "{\"$ref\":\"#/$defs/address\"},\"contactMethod\":{\"type\":"
        "\"string\",\"enum\":[\"phone\",\"email\"]},\"phone\":{\"type\":"
        "\"string\"},\"email\":{\"type\":\"string\"}},\"allOf\":[{\"anyOf\":"
        "[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
        "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},"
        "\"required\":[\"contactMethod\"]},\"then\":{\"required\":"
        "[\"phone\"]},\"else\":{\"required\":[\"email\"]},"
        "\"additionalProperties\":false}",
        CONTENT(TEXT("taken")), NULL},
    {"greet",
        "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":"
        "\"string\"}}}",
        NULL, greet},
    {"slow_compute",
        "{\"type\":\"object\",\"properties\":{\"seconds\":{\"type\":"
        "\"integer\"},\"label\":{\"type\":\"string\"}}}",
        NULL, slow_compute},
    {"failing_job", NULL, NULL, failing_job},
    {"test_input_required_result_elicitation", NULL, NULL, converse},
    {"test_input_required_result_sampling", NULL, NULL, converse},
    {"test_input_required_result_list_roots", NULL, NULL, converse},
    {"test_input_required_result_request_state", NULL, NULL, converse},
    {"test_input_required_result_multiple_inputs", NULL, NULL, converse},
    {"test_input_required_result_multi_round", NULL, NULL, converse},
    {"test_input_required_result_tampered_state", NULL, NULL, converse},
    {"test_input_required_result_capabilities", NULL, NULL, converse},
    {"test_tool_with_task", NULL, NULL, converse},
};
#define TOOL_COUNT (sizeof(tools) / sizeof(tools[0]))

static int
list_tools(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	yyjson_mut_val *list =
	    yyjson_mut_obj_add_arr(reply->doc, reply->result, "tools");

	(void)client;
	(void)request;
	(void)later;
	(void)err;
	for (size_t i = 0; i < TOOL_COUNT; i++) {
		yyjson_mut_val *item = yyjson_mut_arr_add_obj(reply->doc, list);
		const char *schema = tools[i].input_schema != NULL
		    ? tools[i].input_schema
		    : NO_ARGUMENTS;

		yyjson_mut_obj_add_str(reply->doc, item, "name", tools[i].name);
		yyjson_mut_obj_add_str(
		    reply->doc, item, "description", "A tool for a test");
		yyjson_mut_obj_add_val(
		    reply->doc, item, "inputSchema", json(reply->doc, schema));
	}
	return 0;
}

static int
call_tool(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	const char *name = parameter(request, "name");

	for (size_t i = 0; name != NULL && i < TOOL_COUNT; i++) {
		if (strcmp(tools[i].name, name) != 0)
			continue;
		if (tools[i].run != NULL)
			return tools[i].run(client, request, reply, later, err);
		reply->result = json(reply->doc, tools[i].result);
		return 0;
	}
	return err_set(err, ERR_PARAMS, "unknown tool");
}

/* --- resources and prompts ------------------------------------------------ */

static const struct {
	const char *uri;
	const char *contents;
} resources[] = {
    {"test://static-text",
        "\"mimeType\":\"text/plain\",\"text\":"
        "\"This is the content of the static text resource.\""},
    {"test://static-binary", "\"mimeType\":\"image/png\",\"blob\":\"" PNG "\""},
    {"test://watched-resource",
        "\"mimeType\":\"text/plain\",\"text\":\"It never changes.\""},
    {"test://template/123/data",
        "\"mimeType\":\"application/json\",\"text\":\"{\\\"id\\\":\\\"123\\\","
        "\\\"templateTest\\\":true,\\\"data\\\":\\\"Data for ID: 123\\\"}\""},
};
#define RESOURCE_COUNT (sizeof(resources) / sizeof(resources[0]))

static int
list_resources(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	yyjson_mut_val *list =
	    yyjson_mut_obj_add_arr(reply->doc, reply->result, "resources");

	(void)client;
	(void)request;
	(void)later;
	(void)err;
	for (size_t i = 0; i < RESOURCE_COUNT; i++) {
		yyjson_mut_val *item = yyjson_mut_arr_add_obj(reply->doc, list);

		yyjson_mut_obj_add_str(
		    reply->doc, item, "uri", resources[i].uri);
		yyjson_mut_obj_add_str(
		    reply->doc, item, "name", resources[i].uri);
		yyjson_mut_obj_add_str(
		    reply->doc, item, "description", "A resource for a test");
	}
	return 0;
}

static int
list_templates(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	(void)client;
	(void)request;
	(void)later;
	(void)err;
	reply->result = json(reply->doc,
	    "{\"resourceTemplates\":[{\"uriTemplate\":"
	    "\"test://template/{id}/data\",\"name\":\"template\"}]}");
	return 0;
}

/* The error says of which resource it speaks. */
static int
refuse_uri(const struct request *request, const char *uri, bool *later,
    const struct err *err)
{
	char *data = xasprintf("{\"uri\":\"%s\"}", uri != NULL ? uri : "");

	*later = true;
	reply_send_error(&request->outlet, request->message->id, err, data);
	free(data);
	return 0;
}

static int
read_resource(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	const char *uri = parameter(request, "uri");

	(void)client;
	for (size_t i = 0; uri != NULL && i < RESOURCE_COUNT; i++) {
		char *text;

		if (strcmp(resources[i].uri, uri) != 0)
			continue;
		text = xasprintf("{\"contents\":[{\"uri\":\"%s\",%s}]}", uri,
		    resources[i].contents);
		reply->result = json(reply->doc, text);
		free(text);
		return 0;
	}
	err_set(err,
	    revision_is_modern(request->revision) ? ERR_PARAMS : ERR_RESOURCE,
	    "unknown resource");
	return refuse_uri(request, uri, later, err);
}

#define ARGUMENT(name) "{\"name\":\"" name "\",\"required\":true}"
#define EMBEDDED \
	MESSAGE("{\"type\":\"resource\",\"resource\":{\"uri\":\"%s\"," \
	        "\"mimeType\":\"text/plain\",\"text\":" \
	        "\"Embedded resource content for testing.\"}}")

/* In messages, %s stands for the arguments, in their order. */
static const struct {
	const char *name;
	const char *arguments;
	const char *argument_names[2];
	const char *messages; /* NULL: see dialogues */
} prompts[] = {
    {"test_simple_prompt", "[]", {NULL},
        MESSAGE(TEXT("This is a simple prompt for testing."))},
    {"test_prompt_with_arguments",
        "[" ARGUMENT("arg1") "," ARGUMENT("arg2") "]", {"arg1", "arg2"},
        MESSAGE(TEXT("Prompt with arguments: arg1='%s', arg2='%s'"))},
    {"test_prompt_with_embedded_resource", "[" ARGUMENT("resourceUri") "]",
        {"resourceUri"},
        EMBEDDED
        "," MESSAGE(TEXT("Please process the embedded resource above."))},
    {"test_prompt_with_image", "[]", {NULL},
        MESSAGE(IMAGE) "," MESSAGE(TEXT("Please analyze the image above."))},
    {"test_input_required_result_prompt", "[]", {NULL}, NULL},
};
#define PROMPT_COUNT (sizeof(prompts) / sizeof(prompts[0]))

static int
list_prompts(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	yyjson_mut_val *list =
	    yyjson_mut_obj_add_arr(reply->doc, reply->result, "prompts");

	(void)client;
	(void)request;
	(void)later;
	(void)err;
	for (size_t i = 0; i < PROMPT_COUNT; i++) {
		yyjson_mut_val *item = yyjson_mut_arr_add_obj(reply->doc, list);

		yyjson_mut_obj_add_str(
		    reply->doc, item, "name", prompts[i].name);
		yyjson_mut_obj_add_str(
		    reply->doc, item, "description", "A prompt for a test");
		yyjson_mut_obj_add_val(reply->doc, item, "arguments",
		    json(reply->doc, prompts[i].arguments));
	}
	return 0;
}

static int
get_prompt(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	const char *name = parameter(request, "name");
	const char *values[2] = {"", ""};
	char *messages, *text;
	size_t i = 0;

	while (i < PROMPT_COUNT &&
	    (name == NULL || strcmp(prompts[i].name, name) != 0))
		i++;
	if (i == PROMPT_COUNT)
		return err_set(err, ERR_PARAMS, "unknown prompt");
	if (prompts[i].messages == NULL)
		return converse(client, request, reply, later, err);
	for (size_t j = 0; j < 2 && prompts[i].argument_names[j]; j++) {
		values[j] =
		    rpc_text(argument(request, prompts[i].argument_names[j]));
		if (values[j] == NULL)
			return err_set(err, ERR_PARAMS, "argument missing");
	}
	messages = fill_in(prompts[i].messages, values);
	text = xasprintf("{\"messages\":[%s]}", messages);
	reply->result = json(reply->doc, text);
	free(text);
	free(messages);
	return 0;
}

static int
complete(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	(void)client;
	(void)request;
	(void)later;
	(void)err;
	reply->result = json(reply->doc,
	    "{\"completion\":{\"values\":[\"paris\"],"
	    "\"total\":1,\"hasMore\":false}}");
	return 0;
}

static int
accept_it(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	(void)client;
	(void)request;
	(void)reply;
	(void)later;
	(void)err;
	return 0;
}

/* --- the table ------------------------------------------------------------ */

static method_fn *
own_method(const char *name)
{
	const struct method *method = mcp_methods;

	while (strcmp(method->name, name) != 0)
		method++;
	return method->run;
}

/* What the real server says of itself, and what is here on top of it. */
static int
introduce(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	static const char *const added[] = {
	    "prompts", "completions", "logging"};
	bool modern = revision_is_modern(request->revision);
	yyjson_mut_val *capabilities;

	if (own_method(modern ? "server/discover" : "initialize")(
	        client, request, reply, later, err) != 0)
		return -1;
	capabilities = yyjson_mut_obj_get(reply->result, "capabilities");
	for (size_t i = 0; i < (modern ? 2 : 3); i++)
		if (yyjson_mut_obj_get(capabilities, added[i]) == NULL)
			yyjson_mut_obj_add_obj(
			    reply->doc, capabilities, added[i]);
	if (!modern)
		yyjson_mut_obj_add_bool(reply->doc,
		    yyjson_mut_obj_get(capabilities, "resources"), "subscribe",
		    true);
	return 0;
}

static const struct method own_methods[] = {
    {"initialize", introduce, ERA_LEGACY, false, false},
    {"server/discover", introduce, ERA_MODERN, true, false},
    {"tools/list", list_tools, ERA_BOTH, true, false},
    {"tools/call", call_tool, ERA_BOTH, false, false},
    {"resources/list", list_resources, ERA_BOTH, true, false},
    {"resources/templates/list", list_templates, ERA_BOTH, true, false},
    {"resources/read", read_resource, ERA_BOTH, true, false},
    {"resources/subscribe", accept_it, ERA_LEGACY, false, false},
    {"resources/unsubscribe", accept_it, ERA_LEGACY, false, false},
    {"prompts/list", list_prompts, ERA_BOTH, true, false},
    {"prompts/get", get_prompt, ERA_BOTH, false, false},
    {"completion/complete", complete, ERA_BOTH, false, false},
    {"logging/setLevel", accept_it, ERA_LEGACY, false, false},
};
#define OWN_COUNT (sizeof(own_methods) / sizeof(own_methods[0]))

/* Ours first; behind them those of the server, with the end of the table. */
static struct method *
all_methods(void)
{
	size_t count = 0;
	struct method *all;

	while (mcp_methods[count++].name != NULL)
		;
	all = xcalloc(OWN_COUNT + count, sizeof(*all));
	memcpy(all, own_methods, sizeof(own_methods));
	memcpy(all + OWN_COUNT, mcp_methods, count * sizeof(*all));
	return all;
}

static void
on_signal(evutil_socket_t number, short what, void *arg)
{
	(void)number;
	(void)what;
	event_base_loopbreak(arg);
}

static int
serve(const struct settings *settings)
{
	struct event_base *base = event_base_new();
	struct event *end = evsignal_new(base, SIGTERM, on_signal, base);
	struct method *methods = all_methods();
	struct mcp *mcp = mcp_new(&(struct mcp_config){
	    .base = base, .settings = settings, .methods = methods});
	struct err err;
	struct transport_http *transport =
	    transport_http_new(base, settings, mcp, &err);

	make_states();
	if (transport != NULL) {
		evsignal_add(end, NULL);
		event_base_dispatch(base);
		transport_http_free(transport);
	} else {
		log_warn("%s", err.message);
	}
	mcp_free(mcp);
	event_free(end);
	event_base_free(base);
	free(methods);
	return transport != NULL ? 0 : 2;
}

int
main(int argc, char **argv)
{
	struct settings settings;
	struct err err;
	int status = 2;

	signal(SIGPIPE, SIG_IGN);
	if (options_parse(&settings, argc, argv, &err) == 0)
		status = serve(&settings);
	else
		log_warn("%s", err.message);
	settings_release(&settings);
	return status;
}
