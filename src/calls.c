#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>

#include <event2/event.h>

#include "alloc.h"
#include "log.h"
#include "progress.h"
#include "reply.h"
#include "result.h"

/* A call that runs longer than this becomes a task, if the client knows how to
 * poll for one. */
#define TASK_AFTER_SECONDS 10

struct tool_call {
	TAILQ_ENTRY(tool_call) entry;
	struct calls *calls; /* NULL: it is a task now */
	struct calls_config config;
	char *id;
	enum revision revision;
	struct outlet outlet;
	struct progress *progress; /* NULL: the client does not want any */
	const struct tool *tool;
	int timeout_seconds;
	struct call *call;
	struct event *patience; /* until it becomes a task; or NULL */
	struct task *task;
};

struct calls {
	struct calls_config config;
	TAILQ_HEAD(tool_calls, tool_call) list;
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
tool_call_free(struct tool_call *call)
{
	if (call->calls != NULL)
		TAILQ_REMOVE(&call->calls->list, call, entry);
	if (call->patience != NULL)
		event_free(call->patience);
	progress_free(call->progress);
	free(call->id);
	free(call);
}

/* Nothing more goes to its outlet. */
static void
mute(struct tool_call *call)
{
	struct outlet outlet = call->outlet;

	progress_free(call->progress);
	call->progress = NULL;
	call->outlet = (struct outlet){0};
	if (outlet.drop != NULL)
		outlet.drop(outlet.arg);
}

static void
cancel(struct tool_call *call)
{
	mute(call);
	sandbox_cancel(call->call);
	tool_call_free(call);
}

void
calls_free(struct calls *calls)
{
	struct tool_call *call;

	while ((call = TAILQ_FIRST(&calls->list)) != NULL)
		cancel(call);
	free(calls);
}

static void
on_output(void *arg, enum child_stream stream, const char *data, size_t length)
{
	struct tool_call *call = arg;

	(void)stream;
	if (call->task != NULL)
		task_output(call->task, data, length);
	else if (call->progress != NULL)
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
	struct reply reply;

	/* No progress after the result. */
	progress_free(call->progress);
	call->progress = NULL;
	reply_init(&reply);
	reply.result =
	    result_build(reply.doc, outcome, &languages[call->tool->language],
	        call->config.settings, call->revision);
	if (call->task != NULL)
		task_complete(
		    call->task, yyjson_mut_val_write(reply.result, 0, NULL));
	else
		reply_send(&reply, &call->outlet, call->id, call->revision);
	reply_release(&reply);
	tool_call_free(call);
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

static void
on_patience(evutil_socket_t fd, short what, void *arg)
{
	struct tool_call *call = arg;
	struct reply reply;

	(void)fd;
	(void)what;
	TAILQ_REMOVE(&call->calls->list, call, entry);
	call->calls = NULL;
	progress_free(call->progress);
	call->progress = NULL;
	call->task = task_new(
	    call->config.tasks, call->timeout_seconds, on_task_cancelled, call);
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

void
calls_start(struct calls *calls, const struct request *request,
    const struct tool *tool, const struct sandbox_request *work)
{
	static const struct timeval patience = {.tv_sec = TASK_AFTER_SECONDS};
	struct tool_call *call = xcalloc(1, sizeof(*call));

	call->calls = calls;
	call->config = calls->config;
	call->id = xstrdup(request->message->id);
	call->revision = request->revision;
	call->outlet = request->outlet;
	call->progress = start_progress(calls, request);
	call->tool = tool;
	call->timeout_seconds = work->timeout_seconds;
	TAILQ_INSERT_TAIL(&calls->list, call, entry);
	if (request->tasks) {
		call->patience =
		    evtimer_new(calls->config.base, on_patience, call);
		evtimer_add(call->patience, &patience);
	}
	call->call =
	    sandbox_call(calls->config.sandbox, work, &sandbox_callbacks, call);
}

static struct tool_call *
find(const struct calls *calls, const char *id)
{
	struct tool_call *call;

	TAILQ_FOREACH (call, &calls->list, entry)
		if (strcmp(call->id, id) == 0)
			return call;
	return NULL;
}

bool
calls_include(const struct calls *calls, const char *id)
{
	return find(calls, id) != NULL;
}

void
calls_cancel(struct calls *calls, const char *id)
{
	struct tool_call *call = find(calls, id);

	if (call == NULL)
		return;
	log_debug("call %s cancelled", id);
	cancel(call);
}

void
calls_disconnect(struct calls *calls, const void *owner)
{
	struct tool_call *call, *next;

	TAILQ_FOREACH_SAFE (call, &calls->list, entry, next) {
		if (call->outlet.owner != owner)
			continue;
		mute(call);
		if (revision_is_modern(call->revision))
			cancel(call);
	}
}
