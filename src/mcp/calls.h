#ifndef CALLS_H
#define CALLS_H

#include <stdbool.h>

#include "mcp/request.h"
#include "mcp/tasks.h"
#include "sandbox/sandbox.h"
#include "settings/settings.h"

/*
 * The requests of one client that take a container, and so take a while:
 * tools/call, and resources/read of a file.  A tools/call of a client that can
 * poll becomes a task when it takes long; then it is no longer among these, and
 * ends with its task.
 */

struct event_base;
struct calls;

struct calls_config {
	struct event_base *base;
	const struct settings *settings;
	struct sandbox *sandbox;
	struct tasks *tasks;
};

struct calls *calls_new(const struct calls_config *config);
/* Cancels what is left. */
void calls_free(struct calls *calls);

/* Takes over what the job owns. */
void calls_start(
    struct calls *calls, const struct request *request, struct job *job);
/* The same for a job that fetches a file, the resource of that uri. */
void calls_read(struct calls *calls, const struct request *request,
    const char *uri, struct job *job);
bool calls_are_over(const struct calls *calls);
bool calls_include(const struct calls *calls, const char *id);
/* No answer is sent.  What is not under way is not a mistake. */
void calls_cancel(struct calls *calls, const char *id);
/* Nobody reads the owner's outlets any more.  In the modern revisions that
 * cancels its calls; in the older ones they go on, unheard. */
void calls_disconnect(struct calls *calls, const void *owner);

#endif
