#include "mcp.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>

#include "alloc.h"
#include "log.h"
#include "progress.h"
#include "resources.h"
#include "result.h"
#include "revision.h"
#include "rpc.h"
#include "tools.h"

/* A tools/call under way. */
struct tool_call {
	TAILQ_ENTRY(tool_call) entry;
	struct mcp_client *client;
	char *id;
	struct progress *progress; /* NULL: the client does not want any */
	const struct tool *tool;
	struct call *call;
};

struct mcp_client {
	struct mcp_config config;
	enum revision revision;
	TAILQ_HEAD(tool_calls, tool_call) calls;
};

/* What a method works on; result is built in doc. */
struct reply {
	yyjson_mut_doc *doc;
	yyjson_mut_val *result;
	bool later; /* the answer comes by itself */
};

typedef int method_fn(struct mcp_client *client,
    const struct rpc_message *message, struct reply *reply, struct err *err);

struct mcp_client *
mcp_client_new(const struct mcp_config *config)
{
	struct mcp_client *client = xcalloc(1, sizeof(*client));

	client->config = *config;
	client->revision = REVISION_UNSAID;
	TAILQ_INIT(&client->calls);
	return client;
}

static void
tool_call_free(struct tool_call *call)
{
	TAILQ_REMOVE(&call->client->calls, call, entry);
	free(call->id);
	progress_free(call->progress);
	free(call);
}

void
mcp_client_free(struct mcp_client *client)
{
	struct tool_call *call;

	while ((call = TAILQ_FIRST(&client->calls)) != NULL) {
		sandbox_cancel(call->call);
		tool_call_free(call);
	}
	free(client);
}

static void
send_text(struct mcp_client *client, char *text, size_t length)
{
	if (text == NULL) {
		log_warn("a message could not be written as JSON");
		return;
	}
	client->config.send(client->config.arg, text, length);
	free(text);
}

static void
send_result(struct mcp_client *client, const char *id, yyjson_mut_doc *doc,
    yyjson_mut_val *result)
{
	size_t length;
	char *text = rpc_result(id, doc, result, &length);

	send_text(client, text, length);
}

static void
send_error(struct mcp_client *client, const char *id, const struct err *err)
{
	size_t length;
	char *text = rpc_error(id, err, &length);

	send_text(client, text, length);
}

void
mcp_client_refuse(struct mcp_client *client, const struct err *err)
{
	send_error(client, NULL, err);
}

static int
initialize(struct mcp_client *client, const struct rpc_message *message,
    struct reply *reply, struct err *err)
{
	yyjson_val *version =
	    yyjson_obj_get(message->params, "protocolVersion");
	yyjson_mut_doc *doc = reply->doc;
	yyjson_mut_val *capabilities, *info;

	if (!yyjson_is_str(version))
		return err_set(
		    err, ERR_PARAMS, "\"protocolVersion\" must be a string");
	if (!revision_parse(yyjson_get_str(version), &client->revision))
		client->revision = REVISION_NEWEST;
	yyjson_mut_obj_add_str(doc, reply->result, "protocolVersion",
	    revision_name(client->revision));
	capabilities =
	    yyjson_mut_obj_add_obj(doc, reply->result, "capabilities");
	yyjson_mut_obj_add_obj(doc, capabilities, "tools");
	yyjson_mut_obj_add_obj(doc, capabilities, "resources");
	info = yyjson_mut_obj_add_obj(doc, reply->result, "serverInfo");
	yyjson_mut_obj_add_str(doc, info, "name", "code-sandbox");
	if (client->revision >= REVISION_2025_06_18)
		yyjson_mut_obj_add_str(doc, info, "title", "Code sandbox");
	yyjson_mut_obj_add_str(doc, info, "version", VERSION);
	yyjson_mut_obj_add_str(doc, reply->result, "instructions",
	    "Runs Python and JavaScript, each program in a fresh container. "
	    "Print what you want to see.");
	return 0;
}

static int
ping(struct mcp_client *client, const struct rpc_message *message,
    struct reply *reply, struct err *err)
{
	(void)client;
	(void)message;
	(void)reply;
	(void)err;
	return 0;
}

