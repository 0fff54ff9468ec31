#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/monotonic.h"
#include "sandbox/sandbox_private.h"

/* Of what an installer says; an error holds no more. */
#define NOTES_MAX 1600
#define WITHIN(seconds) WITHIN_TEXT(seconds)
#define WITHIN_TEXT(seconds) " within " #seconds " seconds"
/* Interpreters that may die, one after the other, before they have the code. */
#define DEATHS_MAX 2
/* The hooks cut values long before. */
#define VALUE_MAX ((size_t)1024 * 1024)

static void on_redacted(void *arg, const char *data, size_t length);

static void
give_back(struct call *call)
{
	if (call->has_container)
		pool_give_back(
		    call->sandbox->pool, call->job.language, call->job.offline);
	call->has_container = false;
}

void
call_unlink(struct call *call)
{
	struct sandbox *sandbox = call->sandbox;
	struct session *session = call->session;

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
	call->session = NULL;
	if (session != NULL && session->next == call)
		session->next = NULL;
	else if (session != NULL)
		session_cancel(session);
	else if (call->container != NULL)
		container_abandon(call->container);
	event_active(sandbox->dispatch, EV_TIMEOUT, 0);
}

static void
open_streams(struct call *call)
{
	const struct settings *settings = call->sandbox->settings;

	for (size_t i = 0; i < CHILD_STREAMS; i++) {
		struct stream *stream = &call->streams[i];

		stream->call = call;
		stream->number = (enum child_stream)i;
		redactor_init(
		    &stream->redactor, &settings->secrets, on_redacted, stream);
		capture_init(&stream->capture, settings->max_output);
	}
	capture_init(&call->notes, NOTES_MAX);
}

static void
close_streams(struct call *call)
{
	for (size_t i = 0; i < CHILD_STREAMS; i++) {
		redactor_release(&call->streams[i].redactor);
		capture_release(&call->streams[i].capture);
	}
	capture_release(&call->notes);
}

void
call_release(struct call *call)
{
	close_streams(call);
	collector_release(&call->collector);
	event_free(call->timer);
	job_release(&call->job);
	free(call->value);
	free(call);
}

void
call_free(struct call *call)
{
	call_unlink(call);
	call_release(call);
}

void
call_stop_clock(struct call *call)
{
	evtimer_del(call->timer);
	call->duration_ms = monotonic_ms() - call->started_ms;
	for (size_t i = 0; i < CHILD_STREAMS; i++)
		redactor_flush(&call->streams[i].redactor);
}

/*
 * The container went away before the program started: it had died while it
 * waited.  The CLI ended by itself and has passed on everything that was said
 * in there, and "started" was not: the code did not run, and may.  So may all
 * spares have died, of which there are no more than programs at once.  What a
 * session knew is gone.  An installer may have been at work, or the interpreter
 * have died over code that is too large for it, which are as likely to be the
 * cause.
 */
static bool
may_run_again(struct call *call, const struct container_end *end)
{
	int most = call->sandbox->settings->max_parallel;

	if (call->job.packages.count > 0)
		most = 1;
	else if (end->died)
		most = DEATHS_MAX;
	return end->kind == CONTAINER_LOST && !call->started &&
	    !call->continues && call->notes.total == 0 &&
	    (end->died || (end->cli_status >= 0 && end->cli_status != 125)) &&
	    call->losses++ < most;
}

static const char *
session_over(const struct call *call)
{
	return call->continues
	    ? " The session is over: start a new one with \"session\": \"new\"."
	    : "";
}

/* What an installer had to do with it. */
static void
describe_install(struct call *call, const char *what)
{
	size_t length;
	char *notes = capture_text(&call->notes, &length);

	err_set(&call->err, ERR_ARGUMENT,
	    "The packages were not installed%s, and the program was not run.%s "
	    "The installer said:\n%s",
	    what, session_over(call), notes);
	free(notes);
}

/* Of an interpreter that kept a session. */
static void
describe_death(struct call *call)
{
	size_t length;
	char *words =
	    capture_text(&call->streams[CHILD_STDERR].capture, &length);

	err_set(&call->err, ERR_ARGUMENT,
	    "The session is over: its interpreter ended before it had taken in "
	    "the code. Start a new one with \"session\": \"new\".%s%s",
	    length > 0 ? " It said:\n" : "", words);
	free(words);
}

