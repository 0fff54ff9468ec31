#ifndef SANDBOX_H
#define SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "child.h"
#include "err.h"
#include "language.h"
#include "settings.h"

/*
 * Runs programs: sandbox_call() starts one, done() is called once when it is
 * over, never from within sandbox_call().  Calls beyond --max-parallel wait in
 * order.
 */

struct sandbox;
struct call;

struct sandbox_request {
	const struct language *language;
	const char *code; /* copied */
	size_t code_length;
	int timeout_seconds; /* 0: the server's own */
};

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
};

struct sandbox_callbacks {
	/* Optional: output as it comes, raw. */
	void (*output)(void *arg, enum child_stream stream, const char *data,
	    size_t length);
	/* Optional: what the caller waits for, when it is not the program. */
	void (*progress)(void *arg, const char *text);
	void (*done)(void *arg, const struct outcome *outcome);
};

struct sandbox *sandbox_new(
    struct event_base *base, const struct settings *settings);
void sandbox_free(struct sandbox *sandbox);
/* A call is likely to come: looks for the engine and clears up leftovers. */
void sandbox_prepare(struct sandbox *sandbox);
/* No further call should be taken: so many wait already, or it is ending. */
bool sandbox_is_full(const struct sandbox *sandbox);
struct call *sandbox_call(struct sandbox *sandbox,
    const struct sandbox_request *request,
    const struct sandbox_callbacks *callbacks, void *arg);
/* The container goes; done() is not called. */
void sandbox_cancel(struct call *call);
/* Fails the calls that are left, ends every container, and calls gone() when
 * none is left. */
void sandbox_shut_down(
    struct sandbox *sandbox, void (*gone)(void *arg), void *arg);

#endif
