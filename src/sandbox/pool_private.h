#ifndef POOL_PRIVATE_H
#define POOL_PRIVATE_H

/* What pool.c and pool_shelf.c share. */

#include <stdint.h>

#include <bsd/sys/queue.h>

#include "sandbox/pool.h"

struct warm {
	TAILQ_ENTRY(warm) entry;
	struct shelf *shelf;
	struct container *container;
	enum container_mode mode;
};
TAILQ_HEAD(warms, warm);

struct taker {
	TAILQ_ENTRY(taker) entry;
	uint64_t number; /* in the order in which they came */
	const struct pool_callbacks *callbacks;
	void *arg;
};

/* What the pool has of one kind. */
struct shelf {
	struct pool *pool;
	const struct language *language;
	bool offline;
	enum container_mode mode;
	bool has_shell;   /* a runner has spoken, so that is known */
	int cold_windows; /* since the interpreter was found not to wait */
	struct warms ready, starting;
	int ready_count, starting_count;
	TAILQ_HEAD(takers, taker) takers;
	int taker_count;
	int in_flight;      /* calls that have a container */
	int peak;           /* calls at once in this window */
	int wanted;         /* spare containers */
	int failures;       /* of spares, since one was of use */
	struct event *rest; /* pending: no spare is tried until then */
	struct event *window;
	bool shrunk;
};

struct pool {
	struct event_base *base;
	struct containers *containers;
	const struct settings *settings;
	/* One for each language, and behind it another without a network. */
	struct shelf *shelves;
	size_t shelf_count;
	int starting_max;
	uint64_t last_taker;
	struct event *refill;
	bool closed;
};

/* pool.c: starts what calls wait for. */
void pool_balance(struct pool *pool);

/* pool_shelf.c: containers of one kind, and who waits for one. */
void shelf_init(struct shelf *shelf, struct pool *pool,
    const struct language *language, bool offline);
void shelf_release(struct shelf *shelf);
/* Lets go of its containers. */
void shelf_close(struct shelf *shelf);
/* A call has come. */
void shelf_note_use(struct shelf *shelf);
/* Hands out what is ready. */
void shelf_serve(struct shelf *shelf);
/* If that fails, who waited the longest is told, or no spare is tried for a
 * while. */
void shelf_start(struct shelf *shelf);
void shelf_drop_spares(struct shelf *shelf, int keep);
/* A start that nobody waits for any more, and that is not wanted as a spare,
 * is given up; the newest first, which has the longest way to go. */
void shelf_drop_starts(struct shelf *shelf);

#endif