static void
describe_loss(struct call *call, const struct container_end *end)
{
	if (end->late && call->job.packages.count > 0)
		describe_install(call, WITHIN(CONTAINER_INSTALL_SECONDS));
	else if (call->notes.total > 0)
		describe_install(call,
		    end->cli_status == 128 + SIGKILL
		        ? ", because the container went away meanwhile, most "
		          "likely for want of memory"
		        : ", because the container went away meanwhile");
	else if (end->died && end->number == SIGKILL)
		err_set(&call->err, ERR_ARGUMENT,
		    "The interpreter was killed before it had taken in the "
		    "code, most likely for want of memory: it has %s. The "
		    "program did not run.%s",
		    call->sandbox->settings->memory, session_over(call));
	else if (end->died && call->continues)
		describe_death(call);
	else if (end->late && call->continues)
		err_set(&call->err, ERR_ARGUMENT,
		    "The session is over: its interpreter did not take the "
		    "code within %d seconds, most likely because something "
		    "that an earlier call left running keeps it busy. Start a "
		    "new one with \"session\": \"new\".",
		    CONTAINER_START_SECONDS);
	else if (end->late)
		err_set(&call->err, ERR_ENGINE,
		    "The container did not take the code within %d seconds: "
		    "%s is busy, or hangs. The program most likely did not "
		    "run.",
		    CONTAINER_START_SECONDS,
		    engine_traits(call->sandbox->engine)->path);
	else if (call->continues)
		err_set(&call->err, ERR_ARGUMENT,
		    "The session is over: its container went away. Start a new "
		    "one with \"session\": \"new\".");
	else
		err_set(&call->err, ERR_ENGINE,
		    "The container went away while the code was on its way: "
		    "the engine, or its command, was stopped. The program "
		    "most likely did not run.");
}

/* The code had been copied in, and the engine did not get it to run, as far as
 * one can tell.  That was the only try: the program may have said so itself. */
static void
fail_to_start(struct call *call)
{
	size_t length;
	char *words =
	    capture_text(&call->streams[CHILD_STDERR].capture, &length);
	struct err err;

	err_set(&err, ERR_ENGINE,
	    "The container could not be started. %s said:\n%s",
	    engine_traits(call->sandbox->engine)->path, words);
	free(words);
	call_fail(call, &err);
}

void
call_ended(struct call *call, const struct container_end *end)
{
	call->container = NULL;
	evtimer_del(call->timer);
	give_back(call);
	if (call->job.fetch != NULL) {
		call_lose_fetch(call);
	} else if (call->phase != PHASE_RUN) {
		/* Its files are lost, and nothing else. */
		call_succeed(call, &call->end);
	} else if (call->started) {
		call_stop_clock(call);
		if (end->kind == CONTAINER_FAILED)
			fail_to_start(call);
		else
			call_succeed(call, end);
	} else if (end->kind == CONTAINER_FAILED) {
		call_not_started(call, end, call->mode);
	} else if (may_run_again(call, end)) {
		/* The CLI may have said why; that is not the program's. */
		close_streams(call);
		open_streams(call);
		call_take_container(call);
	} else {
		describe_loss(call, end);
		call_fail(call, &call->err);
	}
}

static void
on_ended(void *arg, const struct container_end *end)
{
	call_ended(arg, end);
}

static void
on_ready(void *arg)
{
	(void)arg;
}

void
call_started(struct call *call)
{
	struct timeval limit = {.tv_sec = call->job.timeout_seconds};

	call->started = true;
	call->started_ms = monotonic_ms();
	evtimer_add(call->timer, &limit);
	if (call->callbacks->started != NULL)
		call->callbacks->started(call->arg);
}

static void
on_started(void *arg)
{
	call_started(arg);
}

void
call_output(struct call *call, enum child_stream stream, const char *data,
    size_t length)
{
	/* What comes behind its end belongs to nobody. */
	if (call->phase == PHASE_RUN)
		redactor_feed(&call->streams[stream].redactor, data, length);
}

static void
on_output(void *arg, enum child_stream stream, const char *data, size_t length)
{
	call_output(arg, stream, data, length);
}

static void
on_redacted(void *arg, const char *data, size_t length)
{
	struct stream *stream = arg;
	struct call *call = stream->call;

	capture_add(&stream->capture, data, length);
	if (call->callbacks->output != NULL)
		call->callbacks->output(
		    call->arg, stream->number, data, length);
}