/* All our lists fit on one page, so there is no cursor that we gave out. */
static int
check_cursor(const struct rpc_message *message, struct err *err)
{
	if (yyjson_obj_get(message->params, "cursor") == NULL)
		return 0;
	return err_set(err, ERR_PARAMS, "unknown cursor");
}

static int
list_tools(struct mcp_client *client, const struct rpc_message *message,
    struct reply *reply, struct err *err)
{
	if (check_cursor(message, err) != 0)
		return -1;
	tools_list(reply->doc,
	    yyjson_mut_obj_add_arr(reply->doc, reply->result, "tools"),
	    client->config.settings, client->revision);
	/* Who lists the tools is about to call one. */
	sandbox_prepare(client->config.sandbox);
	return 0;
}

static int
list_resources(struct mcp_client *client, const struct rpc_message *message,
    struct reply *reply, struct err *err)
{
	if (check_cursor(message, err) != 0)
		return -1;
	resources_list(reply->doc,
	    yyjson_mut_obj_add_arr(reply->doc, reply->result, "resources"),
	    client->revision);
	return 0;
}

static int
list_resource_templates(struct mcp_client *client,
    const struct rpc_message *message, struct reply *reply, struct err *err)
{
	(void)client;
	if (check_cursor(message, err) != 0)
		return -1;
	yyjson_mut_obj_add_arr(reply->doc, reply->result, "resourceTemplates");
	return 0;
}

static int
read_resource(struct mcp_client *client, const struct rpc_message *message,
    struct reply *reply, struct err *err)
{
	yyjson_val *uri = yyjson_obj_get(message->params, "uri");

	if (!yyjson_is_str(uri))
		return err_set(err, ERR_PARAMS, "\"uri\" must be a string");
	return resource_read(reply->doc,
	    yyjson_mut_obj_add_arr(reply->doc, reply->result, "contents"),
	    yyjson_get_str(uri), client->config.settings, err);
}

static void
on_output(void *arg, enum child_stream stream, const char *data, size_t length)
{
	struct tool_call *call = arg;

	(void)stream;
	if (call->progress != NULL)
		progress_output(call->progress, data, length);
}

static void
on_progress(void *arg, const char *text)
{
	struct tool_call *call = arg;

	if (call->progress != NULL)
		progress_say(call->progress, text);
}

static void
on_done(void *arg, const struct outcome *outcome)
{
	struct tool_call *call = arg;
	struct mcp_client *client = call->client;
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

	send_result(client, call->id, doc,
	    result_build(doc, outcome, &languages[call->tool->language],
	        client->config.settings, client->revision));
	yyjson_mut_doc_free(doc);
	tool_call_free(call);
}

static const struct sandbox_callbacks sandbox_callbacks = {
    .output = on_output,
    .progress = on_progress,
    .done = on_done,
};

static struct tool_call *
find_call(struct mcp_client *client, const char *id)
{
	struct tool_call *call;

	TAILQ_FOREACH (call, &client->calls, entry)
		if (strcmp(call->id, id) == 0)
			return call;
	return NULL;
}

static struct progress *
start_progress(struct mcp_client *client, const struct rpc_message *message)
{
	yyjson_val *meta = yyjson_obj_get(message->params, "_meta");
	char *token = rpc_id_text(yyjson_obj_get(meta, "progressToken"));
	struct progress *progress = NULL;

	if (token != NULL)
		progress = progress_new(
		    &(struct progress_config){.base = client->config.base,
		        .token = token,
		        .revision = client->revision,
		        .send = client->config.send,
		        .arg = client->config.arg});
	free(token);
	return progress;
}

static void
start_call(struct mcp_client *client, const struct rpc_message *message,
    const struct tool *tool, const struct sandbox_request *request)
{
	struct tool_call *call = xcalloc(1, sizeof(*call));

	call->client = client;
	call->id = xstrdup(message->id);
	call->progress = start_progress(client, message);
	call->tool = tool;
	TAILQ_INSERT_TAIL(&client->calls, call, entry);
	call->call = sandbox_call(
	    client->config.sandbox, request, &sandbox_callbacks, call);
}

