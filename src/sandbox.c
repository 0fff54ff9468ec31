#include "sandbox.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bsd/sys/queue.h>

#include <event2/event.h>

#include "alloc.h"
#include "capture.h"
#include "container.h"
#include "engine.h"
#include "image.h"
#include "log.h"
#include "pool.h"

/* Waiting costs the code of each call, so there is an end to it. */
#define QUEUE_MAX 1000

TAILQ_HEAD(calls, call);

struct call {
	TAILQ_ENTRY(call) entry;
	struct sandbox *sandbox;
	bool running; /* has one of the --max-parallel places */
	const struct language *language;
	char *code;
	size_t code_length;
	int timeout_seconds;
	const struct sandbox_callbacks *callbacks;
	void *arg;
	struct container *container;
	struct event *timer;
	struct capture captures[CHILD_STREAMS];
	struct timespec started_at;
	bool timed_out;
	bool started; /* the program has: from now on there is no second try */
	bool has_container;
	bool pulled;
	bool retried;
	enum container_mode mode;
	struct err err; /* of the last attempt to start a container */
};

struct sandbox {
	struct event_base *base;
	const struct settings *settings;
	struct children *children;
	struct engine *engine;
	struct images *images;
	struct containers *containers;
	struct pool *pool;
	struct calls waiting, running;
	int waiting_count, running_count;
	struct event *dispatch;
	bool shutting_down;
};

static void on_dispatch(evutil_socket_t fd, short what, void *arg);
static void take_container(struct call *call);

struct sandbox *
sandbox_new(struct event_base *base, const struct settings *settings)
{
	struct sandbox *sandbox = xcalloc(1, sizeof(*sandbox));

	sandbox->base = base;
	sandbox->settings = settings;
	sandbox->children = children_new(base);
	sandbox->engine = engine_new(base, sandbox->children, settings);
	sandbox->images = images_new(sandbox->engine);
	sandbox->containers = containers_new(base, sandbox->engine);
	sandbox->pool = pool_new(base, sandbox->containers, settings);
	TAILQ_INIT(&sandbox->waiting);
	TAILQ_INIT(&sandbox->running);
	sandbox->dispatch = evtimer_new(base, on_dispatch, sandbox);
	return sandbox;
}

static void
give_back(struct call *call)
{
	if (call->has_container)
		pool_give_back(call->sandbox->pool, call->language);
	call->has_container = false;
}

/* From here on the call is not the sandbox's any more. */
static void
call_unlink(struct call *call)
{
	struct sandbox *sandbox = call->sandbox;

	if (call->running) {
		TAILQ_REMOVE(&sandbox->running, call, entry);
		sandbox->running_count--;
	} else {
		TAILQ_REMOVE(&sandbox->waiting, call, entry);
		sandbox->waiting_count--;
	}
	engine_forget(sandbox->engine, call);
	image_forget(sandbox->images, call);
	pool_forget(sandbox->pool, call);
	give_back(call);
	if (call->container != NULL)
		container_abandon(call->container);
	event_active(sandbox->dispatch, EV_TIMEOUT, 0);
}

static void
call_release(struct call *call)
{
	for (size_t i = 0; i < CHILD_STREAMS; i++)
		capture_release(&call->captures[i]);
	event_free(call->timer);
	free(call->code);
	free(call);
}

static void
call_free(struct call *call)
{
	call_unlink(call);
	call_release(call);
}

void
sandbox_cancel(struct call *call)
{
	call_free(call);
}

/* Unlinked first: done() may well shut the whole sandbox down. */
static void
finish(struct call *call, struct outcome *outcome)
{
	call_unlink(call);
	call->callbacks->done(call->arg, outcome);
	free(outcome->out);
	free(outcome->err_out);
	call_release(call);
}

static void
fail(struct call *call, const struct err *err)
{
	finish(call, &(struct outcome){.ran = false, .err = *err});
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
		fail(call, &err);
	pool_close(sandbox->pool);
	containers_shut_down(sandbox->containers, gone, arg);
}

