#ifndef CONTAINER_PRIVATE_H
#define CONTAINER_PRIVATE_H

/* What the files of the container share. */

#include <bsd/sys/queue.h>

#include "base/capture.h"
#include "engine/owner.h"
#include "sandbox/container.h"
#include "sandbox/marker.h"

#define CONTAINER_REMOVE_TRIES 5
/* From the end of the program until the CLI should have gone by itself; and
 * from the removal of its container. */
#define CONTAINER_TEARDOWN_MS 10000
#define CONTAINER_REMOVED_MS 2000

enum container_state {
	CONTAINER_STARTING,
	CONTAINER_READY,
	CONTAINER_SENT, /* the code, but it does not run yet */
	CONTAINER_RUNNING,
	CONTAINER_PAUSED, /* the program has ended; there is more to be had */
	CONTAINER_OVER,   /* ended() has been called */
};

struct side {
	struct container *container;
	enum child_stream stream;
	struct marker_scanner scanner;
	bool ready;
	bool ended;
};

struct container {
	TAILQ_ENTRY(container) entry;
	struct containers *containers;
	const struct container_callbacks *callbacks;
	void *arg;
	enum container_state state;
	enum container_mode mode;
	char *name;
	char nonce[TOKEN_LENGTH + 1];
	struct child *child; /* the attached CLI */
	struct command *command;
	struct side sides[CHILD_STREAMS];
	struct capture words;
	struct container_end end;
	struct event *deadline; /* for what it does now */
	struct event *doom;     /* it is to go, whatever it says */
	int remove_tries;
	bool removed;
	bool asked;                 /* the CLI, to end */
	bool up;                    /* it was, at some time */
	bool stays;                 /* behind the end of the program */
	struct strlist create_argv; /* CONTAINER_COPY only */
	char *tar;
	size_t tar_length;
	const struct language *language;
};

struct containers {
	struct event_base *base;
	struct engine *engine;
	TAILQ_HEAD(container_list, container) list;
	char owner[OWNER_LENGTH];
	unsigned serial;
	int ending_max;
	void (*gone)(void *arg);
	void *gone_arg;
	void (*left)(void *arg);
	void *left_arg;
};

/* The program is its first process: nobody else is there to report its end, or
 * to watch our pipe. */
bool container_is_program(const struct container *container);
void container_free(struct container *container);
/* How long it has to go by itself, or until its removal is tried again. */
void container_doom(struct container *container, int milliseconds);
int container_attach(
    struct container *container, const struct strlist *argv, struct err *err);
void container_ready(struct container *container);
void container_started(struct container *container);
/* The one place where ended() is called. */
void container_ended(
    struct container *container, enum container_end_kind kind, int number);

/* container_words.c: what is said in it. */
void container_listen(struct container *container);
void container_hear(struct container *container, enum child_stream stream,
    const char *data, size_t length);
void container_hear_end(struct container *container);

/* container_end.c: what its CLI tells by its end. */
void container_end_by_status(struct container *container, int status);
/* Whether the container may still be there. */
bool container_may_be_left(const struct container *container, int status);

/* container_copy.c: create, copy the code in, start. */
void container_copy_run(
    struct container *container, const char *code, size_t length);

/* container_remove.c: asks the engine, again if need be, until it is gone. */
void container_remove(struct container *container);

#endif
