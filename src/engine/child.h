#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * Programs that we start.  All go through posix_spawn, in a process group of
 * their own, with default signals and no descriptors but 0, 1 and 2, and in a
 * directory where they can leave nothing.
 *
 *  1. children_new(), once for an event loop: it reaps on SIGCHLD.
 *  2. child_spawn() with a spec; output arrives as it comes.
 *  3. done() is called once, when the child has been reaped *and* both of its
 *     streams have ended, in whichever order that happens.  The child is gone
 *     when done() returns.
 */

struct children;
struct child;
struct event_base;

enum child_stream { CHILD_STDOUT, CHILD_STDERR };
#define CHILD_STREAMS 2

struct child_callbacks {
	void (*output)(void *arg, enum child_stream stream, const char *data,
	    size_t length);
	void (*done)(void *arg, int wait_status);
};

struct child_spec {
	char *const *argv; /* argv[0] is a path, not looked up */
	char *const *envp;
	bool with_stdin; /* otherwise stdin is /dev/null */
	const struct child_callbacks *callbacks;
	void *arg;
};

struct children *children_new(struct event_base *base);
/* Ends and reaps whatever still runs, which takes up to a second if it was
 * asked to end; no callbacks. */
void children_free(struct children *children);

struct child *child_spawn(
    struct children *children, const struct child_spec *spec, struct err *err);
/* All pieces in one go, so that a small message is one write. */
struct iovec;
void child_write(struct child *child, const struct iovec *pieces, size_t count);
/* Closes the child's stdin once all that was written has gone out. */
void child_finish_stdin(struct child *child);
/* Closes it now and drops what was not yet taken. */
void child_close_stdin(struct child *child);
/* A limit of setrlimit(2): before it is written to is before it works. */
void child_limit(struct child *child, int resource, size_t limit);
void child_kill(struct child *child);
/* To end by itself; if it does not within two seconds, it is killed. */
void child_ask(struct child *child);
/* Nobody is interested any more: output is drained, done() is not called. */
void child_abandon(struct child *child);

/* Finds a program the way a shell does; NULL when PATH has none. */
char *child_find_program(const char *name);

#endif
