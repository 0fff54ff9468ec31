#include "container.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include <event2/event.h>

#include "alloc.h"
#include "container_private.h"

#define WORDS_LIMIT ((size_t)16 * 1024)
/* From closing its stdin until we ask the engine to remove it. */
#define KILL_GRACE_MS 500
/* What a CLI exits with when the engine could not do it. */
#define ENGINE_FAILED 125

struct containers *
containers_new(struct event_base *base, struct engine *engine)
{
	struct containers *containers = xcalloc(1, sizeof(*containers));

	containers->base = base;
	containers->engine = engine;
	TAILQ_INIT(&containers->list);
	owner_self(containers->owner);
	return containers;
}

void
container_set_deadline(struct container *container, int milliseconds)
{
	struct timeval delay = {
	    milliseconds / 1000, milliseconds % 1000 * 1000};

	evtimer_add(container->deadline, &delay);
}

void
container_free(struct container *container)
{
	struct containers *containers = container->containers;

	TAILQ_REMOVE(&containers->list, container, entry);
	if (container->child != NULL) {
		child_abandon(container->child);
		child_kill(container->child, SIGKILL);
	}
	if (container->command != NULL)
		command_drop(container->command);
	event_free(container->deadline);
	capture_release(&container->words);
	strlist_release(&container->create_argv);
	free(container->tar);
	free(container->name);
	free(container);
	if (containers->gone != NULL && TAILQ_EMPTY(&containers->list))
		containers->gone(containers->gone_arg);
}

void
containers_free(struct containers *containers)
{
	struct container *container;

	containers->gone = NULL;
	while ((container = TAILQ_FIRST(&containers->list)) != NULL)
		container_free(container);
	free(containers);
}

void
containers_shut_down(
    struct containers *containers, void (*gone)(void *arg), void *arg)
{
	struct container *container, *next;

	TAILQ_FOREACH_SAFE (container, &containers->list, entry, next)
		container_abandon(container);
	if (TAILQ_EMPTY(&containers->list)) {
		gone(arg);
		return;
	}
	containers->gone = gone;
	containers->gone_arg = arg;
}

void
container_ended(
    struct container *container, enum container_end_kind kind, int number)
{
	size_t length;
	char *words;

	if (container->state == CONTAINER_OVER)
		return;
	container->state = CONTAINER_OVER;
	words = capture_text(&container->words, &length);
	while (length > 0 && words[length - 1] == '\n')
		words[--length] = '\0';
	container->end.kind = kind;
	container->end.number = number;
	container->end.words = words;
	if (container->callbacks != NULL)
		container->callbacks->ended(container->arg, &container->end);
	container->callbacks = NULL;
	container->end.words = NULL;
	free(words);
	/* The runner is done, or about to be; this makes sure. */
	if (container->child != NULL) {
		child_close_stdin(container->child);
		container_set_deadline(container, CONTAINER_TEARDOWN_MS);
	}
}

static void
become_ready(struct container *container)
{
	container->state = CONTAINER_READY;
	evtimer_del(container->deadline);
	if (container->callbacks != NULL)
		container->callbacks->ready(container->arg);
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct container *container = arg;

	(void)fd;
	(void)what;
	if (container->state == CONTAINER_STARTING &&
	    container->mode == CONTAINER_COPY) {
		become_ready(container);
		return;
	}
	if (container->state == CONTAINER_STARTING) {
		static const char words[] = "the container did not start "
		                            "within 60 seconds";

		capture_add(&container->words, words, sizeof(words) - 1);
		container->end.cli_status = -1;
		container_ended(container, CONTAINER_FAILED, 0);
	} else {
		container_ended(container, CONTAINER_LOST, 0);
	}
	/* It has been removed, and the CLI does not notice. */
	if (container->removed && container->child != NULL)
		child_kill(container->child, SIGKILL);
	else
		container_remove(container);
}

static void
on_payload(void *arg, const char *data, size_t length)
{
	struct side *side = arg;
	struct container *container = side->container;

	/* With CONTAINER_COPY the engine speaks on the same stream. */
	if (!side->ready ||
	    (container->mode == CONTAINER_COPY && side->stream == CHILD_STDERR))
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
	if (container->state == CONTAINER_STARTING &&
	    container->sides[0].ready && container->sides[1].ready)
		become_ready(container);
}

void
container_started(struct container *container)
{
	container->state = CONTAINER_RUNNING;
	evtimer_del(container->deadline);
	if (container->callbacks != NULL)
		container->callbacks->started(container->arg);
}

static void
on_side_ended(struct side *side, enum container_end_kind kind, int number)
{
	struct container *container = side->container;

	side->ended = true;
	if (container->state == CONTAINER_RUNNING &&
	    container->sides[0].ended && container->sides[1].ended)
		container_ended(container, kind, number);
}

static void
on_marker(void *arg, enum marker_word word, int number)
{
	struct side *side = arg;
	struct container *container = side->container;

	container->end.runner_spoke = true;
	switch (word) {
	case MARKER_ABSENT:
		container->end.absent = true;
		break;
	case MARKER_READY:
		on_side_ready(side);
		break;
	case MARKER_STARTED:
		if (container->state == CONTAINER_SENT)
			container_started(container);
		break;
	case MARKER_EXIT:
		on_side_ended(side, CONTAINER_EXITED, number);
		break;
	case MARKER_SIGNAL:
		on_side_ended(side, CONTAINER_SIGNALED, number);
		break;
	}
}

static const struct marker_callbacks marker_callbacks = {on_payload, on_marker};

