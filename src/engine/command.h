#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strlist.h"
#include "engine/child.h"

/*
 * One engine command from start to end: its output gathered within bounds, its
 * time limited.  done() is called exactly once, from the event loop and never
 * from within command_run(), unless the command is dropped before.
 */

struct command;

struct command_result {
	bool ok;         /* it ran and exited with 0 */
	int exit_status; /* -1: it could not be started, was killed, timed out
	                  */
	const char *out;
	const char
	    *words; /* what to tell people: its stderr, or our sentence */
};

struct command_spec {
	struct children *children;
	struct event_base *base;
	const struct strlist *argv;
	const struct strlist *env;
	const char *input; /* NULL: no stdin */
	size_t input_length;
	int timeout_seconds;
	/* Optional: each line of stderr or stdout as it comes. */
	void (*line)(void *arg, const char *text);
	void (*done)(void *arg, const struct command_result *result);
	void *arg;
};

struct command *command_run(const struct command_spec *spec);
/* Ends it; done() is not called. */
void command_drop(struct command *command);

#endif
