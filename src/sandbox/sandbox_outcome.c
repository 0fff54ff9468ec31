#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "sandbox/sandbox_private.h"

/* How a call ends, and what is told of it. */

/* Unlinked first: done() may well shut the whole sandbox down. */
void
call_finish(struct call *call, struct outcome *outcome)
{
	call_unlink(call);
	call->callbacks->done(call->arg, outcome);
	free(outcome->out);
	free(outcome->err_out);
	artifacts_release(&outcome->artifacts);
	call_release(call);
}

void
call_fail(struct call *call, const struct err *err)
{
	call_finish(call, &(struct outcome){.ran = false, .err = *err});
}

/* The session is for the next call, if its interpreter has survived. */
static void
leave_session(struct call *call, const struct container_end *end)
{
	struct session *session = call->session;

	if (session == NULL)
		return;
	call->session = NULL;
	call->container = NULL;
	call->session_lives = end->alive;
	if (end->alive)
		session_leave(session);
	else
		session_free(session);
}

/* A secret need not be UTF-8, so what it leaves behind need not be either. */
static void
clean_text(const struct secrets *secrets, char **text, size_t *length)
{
	char *clean;

	redact(secrets, text, length);
	clean = utf8_repair(*text, *length, length);
	free(*text);
	*text = clean;
}

static void
add_session(struct call *call, struct outcome *outcome)
{
	if (call->job.session == NULL)
		return;
	if (call->value != NULL)
		clean_text(&call->sandbox->settings->secrets, &call->value,
		    &call->value_length);
	outcome->session = call->handle;
	outcome->session_ended = !call->session_lives;
	outcome->value = call->value;
	outcome->value_length = call->value_length;
}

void
call_take_artifacts(struct call *call, struct artifacts *artifacts)
{
	const struct secrets *secrets = &call->sandbox->settings->secrets;

	collector_take(&call->collector, artifacts);
	for (size_t i = 0; i < artifacts->count; i++) {
		struct artifact *artifact = &artifacts->items[i];
		size_t length = strlen(artifact->path);

		redact(secrets, &artifact->data, &artifact->length);
		clean_text(secrets, &artifact->path, &length);
	}
}

void
call_succeed(struct call *call, const struct container_end *end)
{
	struct capture *out = &call->streams[CHILD_STDOUT].capture;
	struct capture *err_out = &call->streams[CHILD_STDERR].capture;
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
	    .duration_ms = call->duration_ms,
	};

	if (end->kind == CONTAINER_LOST)
		outcome.signal = SIGKILL;
	outcome.out = capture_text(out, &outcome.out_length);
	outcome.err_out = capture_text(err_out, &outcome.err_out_length);
	call_take_artifacts(call, &outcome.artifacts);
	leave_session(call, end);
	add_session(call, &outcome);
	call_finish(call, &outcome);
}
