#include "sandbox/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/token.h"
#include "fuzz.h"
#include "sandbox/work_path.h"

/*
 * Takes the place of src/sandbox/sandbox.c, and starts nothing.  What would
 *come of a program is what its code says:
 *
 *	exit N, signal N     it ended so
 *	timeout, lost        it was stopped, or went away
 *	refuse               it could not be run
 *	sleep N              it goes on for N seconds
 *	wait                 it goes on until somebody ends it
 *	write PATH DATA      it leaves that file behind, and so many more
 *	keep PATH            one that is not returned
 *	draw PATH DATA       a figure
 *	value TEXT           its last expression has that value
 *	over                 its session does not outlive it
 *
 * and everything else ends well.  All of them print their own code when they
 * begin, and those that sleep once more.  A file that is to be fetched holds
 * its own path; there is none if that begins with "gone".
 */

#define CALLS_MAX 4

struct call {
	TAILQ_ENTRY(call) entry;
	struct sandbox *sandbox;
	struct job job;
	const char *code; /* or what is to be fetched */
	char session[TOKEN_LENGTH + 1];
	const struct sandbox_callbacks *callbacks;
	void *arg;
	struct event *turn;
	bool slept;
};

struct sandbox {
	struct event_base *base;
	TAILQ_HEAD(call_list, call) list;
	int count;
	bool shutting_down;
	char session[TOKEN_LENGTH + 1]; /* the newest */
};

struct sandbox *
sandbox_new(struct event_base *base, const struct settings *settings)
{
	struct sandbox *sandbox = xcalloc(1, sizeof(*sandbox));

	(void)settings;
	sandbox->base = base;
	TAILQ_INIT(&sandbox->list);
	return sandbox;
}

void
sandbox_cancel(struct call *call)
{
	TAILQ_REMOVE(&call->sandbox->list, call, entry);
	call->sandbox->count--;
	event_free(call->turn);
	job_release(&call->job);
	free(call);
}

void
sandbox_free(struct sandbox *sandbox)
{
	struct call *call;

	while ((call = TAILQ_FIRST(&sandbox->list)) != NULL)
		sandbox_cancel(call);
	free(sandbox);
}

void
sandbox_prepare(struct sandbox *sandbox)
{
	(void)sandbox;
}

int
sandbox_check_room(const struct sandbox *sandbox, struct err *err)
{
	return sandbox->shutting_down || sandbox->count >= CALLS_MAX
	    ? err_set(err, ERR_BUSY, "full")
	    : 0;
}

static bool
begins(const char *code, const char *word)
{
	return strncmp(code, word, strlen(word)) == 0;
}

/* "PATH DATA": a file, unless a file cannot have that name. */
static bool
read_file(const char *words, struct artifact *file)
{
	const char *space = strchrnul(words, ' ');
	struct err err;

	*file =
	    (struct artifact){.path = xstrndup(words, (size_t)(space - words))};
	if (work_path_check(file->path, strlen(file->path), &err) != 0) {
		free(file->path);
		return false;
	}
	file->data = xstrdup(*space == ' ' ? space + 1 : "");
	file->size = file->length = strlen(file->data);
	return true;
}

static void
leave_files(const char *code, struct artifacts *files)
{
	static const char *const words[] = {"write ", "keep ", "draw "};
	struct artifact *file = xcalloc(1, sizeof(*file));

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!begins(code, words[i]) ||
		    !read_file(code + strlen(words[i]), file))
			continue;
		*files = (struct artifacts){
		    .items = file, .count = 1, .left_out = file->length % 3};
		file->figure = *code == 'd';
		if (*code == 'k') {
			free(file->data);
			file->data = NULL;
			file->length = 0;
		}
		return;
	}
	free(file);
}

static void
fetch(struct call *call, struct outcome *outcome)
{
	struct artifact *file;

	if (begins(call->code, "gone")) {
		outcome->ran = false;
		err_set(&outcome->err, ERR_RESOURCE, "no such file");
		return;
	}
	file = xcalloc(1, sizeof(*file));
	*file = (struct artifact){.path = xstrdup(call->code),
	    .data = xstrdup(call->code),
	    .size = strlen(call->code),
	    .length = strlen(call->code)};
	outcome->artifacts = (struct artifacts){.items = file, .count = 1};
}

static void
end_as_told(const char *code, struct outcome *outcome)
{
	int number = 0;

	if (sscanf(code, "exit %3d", &number) == 1)
		outcome->exit_code = number & 255;
	else if (sscanf(code, "signal %3d", &number) == 1)
		outcome->signal = number & 127;
	else if (outcome->timed_out || outcome->lost)
		outcome->signal = 9;
	if (outcome->signal != 0)
		outcome->exit_code = -1;
}

