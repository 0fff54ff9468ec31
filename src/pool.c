#include "pool.h"

#include <stdlib.h>
#include <unistd.h>

#include <bsd/sys/queue.h>

#include <event2/event.h>

#include "alloc.h"
#include "log.h"

/* A program that has just begun gets the processor to itself for so long. */
#define REFILL_DELAY_MS 60
/* Without a call for so long, only --pool are kept; later, none. */
#define SHRINK_SECONDS 60
#define IDLE_SECONDS 900
#define BACKOFF_MAX_SECONDS 60

struct warm {
	TAILQ_ENTRY(warm) entry;
	struct shelf *shelf;
	struct container *container;
	enum container_mode mode;
};
TAILQ_HEAD(warms, warm);

struct taker {
	TAILQ_ENTRY(taker) entry;
	const struct pool_callbacks *callbacks;
	void *arg;
};

/* What the pool has of one language. */
struct shelf {
	struct pool *pool;
	const struct language *language;
	enum container_mode mode;
	struct warms ready, starting;
	int ready_count, starting_count;
	TAILQ_HEAD(takers, taker) takers;
	int taker_count;
	int in_flight; /* calls that have a container */
	int wanted;    /* spare containers */
	int failures;  /* in a row, of spare ones */
};

struct pool {
	struct event_base *base;
	struct containers *containers;
	const struct settings *settings;
	struct shelf shelves[LANGUAGE_COUNT];
	int starting_max;
	struct event *refill;
	struct event *idle;
	bool shrunk;
	bool closed;
};

static void balance(struct pool *pool);

static void
arm(struct event *timer, int milliseconds)
{
	struct timeval delay = {
	    milliseconds / 1000, milliseconds % 1000 * 1000};

	evtimer_add(timer, &delay);
}

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
	shelf->failures = 0;
	delay = shelf->taker_count > 0 ? REFILL_DELAY_MS : 0;
	serve_takers(shelf);
	drop_spares(shelf, shelf->wanted);
	balance(shelf->pool);
	arm(shelf->pool->refill, delay);
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
	if (shelf->failures < 6)
		shelf->failures++;
	log_debug("a spare %s container failed: %s", shelf->language->title,
	    end->words);
}

static int
backoff_ms(const struct pool *pool)
{
	int worst = 0, seconds;

	for (size_t i = 0; i < LANGUAGE_COUNT; i++)
		if (pool->shelves[i].failures > worst)
			worst = pool->shelves[i].failures;
	if (worst == 0)
		return 0;
	seconds = 1 << worst;
	return 1000 *
	    (seconds < BACKOFF_MAX_SECONDS ? seconds : BACKOFF_MAX_SECONDS);
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
		shelf->failures += shelf->failures < 6;
		log_debug(
		    "a waiting %s container went away", shelf->language->title);
	} else {
		TAILQ_REMOVE(&shelf->starting, warm, entry);
		shelf->starting_count--;
		tell_failure(shelf, end, warm->mode);
	}
	free(warm);
	balance(shelf->pool);
	arm(shelf->pool->refill, backoff_ms(shelf->pool));
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
	        .limits = {.memory = settings->memory,
	            .memory_bytes = settings->memory_bytes,
	            .cpus = settings->cpus,
	            .pids = settings->pids,
	            .network = settings->network},
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

	for (size_t i = 0; i < LANGUAGE_COUNT; i++)
		total += pool->shelves[i].starting_count;
	return total;
}

static bool
anyone_waits(const struct pool *pool)
{
	for (size_t i = 0; i < LANGUAGE_COUNT; i++)
		if (pool->shelves[i].taker_count > 0)
			return true;
	return false;
}

/* Starts what calls wait for, as much at once as does the engine good. */
static void
balance(struct pool *pool)
{
	for (size_t i = 0; i < LANGUAGE_COUNT && !pool->closed; i++) {
		struct shelf *shelf = &pool->shelves[i];

		while (shelf->starting_count < shelf->taker_count &&
		    starting_total(pool) < pool->starting_max)
			start_one(shelf); /* or one taker less */
	}
}

static void
on_refill(evutil_socket_t fd, short what, void *arg)
{
	struct pool *pool = arg;

	(void)fd;
	(void)what;
	if (anyone_waits(pool))
		return; /* when they have been served, this comes again */
	for (size_t i = 0; i < LANGUAGE_COUNT && !pool->closed; i++) {
		struct shelf *shelf = &pool->shelves[i];

		while (shelf->ready_count + shelf->starting_count <
		        shelf->wanted &&
		    starting_total(pool) < pool->starting_max &&
		    shelf->mode != CONTAINER_COPY)
			if (!start_one(shelf)) {
				arm(pool->refill, backoff_ms(pool));
				break;
			}
	}
}

static void
on_idle(evutil_socket_t fd, short what, void *arg)
{
	struct pool *pool = arg;

	(void)fd;
	(void)what;
	for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
		struct shelf *shelf = &pool->shelves[i];
		int keep = pool->shrunk ? 0 : pool->settings->pool;

		if (shelf->wanted > keep)
			shelf->wanted = keep;
		drop_spares(shelf, shelf->wanted);
	}
	if (!pool->shrunk)
		arm(pool->idle, (IDLE_SECONDS - SHRINK_SECONDS) * 1000);
	pool->shrunk = true;
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
	pool->starting_max = processors > 2 ? (int)processors : 2;
	pool->refill = evtimer_new(base, on_refill, pool);
	pool->idle = evtimer_new(base, on_idle, pool);
	for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
		struct shelf *shelf = &pool->shelves[i];

		shelf->pool = pool;
		shelf->language = &languages[i];
		shelf->mode = settings->warm_interpreter ? CONTAINER_WARM
		                                         : CONTAINER_PLAIN;
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
	evtimer_del(pool->idle);
	for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
		struct shelf *shelf = &pool->shelves[i];

		drop_spares(shelf, 0);
		while ((warm = TAILQ_FIRST(&shelf->starting)) != NULL) {
			TAILQ_REMOVE(&shelf->starting, warm, entry);
			shelf->starting_count--;
			warm_drop(warm);
		}
	}
}

void
pool_free(struct pool *pool)
{
	pool_close(pool);
	event_free(pool->refill);
	event_free(pool->idle);
	free(pool);
}

static void
note_use(struct shelf *shelf)
{
	struct pool *pool = shelf->pool;
	int together = shelf->in_flight + shelf->taker_count;

	if (together > pool->settings->max_parallel)
		together = pool->settings->max_parallel;
	if (together < pool->settings->pool)
		together = pool->settings->pool;
	if (pool->settings->pool > 0 && together > shelf->wanted)
		shelf->wanted = together;
	pool->shrunk = false;
	arm(pool->idle, SHRINK_SECONDS * 1000);
	arm(pool->refill, REFILL_DELAY_MS);
}

void
pool_take(struct pool *pool, const struct language *language,
    const struct pool_callbacks *callbacks, void *arg)
{
	struct shelf *shelf = &pool->shelves[language->id];
	struct taker *taker = xcalloc(1, sizeof(*taker));

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

	for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
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
pool_give_back(struct pool *pool, const struct language *language)
{
	pool->shelves[language->id].in_flight--;
	if (!pool->closed)
		arm(pool->refill, backoff_ms(pool));
}

void
pool_set_mode(struct pool *pool, const struct language *language,
    enum container_mode mode)
{
	struct shelf *shelf = &pool->shelves[language->id];

	if (shelf->mode != mode)
		drop_spares(shelf, 0);
	shelf->mode = mode;
}
