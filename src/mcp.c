#include "mcp.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "batch.h"
#include "calls.h"
#include "reply.h"
#include "request.h"
#include "resources.h"
#include "result.h"
#include "subscriptions.h"
#include "tasks.h"
#include "tools.h"

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define TASKS_EXTENSION "io.modelcontextprotocol/tasks"

static const char instructions[] =
    "Runs Python and JavaScript, each program in a fresh container. Print "
    "what you want to see.";

struct mcp {
	struct event_base *base;
	const struct settings *settings;
	struct sandbox *sandbox;
	struct tasks *tasks;
};

struct mcp_client {
	struct mcp *mcp;
	enum revision revision; /* that initialize agreed on */
	bool agreed;
	struct calls *calls;
	struct subscriptions subscriptions;
};

/* Fills in reply->result, and it is sent; or fails; or sets *later, and the
 * answer comes by itself. */
typedef int method_fn(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err);

struct mcp *
mcp_new(struct event_base *base, const struct settings *settings,
    struct sandbox *sandbox)
{
	struct mcp *mcp = xcalloc(1, sizeof(*mcp));

	mcp->base = base;
	mcp->settings = settings;
	mcp->sandbox = sandbox;
	mcp->tasks = tasks_new(base);
	return mcp;
}

void
mcp_free(struct mcp *mcp)
{
	tasks_free(mcp->tasks);
	free(mcp);
}

struct mcp_client *
mcp_client_new(struct mcp *mcp)
{
	struct mcp_client *client = xcalloc(1, sizeof(*client));

	client->mcp = mcp;
	client->revision = REVISION_UNSAID;
	client->calls = calls_new(&(struct calls_config){.base = mcp->base,
	    .settings = mcp->settings,
	    .sandbox = mcp->sandbox,
	    .tasks = mcp->tasks});
	subscriptions_init(&client->subscriptions);
	return client;
}

void
mcp_client_free(struct mcp_client *client)
{
	calls_free(client->calls);
	subscriptions_release(&client->subscriptions);
	free(client);
}

void
mcp_client_disconnect(struct mcp_client *client, const void *owner)
{
	calls_disconnect(client->calls, owner);
	subscriptions_disconnect(&client->subscriptions, owner);
}

static void
add_capabilities(struct reply *reply, bool modern)
{
	yyjson_mut_val *capabilities =
	    yyjson_mut_obj_add_obj(reply->doc, reply->result, "capabilities");

	yyjson_mut_obj_add_obj(reply->doc, capabilities, "tools");
	yyjson_mut_obj_add_obj(reply->doc, capabilities, "resources");
	if (modern)
		yyjson_mut_obj_add_obj(reply->doc,
		    yyjson_mut_obj_add_obj(
		        reply->doc, capabilities, "extensions"),
		    TASKS_EXTENSION);
}

static int
initialize(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	yyjson_val *version =
	    yyjson_obj_get(request->message->params, "protocolVersion");

	(void)later;
	if (!yyjson_is_str(version))
		return err_set(
		    err, ERR_PARAMS, "\"protocolVersion\" must be a string");
	client->agreed = true;
	if (!revision_parse(yyjson_get_str(version), &client->revision) ||
	    revision_is_modern(client->revision))
		client->revision = REVISION_NEWEST_LEGACY;
	yyjson_mut_obj_add_str(reply->doc, reply->result, "protocolVersion",
	    revision_name(client->revision));
	add_capabilities(reply, false);
	yyjson_mut_obj_add_val(reply->doc, reply->result, "serverInfo",
	    reply_server_info(reply->doc, client->revision));
	yyjson_mut_obj_add_str(
	    reply->doc, reply->result, "instructions", instructions);
	return 0;
}

static void
add_supported_versions(yyjson_mut_doc *doc, yyjson_mut_val *list)
{
	for (int i = REVISION_COUNT - 1; i >= 0; i--)
		yyjson_mut_arr_add_str(
		    doc, list, revision_name((enum revision)i));
}