static void
on_output(void *arg, enum child_stream stream, const char *data, size_t length)
{
	struct container *container = arg;

	if (container->mode == CONTAINER_COPY)
		on_payload(&container->sides[stream], data, length);
	else
		marker_scanner_feed(
		    &container->sides[stream].scanner, data, length);
}

/* How the program ended, from the CLI alone. */
static void
end_by_status(struct container *container, int status)
{
	if (container->state == CONTAINER_SENT)
		container_ended(container, CONTAINER_LOST, 0);
	else if (container->state != CONTAINER_RUNNING)
		container_ended(container, CONTAINER_FAILED, 0);
	else if (container->mode != CONTAINER_COPY || status < 0)
		container_ended(container, CONTAINER_LOST, 0);
	else if (status == ENGINE_FAILED)
		container_ended(container, CONTAINER_FAILED, 0);
	else if (status > 128 && status <= 128 + SIGSYS)
		container_ended(container, CONTAINER_SIGNALED, status - 128);
	else
		container_ended(container, CONTAINER_EXITED, status);
}

static void
on_done(void *arg, int wait_status)
{
	struct container *container = arg;
	int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;

	container->child = NULL;
	container->end.cli_status = status;
	if (container->mode != CONTAINER_COPY)
		for (size_t i = 0; i < CHILD_STREAMS; i++)
			marker_scanner_flush(&container->sides[i].scanner);
	end_by_status(container, status);
	/* A CLI that was killed has not removed its container. */
	if (status >= 0 && container->command == NULL)
		container_free(container);
	else if (container->command == NULL)
		container_remove(container);
}

static const struct child_callbacks child_callbacks = {on_output, on_done};

static struct container *
container_new(struct containers *containers,
    const struct container_options *options,
    const struct container_callbacks *callbacks, void *arg)
{
	struct container *container = xcalloc(1, sizeof(*container));

	container->containers = containers;
	container->callbacks = callbacks;
	container->arg = arg;
	container->mode = options->mode;
	container->language = options->language;
	container->name = xasprintf("code-sandbox-mcp-%d-%u-%08x",
	    (int)getpid(), containers->serial++, arc4random());
	container->deadline =
	    evtimer_new(containers->base, on_deadline, container);
	token_make(container->nonce);
	capture_init(&container->words, WORDS_LIMIT);
	for (size_t i = 0; i < CHILD_STREAMS; i++) {
		struct side *side = &container->sides[i];

		side->container = container;
		side->stream = (enum child_stream)i;
		marker_scanner_init(
		    &side->scanner, container->nonce, &marker_callbacks, side);
	}
	TAILQ_INSERT_TAIL(&containers->list, container, entry);
	return container;
}

int
container_attach(
    struct container *container, const struct strlist *argv, struct err *err)
{
	container->child = engine_spawn(container->containers->engine, argv,
	    &child_callbacks, container, err);
	return container->child != NULL ? 0 : -1;
}

static int
start_runner(struct container *container, const struct container_spec *spec,
    struct err *err)
{
	struct strlist argv = {0};
	int status;

	engine_argv_run(
	    &argv, engine_traits(container->containers->engine), spec);
	status = container_attach(container, &argv, err);
	strlist_release(&argv);
	container_set_deadline(container, CONTAINER_START_SECONDS * 1000);
	return status;
}

struct container *
container_start(struct containers *containers,
    const struct container_options *options,
    const struct container_callbacks *callbacks, void *arg, struct err *err)
{
	struct container *container =
	    container_new(containers, options, callbacks, arg);
	struct container_spec spec = {
	    .name = container->name,
	    .owner = containers->owner,
	    .image = options->image,
	    .nonce = container->nonce,
	    .language = options->language,
	    .mode = options->mode,
	    .preload = options->preload,
	    .pass_env = options->pass_env,
	    .limits = options->limits,
	};

	if (options->mode == CONTAINER_COPY) {
		engine_argv_create(&container->create_argv,
		    engine_traits(containers->engine), &spec);
		container_set_deadline(container, 0);
		return container;
	}
	if (start_runner(container, &spec, err) == 0)
		return container;
	container->callbacks = NULL;
	container_free(container);
	return NULL;
}

void
container_run(struct container *container, const char *code, size_t length)
{
	char header[32];
	int used;

	container->state = CONTAINER_SENT;
	if (container->mode == CONTAINER_COPY) {
		container_copy_run(container, code, length);
		return;
	}
	container_set_deadline(container, CONTAINER_START_SECONDS * 1000);
	used = snprintf(header, sizeof(header), "%zu\n", length);
	child_write(container->child,
	    (const struct iovec[]){
	        {header, (size_t)used}, {(void *)(uintptr_t)code, length}},
	    2);
}

void
container_adopt(struct container *container,
    const struct container_callbacks *callbacks, void *arg)
{
	container->callbacks = callbacks;
	container->arg = arg;
}

void
container_kill(struct container *container)
{
	if (container->state == CONTAINER_OVER && container->child == NULL)
		return; /* its removal is under way */
	if (container->child != NULL) {
		child_close_stdin(container->child);
		container_set_deadline(container,
		    container->mode == CONTAINER_COPY ? 0 : KILL_GRACE_MS);
		return;
	}
	container_ended(container, CONTAINER_LOST, 0);
	/* Without a command there is nothing yet to remove; in the middle of
	 * create or cp, their callbacks see that it is over. */
	if (container->command == NULL)
		container_free(container);
}

void
container_abandon(struct container *container)
{
	container->callbacks = NULL;
	container_kill(container);
}