static void
on_paused(void *arg, const struct container_end *end)
{
	call_paused(arg, end);
}

void
call_progress(void *arg, const char *text)
{
	struct call *call = arg;

	if (call->callbacks->progress != NULL)
		call->callbacks->progress(call->arg, text);
}

static void
add_note(struct call *call, const char *text)
{
	const struct secrets *secrets = &call->sandbox->settings->secrets;
	char *note = xasprintf("%s\n", text);
	size_t length = strlen(note);

	if (!call->started) {
		redact(secrets, &note, &length);
		capture_add(&call->notes, note, length);
		note[length - 1] = '\0';
		call_progress(call, note);
	}
	free(note);
}

static void
add_value(struct call *call, const char *base64)
{
	size_t length;
	char *piece = base64_decode(base64, strlen(base64), &length);

	if (piece != NULL && call->value_length + length <= VALUE_MAX) {
		call->value =
		    xrealloc(call->value, call->value_length + length + 1);
		memcpy(call->value + call->value_length, piece, length);
		call->value_length += length;
		call->value[call->value_length] = '\0';
	}
	free(piece);
}

/* What the program needs is not there.  A session is as it was before; one that
 * nobody has been told of goes. */
static void
fail_to_prepare(struct call *call)
{
	size_t length;
	char *notes = capture_text(&call->notes, &length);
	struct session *session = call->session;
	struct err err;

	if (call->unplaced)
		err_set(&err, ERR_ARGUMENT,
		    "The program was not run, because this could not be put "
		    "in place: a directory is in its way, or a file in that "
		    "of its directory, or the disk is full.\n%s",
		    notes);
	else
		err_set(&err, ERR_ARGUMENT,
		    "The packages could not be installed, and the program was "
		    "not run. The installer said:\n%s",
		    notes);
	free(notes);
	if (session != NULL && call->continues) {
		call->session = NULL;
		call->container = NULL;
		session_leave(session);
	}
	call_fail(call, &err);
}

void
call_said(struct call *call, enum marker_word word, const char *text)
{
	switch (word) {
	case MARKER_NOTE:
		add_note(call, text);
		break;
	case MARKER_UNPLACED:
		call->unplaced = true;
		add_note(call, text);
		break;
	case MARKER_FAILED:
		if (!call->started)
			fail_to_prepare(call);
		break;
	case MARKER_VALUE:
		add_value(call, text);
		break;
	case MARKER_ENTRY:
		if (call->phase != PHASE_FETCH || call->job.fetch != NULL)
			collector_entry(&call->collector, text);
		break;
	case MARKER_DATA:
		if (call->phase == PHASE_FETCH)
			collector_data(&call->collector, text);
		break;
	case MARKER_ANSWERED:
		call_answered(call);
		break;
	default:
		break;
	}
}

static void
on_said(void *arg, enum marker_word word, const char *text)
{
	call_said(arg, word, text);
}

static const struct container_callbacks container_callbacks = {
    .ready = on_ready,
    .started = on_started,
    .output = on_output,
    .ended = on_ended,
    .said = on_said,
    .paused = on_paused,
};

static void
on_timeout(evutil_socket_t fd, short what, void *arg)
{
	struct call *call = arg;

	(void)fd;
	(void)what;
	if (call->phase != PHASE_RUN) {
		container_kill(call->container);
		return;
	}
	call->timed_out = true;
	if (call->session != NULL)
		container_interrupt(call->container);
	else
		container_kill(call->container);
}

void
call_run(struct call *call, struct container *container)
{
	char *name;

	call->container = container;
	strlcpy(call->handle,
	    call->session != NULL ? call->session->handle : "",
	    sizeof(call->handle));
	if (call->job.fetch == NULL) {
		container_run(container, &call->job);
		return;
	}
	call->phase = PHASE_FETCH;
	call->started = true;
	name = xasprintf("./%s", call->job.fetch);
	container_get(container, COLLECTOR_FILE_MAX, name);
	free(name);
}

void
call_adopt(struct call *call, struct container *container)
{
	container_adopt(container, &container_callbacks, call);
	call_run(call, container);
}

void
call_init(struct call *call)
{
	call->timer = evtimer_new(call->sandbox->base, on_timeout, call);
	open_streams(call);
}
