#include "sandbox/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <bsd/sys/queue.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/watch.h"

/* A program that has just begun gets the processor to itself for so long. */
#define REFILL_DELAY_MS 250
/* What calls needed in one window is kept for the next.  After a window with
 * no call --pool are kept, and then, after a longer one, none. */
#define WINDOW_SECONDS 60
#define IDLE_SECONDS 840
#define BACKOFF_MAX_SECONDS 60
/* Starts at once, at least: most of a start is the engine waiting for itself.
 */
#define STARTING_MIN 4
/* With so many on their way out that never came up, no more are started. */
#define LEAVING_MAX 16
/* Windows after which an interpreter that did not wait is tried again. */
#define COLD_WINDOWS 10

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

static void balance(struct pool *pool);

static void
warm_drop(struct warm *warm)
{
	container_abandon(warm->container);
	free(warm);
}

/* Takes the oldest off the shelf: the one that is ready first. */
static struct container *
take_ready(struct shelf *shelf, enum container_mode *mode)
{
	struct warm *warm = TAILQ_FIRST(&shelf->ready);
	struct container *container = warm->container;

	*mode = warm->mode;
	/* One that is of use to somebody. */
	shelf->failures = 0;
	evtimer_del(shelf->rest);
	TAILQ_REMOVE(&shelf->ready, warm, entry);
	shelf->ready_count--;
	free(warm);
	return container;
}

static void
drop_spares(struct shelf *shelf, int keep)
{
	struct warm *warm;

	while (shelf->ready_count > keep &&
	    (warm = TAILQ_FIRST(&shelf->ready)) != NULL) {
		TAILQ_REMOVE(&shelf->ready, warm, entry);
		shelf->ready_count--;
		warm_drop(warm);
	}
}

/* A start that nobody waits for any more, and that is not wanted as a spare,
 * is given up; the newest first, which has the longest way to go. */
static void
drop_starts(struct shelf *shelf)
{
	struct warm *warm;

	while (shelf->ready_count + shelf->starting_count >
	        shelf->taker_count + shelf->wanted &&
	    (warm = TAILQ_LAST(&shelf->starting, warms)) != NULL) {
		TAILQ_REMOVE(&shelf->starting, warm, entry);
		shelf->starting_count--;
		warm_drop(warm);
		/* There is room for another's now. */
		if (!shelf->pool->closed)
			watch_after(shelf->pool->refill, 0);
	}
}

static void
serve_takers(struct shelf *shelf)
{
	struct taker *taker;

	while (shelf->ready_count > 0 &&
	    (taker = TAILQ_FIRST(&shelf->takers)) != NULL) {
		enum container_mode mode;
		struct container *container = take_ready(shelf, &mode);
		struct taker served = *taker;

		TAILQ_REMOVE(&shelf->takers, taker, entry);
		shelf->taker_count--;
		shelf->in_flight++;
		free(taker);
		served.callbacks->ready(served.arg, container, mode);
	}
}

static void
on_ready(void *arg)
{
	struct warm *warm = arg;
	struct shelf *shelf = warm->shelf;
	int delay;

	TAILQ_REMOVE(&shelf->starting, warm, entry);
	shelf->starting_count--;
	TAILQ_INSERT_TAIL(&shelf->ready, warm, entry);
	shelf->ready_count++;
	shelf->has_shell |= container_has_shell(warm->mode);
	delay = shelf->taker_count > 0 ? REFILL_DELAY_MS : 0;
	serve_takers(shelf);
	drop_spares(shelf, shelf->wanted);
	balance(shelf->pool);
	watch_after(shelf->pool->refill, delay);
}

/* The next spare of this kind has to wait, longer each time; many that go at
 * once went for one reason. */
static void
back_off(struct shelf *shelf)
{
	int seconds = 2 << shelf->failures;

	if (evtimer_pending(shelf->rest, NULL))
		return;
	if (seconds < BACKOFF_MAX_SECONDS)
		shelf->failures++;
	else
		seconds = BACKOFF_MAX_SECONDS;
	watch_after(shelf->rest, seconds * 1000);
}

