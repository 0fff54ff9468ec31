#include "mcp/calls.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/log.h"
#include "base/recent.h"
#include "mcp/progress.h"
#include "mcp/reply.h"
#include "mcp/resources.h"
#include "mcp/result.h"

/* A call that runs longer than this becomes a task, if the client knows how to
 * poll for one. */
#define TASK_AFTER_SECONDS 10

struct pending {
	TAILQ_ENTRY(pending) entry;
	struct calls *calls; /* NULL: it is a task now */
	struct calls_config config;
	char *id;
	enum revision revision;
	struct outlet outlet;
	struct progress *progress; /* NULL: the client does not want any */
	/* Makes the answer: reply->result, or an error. */
	int (*answer)(const struct pending *call, const struct outcome *outcome,
	    struct reply *reply, struct err *err);
	const struct language *language; /* of the program; or NULL */
	char *uri;                       /* that is read; or NULL */
	int timeout_seconds;
	const void *client;  /* whose session it is */
	bool begins_session; /* of which only its answer tells */
	struct call *call;
	struct event *patience; /* until it becomes a task; or NULL */
	struct recent recent;   /* for the task that it may become */
	struct task *task;
};

struct calls {
	struct calls_config config;
	TAILQ_HEAD(pending_list, pending) list;
};

struct calls *
calls_new(const struct calls_config *config)
{
	struct calls *calls = xcalloc(1, sizeof(*calls));

	calls->config = *config;
	TAILQ_INIT(&calls->list);
	return calls;
}

static void
pending_free(struct pending *call)
{
	if (call->calls != NULL)
		TAILQ_REMOVE(&call->calls->list, call, entry);
	if (call->patience != NULL)
		event_free(call->patience);
	progress_free(call->progress);
	free(call->id);
	free(call->uri);
	free(call);
}

/* Nothing more goes to its outlet. */
static void
mute(struct pending *call)
{
	struct outlet outlet = call->outlet;

	progress_free(call->progress);
	call->progress = NULL;
	call->outlet = (struct outlet){0};
	if (outlet.drop != NULL)
		outlet.drop(outlet.arg);
}

static void
cancel(struct pending *call)
{
	mute(call);
	sandbox_cancel(call->call);
	pending_free(call);
}

void
calls_free(struct calls *calls)
{
	struct pending *call;

	while ((call = TAILQ_FIRST(&calls->list)) != NULL)
		cancel(call);
	free(calls);
}

/* Who polls sees what was said before there was a task as well. */
static void
tell_poller(struct pending *call, const char *data, size_t length)
{
	if (call->task != NULL)
		task_output(call->task, data, length);
	else if (call->patience != NULL)
		recent_add(&call->recent, data, length);
}

static void
on_output(void *arg, enum child_stream stream, const char *data, size_t length)
{
	struct pending *call = arg;

	(void)stream;
	tell_poller(call, data, length);
	if (call->progress != NULL)
		progress_output(call->progress, data, length);
}

static void
on_progress(void *arg, const char *text)
{
	struct pending *call = arg;
	char *line = xasprintf("%s\n", text);

	tell_poller(call, line, strlen(line));
	free(line);
	if (call->progress != NULL)
		progress_note(call->progress, text);
}

static int
answer_tool(const struct pending *call, const struct outcome *outcome,
    struct reply *reply, struct err *err)
{
	(void)err;
	reply->result = result_build(reply->doc, outcome, call->language,
	    call->config.settings, call->revision);
	return 0;
}

/* The next program of the session may change the file, so it is not to be
 * kept. */
static int
answer_read(const struct pending *call, const struct outcome *outcome,
    struct reply *reply, struct err *err)
{
	reply->cacheable = true;
	reply->cache_ms = 0;
	if (resource_read_fetched(reply->doc,
	        yyjson_mut_obj_add_arr(reply->doc, reply->result, "contents"),
	        call->uri, outcome, err) == 0)
		return 0;
	reply->error_data =
	    resource_error(reply->doc, call->uri, call->revision, err);
	return -1;
}

static void
send_error(const struct pending *call, const struct reply *reply,
    const struct err *err)
{
	char *data = json_write_value(reply->error_data);

	reply_send_error(&call->outlet, call->id, err, data);
	free(data);
}

/* As it would be answered: by its result, or by an error. */
static void
end_task(const struct pending *call, struct reply *reply, int status,
    struct err *err)
{
	char *text = NULL, *data;

	if (status == 0) {
		reply_complete(reply, call->revision);
		text = json_write_value(reply->result);
	}
	if (text != NULL) {
		task_complete(call->task, text);
		return;
	}
	if (status == 0)
		err_set(err, ERR_INTERNAL,
		    "the result could not be written as JSON");
	data = json_write_value(reply->error_data);
	task_fail(call->task,
	    json_write_value(rpc_error_object(reply->doc, err, data)));
	free(data);
}

