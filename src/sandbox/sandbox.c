#include "sandbox/sandbox_private.h"

#include <stdlib.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/log.h"

/* Waiting costs the code and the files of each call, so there is an end to
 * it. */
#define QUEUE_MAX 1000
#define QUEUE_BYTES ((size_t)256 * 1024 * 1024)

static void on_dispatch(evutil_socket_t fd, short what, void *arg);

struct sandbox *
sandbox_new(struct event_base *base, const struct settings *settings)
{
	struct sandbox *sandbox = xcalloc(1, sizeof(*sandbox));

	sandbox->base = base;
	sandbox->settings = settings;
	sandbox->children = children_new(base);
	sandbox->engine = engine_new(base, sandbox->children, settings);
	sandbox->images = images_new(sandbox->engine);
	sandbox->containers =
	    containers_new(base, sandbox->engine, settings->max_parallel);
	sandbox->pool = pool_new(base, sandbox->containers, settings);
	TAILQ_INIT(&sandbox->waiting);
	TAILQ_INIT(&sandbox->running);
	TAILQ_INIT(&sandbox->sessions);
	sandbox->dispatch = evtimer_new(base, on_dispatch, sandbox);
	return sandbox;
}

void
sandbox_cancel(struct call *call)
{
	call_free(call);
}

static struct call *
any_call(struct sandbox *sandbox)
{
	struct call *call = TAILQ_FIRST(&sandbox->waiting);

	return call != NULL ? call : TAILQ_FIRST(&sandbox->running);
}

void
sandbox_shut_down(struct sandbox *sandbox, void (*gone)(void *arg), void *arg)
{
	struct call *call;
	struct err err;

	sandbox->shutting_down = true;
	err_set(&err, ERR_SHUTDOWN,
	    "The server is shutting down; the program was stopped.");
	while ((call = any_call(sandbox)) != NULL)
		call_fail(call, &err);
	sessions_free(sandbox);
	pool_close(sandbox->pool);
	containers_shut_down(sandbox->containers, gone, arg);
}

void
sandbox_free(struct sandbox *sandbox)
{
	struct call *call;

	while ((call = any_call(sandbox)) != NULL)
		call_free(call);
	sessions_free(sandbox);
	pool_free(sandbox->pool);
	containers_free(sandbox->containers);
	images_free(sandbox->images);
	engine_free(sandbox->engine);
	children_free(sandbox->children);
	event_free(sandbox->dispatch);
	free(sandbox);
}

static void
on_dispatch(evutil_socket_t fd, short what, void *arg)
{
	struct sandbox *sandbox = arg;
	struct call *call;

	(void)fd;
	(void)what;
	while (!sandbox->shutting_down &&
	    sandbox->running_count < sandbox->settings->max_parallel &&
	    (call = TAILQ_FIRST(&sandbox->waiting)) != NULL) {
		TAILQ_REMOVE(&sandbox->waiting, call, entry);
		sandbox->waiting_count--;
		TAILQ_INSERT_TAIL(&sandbox->running, call, entry);
		sandbox->running_count++;
		call->running = true;
		call_begin(call);
	}
}

struct call *
sandbox_call(struct sandbox *sandbox, struct job *job,
    const struct sandbox_callbacks *callbacks, void *arg)
{
	struct call *call = xcalloc(1, sizeof(*call));

	call->sandbox = sandbox;
	call->job = *job;
	*job = (struct job){0};
	if (call->job.timeout_seconds == 0)
		call->job.timeout_seconds = sandbox->settings->timeout_seconds;
	call->callbacks = callbacks;
	call->arg = arg;
	call_init(call);
	TAILQ_INSERT_TAIL(&sandbox->waiting, call, entry);
	sandbox->waiting_count++;
	event_active(sandbox->dispatch, EV_TIMEOUT, 0);
	return call;
}

static size_t
waiting_bytes(const struct sandbox *sandbox)
{
	const struct call *call;
	size_t bytes = 0;

	TAILQ_FOREACH (call, &sandbox->waiting, entry)
		bytes += job_size(&call->job);
	return bytes;
}

int
sandbox_check_room(const struct sandbox *sandbox, struct err *err)
{
	if (sandbox->shutting_down)
		return err_set(
		    err, ERR_SHUTDOWN, "The server is shutting down.");
	if (sandbox->waiting_count >= QUEUE_MAX ||
	    waiting_bytes(sandbox) >= QUEUE_BYTES)
		return err_set(err, ERR_BUSY,
		    "Too many calls are waiting. Try again when some of them "
		    "have been answered.");
	return 0;
}

static void
on_prepared(void *arg, const struct err *err)
{
	(void)arg;
	if (err != NULL)
		log_debug("%s", err->message);
}

void
sandbox_prepare(struct sandbox *sandbox)
{
	engine_when_ready(sandbox->engine, on_prepared, sandbox);
}
