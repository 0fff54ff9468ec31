#include <string.h>

#include "base/log.h"
#include "base/monotonic.h"
#include "sandbox/sandbox_private.h"

/* How a call gets what it runs in: its session, or a container of its own. */

static const char *
image_of(const struct call *call)
{
	return call->sandbox->settings->images[call->job.language->id];
}

/* An engine was restarted in the middle, or memory was short for a moment: the
 * code has not been sent anywhere, so a second try does no harm. */
static void
try_again(struct call *call)
{
	if (call->retried) {
		call_fail(call, &call->err);
		return;
	}
	call->retried = true;
	call_take_container(call);
}

static void
on_image(void *arg, bool present, const struct err *err)
{
	struct call *call = arg;

	if (err != NULL)
		call_fail(call, err);
	else if (present)
		try_again(call);
	else
		call_take_container(call);
}

static const struct image_callbacks image_callbacks = {call_progress, on_image};

static void
describe_failure(struct call *call, const struct container_end *end)
{
	const char *path = engine_traits(call->sandbox->engine)->path;

	if (end->late)
		err_set(&call->err, ERR_ENGINE,
		    "The container did not start within %d seconds: %s is "
		    "busy, or hangs.%s%s",
		    CONTAINER_START_SECONDS, path,
		    *end->words != '\0' ? " It said:\n" : "", end->words);
	else if (strcasestr(end->words, "seccomp") != NULL)
		err_set(&call->err, ERR_ENGINE,
		    "The container could not be started: %s did not take the "
		    "seccomp profile. Either the engine is on another machine, "
		    "where that file is not, or it takes none. --seccomp FILE "
		    "names one that is at the same path on both, and --seccomp "
		    "engine leaves it with its own, which allows more. It "
		    "said:\n%s",
		    path, end->words);
	else if (*end->words != '\0')
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

/* An interpreter that does not wait: once may be chance, memory that was short
 * for a moment; at the second time the plain command is used. */
static void
give_up_warmth(struct call *call)
{
	if (call->cooled)
		pool_set_mode(
		    call->sandbox->pool, call->job.language, CONTAINER_PLAIN);
	call->cooled = true;
	call_take_container(call);
}

static bool
names_shell(const char *words)
{
	static const char *const names[] = {"\"sh\"", "`sh`", "'sh'"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(words, names[i]) != NULL)
			return true;
	return false;
}

/* 127 is the engine's word for a command that the image does not have, and for
 * any file that the engine itself misses: unless it names the shell, once may
 * be chance, and an image in which a shell was heard has one. */
static bool
lacks_shell(struct call *call, const struct container_end *end,
    enum container_mode mode)
{
	bool again = call->shell_missed;

	if (end->cli_status != 127 || !container_has_shell(mode))
		return false;
	call->shell_missed = true;
	return names_shell(end->words) ||
	    (again &&
	        !pool_knows_shell(call->sandbox->pool, call->job.language));
}

static void
do_without_shell(struct call *call)
{
	bool loads = call->job.language->loader != NULL;

	if (pool_set_mode(call->sandbox->pool, call->job.language,
	        loads ? CONTAINER_LOADED : CONTAINER_COPY))
		log_warn(loads ? "the image %s has no shell: calls can have "
		                 "code and nothing else"
		               : "the image %s has no shell: each call starts "
		                 "a container and copies the code into it, "
		                 "and its root file system can be written to",
		    image_of(call));
	call_take_container(call);
}

/* The start that was too slow may have begun long before the call came. */
static bool
has_waited(const struct call *call)
{
	return monotonic_ms() - call->asked_ms >=
	    1000 * (uint64_t)(CONTAINER_START_SECONDS - 1);
}

/*
 * No container could be started.  What we know how to mend: an interpreter
 * that does not wait, an image with no shell for our runner, and an image that
 * is missing.
 */
void
call_not_started(
    void *arg, const struct container_end *end, enum container_mode mode)
{
	struct call *call = arg;

	describe_failure(call, end);
	log_debug("%s", call->err.message);
	if (end->absent) {
		err_set(&call->err, ERR_IMAGE,
		    "The image %s has no %s, so it cannot run %s. Name "
		    "another one with --image %s=IMAGE.",
		    image_of(call), call->job.language->command[0],
		    call->job.language->title, call->job.language->name);
		call_fail(call, &call->err);
	} else if (end->runner_spoke && mode == CONTAINER_WARM) {
		give_up_warmth(call);
	} else if (lacks_shell(call, end, mode)) {
		do_without_shell(call);
	} else if (!call->pulled && end->cli_status > 0) {
		call->pulled = true;
		image_ensure(call->sandbox->images, image_of(call),
		    &image_callbacks, call);
	} else if (end->late && has_waited(call)) {
		call_fail(call, &call->err);
	} else {
		try_again(call);
	}
}

/* What the image cannot do. */
static int
check_mode(struct call *call, enum container_mode mode, struct err *err)
{
	if (!container_has_shell(mode) &&
	    (!job_is_plain(&call->job) || call->job.outputs.count > 0))
		return err_set(err, ERR_IMAGE,
		    "The image %s has no shell, so that nothing but code can "
		    "be brought into it, and nothing but output comes back: "
		    "leave out files, outputs, stdin, args, packages and "
		    "session, or use an image with a shell.",
		    image_of(call));
	if (mode != CONTAINER_WARM && call->job.session != NULL)
		return err_set(err, ERR_IMAGE,
		    "There are no sessions here: the server was told not to "
		    "keep interpreters waiting, or the image %s does not let "
		    "it.",
		    image_of(call));
	return 0;
}

static void
on_container(void *arg, struct container *container, enum container_mode mode)
{
	struct call *call = arg;
	struct err err;

	call->has_container = true;
	call->container = container;
	call->mode = mode;
	if (check_mode(call, mode, &err) != 0) {
		call_fail(call, &err);
		return;
	}
	if (call->job.session != NULL) {
		session_enter(session_new(call), call);
		return;
	}
	call_adopt(call, container);
}

static const struct pool_callbacks pool_callbacks = {
    on_container, call_not_started};

void
call_take_container(struct call *call)
{
	call->asked_ms = monotonic_ms();
	pool_take(call->sandbox->pool, call->job.language, call->job.offline,
	    &pool_callbacks, call);
}

static void
on_engine(void *arg, const struct err *err)
{
	struct call *call = arg;

	if (err != NULL) {
		call_fail(call, err);
		return;
	}
	call_take_container(call);
}

static void
continue_session(struct call *call)
{
	struct session *session =
	    session_find(call->sandbox, call->job.session, call->job.client);
	struct err err;

	call->continues = true;
	if (session == NULL)
		err_set(&err,
		    call->job.fetch != NULL ? ERR_RESOURCE : ERR_ARGUMENT,
		    "There is no session %s. It has ended, or nobody used it "
		    "for %d seconds, and what it knew is lost. Start a new one "
		    "with \"session\": \"new\".",
		    call->job.session, call->sandbox->settings->session_ttl);
	else if (call->job.fetch == NULL &&
	    session->language != call->job.language)
		err_set(&err, ERR_ARGUMENT, "The session %s is one of %s.",
		    call->job.session, session->language->title);
	else if (session->offline ? call->job.online : call->job.offline)
		err_set(&err, ERR_ARGUMENT,
		    "The session %s began %s network, and that stays: leave "
		    "out \"network\", or start a new session.",
		    call->job.session, session->offline ? "without" : "with a");
	else if (session->call != NULL || session->next != NULL)
		err_set(&err, ERR_BUSY,
		    "The session %s is busy with another call: wait for its "
		    "answer.",
		    call->job.session);
	else {
		session_enter(session, call);
		return;
	}
	call_fail(call, &err);
}

static bool
begins_session(const struct call *call)
{
	return call->job.session != NULL &&
	    strcmp(call->job.session, JOB_SESSION_NEW) == 0;
}

/* Those that still wait for their container count as well. */
static bool
may_have_session(const struct call *call)
{
	int count = call->sandbox->session_count;
	const struct call *other;

	TAILQ_FOREACH (other, &call->sandbox->running, entry)
		if (other != call && begins_session(other) &&
		    other->session == NULL)
			count++;
	return count < call->sandbox->settings->max_sessions;
}

void
call_begin(struct call *call)
{
	struct err err;

	if (call->job.session != NULL && !begins_session(call)) {
		continue_session(call);
	} else if (begins_session(call) && !may_have_session(call)) {
		err_set(&err, ERR_BUSY,
		    "There are %d sessions already, and no more are allowed: "
		    "end one with end_session.",
		    call->sandbox->settings->max_sessions);
		call_fail(call, &err);
	} else {
		engine_when_ready(call->sandbox->engine, on_engine, call);
	}
}
