#ifndef SANDBOX_H
#define SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "engine/child.h"
#include "sandbox/artifact.h"
#include "sandbox/job.h"
#include "settings/settings.h"

/*
 * Runs programs: sandbox_call() starts one, done() is called once when it is
 * over, never from within sandbox_call().  Calls beyond --max-parallel wait in
 * order.
 */

struct sandbox;
struct call;

struct outcome {
	bool ran; /* otherwise only err says something */
	struct err err;
	int exit_code; /* -1 when a signal ended it */
	int signal;    /* 0 when it exited */
	bool timed_out;
	bool lost; /* the container was taken away from under the program */
	bool truncated;
	char *out, *err_out; /* valid UTF-8 */
	size_t out_length, err_out_length;
	uint64_t duration_ms;
	struct artifacts artifacts;
	/* Of a session. */
	const char *session; /* its handle; NULL: none was asked for */
	bool session_ended;  /* it did not outlive this call */
	char *value;         /* of the last expression; NULL: there is none */
	size_t value_length; /* valid UTF-8 */
};

struct sandbox_callbacks {
	/* Optional: output as it comes, raw.  It must not end calls: the one
	 * that speaks is on the way here. */
	void (*output)(void *arg, enum child_stream stream, const char *data,
	    size_t length);
	/* Optional: what the caller waits for, when it is not the program: an
	 * image, or packages. */
	void (*progress)(void *arg, const char *text);
	/* Optional: the program runs now. */
	void (*started)(void *arg);
	void (*done)(void *arg, const struct outcome *outcome);
};

struct sandbox *sandbox_new(
    struct event_base *base, const struct settings *settings);
void sandbox_free(struct sandbox *sandbox);
/* A call is likely to come: looks for the engine and clears up leftovers. */
void sandbox_prepare(struct sandbox *sandbox);
/* Fails when no further call should be taken: too many wait already, or it is
 * ending. */
int sandbox_check_room(const struct sandbox *sandbox, struct err *err);
/* Takes over what the job owns. */
struct call *sandbox_call(struct sandbox *sandbox, struct job *job,
    const struct sandbox_callbacks *callbacks, void *arg);
/* The container goes; done() is not called. */
void sandbox_cancel(struct call *call);
/* Ends a session of that client, and what runs in it; -1: it has none of that
 * handle. */
int sandbox_end_session(
    struct sandbox *sandbox, const char *handle, const void *client);
bool sandbox_has_sessions(const struct sandbox *sandbox, const void *client);
/* The client is gone: so are its sessions. */
void sandbox_forget_client(struct sandbox *sandbox, const void *client);
/* Fails the calls that are left, ends every container, and calls gone() when
 * none is left. */
void sandbox_shut_down(
    struct sandbox *sandbox, void (*gone)(void *arg), void *arg);

#endif