static int
discover(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	(void)client;
	(void)request;
	(void)later;
	(void)err;
	add_supported_versions(reply->doc,
	    yyjson_mut_obj_add_arr(
	        reply->doc, reply->result, "supportedVersions"));
	add_capabilities(reply, true);
	yyjson_mut_obj_add_str(
	    reply->doc, reply->result, "instructions", instructions);
	return 0;
}

static int
ping(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	(void)client;
	(void)request;
	(void)reply;
	(void)later;
	(void)err;
	return 0;
}

/* All our lists fit on one page, so there is no cursor that we gave out. */
static int
check_cursor(const struct request *request, struct err *err)
{
	if (yyjson_obj_get(request->message->params, "cursor") == NULL)
		return 0;
	return err_set(err, ERR_PARAMS, "unknown cursor");
}

static int
list_tools(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	(void)later;
	if (check_cursor(request, err) != 0)
		return -1;
	tools_list(reply->doc,
	    yyjson_mut_obj_add_arr(reply->doc, reply->result, "tools"),
	    client->mcp->settings, request->revision);
	/* Who lists the tools is about to call one. */
	sandbox_prepare(client->mcp->sandbox);
	return 0;
}

static int
list_resources(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	(void)client;
	(void)later;
	if (check_cursor(request, err) != 0)
		return -1;
	resources_list(reply->doc,
	    yyjson_mut_obj_add_arr(reply->doc, reply->result, "resources"),
	    request->revision);
	return 0;
}

static int
list_resource_templates(struct mcp_client *client,
    const struct request *request, struct reply *reply, bool *later,
    struct err *err)
{
	(void)client;
	(void)later;
	if (check_cursor(request, err) != 0)
		return -1;
	yyjson_mut_obj_add_arr(reply->doc, reply->result, "resourceTemplates");
	return 0;
}

static int
read_resource(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	yyjson_val *uri = yyjson_obj_get(request->message->params, "uri");
	int status;

	(void)later;
	if (!yyjson_is_str(uri))
		return err_set(err, ERR_PARAMS, "\"uri\" must be a string");
	status = resource_read(reply->doc,
	    yyjson_mut_obj_add_arr(reply->doc, reply->result, "contents"),
	    yyjson_get_str(uri), client->mcp->settings, err);
	if (status != 0 && revision_is_modern(request->revision))
		err->code = ERR_PARAMS;
	return status;
}

/* The caller's mistake or ours, told to the model as a result. */
static int
refuse_call(struct reply *reply, const char *why)
{
	reply->result = result_build_error(reply->doc, why);
	return 0;
}

static int
call_tool(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	const struct rpc_message *message = request->message;
	yyjson_val *name = yyjson_obj_get(message->params, "name");
	yyjson_val *arguments = yyjson_obj_get(message->params, "arguments");
	struct sandbox_request work;
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
	if (calls_include(client->calls, message->id))
		return err_set(err, ERR_REQUEST,
		    "a call with the id %.100s is still running", message->id);
	if (tool_request(
	        tool, arguments, client->mcp->settings, &work, &problem) != 0)
		return refuse_call(reply, problem.message);
	if (sandbox_is_full(client->mcp->sandbox))
		return refuse_call(reply,
		    "Too many calls are waiting. Try again when some of them "
		    "have been answered.");
	*later = true;
	calls_start(client->calls, request, tool, &work);
	return 0;
}

static int
listen(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	(void)reply;
	*later = true;
	return subscriptions_add(&client->subscriptions, request, err);
}

static struct task *
find_task(
    struct mcp_client *client, const struct request *request, struct err *err)
{
	yyjson_val *id = yyjson_obj_get(request->message->params, "taskId");
	struct task *task = NULL;

	if (!yyjson_is_str(id))
		err_set(err, ERR_PARAMS, "\"taskId\" must be a string");
	else if ((task = task_find(client->mcp->tasks, yyjson_get_str(id))) ==
	    NULL)
		err_set(err, ERR_PARAMS,
		    "unknown task: it never was, or it has expired");
	return task;
}

