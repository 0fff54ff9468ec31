#include "sandbox/container.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/watch.h"
#include "sandbox/container_private.h"
#include "sandbox/message.h"

/* An error holds no more, and has to say what it is about. */
#define WORDS_LIMIT 1200
/* Containers whose programs are over, and which go by themselves: with more
 * than these, or than there are programs at once, the engine is asked to see to
 * the first of them. */
#define ENDING_MIN 16
/* From closing its stdin until we ask the engine to remove it; and so much more
 * for each other that is about to go, because an engine that is asked to remove
 * what goes by itself is slower at both. */
#define KILL_GRACE_MS 500
#define KILL_GRACE_MAX_MS 2500
#define KILL_STEP_MS 100
/* From an interrupt until a session is given up. */
#define CONTAINER_INTERRUPT_MS 3000

struct containers *
containers_new(struct event_base *base, struct engine *engine, int max_parallel)
{
	struct containers *containers = xcalloc(1, sizeof(*containers));

	containers->base = base;
	containers->engine = engine;
	containers->ending_max =
	    max_parallel > ENDING_MIN ? max_parallel : ENDING_MIN;
	TAILQ_INIT(&containers->list);
	owner_self(containers->owner);
	return containers;
}

void
container_doom(struct container *container, int milliseconds)
{
	watch_after(container->doom, milliseconds);
}

/*
 * A podman that is killed while it starts a container leaves processes behind
 * that no command of the engine knows of: it is asked first.
 */
static void
end_cli(struct container *container)
{
	container->asked = !container->up || container->mode == CONTAINER_COPY;
	if (container->asked)
		child_ask(container->child);
	else
		child_kill(container->child);
}

void
container_free(struct container *container)
{
	struct containers *containers = container->containers;

	TAILQ_REMOVE(&containers->list, container, entry);
	if (!container->up && containers->left != NULL)
		containers->left(containers->left_arg);
	if (container->child != NULL) {
		child_abandon(container->child);
		end_cli(container);
	}
	if (container->command != NULL)
		command_drop(container->command);
	event_free(container->deadline);
	event_free(container->doom);
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

static bool
is_leaving(const struct container *container)
{
	return !container->up &&
	    (container->callbacks == NULL ||
	        container->state == CONTAINER_OVER);
}

int
containers_leaving(const struct containers *containers)
{
	const struct container *container;
	int count = 0;

	TAILQ_FOREACH (container, &containers->list, entry)
		count += is_leaving(container);
	return count;
}

void
containers_when_left(
    struct containers *containers, void (*left)(void *arg), void *arg)
{
	containers->left = left;
	containers->left_arg = arg;
}

bool
container_has_shell(enum container_mode mode)
{
	return mode == CONTAINER_WARM || mode == CONTAINER_PLAIN;
}

/* A program can say that it is over and go on.  It is not counted then, so
 * there must be an end to that. */
static void
hurry_first(struct containers *containers)
{
	struct container *container, *first = NULL;
	int count = 0;

	TAILQ_FOREACH (container, &containers->list, entry) {
		if (container->state != CONTAINER_OVER ||
		    container->child == NULL || container->command != NULL)
			continue;
		if (first == NULL)
			first = container;
		count++;
	}
	if (first != NULL && count > containers->ending_max)
		container_doom(first, 0);
}

/* The runner is done, or about to be; this makes sure.  One that was doomed
 * before gains nothing by it. */
static void
let_go(struct container *container)
{
	struct containers *containers = container->containers;

	TAILQ_REMOVE(&containers->list, container, entry);
	TAILQ_INSERT_TAIL(&containers->list, container, entry);
	child_close_stdin(container->child);
	if (!evtimer_pending(container->doom, NULL))
		container_doom(container, CONTAINER_TEARDOWN_MS);
	hurry_first(containers);
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
	evtimer_del(container->deadline);
	/* Before the callback, which may be in a greater hurry. */
	if (container->child != NULL)
		let_go(container);
	if (container->callbacks != NULL)
		container->callbacks->ended(container->arg, &container->end);
	container->callbacks = NULL;
	container->end.words = NULL;
	free(words);
}

void
container_ready(struct container *container)
{
	container->state = CONTAINER_READY;
	container->up = container->mode != CONTAINER_COPY;
	evtimer_del(container->deadline);
	if (container->callbacks != NULL)
		container->callbacks->ready(container->arg);
	else if (container->containers->left != NULL)
		container->containers->left(container->containers->left_arg);
}

/* We will not wait any longer. */
static void
give_up(struct container *container)
{
	/* The CLI is alive, and may have more to say: who knows what the
	 * container does. */
	container->end.cli_status = -1;
	container->end.late = container->state == CONTAINER_STARTING ||
	    container->state == CONTAINER_SENT;
	container_ended(container,
	    container->state == CONTAINER_STARTING ? CONTAINER_FAILED
	                                           : CONTAINER_LOST,
	    0);
	/* It has been removed, and the CLI does not notice. */
	if (container->removed && container->child != NULL)
		end_cli(container);
	else
		container_remove(container);
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct container *container = arg;

	(void)fd;
	(void)what;
	if (container->state == CONTAINER_STARTING &&
	    container->mode == CONTAINER_COPY)
		container_ready(container);
	else
		give_up(container);
}

static void
on_doom(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	give_up(arg);
}

void
container_started(struct container *container)
{
	container->state = CONTAINER_RUNNING;
	container->up = true;
	evtimer_del(container->deadline);
	if (container->callbacks != NULL)
		container->callbacks->started(container->arg);
}

static void
on_output(void *arg, enum child_stream stream, const char *data, size_t length)
{
	container_hear(arg, stream, data, length);
}

static void
on_done(void *arg, int wait_status)
{
	struct container *container = arg;
	int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
	bool left = container_may_be_left(container, status);

	container->child = NULL;
	container->end.cli_status = status;
	container_hear_end(container);
	container_end_by_status(container, status);
	if (container->command != NULL)
		return;
	if (left)
		container_remove(container);
	else
		container_free(container);
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
	container->end.cli_status = -1;
	container->name = xasprintf("code-sandbox-mcp-%d-%u-%08x",
	    (int)getpid(), containers->serial++, arc4random());
	container->deadline =
	    evtimer_new(containers->base, on_deadline, container);
	container->doom = evtimer_new(containers->base, on_doom, container);
	token_make(container->nonce);
	capture_init(&container->words, WORDS_LIMIT);
	container_listen(container);
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
	if (status == 0 && spec->mode == CONTAINER_WARM &&
	    spec->language->hook != NULL)
		message_hook(container->child, spec->language->hook + 1);
	watch_after(container->deadline, CONTAINER_START_SECONDS * 1000);
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
	    .loosened = options->loosened,
	    .limits = options->limits,
	};

	if (engine_prepare(containers->engine, err) != 0) {
		container->callbacks = NULL;
		container_free(container);
		return NULL;
	}
	if (options->mode == CONTAINER_COPY) {
		engine_argv_create(&container->create_argv,
		    engine_traits(containers->engine), &spec);
		watch_after(container->deadline, 0);
		return container;
	}
	if (start_runner(container, &spec, err) == 0)
		return container;
	container->callbacks = NULL;
	container_free(container);
	return NULL;
}