static void
on_rested(evutil_socket_t fd, short what, void *arg)
{
	struct shelf *shelf = arg;

	(void)fd;
	(void)what;
	watch_after(shelf->pool->refill, 0);
}

/* A start that failed is the answer to the call that waited longest; when
 * none waits, the next try is put off, longer each time. */
static void
tell_failure(struct shelf *shelf, const struct container_end *end,
    enum container_mode mode)
{
	struct taker *taker = TAILQ_FIRST(&shelf->takers);

	if (taker != NULL) {
		struct taker served = *taker;

		TAILQ_REMOVE(&shelf->takers, taker, entry);
		shelf->taker_count--;
		free(taker);
		served.callbacks->failed(served.arg, end, mode);
		return;
	}
	back_off(shelf);
	log_debug("a spare %s container failed: %s", shelf->language->title,
	    end->words);
}

static void
on_ended(void *arg, const struct container_end *end)
{
	struct warm *warm = arg;
	struct shelf *shelf = warm->shelf;
	struct warm *each;
	bool was_ready = false;

	TAILQ_FOREACH (each, &shelf->ready, entry)
		was_ready |= each == warm;
	if (was_ready) {
		TAILQ_REMOVE(&shelf->ready, warm, entry);
		shelf->ready_count--;
		back_off(shelf);
		log_debug(
		    "a waiting %s container went away", shelf->language->title);
	} else {
		TAILQ_REMOVE(&shelf->starting, warm, entry);
		shelf->starting_count--;
		tell_failure(shelf, end, warm->mode);
	}
	free(warm);
	balance(shelf->pool);
	watch_after(shelf->pool->refill, 0);
}

static void
ignore_start(void *arg)
{
	(void)arg;
}

static void
ignore_output(
    void *arg, enum child_stream stream, const char *data, size_t length)
{
	(void)arg;
	(void)stream;
	(void)data;
	(void)length;
}

static const struct container_callbacks container_callbacks = {
    .ready = on_ready,
    .started = ignore_start,
    .output = ignore_output,
    .ended = on_ended,
};

static bool
start_one(struct shelf *shelf)
{
	const struct settings *settings = shelf->pool->settings;
	struct warm *warm = xcalloc(1, sizeof(*warm));
	struct err err;

	warm->shelf = shelf;
	warm->mode = shelf->mode;
	warm->container = container_start(shelf->pool->containers,
	    &(struct container_options){
	        .image = settings->images[shelf->language->id],
	        .language = shelf->language,
	        .pass_env = &settings->pass_env,
	        .loosened = &settings->loosened,
	        .limits = {.memory = settings->memory,
	            .memory_bytes = settings->memory_bytes,
	            .cpus = settings->cpus,
	            .pids = settings->pids,
	            .network = shelf->offline ? "none" : settings->network},
	        .mode = shelf->mode,
	        .preload = settings->preload,
	    },
	    &container_callbacks, warm, &err);
	if (warm->container != NULL) {
		TAILQ_INSERT_TAIL(&shelf->starting, warm, entry);
		shelf->starting_count++;
		return true;
	}
	free(warm);
	tell_failure(shelf,
	    &(struct container_end){.kind = CONTAINER_FAILED,
	        .cli_status = -1,
	        .words = err.message},
	    shelf->mode);
	return false;
}

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
static void
balance(struct pool *pool)
{
	struct shelf *shelf;

	while (may_start(pool) && (shelf = next_shelf(pool)) != NULL)
		start_one(shelf); /* or one taker less */
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
	balance(pool);
	if (anyone_waits(pool))
		return; /* when they have been served, this comes again */
	for (size_t i = 0; i < pool->shelf_count; i++)
		while (wants_spare(&pool->shelves[i]))
			start_one(&pool->shelves[i]); /* or it rests */
}

static int
clamp(int value, int least, int most)
{
	if (value > most)
		value = most;
	return value < least ? least : value;
}

