#include "sandbox/pool.h"

#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/watch.h"
#include "sandbox/pool_private.h"

/* Starts at once, at least: most of a start is the engine waiting for itself.
 */
#define STARTING_MIN 4
/* With so many on their way out that never came up, no more are started. */
#define LEAVING_MAX 16

static int
starting_total(const struct pool *pool)
{
	int total = 0;

	for (size_t i = 0; i < pool->shelf_count; i++)
		total += pool->shelves[i].starting_count;
	return total;
}

static bool
may_start(const struct pool *pool)
{
	return !pool->closed && starting_total(pool) < pool->starting_max &&
	    containers_leaving(pool->containers) < LEAVING_MAX;
}

static bool
anyone_waits(const struct pool *pool)
{
	for (size_t i = 0; i < pool->shelf_count; i++)
		if (pool->shelves[i].taker_count > 0)
			return true;
	return false;
}

/* The first taker that nothing is started for. */
static const struct taker *
left_out(const struct shelf *shelf)
{
	const struct taker *taker = TAILQ_FIRST(&shelf->takers);

	for (int i = 0; taker != NULL && i < shelf->starting_count; i++)
		taker = TAILQ_NEXT(taker, entry);
	return taker;
}

/* Where a call has waited the longest for a start; NULL: nowhere. */
static struct shelf *
next_shelf(const struct pool *pool)
{
	const struct taker *first = NULL;
	struct shelf *next = NULL;

	for (size_t i = 0; i < pool->shelf_count; i++) {
		const struct taker *taker = left_out(&pool->shelves[i]);

		if (taker == NULL ||
		    (first != NULL && first->number < taker->number))
			continue;
		first = taker;
		next = &pool->shelves[i];
	}
	return next;
}

/* Starts what calls wait for, as much at once as does the engine good. */
void
pool_balance(struct pool *pool)
{
	struct shelf *shelf;

	while (may_start(pool) && (shelf = next_shelf(pool)) != NULL)
		shelf_start(shelf); /* or one taker less */
}

/* Each kind may have --pool of them, and all together what calls at once
 * can use. */
static bool
has_room(const struct shelf *shelf)
{
	const struct pool *pool = shelf->pool;
	int total = 0;

	for (size_t i = 0; i < pool->shelf_count; i++)
		total += pool->shelves[i].ready_count +
		    pool->shelves[i].starting_count;
	return shelf->ready_count + shelf->starting_count <
	    pool->settings->pool ||
	    total < pool->settings->max_parallel;
}

static bool
wants_spare(const struct shelf *shelf)
{
	return shelf->ready_count + shelf->starting_count < shelf->wanted &&
	    shelf->mode != CONTAINER_COPY &&
	    !evtimer_pending(shelf->rest, NULL) && may_start(shelf->pool) &&
	    has_room(shelf);
}

static void
on_refill(evutil_socket_t fd, short what, void *arg)
{
	struct pool *pool = arg;

	(void)fd;
	(void)what;
	pool_balance(pool);
	if (anyone_waits(pool))
		return; /* when they have been served, this comes again */
	for (size_t i = 0; i < pool->shelf_count; i++)
		while (wants_spare(&pool->shelves[i]))
			shelf_start(&pool->shelves[i]); /* or it rests */
}

/* One that never came up is gone: there is room for another. */
static void
on_left(void *arg)
{
	struct pool *pool = arg;

	if (!pool->closed)
		watch_after(pool->refill, 0);
}

struct pool *
pool_new(struct event_base *base, struct containers *containers,
    const struct settings *settings)
{
	struct pool *pool = xcalloc(1, sizeof(*pool));
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	pool->base = base;
	pool->containers = containers;
	pool->settings = settings;
	pool->shelf_count = 2 * settings->languages.count;
	pool->shelves = xcalloc(pool->shelf_count, sizeof(*pool->shelves));
	pool->starting_max =
	    processors > STARTING_MIN ? (int)processors : STARTING_MIN;
	pool->refill = evtimer_new(base, on_refill, pool);
	containers_when_left(containers, on_left, pool);
	for (size_t i = 0; i < pool->shelf_count; i++)
		shelf_init(&pool->shelves[i], pool,
		    settings->languages.rows[i / 2], i % 2 != 0);
	return pool;
}

void
pool_close(struct pool *pool)
{
	pool->closed = true;
	evtimer_del(pool->refill);
	for (size_t i = 0; i < pool->shelf_count; i++)
		shelf_close(&pool->shelves[i]);
}

void
pool_free(struct pool *pool)
{
	pool_close(pool);
	containers_when_left(pool->containers, NULL, NULL);
	event_free(pool->refill);
	for (size_t i = 0; i < pool->shelf_count; i++)
		shelf_release(&pool->shelves[i]);
	free(pool->shelves);
	free(pool);
}

static struct shelf *
shelf_of(struct pool *pool, const struct language *language, bool offline)
{
	bool apart = offline && !pool->settings->offline;

	return &pool->shelves[2 * language->id + (apart ? 1 : 0)];
}

void
pool_take(struct pool *pool, const struct language *language, bool offline,
    const struct pool_callbacks *callbacks, void *arg)
{
	struct shelf *shelf = shelf_of(pool, language, offline);
	struct taker *taker = xcalloc(1, sizeof(*taker));

	taker->number = pool->last_taker++;
	taker->callbacks = callbacks;
	taker->arg = arg;
	TAILQ_INSERT_TAIL(&shelf->takers, taker, entry);
	shelf->taker_count++;
	shelf_note_use(shelf);
	shelf_serve(shelf);
	pool_balance(pool);
}

void
pool_forget(struct pool *pool, void *arg)
{
	struct taker *taker, *next;

	for (size_t i = 0; i < pool->shelf_count; i++) {
		struct shelf *shelf = &pool->shelves[i];

		TAILQ_FOREACH_SAFE (taker, &shelf->takers, entry, next) {
			if (taker->arg != arg)
				continue;
			TAILQ_REMOVE(&shelf->takers, taker, entry);
			shelf->taker_count--;
			free(taker);
		}
		shelf_drop_starts(shelf);
	}
}

void
pool_give_back(struct pool *pool, const struct language *language, bool offline)
{
	shelf_of(pool, language, offline)->in_flight--;
	if (!pool->closed)
		watch_after(pool->refill, 0);
}

bool
pool_set_mode(struct pool *pool, const struct language *language,
    enum container_mode mode)
{
	bool changed = false;

	for (size_t i = 0; i < pool->shelf_count; i++) {
		struct shelf *shelf = &pool->shelves[i];

		if (shelf->language != language || shelf->mode == mode)
			continue;
		shelf_drop_spares(shelf, 0);
		shelf->mode = mode;
		shelf->cold_windows = 0;
		changed = true;
	}
	return changed;
}

bool
pool_knows_shell(const struct pool *pool, const struct language *language)
{
	for (size_t i = 0; i < pool->shelf_count; i++)
		if (pool->shelves[i].language == language &&
		    pool->shelves[i].has_shell)
			return true;
	return false;
}