/* The caller's mistake or ours, told to the model as a result. */
static int
refuse_call(struct reply *reply, const char *why)
{
	reply->result = result_build_error(reply->doc, why);
	return 0;
}

static int
call_tool(struct mcp_client *client, const struct rpc_message *message,
    struct reply *reply, struct err *err)
{
	yyjson_val *name = yyjson_obj_get(message->params, "name");
	yyjson_val *arguments = yyjson_obj_get(message->params, "arguments");
	struct sandbox_request request;
	const struct tool *tool;
	struct err problem;

	if (!yyjson_is_str(name))
		return err_set(err, ERR_PARAMS, "\"name\" must be a string");
	tool = tool_find(yyjson_get_str(name));
	if (tool == NULL)
		return err_set(err, ERR_PARAMS, "unknown tool: %.100s",
		    yyjson_get_str(name));
	if (arguments != NULL && !yyjson_is_obj(arguments))
		return err_set(
		    err, ERR_PARAMS, "\"arguments\" must be an object");
	if (find_call(client, message->id) != NULL)
		return err_set(err, ERR_REQUEST,
		    "a call with the id %.100s is still running", message->id);
	if (tool_request(tool, arguments, client->config.settings, &request,
	        &problem) != 0)
		return refuse_call(reply, problem.message);
	if (sandbox_is_full(client->config.sandbox))
		return refuse_call(reply,
		    "Too many calls are waiting. Try again when some of them "
		    "have been answered.");
	reply->later = true;
	start_call(client, message, tool, &request);
	return 0;
}

static const struct {
	const char *name;
	method_fn *method;
} methods[] = {
    {"initialize", initialize},
    {"ping", ping},
    {"tools/list", list_tools},
    {"tools/call", call_tool},
    {"resources/list", list_resources},
    {"resources/templates/list", list_resource_templates},
    {"resources/read", read_resource},
};

static void
answer(struct mcp_client *client, const struct rpc_message *message,
    method_fn *method)
{
	struct reply reply = {.doc = yyjson_mut_doc_new(NULL)};
	struct err err;

	reply.result = yyjson_mut_obj(reply.doc);
	if (method(client, message, &reply, &err) != 0)
		send_error(client, message->id, &err);
	else if (!reply.later)
		send_result(client, message->id, reply.doc, reply.result);
	yyjson_mut_doc_free(reply.doc);
}

static void
handle_request(struct mcp_client *client, const struct rpc_message *message)
{
	struct err err;

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcmp(methods[i].name, message->method) == 0) {
			answer(client, message, methods[i].method);
			return;
		}
	err_set(&err, ERR_METHOD, "unknown method: %.100s", message->method);
	send_error(client, message->id, &err);
}

/* Cancelling what is over, or never was, is no mistake: it crosses our
 * answer on the way. */
static void
handle_cancelled(struct mcp_client *client, const struct rpc_message *message)
{
	char *id = rpc_id_text(yyjson_obj_get(message->params, "requestId"));
	struct tool_call *call = id != NULL ? find_call(client, id) : NULL;

	if (call != NULL) {
		log_debug("call %s cancelled", id);
		sandbox_cancel(call->call);
		tool_call_free(call);
	}
	free(id);
}

void
mcp_client_receive(
    struct mcp_client *client, const char *message, size_t length)
{
	struct rpc_message parsed;
	struct err err;

	if (rpc_parse(&parsed, message, length, &err) != 0) {
		/* A notification is never answered, not even a bad one. */
		if (parsed.kind != RPC_NOTIFICATION)
			send_error(client, parsed.id, &err);
	} else if (parsed.kind == RPC_REQUEST) {
		handle_request(client, &parsed);
	} else if (parsed.kind == RPC_NOTIFICATION &&
	    strcmp(parsed.method, "notifications/cancelled") == 0) {
		handle_cancelled(client, &parsed);
	}
	rpc_message_release(&parsed);
}