static void
on_done(void *arg, const struct outcome *outcome)
{
	struct pending *call = arg;
	struct reply reply;
	struct err err;
	int status;

	/* No progress after the result. */
	progress_free(call->progress);
	call->progress = NULL;
	reply_init(&reply);
	status = call->answer(call, outcome, &reply, &err);
	if (call->task != NULL)
		end_task(call, &reply, status, &err);
	else if (status != 0)
		send_error(call, &reply, &err);
	else
		reply_send(&reply, &call->outlet, call->id, call->revision);
	reply_release(&reply);
	/* Nobody has heard the handle. */
	if (call->begins_session && call->task == NULL &&
	    call->outlet.reply == NULL && outcome->session != NULL &&
	    !outcome->session_ended)
		sandbox_end_session(
		    call->config.sandbox, outcome->session, call->client);
	pending_free(call);
}

static const struct sandbox_callbacks sandbox_callbacks = {
    .output = on_output,
    .progress = on_progress,
    .done = on_done,
};

static void
on_task_cancelled(void *arg)
{
	cancel(arg);
}

static const struct task_callbacks task_callbacks = {
    .cancel = on_task_cancelled,
};

static void
on_patience(evutil_socket_t fd, short what, void *arg)
{
	struct pending *call = arg;
	struct reply reply;

	(void)fd;
	(void)what;
	TAILQ_REMOVE(&call->calls->list, call, entry);
	call->calls = NULL;
	progress_free(call->progress);
	call->progress = NULL;
	call->task = task_new(
	    call->config.tasks, call->timeout_seconds, &task_callbacks, call);
	task_output(call->task, call->recent.data, call->recent.length);
	reply_init(&reply);
	reply.result_type = "task";
	task_describe(call->task, reply.doc, reply.result);
	reply_send(&reply, &call->outlet, call->id, call->revision);
	reply_release(&reply);
	call->outlet = (struct outlet){0};
}

static struct progress *
start_progress(const struct calls *calls, const struct request *request)
{
	yyjson_val *meta = yyjson_obj_get(request->message->params, "_meta");
	char *token = rpc_id_text(yyjson_obj_get(meta, "progressToken"));
	struct progress *progress = NULL;

	if (token != NULL)
		progress = progress_new(
		    &(struct progress_config){.base = calls->config.base,
		        .token = token,
		        .revision = request->revision,
		        .send = request->outlet.notify,
		        .arg = request->outlet.arg});
	free(token);
	return progress;
}

static struct pending *
pending_new(struct calls *calls, const struct request *request)
{
	struct pending *call = xcalloc(1, sizeof(*call));

	call->calls = calls;
	call->config = calls->config;
	call->id = xstrdup(request->message->id);
	call->revision = request->revision;
	call->outlet = request->outlet;
	call->progress = start_progress(calls, request);
	TAILQ_INSERT_TAIL(&calls->list, call, entry);
	return call;
}

static void
begin(struct pending *call, struct job *job)
{
	call->timeout_seconds = job->timeout_seconds > 0
	    ? job->timeout_seconds
	    : call->config.settings->timeout_seconds;
	call->client = job->client;
	call->begins_session =
	    job->session != NULL && strcmp(job->session, JOB_SESSION_NEW) == 0;
	call->call =
	    sandbox_call(call->config.sandbox, job, &sandbox_callbacks, call);
}

void
calls_start(struct calls *calls, const struct request *request, struct job *job)
{
	static const struct timeval patience = {.tv_sec = TASK_AFTER_SECONDS};
	struct pending *call = pending_new(calls, request);

	call->answer = answer_tool;
	call->language = job->language;
	if (request->tasks) {
		call->patience =
		    evtimer_new(calls->config.base, on_patience, call);
		evtimer_add(call->patience, &patience);
	}
	begin(call, job);
}

void
calls_read(struct calls *calls, const struct request *request, const char *uri,
    struct job *job)
{
	struct pending *call = pending_new(calls, request);

	call->answer = answer_read;
	call->uri = xstrdup(uri);
	begin(call, job);
}

static struct pending *
find(const struct calls *calls, const char *id)
{
	struct pending *call;

	TAILQ_FOREACH (call, &calls->list, entry)
		if (strcmp(call->id, id) == 0)
			return call;
	return NULL;
}

bool
calls_are_over(const struct calls *calls)
{
	return TAILQ_EMPTY(&calls->list);
}

bool
calls_include(const struct calls *calls, const char *id)
{
	return find(calls, id) != NULL;
}

void
calls_cancel(struct calls *calls, const char *id)
{
	struct pending *call = find(calls, id);

	if (call == NULL)
		return;
	log_debug("call %s cancelled", id);
	cancel(call);
}

void
calls_disconnect(struct calls *calls, const void *owner)
{
	struct pending *call, *next;

	TAILQ_FOREACH_SAFE (call, &calls->list, entry, next) {
		if (call->outlet.owner != owner)
			continue;
		mute(call);
		if (revision_is_modern(call->revision))
			cancel(call);
	}
}