static int
get_task(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	struct task *task = find_task(client, request, err);

	(void)later;
	if (task == NULL)
		return -1;
	task_describe(task, reply->doc, reply->result);
	return 0;
}

/* Our tasks never ask for anything, so there is nothing to update. */
static int
update_task(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	(void)reply;
	(void)later;
	return find_task(client, request, err) != NULL ? 0 : -1;
}

static int
cancel_task(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	struct task *task = find_task(client, request, err);

	(void)reply;
	(void)later;
	if (task == NULL)
		return -1;
	task_cancel(task);
	return 0;
}

enum era { LEGACY = 1, MODERN = 2, BOTH = 3 };

static const struct method {
	const char *name;
	method_fn *run;
	enum era era;
	bool cacheable;
	bool needs_tasks;
} methods[] = {
    {"initialize", initialize, LEGACY, false, false},
    {"ping", ping, LEGACY, false, false},
    {"server/discover", discover, MODERN, true, false},
    {"tools/list", list_tools, BOTH, true, false},
    {"tools/call", call_tool, BOTH, false, false},
    {"resources/list", list_resources, BOTH, true, false},
    {"resources/templates/list", list_resource_templates, BOTH, true, false},
    {"resources/read", read_resource, BOTH, true, false},
    {"subscriptions/listen", listen, MODERN, false, false},
    {"tasks/get", get_task, MODERN, false, true},
    {"tasks/update", update_task, MODERN, false, true},
    {"tasks/cancel", cancel_task, MODERN, false, true},
};

static const struct method *
find_method(const char *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

static yyjson_val *
meta_value(const struct rpc_message *message, const char *key)
{
	return yyjson_obj_get(yyjson_obj_get(message->params, "_meta"), key);
}

const char *
mcp_named_revision(const struct rpc_message *message)
{
	return yyjson_get_str(meta_value(message, META_VERSION));
}

static void
refuse_version(const struct request *request, const char *requested)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *data = yyjson_mut_obj(doc);
	struct err err;
	char *text;

	add_supported_versions(
	    doc, yyjson_mut_obj_add_arr(doc, data, "supported"));
	yyjson_mut_obj_add_str(doc, data, "requested", requested);
	text = yyjson_mut_val_write(data, 0, NULL);
	err_set(&err, ERR_VERSION, "Unsupported protocol version");
	reply_send_error(&request->outlet, request->message->id, &err, text);
	free(text);
	yyjson_mut_doc_free(doc);
}

/* Fills in what a modern request says of its client; false: it was refused. */
static bool
read_meta(struct request *request, const char *named)
{
	yyjson_val *capabilities =
	    meta_value(request->message, META_CAPABILITIES);
	struct err err;

	if (!revision_parse(named, &request->revision) ||
	    !revision_is_modern(request->revision)) {
		refuse_version(request, named);
		return false;
	}
	if (!yyjson_is_obj(capabilities)) {
		err_set(&err, ERR_META,
		    "_meta must carry \"" META_CAPABILITIES "\"");
		reply_send_error(
		    &request->outlet, request->message->id, &err, NULL);
		return false;
	}
	request->tasks = yyjson_is_obj(yyjson_obj_get(
	    yyjson_obj_get(capabilities, "extensions"), TASKS_EXTENSION));
	return true;
}

static void
run_method(struct mcp_client *client, const struct method *method,
    const struct request *request)
{
	struct reply reply;
	bool later = false;
	struct err err;

	reply_init(&reply);
	reply.cacheable = method->cacheable;
	if (method->run(client, request, &reply, &later, &err) != 0)
		reply_send_error(
		    &request->outlet, request->message->id, &err, NULL);
	else if (!later)
		reply_send(&reply, &request->outlet, request->message->id,
		    method->run == initialize ? client->revision
		                              : request->revision);
	reply_release(&reply);
}

