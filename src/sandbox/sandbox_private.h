#ifndef SANDBOX_PRIVATE_H
#define SANDBOX_PRIVATE_H

/* What the files of the sandbox share. */

#include <stdint.h>

#include <bsd/sys/queue.h>

#include "base/capture.h"
#include "base/redact.h"
#include "base/token.h"
#include "engine/engine.h"
#include "engine/image.h"
#include "sandbox/collector.h"
#include "sandbox/container.h"
#include "sandbox/pool.h"
#include "sandbox/sandbox.h"

struct session;
TAILQ_HEAD(call_queue, call);

/* What a program says, on its way to those who hear it. */
struct stream {
	struct call *call;
	enum child_stream number;
	struct redactor redactor;
	struct capture capture;
};

/* What a call waits for. */
enum phase {
	PHASE_RUN,   /* the end of its program */
	PHASE_LIST,  /* what files there are */
	PHASE_FETCH, /* what they contain */
};

struct call {
	TAILQ_ENTRY(call) entry;
	struct sandbox *sandbox;
	bool running; /* has one of the --max-parallel places */
	struct job job;
	const struct sandbox_callbacks *callbacks;
	void *arg;
	struct session *session;       /* NULL: none, or not any more */
	char handle[TOKEN_LENGTH + 1]; /* ... that it has, or had */
	bool session_lives;
	bool continues;              /* one that was there before */
	struct container *container; /* its own, or that of its session */
	struct event *timer;
	struct stream streams[CHILD_STREAMS];
	struct capture notes; /* of what was done ahead of the program */
	uint64_t started_ms;
	uint64_t duration_ms;
	bool timed_out;
	bool started;  /* the program has: from now on there is no second try */
	bool unplaced; /* something that it needs */
	bool has_container;
	bool pulled;
	bool retried;
	bool cooled; /* it has seen an interpreter that did not wait */
	bool shell_missed;
	uint64_t asked_ms; /* for a container */
	int losses;        /* of containers that had died while they waited */
	enum container_mode mode;
	struct err err; /* of the last attempt to start a container */
	enum phase phase;
	struct container_end end; /* of the program, when its files are left */
	struct collector collector;
	char *value;
	size_t value_length;
};

struct sandbox {
	struct event_base *base;
	const struct settings *settings;
	struct children *children;
	struct engine *engine;
	struct images *images;
	struct containers *containers;
	struct pool *pool;
	struct call_queue waiting, running;
	int waiting_count, running_count;
	TAILQ_HEAD(session_list, session) sessions;
	int session_count;
	struct event *dispatch;
	bool shutting_down;
};

/* An interpreter that keeps what its snippets leave behind. */
struct session {
	TAILQ_ENTRY(session) entry;
	struct sandbox *sandbox;
	char handle[TOKEN_LENGTH + 1];
	const void *client;
	const struct language *language;
	bool offline;
	struct container *container;
	struct call *call; /* that has it now; NULL: it is idle */
	struct call *next; /* that waits until an interrupt has worked */
	bool stopping;     /* the last call was cancelled and is not over */
	struct collector_seen seen;            /* files */
	struct capture pending[CHILD_STREAMS]; /* printed when no call ran */
	struct event *expiry;
};

/* sandbox_start.c: how a call gets what it runs in. */
void call_begin(struct call *call);
/* In another container: the first one has died before the program began. */
void call_take_container(struct call *call);
/* The same as a callback of the pool's. */
void call_not_started(
    void *arg, const struct container_end *end, enum container_mode mode);

/* sandbox_call.c: one call, from then to its outcome. */
void call_init(struct call *call);
void call_free(struct call *call);
/* From here on the call is not the sandbox's any more. */
void call_unlink(struct call *call);
void call_release(struct call *call);
/* The program has come to its end. */
void call_stop_clock(struct call *call);
/* To whoever waits for it. */
void call_progress(void *arg, const char *text);
/* The container is its own from now on. */
void call_adopt(struct call *call, struct container *container);
/* What its container says. */
void call_run(struct call *call, struct container *container);
void call_output(struct call *call, enum child_stream stream, const char *data,
    size_t length);
void call_started(struct call *call);
void call_said(struct call *call, enum marker_word word, const char *text);
void call_ended(struct call *call, const struct container_end *end);

/* sandbox_files.c: what the program has left. */
void call_paused(struct call *call, const struct container_end *end);
void call_answered(struct call *call);
/* The session whose file was asked for is gone. */
void call_lose_fetch(struct call *call);

/* sandbox_outcome.c: each of these but the last ends the call. */
void call_fail(struct call *call, const struct err *err);
void call_succeed(struct call *call, const struct container_end *end);
void call_finish(struct call *call, struct outcome *outcome);
void call_take_artifacts(struct call *call, struct artifacts *artifacts);

/* sandbox_sessions.c */
struct session *session_find(
    struct sandbox *sandbox, const char *handle, const void *client);
/* For a call that asked for a new one, with the container that it got. */
struct session *session_new(struct call *call);
/* Runs the call in it, now or when it has become idle. */
void session_enter(struct session *session, struct call *call);
/* The call is over, or nobody wants it any more. */
void session_leave(struct session *session);
void session_cancel(struct session *session);
/* The container goes with it. */
void session_free(struct session *session);
void sessions_free(struct sandbox *sandbox);

#endif
