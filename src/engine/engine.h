#ifndef ENGINE_H
#define ENGINE_H

#include "engine/child.h"
#include "engine/command.h"
#include "engine/engine_argv.h"
#include "settings/settings.h"

/*
 * The docker or podman that does the work.  It is looked for when the first
 * call needs it and not before, and looked for again after a failure: a daemon
 * may have come up since.
 */

struct engine;

struct engine *engine_new(struct event_base *base, struct children *children,
    const struct settings *settings);
void engine_free(struct engine *engine);

/* Calls back from the event loop, or at once when the engine is known or there
 * is none on PATH: with NULL, or with why there is none. */
typedef void engine_ready_fn(void *arg, const struct err *err);
void engine_when_ready(
    struct engine *engine, engine_ready_fn *ready, void *arg);
/* The caller is gone; forget every callback with this arg. */
void engine_forget(struct engine *engine, void *arg);

/* From here on only once the engine is ready. */
const struct engine_traits *engine_traits(const struct engine *engine);
/* Before the words for a container are made: what they name is there. */
int engine_prepare(struct engine *engine, struct err *err);
struct child *engine_spawn(struct engine *engine, const struct strlist *argv,
    const struct child_callbacks *callbacks, void *arg, struct err *err);

struct engine_command {
	struct strlist argv; /* taken over */
	const char *input;   /* NULL: no stdin */
	size_t input_length;
	int timeout_seconds;
	bool registry; /* talks to a registry: may use a proxy */
	void (*line)(void *arg, const char *text);
	void (*done)(void *arg, const struct command_result *result);
	void *arg;
};
struct command *engine_command(
    struct engine *engine, struct engine_command command);

#endif