void
sandbox_free(struct sandbox *sandbox)
{
	struct call *call;

	while ((call = any_call(sandbox)) != NULL)
		call_free(call);
	pool_free(sandbox->pool);
	containers_free(sandbox->containers);
	images_free(sandbox->images);
	engine_free(sandbox->engine);
	children_free(sandbox->children);
	event_free(sandbox->dispatch);
	free(sandbox);
}

static uint64_t
milliseconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)((now.tv_sec - start->tv_sec) * 1000 +
	    (now.tv_nsec - start->tv_nsec) / 1000000);
}

static void
succeed(struct call *call, const struct container_end *end)
{
	struct capture *out = &call->captures[CHILD_STDOUT];
	struct capture *err_out = &call->captures[CHILD_STDERR];
	struct outcome outcome = {
	    .ran = true,
	    .exit_code = end->kind == CONTAINER_EXITED ? end->number : -1,
	    .signal = end->kind == CONTAINER_SIGNALED ? end->number : 0,
	    .timed_out = call->timed_out,
	    /* 137 is the word for a container that was killed as a whole,
	     * which the kernel does when memory runs out. */
	    .lost = end->kind == CONTAINER_LOST && !call->timed_out &&
	        end->cli_status != 137,
	    .truncated = capture_truncated(out) || capture_truncated(err_out),
	    .duration_ms = milliseconds_since(&call->started_at),
	};

	if (end->kind == CONTAINER_LOST)
		outcome.signal = SIGKILL;
	outcome.out = capture_text(out, &outcome.out_length);
	outcome.err_out = capture_text(err_out, &outcome.err_out_length);
	finish(call, &outcome);
}

static void
on_image(void *arg, bool present, const struct err *err)
{
	struct call *call = arg;

	if (err != NULL)
		fail(call, err);
	else if (present)
		fail(call, &call->err);
	else
		take_container(call);
}

static void
on_image_progress(void *arg, const char *text)
{
	struct call *call = arg;

	if (call->callbacks->progress != NULL)
		call->callbacks->progress(call->arg, text);
}

static const struct image_callbacks image_callbacks = {
    on_image_progress, on_image};

static const char *
image_of(const struct call *call)
{
	return call->sandbox->settings->images[call->language->id];
}

static void
describe_failure(struct call *call, const struct container_end *end)
{
	const char *path = engine_traits(call->sandbox->engine)->path;

	if (*end->words != '\0')
		err_set(&call->err, ERR_ENGINE,
		    "The container could not be started. %s said:\n%s", path,
		    end->words);
	else if (end->cli_status >= 0)
		err_set(&call->err, ERR_ENGINE,
		    "The container could not be started. %s ended with status "
		    "%d and said nothing; --verbose shows the command.",
		    path, end->cli_status);
	else
		err_set(&call->err, ERR_ENGINE,
		    "The container could not be started: %s was killed.", path);
}

/*
 * No container could be started.  What we know how to mend: an interpreter
 * that does not wait (then the plain command is used), an image with no shell
 * for our runner (127 is the engine's word for it), and an image
 * that is missing.
 */
static void
on_failed(void *arg, const struct container_end *end, enum container_mode mode)
{
	struct call *call = arg;
	struct pool *pool = call->sandbox->pool;

	describe_failure(call, end);
	log_debug("%s", call->err.message);
	if (end->absent) {
		err_set(&call->err, ERR_IMAGE,
		    "The image %s has no %s, so it cannot run %s. Name "
		    "another one with --python-image or --js-image.",
		    image_of(call), call->language->command[0],
		    call->language->title);
		fail(call, &call->err);
	} else if (end->runner_spoke && mode == CONTAINER_WARM) {
		pool_set_mode(pool, call->language, CONTAINER_PLAIN);
		take_container(call);
	} else if (mode != CONTAINER_COPY && end->cli_status == 127) {
		pool_set_mode(pool, call->language, CONTAINER_COPY);
		take_container(call);
	} else if (!call->pulled && end->cli_status > 0) {
		call->pulled = true;
		image_ensure(call->sandbox->images, image_of(call),
		    &image_callbacks, call);
	} else {
		fail(call, &call->err);
	}
}

