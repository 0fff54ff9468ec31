#ifndef CONTAINER_H
#define CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/child.h"
#include "engine/engine.h"
#include "engine/engine_argv.h"
#include "sandbox/job.h"
#include "sandbox/marker.h"

/*
 * One container, for one program.
 *
 *  1. container_start(): ready() when it is up and waits for the code.
 *  2. container_run() with the code: started(), then output().
 *  3. ended(), once, and last: the program is over, or there is no container.
 *
 * When there is more to be had, paused() comes in between: the program has
 * ended, and the container stays.  Then it can be asked for the files that are
 * there, and, if the interpreter is that of a session, be given the next job.
 * said() brings what the runner says besides.
 *
 * ended() does not wait for the engine's teardown; the container looks after
 * that itself.  containers_shut_down() waits for all of them.
 *
 * container_adopt() hands a container to another owner, as the pool does.
 *
 * With CONTAINER_LOADED and CONTAINER_COPY the program is the container's first
 * process, and its end is the end of the CLI.  With CONTAINER_COPY it is ready
 * at once.
 */

/* How long it may take to start, and to take the code; to install packages;
 * and to answer a request. */
#define CONTAINER_START_SECONDS 60
#define CONTAINER_INSTALL_SECONDS 300
#define CONTAINER_ANSWER_SECONDS 20

struct containers;
struct container;

enum container_end_kind {
	CONTAINER_EXITED,   /* number: the exit status */
	CONTAINER_SIGNALED, /* number: the signal */
	CONTAINER_LOST,     /* it was taken away from under the program */
	CONTAINER_FAILED,   /* it never got as far as the program */
};

struct container_end {
	enum container_end_kind kind;
	int number;
	int cli_status;    /* the CLI's; -1: it was killed, or it goes on */
	bool absent;       /* FAILED: the image lacks the language's command */
	bool late;         /* FAILED, LOST: we would not wait any longer */
	bool died;         /* FAILED, LOST: what waited for the code has; of
	                    * the signal that is the number, if it is not 0 */
	bool runner_spoke; /* FAILED: the image has a shell, or a loader */
	bool alive;        /* paused(): the interpreter goes on */
	const char *words; /* FAILED: what the engine said */
};

struct container_callbacks {
	void (*ready)(void *arg);
	void (*started)(void *arg);
	void (*output)(void *arg, enum child_stream stream, const char *data,
	    size_t length);
	void (*ended)(void *arg, const struct container_end *end);
	/* A note, failed, a value, an entry, data, or answered. */
	void (*said)(void *arg, enum marker_word word, const char *text);
	void (*paused)(void *arg, const struct container_end *end);
};

struct container_options {
	const char *image;
	const struct language *language;
	const struct strlist *pass_env;
	const struct strlist *loosened;
	struct container_limits limits;
	enum container_mode mode;
	const char *preload;
};

/* Whether there is one for the runner, which can take more than code then. */
bool container_has_shell(enum container_mode mode);

struct containers *containers_new(
    struct event_base *base, struct engine *engine, int max_parallel);
void containers_free(struct containers *containers);
/* Ends all of them; then calls gone(), at once or from the loop. */
void containers_shut_down(
    struct containers *containers, void (*gone)(void *arg), void *arg);

/* How many were given up before they were up, and are not gone yet.  left() is
 * called when there is one less. */
int containers_leaving(const struct containers *containers);
void containers_when_left(
    struct containers *containers, void (*left)(void *arg), void *arg);

struct container *container_start(struct containers *containers,
    const struct container_options *options,
    const struct container_callbacks *callbacks, void *arg, struct err *err);
void container_adopt(struct container *container,
    const struct container_callbacks *callbacks, void *arg);
void container_run(struct container *container, const struct job *job);
/* When it has paused: entries, or data, and then answered. */
void container_list(struct container *container);
void container_get(struct container *container, size_t limit, const char *path);
/* SIGINT for the interpreter of a session: paused() follows, if it heeds it. */
void container_interrupt(struct container *container);
/* Kills the program; ended() follows within a second. */
void container_kill(struct container *container);
/* The same, and no callbacks from now on; if the program is over, the container
 * is left to go by itself. */
void container_abandon(struct container *container);

#endif
