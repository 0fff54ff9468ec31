#include <event2/event.h>

#include "sandbox/container_private.h"

/* What is said in the container: by the program, and by the runner. */

static void
on_payload(void *arg, const char *data, size_t length)
{
	struct side *side = arg;
	struct container *container = side->container;

	/* Without a runner only the engine's words tell how it ended, and it
	 * speaks on the same stream. */
	if (!side->ready ||
	    (container_is_program(container) && side->stream == CHILD_STDERR))
		capture_add(&container->words, data, length);
	if (!side->ready)
		return;
	if (!side->ended && container->callbacks != NULL)
		container->callbacks->output(
		    container->arg, side->stream, data, length);
}

static void
on_side_ready(struct side *side)
{
	struct container *container = side->container;

	side->ready = true;
	if (container->sides[0].ready && container->sides[1].ready)
		container_ready(container);
}

/* What goes on behind the program may still print something. */
static void
pause_container(
    struct container *container, enum container_end_kind kind, int number)
{
	container->state = CONTAINER_PAUSED;
	evtimer_del(container->deadline);
	for (size_t i = 0; i < CHILD_STREAMS; i++)
		container->sides[i].ended = false;
	container->end.kind = kind;
	container->end.number = number;
	container->end.words = "";
	if (container->callbacks != NULL &&
	    container->callbacks->paused != NULL)
		container->callbacks->paused(container->arg, &container->end);
}

static void
on_side_ended(struct side *side, enum container_end_kind kind, int number)
{
	struct container *container = side->container;

	side->ended = true;
	if (container->state != CONTAINER_RUNNING ||
	    !container->sides[0].ended || !container->sides[1].ended)
		return;
	if (container->stays || container->end.alive)
		pause_container(container, kind, number);
	else
		container_ended(container, kind, number);
}

/*
 * The interpreter has ended.  On stdout that is heard behind the start: without
 * one, what was to wait for code is gone, and the code with it.
 */
static void
on_end(struct side *side, enum container_end_kind kind, int number)
{
	struct container *container = side->container;

	/* It may have died behind the first of two words. */
	container->end.alive = false;
	if (container->state == CONTAINER_RUNNING ||
	    side->stream != CHILD_STDOUT)
		on_side_ended(side, kind, number);
	else {
		container->end.died = true;
		container_ended(container,
		    container->state == CONTAINER_STARTING ? CONTAINER_FAILED
		                                           : CONTAINER_LOST,
		    kind == CONTAINER_SIGNALED ? number : 0);
	}
}

static void
on_said(struct container *container, enum marker_word word, const char *text)
{
	if (word == MARKER_FAILED) {
		container->state = CONTAINER_PAUSED;
		container->end.alive = true; /* nothing has begun, or ended */
	}
	if (word == MARKER_FAILED || word == MARKER_ANSWERED)
		evtimer_del(container->deadline);
	if (container->callbacks != NULL && container->callbacks->said != NULL)
		container->callbacks->said(container->arg, word, text);
}

/*
 * A program can find out the nonce and say what it likes, so a word counts
 * only while it is expected, and none of them keeps the container from its
 * doom.  The end is said on both streams, and on one of them it may be heard
 * before the beginning is on the other.
 */
#define IN(state) (1U << (state))
static const unsigned expected[] = {
    [MARKER_ABSENT] = IN(CONTAINER_STARTING),
    [MARKER_READY] = IN(CONTAINER_STARTING),
    [MARKER_STARTED] = IN(CONTAINER_SENT),
    [MARKER_EXIT] = ~IN(CONTAINER_OVER),
    [MARKER_SIGNAL] = ~IN(CONTAINER_OVER),
    [MARKER_DONE] = IN(CONTAINER_SENT) | IN(CONTAINER_RUNNING),
    [MARKER_NOTE] = IN(CONTAINER_SENT),
    [MARKER_UNPLACED] = IN(CONTAINER_SENT),
    [MARKER_FAILED] = IN(CONTAINER_SENT),
    [MARKER_VALUE] = IN(CONTAINER_RUNNING),
    [MARKER_STAYS] = IN(CONTAINER_RUNNING),
    [MARKER_ENTRY] = IN(CONTAINER_RUNNING) | IN(CONTAINER_PAUSED),
    [MARKER_DATA] = IN(CONTAINER_PAUSED),
    [MARKER_ANSWERED] = IN(CONTAINER_PAUSED),
};

static void
on_marker(void *arg, enum marker_word word, int number, const char *text)
{
	struct side *side = arg;
	struct container *container = side->container;

	container->end.runner_spoke = true;
	if ((expected[word] & IN(container->state)) == 0)
		return;
	switch (word) {
	case MARKER_ABSENT:
		container->end.absent = true;
		break;
	case MARKER_READY:
		on_side_ready(side);
		break;
	case MARKER_STARTED:
		container_started(container);
		break;
	case MARKER_EXIT:
		on_end(side, CONTAINER_EXITED, number);
		break;
	case MARKER_SIGNAL:
		on_end(side, CONTAINER_SIGNALED, number);
		break;
	case MARKER_DONE:
		container->end.alive = true;
		on_side_ended(side, CONTAINER_EXITED, number);
		break;
	case MARKER_STAYS:
		container->stays = true;
		break;
	case MARKER_NOTE:
	case MARKER_UNPLACED:
	case MARKER_FAILED:
	case MARKER_VALUE:
	case MARKER_ENTRY:
	case MARKER_DATA:
	case MARKER_ANSWERED:
		on_said(container, word, text);
		break;
	}
}

static const struct marker_callbacks marker_callbacks = {on_payload, on_marker};

void
container_listen(struct container *container)
{
	for (size_t i = 0; i < CHILD_STREAMS; i++) {
		struct side *side = &container->sides[i];

		side->container = container;
		side->stream = (enum child_stream)i;
		marker_scanner_init(
		    &side->scanner, container->nonce, &marker_callbacks, side);
	}
}

void
container_hear(struct container *container, enum child_stream stream,
    const char *data, size_t length)
{
	if (container->mode == CONTAINER_COPY)
		on_payload(&container->sides[stream], data, length);
	else
		marker_scanner_feed(
		    &container->sides[stream].scanner, data, length);
}

void
container_hear_end(struct container *container)
{
	if (container->mode == CONTAINER_COPY)
		return;
	for (size_t i = 0; i < CHILD_STREAMS; i++)
		marker_scanner_flush(&container->sides[i].scanner);
}