/*
 * The container went away before the program started: it had died while it
 * waited.  The CLI ended by itself and has passed on everything that was said
 * in there, and "started" was not: the code did not run, and may.
 */
static bool
may_run_again(const struct call *call, const struct container_end *end)
{
	return end->kind == CONTAINER_LOST && !call->started &&
	    !call->retried && end->cli_status >= 0 && end->cli_status != 125;
}

static void
on_ended(void *arg, const struct container_end *end)
{
	struct call *call = arg;

	call->container = NULL;
	evtimer_del(call->timer);
	give_back(call);
	if (end->kind == CONTAINER_FAILED) {
		on_failed(call, end, call->mode);
	} else if (may_run_again(call, end)) {
		call->retried = true;
		take_container(call);
	} else if (end->kind == CONTAINER_LOST && !call->started) {
		err_set(&call->err, ERR_ENGINE,
		    "The container went away while the code was on its way: "
		    "the engine, or its command, was stopped. The program "
		    "most likely did not run.");
		fail(call, &call->err);
	} else {
		succeed(call, end);
	}
}

static void
on_ready(void *arg)
{
	(void)arg;
}

static void
on_started(void *arg)
{
	struct call *call = arg;
	struct timeval limit = {.tv_sec = call->timeout_seconds};

	call->started = true;
	clock_gettime(CLOCK_MONOTONIC, &call->started_at);
	evtimer_add(call->timer, &limit);
}

static void
on_output(void *arg, enum child_stream stream, const char *data, size_t length)
{
	struct call *call = arg;

	capture_add(&call->captures[stream], data, length);
	if (call->callbacks->output != NULL)
		call->callbacks->output(call->arg, stream, data, length);
}

static const struct container_callbacks container_callbacks = {
    .ready = on_ready,
    .started = on_started,
    .output = on_output,
    .ended = on_ended,
};

static void
on_timeout(evutil_socket_t fd, short what, void *arg)
{
	struct call *call = arg;

	(void)fd;
	(void)what;
	call->timed_out = true;
	container_kill(call->container);
}

static void
on_container(void *arg, struct container *container, enum container_mode mode)
{
	struct call *call = arg;

	call->has_container = true;
	call->container = container;
	call->mode = mode;
	container_adopt(container, &container_callbacks, call);
	container_run(container, call->code, call->code_length);
}

static const struct pool_callbacks pool_callbacks = {on_container, on_failed};

static void
take_container(struct call *call)
{
	pool_take(call->sandbox->pool, call->language, &pool_callbacks, call);
}

static void
on_engine(void *arg, const struct err *err)
{
	struct call *call = arg;

	if (err != NULL) {
		fail(call, err);
		return;
	}
	take_container(call);
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
		engine_when_ready(sandbox->engine, on_engine, call);
	}
}

struct call *
sandbox_call(struct sandbox *sandbox, const struct sandbox_request *request,
    const struct sandbox_callbacks *callbacks, void *arg)
{
	struct call *call = xcalloc(1, sizeof(*call));

	call->sandbox = sandbox;
	call->language = request->language;
	call->code = xcalloc(1, request->code_length + 1);
	memcpy(call->code, request->code, request->code_length);
	call->code_length = request->code_length;
	call->timeout_seconds = request->timeout_seconds > 0
	    ? request->timeout_seconds
	    : sandbox->settings->timeout_seconds;
	call->callbacks = callbacks;
	call->arg = arg;
	call->timer = evtimer_new(sandbox->base, on_timeout, call);
	for (size_t i = 0; i < CHILD_STREAMS; i++)
		capture_init(&call->captures[i], sandbox->settings->max_output);
	TAILQ_INSERT_TAIL(&sandbox->waiting, call, entry);
	sandbox->waiting_count++;
	event_active(sandbox->dispatch, EV_TIMEOUT, 0);
	return call;
}

bool
sandbox_is_full(const struct sandbox *sandbox)
{
	return sandbox->shutting_down || sandbox->waiting_count >= QUEUE_MAX;
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