/* The method, if it is there for this request; otherwise says why not. */
static const struct method *
choose_method(const struct request *request, bool modern)
{
	static const char tasks_wanted[] =
	    "{\"requiredCapabilities\":{\"extensions\":{\"" TASKS_EXTENSION
	    "\":{}}}}";
	const struct rpc_message *message = request->message;
	const struct method *method = find_method(message->method);
	const char *data = NULL;
	struct err err;

	if (method == NULL || (modern && (method->era & MODERN) == 0)) {
		err_set(&err, ERR_METHOD, "unknown method: %.100s",
		    message->method);
	} else if (!modern && (method->era & LEGACY) == 0) {
		err_set(&err, ERR_META,
		    "%s must carry \"" META_VERSION "\" in its _meta",
		    message->method);
	} else if (method->needs_tasks && !request->tasks) {
		err_set(
		    &err, ERR_CAPABILITY, "Missing required client capability");
		data = tasks_wanted;
	} else {
		return method;
	}
	reply_send_error(&request->outlet, message->id, &err, data);
	return NULL;
}

static void
handle_request(struct mcp_client *client, const struct rpc_message *message,
    const struct outlet *outlet)
{
	struct request request = {.message = message,
	    .outlet = *outlet,
	    .revision = client->revision};
	const char *named = mcp_named_revision(message);
	const struct method *method;

	if (named != NULL && !read_meta(&request, named))
		return;
	method = choose_method(&request, named != NULL);
	if (method != NULL)
		run_method(client, method, &request);
}

/* Cancelling what is over, or never was, is no mistake: it crosses our
 * answer on the way. */
static void
handle_cancelled(struct mcp_client *client, const struct rpc_message *message)
{
	char *id = rpc_id_text(yyjson_obj_get(message->params, "requestId"));

	if (id != NULL) {
		calls_cancel(client->calls, id);
		subscriptions_cancel(&client->subscriptions, id);
	}
	free(id);
}

void
mcp_client_handle(struct mcp_client *client, const struct rpc_message *message,
    const struct outlet *outlet)
{
	if (message->kind == RPC_REQUEST)
		handle_request(client, message, outlet);
	else if (message->kind == RPC_NOTIFICATION &&
	    strcmp(message->method, "notifications/cancelled") == 0)
		handle_cancelled(client, message);
}

static void
receive_value(
    struct mcp_client *client, yyjson_val *root, const struct outlet *outlet)
{
	struct rpc_message message;
	struct err err;

	if (rpc_check(&message, root, &err) == 0)
		mcp_client_handle(client, &message, outlet);
	else if (message.kind != RPC_NOTIFICATION)
		/* A notification is never answered, not even a bad one. */
		reply_send_error(outlet, message.id, &err, NULL);
	rpc_message_release(&message);
}

/* Batches were part of one revision only. */
static void
receive_batch(
    struct mcp_client *client, yyjson_val *root, const struct outlet *outlet)
{
	struct batch *batch = batch_new(outlet, root);
	struct outlet part;
	yyjson_arr_iter iter = yyjson_arr_iter_with(root);
	yyjson_val *item;

	batch_outlet(batch, &part);
	while ((item = yyjson_arr_iter_next(&iter)) != NULL)
		receive_value(client, item, &part);
	batch_close(batch);
}

void
mcp_client_receive(struct mcp_client *client, const char *data, size_t length,
    const struct outlet *outlet)
{
	struct err err;
	yyjson_doc *doc = rpc_read(data, length, &err);
	yyjson_val *root = yyjson_doc_get_root(doc);

	if (doc == NULL)
		reply_send_error(outlet, NULL, &err, NULL);
	else if (yyjson_is_arr(root) && yyjson_arr_size(root) > 0 &&
	    client->agreed && client->revision == REVISION_2025_03_26)
		receive_batch(client, root, outlet);
	else
		receive_value(client, root, outlet);
	yyjson_doc_free(doc);
}