static void
finish(struct call *call)
{
	const char *code = call->code;
	char *text = xstrdup(code);
	struct outcome outcome = {
	    .ran = !begins(code, "refuse") && !call->sandbox->shutting_down,
	    .timed_out = begins(code, "timeout"),
	    .lost = begins(code, "lost"),
	    .out = text,
	    .err_out = text,
	    .out_length = strlen(code),
	    .err_out_length = strlen(code),
	    .session = *call->session != '\0' ? call->session : NULL,
	};

	err_set(&outcome.err, ERR_ENGINE, "%s", code);
	end_as_told(code, &outcome);
	if (call->job.fetch != NULL)
		fetch(call, &outcome);
	else
		leave_files(code, &outcome.artifacts);
	if (outcome.session != NULL) {
		outcome.session_ended = begins(code, "over") ||
		    outcome.timed_out || outcome.signal != 0;
		outcome.value = begins(code, "value ") ? text + 6 : NULL;
		if (outcome.value != NULL)
			outcome.value_length = strlen(outcome.value);
	}
	call->callbacks->done(call->arg, &outcome);
	artifacts_release(&outcome.artifacts);
	free(text);
	sandbox_cancel(call);
}

static void
on_turn(evutil_socket_t fd, short what, void *arg)
{
	struct call *call = arg;
	struct timeval time = {0};

	(void)fd;
	(void)what;
	if (call->callbacks->progress != NULL)
		call->callbacks->progress(call->arg, call->code);
	if (call->callbacks->output != NULL)
		call->callbacks->output(
		    call->arg, CHILD_STDOUT, call->code, strlen(call->code));
	if (!call->slept &&
	    sscanf(call->code, "sleep %4ld", &time.tv_sec) == 1) {
		call->slept = true;
		evtimer_add(call->turn, &time);
	} else if (!begins(call->code, "wait")) {
		finish(call);
	}
}

/* It stays in the working directory, by another judge than work_path.c. */
static void
expect_path(const char *path)
{
	char *between = xasprintf("/%s/", path);

	EXPECT(strlen(path) <= 1024);
	EXPECT(strstr(between, "//") == NULL);
	EXPECT(strstr(between, "/./") == NULL);
	EXPECT(strstr(between, "/../") == NULL);
	for (const char *next = path; *next != '\0'; next++)
		EXPECT((unsigned char)*next >= ' ' && *next != '\x7F');
	EXPECT(is_utf8(path, strlen(path)));
	free(between);
}

/* A job is as job.h says, whatever was asked for. */
static void
expect_job(const struct job *job)
{
	EXPECT((job->code != NULL) != (job->fetch != NULL));
	if (job->fetch != NULL) {
		EXPECT(job->session != NULL && job->files == NULL);
		expect_path(job->fetch);
	} else {
		EXPECT(job->language != NULL);
		EXPECT(strlen(job->code) == job->code_length);
	}
	for (size_t i = 0; i < job->file_count; i++) {
		expect_path(job->files[i].path);
		EXPECT(strcmp(job->files[i].path, job->language->file) != 0);
	}
	for (size_t i = 0; i < job->outputs.count; i++)
		expect_path(job->outputs.items[i]);
	for (size_t i = 0; i < job->packages.count; i++)
		EXPECT(*job->packages.items[i] != '-');
	EXPECT(job->packages.count == 0 || !job->offline);
	EXPECT(job->session == NULL || strlen(job->session) == TOKEN_LENGTH ||
	    strcmp(job->session, JOB_SESSION_NEW) == 0);
}

struct call *
sandbox_call(struct sandbox *sandbox, struct job *job,
    const struct sandbox_callbacks *callbacks, void *arg)
{
	struct call *call = xcalloc(1, sizeof(*call));

	expect_job(job);
	call->sandbox = sandbox;
	call->job = *job;
	*job = (struct job){0};
	call->code = call->job.fetch != NULL ? call->job.fetch : call->job.code;
	if (call->job.session != NULL &&
	    strcmp(call->job.session, JOB_SESSION_NEW) == 0) {
		token_make(call->session);
		memcpy(sandbox->session, call->session, sizeof(call->session));
	} else if (call->job.session != NULL) {
		memcpy(call->session, call->job.session, sizeof(call->session));
	}
	call->callbacks = callbacks;
	call->arg = arg;
	call->turn = evtimer_new(sandbox->base, on_turn, call);
	TAILQ_INSERT_TAIL(&sandbox->list, call, entry);
	sandbox->count++;
	event_active(call->turn, EV_TIMEOUT, 0);
	return call;
}

void
sandbox_shut_down(struct sandbox *sandbox, void (*gone)(void *arg), void *arg)
{
	struct call *call;

	sandbox->shutting_down = true;
	while ((call = TAILQ_FIRST(&sandbox->list)) != NULL)
		finish(call);
	gone(arg);
}

int
sandbox_end_session(
    struct sandbox *sandbox, const char *handle, const void *client)
{
	(void)client;
	if (strcmp(handle, sandbox->session) != 0)
		return -1;
	sandbox->session[0] = '\0';
	return 0;
}

bool
sandbox_has_sessions(const struct sandbox *sandbox, const void *client)
{
	(void)client;
	return sandbox->session[0] != '\0';
}

void
sandbox_forget_client(struct sandbox *sandbox, const void *client)
{
	(void)sandbox;
	(void)client;
}
