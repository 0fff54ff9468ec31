#include "mcp/method.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/icon.h"
#include "mcp/mcp_private.h"
#include "mcp/resources.h"
#include "mcp/result.h"
#include "mcp/tools.h"
#include "sandbox/work_path.h"

static void
add_instructions(struct reply *reply, const struct settings *settings)
{
	const struct language_table *table = &settings->languages;
	const char *titles[LANGUAGE_MAX + 1] = {NULL};
	size_t count = 0;
	char *list, *text;

	for (size_t i = 0; i < table->count; i++)
		if (table->on[i])
			titles[count++] = table->rows[i]->title;
	list = strlist_join(titles, ", ", " and ");
	text = xasprintf("Runs %s, each program in a fresh container%s. Print "
	                 "what you want to see.",
	    list,
	    tools_have_sessions(settings)
	        ? ", or one after the other in a session"
	        : "");
	yyjson_mut_obj_add_strcpy(
	    reply->doc, reply->result, "instructions", text);
	free(text);
	free(list);
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
	yyjson_mut_val *info;

	(void)later;
	if (!yyjson_is_str(version))
		return err_set(
		    err, ERR_PARAMS, "\"protocolVersion\" must be a string");
	client->agreed = true;
	if (!revision_parse(rpc_text(version), &client->revision) ||
	    revision_is_modern(client->revision))
		client->revision = REVISION_NEWEST_LEGACY;
	yyjson_mut_obj_add_str(reply->doc, reply->result, "protocolVersion",
	    revision_name(client->revision));
	add_capabilities(reply, false);
	info = reply_server_info(reply->doc, client->revision);
	icon_add(reply->doc, info, client->revision);
	yyjson_mut_obj_add_val(reply->doc, reply->result, "serverInfo", info);
	add_instructions(reply, client->mcp->config.settings);
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
	add_instructions(reply, client->mcp->config.settings);
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

/* All our lists fit on one page, so there is no cursor that we gave out.  Some
 * clients write null for one that they do not have. */
static int
check_cursor(const struct request *request, struct err *err)
{
	yyjson_val *cursor = yyjson_obj_get(request->message->params, "cursor");

	if (cursor == NULL || yyjson_is_null(cursor))
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
	resources_list_templates(reply->doc,
	    yyjson_mut_obj_add_arr(
	        reply->doc, reply->result, "resourceTemplates"),
	    request->revision);
	return 0;
}

/* There are none; but some older clients ask without having been told of any.
 */
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

/* Two answers of one id could not be told apart. */
static int
check_id(const struct mcp_client *client, const struct request *request,
    struct err *err)
{
	const char *id = request->message->id;

	if (!calls_include(client->calls, id) &&
	    !subscriptions_include(&client->subscriptions, id))
		return 0;
	return err_set(err, ERR_REQUEST,
	    "a request with the id %.100s is still under way", id);
}

/* Whose sessions a request can use.  In the modern revisions nothing ties two
 * requests together but what they say: whoever has the handle has the
 * session. */
static const void *
session_owner(const struct mcp_client *client, const struct request *request)
{
	return revision_is_modern(request->revision) ? NULL : client;
}

/* A file of a session: it is in a container, so the answer comes later. */
static int
fetch_file(struct mcp_client *client, const struct request *request,
    const char *uri, bool *later, struct err *err)
{
	struct job job;

	if (check_id(client, request, err) != 0 ||
	    resource_request(uri, &job, err) != 0)
		return -1;
	if (sandbox_check_room(client->mcp->config.sandbox, err) != 0) {
		job_release(&job);
		return -1;
	}
	job.client = session_owner(client, request);
	*later = true;
	calls_read(client->calls, request, uri, &job);
	return 0;
}

static int
read_resource(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	yyjson_val *value = yyjson_obj_get(request->message->params, "uri");
	const char *uri = rpc_text(value);
	int status;

	if (!yyjson_is_str(value))
		return err_set(err, ERR_PARAMS, "\"uri\" must be a string");
	if (uri == NULL) {
		uri = yyjson_get_str(value);
		status = err_set(err, ERR_RESOURCE, "a uri has no NUL");
	} else if (work_path_is_session_uri(uri)) {
		status = fetch_file(client, request, uri, later, err);
	} else {
		status = resource_read(reply->doc,
		    yyjson_mut_obj_add_arr(
		        reply->doc, reply->result, "contents"),
		    uri, client->mcp->config.settings, err);
	}
	if (status != 0)
		reply->error_data =
		    resource_error(reply->doc, uri, request->revision, err);
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
end_session(struct mcp_client *client, const struct request *request,
    yyjson_val *arguments, struct reply *reply)
{
	struct err problem;
	const char *handle = tool_session(arguments, &problem);

	if (handle == NULL)
		return refuse_call(reply, problem.message);
	if (sandbox_end_session(client->mcp->config.sandbox, handle,
	        session_owner(client, request)) != 0)
		return refuse_call(reply,
		    "There is no session of that handle: it has ended "
		    "already, or it never was.");
	reply->result = result_build_text(reply->doc, "The session is over.");
	return 0;
}

static int
run_program(struct mcp_client *client, const struct request *request,
    const struct tool *tool, yyjson_val *arguments, struct reply *reply,
    bool *later)
{
	struct err problem;
	struct job job;

	if (tool_request(tool, arguments, client->mcp->config.settings, &job,
	        &problem) != 0)
		return refuse_call(reply, problem.message);
	if (sandbox_check_room(client->mcp->config.sandbox, &problem) != 0) {
		job_release(&job);
		return refuse_call(reply, problem.message);
	}
	job.client = session_owner(client, request);
	*later = true;
	calls_start(client->calls, request, &job);
	return 0;
}

static int
call_tool(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	const struct rpc_message *message = request->message;
	yyjson_val *name = yyjson_obj_get(message->params, "name");
	yyjson_val *arguments = yyjson_obj_get(message->params, "arguments");
	struct tool tool;

	if (!yyjson_is_str(name))
		return err_set(err, ERR_PARAMS, "\"name\" must be a string");
	if (rpc_text(name) == NULL ||
	    !tool_find(client->mcp->config.settings, rpc_text(name), &tool))
		return err_set(err, ERR_PARAMS, "unknown tool: %.100s",
		    yyjson_get_str(name));
	if (arguments != NULL && !yyjson_is_obj(arguments))
		return err_set(
		    err, ERR_PARAMS, "\"arguments\" must be an object");
	if (check_id(client, request, err) != 0)
		return -1;
	if (tool.kind == TOOL_END_SESSION)
		return end_session(client, request, arguments, reply);
	return run_program(client, request, &tool, arguments, reply, later);
}

int
method_require_tasks(
    const struct request *request, struct reply *reply, struct err *err)
{
	yyjson_mut_doc *doc = reply->doc;
	yyjson_mut_val *required;

	if (request->tasks)
		return 0;
	reply->error_data = yyjson_mut_obj(doc);
	required = yyjson_mut_obj_add_obj(
	    doc, reply->error_data, "requiredCapabilities");
	yyjson_mut_obj_add_obj(doc,
	    yyjson_mut_obj_add_obj(doc, required, "extensions"),
	    TASKS_EXTENSION);
	return err_set(
	    err, ERR_CAPABILITY, "Missing required client capability");
}

static int
listen(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	yyjson_val *wishes =
	    yyjson_obj_get(request->message->params, "notifications");

	if (yyjson_obj_get(wishes, "taskIds") != NULL &&
	    method_require_tasks(request, reply, err) != 0)
		return -1;
	if (check_id(client, request, err) != 0)
		return -1;
	*later = true;
	return subscriptions_add(&client->subscriptions, request, err);
}

static struct task *
find_task(
    struct mcp_client *client, const struct request *request, struct err *err)
{
	const char *id =
	    rpc_text(yyjson_obj_get(request->message->params, "taskId"));
	struct task *task;

	if (id == NULL) {
		err_set(err, ERR_PARAMS, "\"taskId\" must be a string");
		return NULL;
	}
	task = task_find(client->mcp->tasks, id);
	if (task == NULL)
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

static int
update_task(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err)
{
	struct task *task = find_task(client, request, err);
	yyjson_val *responses =
	    yyjson_obj_get(request->message->params, "inputResponses");

	(void)reply;
	(void)later;
	if (task == NULL)
		return -1;
	if (!yyjson_is_obj(responses))
		return err_set(
		    err, ERR_PARAMS, "\"inputResponses\" must be an object");
	task_update(task, responses);
	return 0;
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
    {"prompts/list", list_prompts, ERA_LEGACY, false, false},
    {"subscriptions/listen", listen, ERA_MODERN, false, false},
    {"tasks/get", get_task, ERA_MODERN, false, true},
    {"tasks/update", update_task, ERA_MODERN, false, true},
    {"tasks/cancel", cancel_task, ERA_MODERN, false, true},
    {NULL, NULL, 0, false, false},
};
