#ifndef POOL_H
#define POOL_H

#include "sandbox/container.h"
#include "settings/settings.h"

/*
 * Containers that are up before their call comes.  Each serves one call.
 *
 * A language gets containers from its first call on (a client that merely
 * lists the tools costs nothing): --pool of them, or as many as calls were
 * under way together, up to --max-parallel.  They go again when no call has
 * come for a while.  Starting spare ones waits while calls wait, and keeps
 * away from the moment in which a program starts.  Calls of all languages are
 * served in the order in which they came.
 */

struct pool;

struct pool_callbacks {
	/* The container is the caller's now: container_adopt() it. */
	void (*ready)(
	    void *arg, struct container *container, enum container_mode mode);
	/* None could be started. */
	void (*failed)(void *arg, const struct container_end *end,
	    enum container_mode mode);
};

struct pool *pool_new(struct event_base *base, struct containers *containers,
    const struct settings *settings);
/* Lets go of the containers that wait; starts no more. */
void pool_close(struct pool *pool);
void pool_free(struct pool *pool);

/* Calls back at once when one is ready.  offline: with no network, whatever
 * the settings say. */
void pool_take(struct pool *pool, const struct language *language, bool offline,
    const struct pool_callbacks *callbacks, void *arg);
void pool_forget(struct pool *pool, void *arg);
/* The call that took one is over. */
void pool_give_back(
    struct pool *pool, const struct language *language, bool offline);

/* The image of this language wants another mode from now on; false if it has
 * that already. */
bool pool_set_mode(struct pool *pool, const struct language *language,
    enum container_mode mode);
/* Whether its image has been seen to have a shell. */
bool pool_knows_shell(const struct pool *pool, const struct language *language);

#endif
