#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/log.h"
#include "sandbox/sandbox_private.h"

#define PENDING_MAX ((size_t)64 * 1024)

struct session *
session_find(struct sandbox *sandbox, const char *handle, const void *client)
{
	struct session *session, *found = NULL;

	TAILQ_FOREACH (session, &sandbox->sessions, entry)
		if (session->client == client &&
		    token_equal(handle, session->handle))
			found = session;
	return found;
}

void
session_free(struct session *session)
{
	struct sandbox *sandbox = session->sandbox;
	struct call *next = session->next;
	struct err err;

	TAILQ_REMOVE(&sandbox->sessions, session, entry);
	sandbox->session_count--;
	if (session->call != NULL) {
		session->call->session = NULL;
		session->call->container = NULL;
	}
	if (session->container != NULL)
		container_abandon(session->container);
	event_free(session->expiry);
	collector_seen_release(&session->seen);
	for (size_t i = 0; i < CHILD_STREAMS; i++)
		capture_release(&session->pending[i]);
	free(session);
	if (next == NULL)
		return;
	next->session = NULL;
	err_set(&err, next->job.fetch != NULL ? ERR_RESOURCE : ERR_ARGUMENT,
	    "The session is over: it was ended, or the snippet before this one "
	    "did not stop when it was told to. Start a new one with "
	    "\"session\": \"new\".");
	call_fail(next, &err);
}

void
sessions_free(struct sandbox *sandbox)
{
	struct session *session;

	while ((session = TAILQ_FIRST(&sandbox->sessions)) != NULL)
		session_free(session);
}

static void
on_expiry(evutil_socket_t fd, short what, void *arg)
{
	struct session *session = arg;

	(void)fd;
	(void)what;
	log_debug("a session has expired");
	session_free(session);
}

/* Until then somebody has to come back to it. */
static void
become_idle(struct session *session)
{
	struct timeval ttl = {
	    .tv_sec = session->sandbox->settings->session_ttl};
	struct call *next = session->next;

	session->stopping = false;
	session->next = NULL;
	if (next != NULL)
		session_enter(session, next);
	else
		evtimer_add(session->expiry, &ttl);
}

static void
on_ready(void *arg)
{
	(void)arg;
}

static void
on_started(void *arg)
{
	struct session *session = arg;

	if (session->call != NULL)
		call_started(session->call);
	else if (session->stopping)
		container_interrupt(session->container);
}

static void
on_output(void *arg, enum child_stream stream, const char *data, size_t length)
{
	struct session *session = arg;

	if (session->call != NULL && session->call->phase == PHASE_RUN)
		call_output(session->call, stream, data, length);
	else if (!session->stopping)
		capture_add(&session->pending[stream], data, length);
}

static void
on_said(void *arg, enum marker_word word, const char *text)
{
	struct session *session = arg;

	if (session->call != NULL)
		call_said(session->call, word, text);
	else if (session->stopping &&
	    (word == MARKER_ANSWERED || word == MARKER_FAILED))
		become_idle(session);
}

static void
on_paused(void *arg, const struct container_end *end)
{
	struct session *session = arg;

	if (session->call != NULL)
		call_paused(session->call, end);
	else if (end->alive)
		become_idle(session);
	else
		session_free(session);
}

static void
on_ended(void *arg, const struct container_end *end)
{
	struct session *session = arg;
	struct call *call = session->call;

	session->container = NULL;
	session_free(session);
	if (call != NULL)
		call_ended(call, end);
	else
		log_debug("the container of a session went away");
}

static const struct container_callbacks callbacks = {
    .ready = on_ready,
    .started = on_started,
    .output = on_output,
    .ended = on_ended,
    .said = on_said,
    .paused = on_paused,
};

struct session *
session_new(struct call *call)
{
	struct sandbox *sandbox = call->sandbox;
	struct session *session = xcalloc(1, sizeof(*session));

	session->sandbox = sandbox;
	token_make(session->handle);
	session->client = call->job.client;
	session->language = call->job.language;
	session->offline = call->job.offline || sandbox->settings->offline;
	session->container = call->container;
	session->expiry = evtimer_new(sandbox->base, on_expiry, session);
	for (size_t i = 0; i < CHILD_STREAMS; i++)
		capture_init(&session->pending[i], PENDING_MAX);
	TAILQ_INSERT_TAIL(&sandbox->sessions, session, entry);
	sandbox->session_count++;
	container_adopt(session->container, &callbacks, session);
	return session;
}

static void
tell_pending(struct session *session)
{
	for (size_t i = 0; i < CHILD_STREAMS; i++) {
		size_t length;
		char *text = capture_text(&session->pending[i], &length);

		call_output(session->call, (enum child_stream)i, text, length);
		free(text);
		capture_release(&session->pending[i]);
		capture_init(&session->pending[i], PENDING_MAX);
	}
}

void
session_enter(struct session *session, struct call *call)
{
	call->session = session;
	if (session->stopping) {
		session->next = call;
		return;
	}
	evtimer_del(session->expiry);
	session->call = call;
	if (call->job.fetch == NULL)
		tell_pending(session);
	call_run(call, session->container);
}

void
session_leave(struct session *session)
{
	session->call = NULL;
	become_idle(session);
}

/* Its files are still being fetched. */
static bool
has_lost_interpreter(const struct call *call)
{
	return call->phase != PHASE_RUN && call->job.fetch == NULL &&
	    !call->end.alive;
}

/* The program, or what goes ahead of it, is asked to stop; one that is on its
 * way is asked again when it runs. */
void
session_cancel(struct session *session)
{
	struct call *call = session->call;

	session->call = NULL;
	/* Nobody was told of it, or there is nobody in it any more. */
	if (!call->continues || has_lost_interpreter(call)) {
		session_free(session);
		return;
	}
	session->stopping = true;
	if (call->phase == PHASE_RUN && !call->timed_out)
		container_interrupt(session->container);
}

/* With the call that is in it. */
static void
end_session(struct session *session)
{
	struct call *call = session->call;
	struct err err;

	session_free(session);
	err_set(
	    &err, ERR_SHUTDOWN, "The session was ended while its program ran.");
	if (call != NULL)
		call_fail(call, &err);
}

int
sandbox_end_session(
    struct sandbox *sandbox, const char *handle, const void *client)
{
	struct session *session = session_find(sandbox, handle, client);

	if (session == NULL)
		return -1;
	end_session(session);
	return 0;
}

bool
sandbox_has_sessions(const struct sandbox *sandbox, const void *client)
{
	const struct session *session;

	TAILQ_FOREACH (session, &sandbox->sessions, entry)
		if (session->client == client)
			return true;
	return false;
}

void
sandbox_forget_client(struct sandbox *sandbox, const void *client)
{
	struct session *session, *next;

	TAILQ_FOREACH_SAFE (session, &sandbox->sessions, entry, next)
		if (client != NULL && session->client == client)
			end_session(session);
}
