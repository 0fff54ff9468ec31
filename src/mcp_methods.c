#include "method.h"

#include <stdlib.h>
#include <string.h>

#include "mcp_private.h"
#include "resources.h"
#include "result.h"
#include "tools.h"

static const char instructions[] =
    "Runs Python and JavaScript, each program in a fresh container. Print "
    "what you want to see.";

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

void
method_add_versions(yyjson_mut_doc *doc, yyjson_mut_val *list)
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
	method_add_versions(reply->doc,
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
	    client->mcp->config.settings, request->revision);
	/* Who lists the tools is about to call one. */
	sandbox_prepare(client->mcp->config.sandbox);
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

/* There are none; but some clients ask without having been told of any. */
static int
list_prompts(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	(void)client;
	(void)later;
	if (check_cursor(request, err) != 0)
		return -1;
	yyjson_mut_obj_add_arr(reply->doc, reply->result, "prompts");
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
	if (rpc_text(uri) == NULL)
		return err_set(err, ERR_RESOURCE, "a uri has no NUL");
	status = resource_read(reply->doc,
	    yyjson_mut_obj_add_arr(reply->doc, reply->result, "contents"),
	    yyjson_get_str(uri), client->mcp->config.settings, err);
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
	tool = rpc_text(name) != NULL ? tool_find(rpc_text(name)) : NULL;
	if (tool == NULL)
		return err_set(err, ERR_PARAMS, "unknown tool: %.100s",
		    yyjson_get_str(name));
	if (arguments != NULL && !yyjson_is_obj(arguments))
		return err_set(
		    err, ERR_PARAMS, "\"arguments\" must be an object");
	if (calls_include(client->calls, message->id))
		return err_set(err, ERR_REQUEST,
		    "a call with the id %.100s is still running", message->id);
	if (tool_request(tool, arguments, client->mcp->config.settings, &work,
	        &problem) != 0)
		return refuse_call(reply, problem.message);
	if (sandbox_is_full(client->mcp->config.sandbox))
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

const struct method mcp_methods[] = {
    {"initialize", initialize, ERA_LEGACY, false, false},
    {"ping", ping, ERA_LEGACY, false, false},
    {"server/discover", discover, ERA_MODERN, true, false},
    {"tools/list", list_tools, ERA_BOTH, true, false},
    {"tools/call", call_tool, ERA_BOTH, false, false},
    {"resources/list", list_resources, ERA_BOTH, true, false},
    {"resources/templates/list", list_resource_templates, ERA_BOTH, true,
        false},
    {"resources/read", read_resource, ERA_BOTH, true, false},
    {"prompts/list", list_prompts, ERA_BOTH, true, false},
    {"subscriptions/listen", listen, ERA_MODERN, false, false},
    {"tasks/get", get_task, ERA_MODERN, false, true},
    {"tasks/update", update_task, ERA_MODERN, false, true},
    {"tasks/cancel", cancel_task, ERA_MODERN, false, true},
    {NULL, NULL, 0, false, false},
};
