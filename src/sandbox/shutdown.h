#ifndef SHUTDOWN_H
#define SHUTDOWN_H

#include "sandbox/sandbox.h"

/*
 * The orderly end, common to the server and to run: SIGINT, SIGTERM and
 * SIGHUP, or shutdown_begin(), end every container; then the loop ends.  A
 * second signal, or an engine that does not get done, ends it at once.
 */

struct event_base;
struct shutdown;

struct shutdown *shutdown_new(struct event_base *base, struct sandbox *sandbox);
void shutdown_free(struct shutdown *shutdown);
void shutdown_begin(struct shutdown *shutdown);
/* The signal that began it; 0 when none did. */
int shutdown_signal(const struct shutdown *shutdown);

#endif