void
container_run(struct container *container, const struct job *job)
{
	container->state = CONTAINER_SENT;
	container->stays = false;
	container->end.alive = false;
	if (container->mode == CONTAINER_COPY) {
		container_copy_run(container, job->code, job->code_length);
		return;
	}
	watch_after(container->deadline,
	    1000 *
	        (job->packages.count > 0 ? CONTAINER_INSTALL_SECONDS
	                                 : CONTAINER_START_SECONDS));
	message_call(container->child, job);
}

void
container_list(struct container *container)
{
	watch_after(container->deadline, CONTAINER_ANSWER_SECONDS * 1000);
	message_list(container->child);
}

void
container_get(struct container *container, size_t limit, const char *path)
{
	watch_after(container->deadline, CONTAINER_ANSWER_SECONDS * 1000);
	message_get(container->child, limit, path);
}

void
container_interrupt(struct container *container)
{
	watch_after(container->deadline, CONTAINER_INTERRUPT_MS);
	message_interrupt(container->child);
}

void
container_adopt(struct container *container,
    const struct container_callbacks *callbacks, void *arg)
{
	container->callbacks = callbacks;
	container->arg = arg;
}

/* Nobody in there hears that its stdin has ended. */
static bool
is_deaf(const struct container *container)
{
	return container_is_program(container) &&
	    container->state >= CONTAINER_SENT;
}

static int
grace_of(const struct container *container)
{
	const struct container *other;
	int grace = KILL_GRACE_MS;

	if (is_deaf(container))
		return 0;
	TAILQ_FOREACH (other, &container->containers->list, entry)
		if (other != container && other->state != CONTAINER_OVER &&
		    evtimer_pending(other->doom, NULL))
			grace += KILL_STEP_MS;
	return grace < KILL_GRACE_MAX_MS ? grace : KILL_GRACE_MAX_MS;
}

void
container_kill(struct container *container)
{
	if (container->state == CONTAINER_OVER &&
	    (container->child == NULL || container->command != NULL))
		return; /* its removal is under way */
	if (container->child != NULL) {
		child_close_stdin(container->child);
		container_doom(container, grace_of(container));
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
	/* The program is over, and only the teardown is left. */
	if (container->state == CONTAINER_PAUSED && !container->end.alive)
		container_ended(
		    container, container->end.kind, container->end.number);
	else
		container_kill(container);
}
