#include <event2/event.h>

#include "sandbox/sandbox_private.h"

/* What a program has left behind, on its way to whoever gets it. */

/* For all of it together. */
#define COLLECT_SECONDS 60

/* One after the other, and then the call is over. */
static void
fetch_next(struct call *call)
{
	size_t limit;
	const char *path = collector_next(&call->collector, &limit);

	call->phase = PHASE_FETCH;
	if (path != NULL)
		container_get(call->container, limit, path);
	else
		call_succeed(call, &call->end);
}

static void
choose_files(struct call *call)
{
	collector_choose(&call->collector, &call->job,
	    call->session != NULL ? &call->session->seen : NULL);
	fetch_next(call);
}

/* A file of a session, for whoever asked for it by name. */
static void
end_fetch(struct call *call)
{
	struct outcome outcome = {.ran = true};
	struct session *session = call->session;

	collector_answered(&call->collector);
	call_take_artifacts(call, &outcome.artifacts);
	if (outcome.artifacts.count == 0 ||
	    outcome.artifacts.items[0].data == NULL) {
		outcome.ran = false;
		err_set(&outcome.err, ERR_RESOURCE,
		    "The session has no file \"%s\" of up to %zu MB.",
		    call->job.fetch, COLLECTOR_FILE_MAX >> 20);
	}
	call->session = NULL;
	call->container = NULL;
	session_leave(session);
	call_finish(call, &outcome);
}

void
call_answered(struct call *call)
{
	if (call->job.fetch != NULL) {
		end_fetch(call);
	} else if (call->phase == PHASE_LIST) {
		choose_files(call);
	} else if (call->phase == PHASE_FETCH) {
		collector_answered(&call->collector);
		fetch_next(call);
	}
}

void
call_paused(struct call *call, const struct container_end *end)
{
	struct timeval limit = {.tv_sec = COLLECT_SECONDS};

	if (call->phase != PHASE_RUN)
		return;
	call_stop_clock(call);
	evtimer_add(call->timer, &limit);
	call->end = *end;
	call->end.words = "";
	if (call->session != NULL && end->alive) {
		call->phase = PHASE_LIST;
		container_list(call->container);
	} else {
		choose_files(call);
	}
}

/* A file of a session was asked for by name. */
void
call_lose_fetch(struct call *call)
{
	struct err err;

	err_set(&err, ERR_RESOURCE,
	    "The session is over: its container went away, and its files with "
	    "it.");
	call_fail(call, &err);
}
