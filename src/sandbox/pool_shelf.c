#include <stdlib.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/watch.h"
#include "sandbox/pool_private.h"

/* A program that has just begun gets the processor to itself for so long. */
#define REFILL_DELAY_MS 250
/* What calls needed in one window is kept for the next.  After a window with
 * no call --pool are kept, and then, after a longer one, none. */
#define WINDOW_SECONDS 60
#define IDLE_SECONDS 840
#define BACKOFF_MAX_SECONDS 60
/* Windows after which an interpreter that did not wait is tried again. */
#define COLD_WINDOWS 10

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

void
shelf_drop_spares(struct shelf *shelf, int keep)
{
	struct warm *warm;

	while (shelf->ready_count > keep &&
	    (warm = TAILQ_FIRST(&shelf->ready)) != NULL) {
		TAILQ_REMOVE(&shelf->ready, warm, entry);
		shelf->ready_count--;
		warm_drop(warm);
	}
}

void
shelf_drop_starts(struct shelf *shelf)
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

void
shelf_serve(struct shelf *shelf)
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
	shelf_serve(shelf);
	shelf_drop_spares(shelf, shelf->wanted);
	pool_balance(shelf->pool);
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
	pool_balance(shelf->pool);
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

void
shelf_start(struct shelf *shelf)
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
		return;
	}
	free(warm);
	tell_failure(shelf,
	    &(struct container_end){.kind = CONTAINER_FAILED,
	        .cli_status = -1,
	        .words = err.message},
	    shelf->mode);
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
	bool cold = shelf->mode == CONTAINER_PLAIN &&
	    first_mode(shelf) != CONTAINER_PLAIN &&
	    ++shelf->cold_windows >= COLD_WINDOWS;

	if (unused)
		shelf->has_shell = false;
	if (cold)
		shelf_drop_spares(shelf, 0);
	if (cold || unused)
		shelf->mode = first_mode(shelf);
}

static void
on_window(evutil_socket_t fd, short what, void *arg)
{
	struct shelf *shelf = arg;
	bool unused = shelf->peak == 0 && shelf->shrunk;

	(void)fd;
	(void)what;
	if (unused) {
		shelf->wanted = 0;
	} else {
		shelf->shrunk = shelf->peak == 0;
		shelf->wanted = spares_for(shelf, shelf->peak);
		watch_after(shelf->window,
		    1000 * (shelf->shrunk ? IDLE_SECONDS : WINDOW_SECONDS));
	}
	reconsider_mode(shelf, unused);
	shelf->peak = shelf->in_flight + shelf->taker_count;
	shelf_drop_spares(shelf, shelf->wanted);
}

void
shelf_note_use(struct shelf *shelf)
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

void
shelf_init(struct shelf *shelf, struct pool *pool,
    const struct language *language, bool offline)
{
	shelf->pool = pool;
	shelf->language = language;
	shelf->offline = offline;
	shelf->mode = first_mode(shelf);
	shelf->rest = evtimer_new(pool->base, on_rested, shelf);
	shelf->window = evtimer_new(pool->base, on_window, shelf);
	TAILQ_INIT(&shelf->ready);
	TAILQ_INIT(&shelf->starting);
	TAILQ_INIT(&shelf->takers);
}

void
shelf_close(struct shelf *shelf)
{
	struct warm *warm;

	evtimer_del(shelf->rest);
	evtimer_del(shelf->window);
	shelf_drop_spares(shelf, 0);
	while ((warm = TAILQ_FIRST(&shelf->starting)) != NULL) {
		TAILQ_REMOVE(&shelf->starting, warm, entry);
		shelf->starting_count--;
		warm_drop(warm);
	}
}

void
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