/* As many as calls came together, but none at all without --pool. */
static int
spares_for(const struct shelf *shelf, int together)
{
	const struct settings *settings = shelf->pool->settings;

	return settings->pool == 0
	    ? 0
	    : clamp(together, settings->pool, settings->max_parallel);
}

static enum container_mode
first_mode(const struct shelf *shelf)
{
	return shelf->pool->settings->warm_interpreter &&
	        shelf->language->hook != NULL
	    ? CONTAINER_WARM
	    : CONTAINER_PLAIN;
}

/* What did not work then may have been mended: soon, where it costs sessions,
 * and else when nobody has called for long. */
static void
reconsider_mode(struct shelf *shelf, bool unused)
{
	bool cold = shelf->mode != first_mode(shelf) &&
	    shelf->mode == CONTAINER_PLAIN &&
	    ++shelf->cold_windows >= COLD_WINDOWS;

	if (unused)
		shelf->has_shell = false;
	if (cold)
		drop_spares(shelf, 0);
	if (cold || unused)
		shelf->mode = first_mode(shelf);
}

static void
on_window(evutil_socket_t fd, short what, void *arg)
{
	struct shelf *shelf = arg;

	(void)fd;
	(void)what;
	if (shelf->peak > 0 || !shelf->shrunk) {
		shelf->shrunk = shelf->peak == 0;
		shelf->wanted = spares_for(shelf, shelf->peak);
		watch_after(shelf->window,
		    1000 * (shelf->shrunk ? IDLE_SECONDS : WINDOW_SECONDS));
	} else {
		shelf->wanted = 0;
	}
	reconsider_mode(shelf, shelf->wanted == 0);
	shelf->peak = shelf->in_flight + shelf->taker_count;
	drop_spares(shelf, shelf->wanted);
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
	for (size_t i = 0; i < pool->shelf_count; i++) {
		struct shelf *shelf = &pool->shelves[i];

		shelf->pool = pool;
		shelf->language = settings->languages.rows[i / 2];
		shelf->offline = i % 2 != 0;
		shelf->mode = first_mode(shelf);
		shelf->rest = evtimer_new(base, on_rested, shelf);
		shelf->window = evtimer_new(base, on_window, shelf);
		TAILQ_INIT(&shelf->ready);
		TAILQ_INIT(&shelf->starting);
		TAILQ_INIT(&shelf->takers);
	}
	return pool;
}

void
pool_close(struct pool *pool)
{
	struct warm *warm;

	pool->closed = true;
	evtimer_del(pool->refill);
	for (size_t i = 0; i < pool->shelf_count; i++) {
		struct shelf *shelf = &pool->shelves[i];

		evtimer_del(shelf->rest);
		evtimer_del(shelf->window);
		drop_spares(shelf, 0);
		while ((warm = TAILQ_FIRST(&shelf->starting)) != NULL) {
			TAILQ_REMOVE(&shelf->starting, warm, entry);
			shelf->starting_count--;
			warm_drop(warm);
		}
	}
}

static void
shelf_release(struct shelf *shelf)
{
	struct taker *taker;

	while ((taker = TAILQ_FIRST(&shelf->takers)) != NULL) {
		TAILQ_REMOVE(&shelf->takers, taker, entry);
		free(taker);
	}
	event_free(shelf->rest);
	event_free(shelf->window);
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

static void
note_use(struct shelf *shelf)
{
	int together = shelf->in_flight + shelf->taker_count;

	if (together > shelf->peak)
		shelf->peak = together;
	if (spares_for(shelf, together) > shelf->wanted)
		shelf->wanted = spares_for(shelf, together);
	if (shelf->shrunk || !evtimer_pending(shelf->window, NULL))
		watch_after(shelf->window, WINDOW_SECONDS * 1000);
	shelf->shrunk = false;
	watch_after(shelf->pool->refill, REFILL_DELAY_MS);
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
	note_use(shelf);
	serve_takers(shelf);
	balance(pool);
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
		drop_starts(shelf);
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
		drop_spares(shelf, 0);
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
