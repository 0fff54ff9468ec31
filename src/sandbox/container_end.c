#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/container_private.h"

/* What the end of the CLI says about the program, and about the container. */

/* What it exits with when the engine could not do it. */
#define ENGINE_FAILED 125

bool
container_is_program(const struct container *container)
{
	return container->mode == CONTAINER_LOADED ||
	    container->mode == CONTAINER_COPY;
}

/*
 * Where the program is the first process a status may be its own, or the
 * engine's: what that has to say on stderr tells, at its beginning, or, when
 * docker's daemon goes away meanwhile, anywhere.  docker's "start" ends with 1,
 * as many programs do.
 */
static const struct engine_end {
	int status;
	bool begins;
	const char *words;
	enum container_end_kind kind;
} engine_ends[] = {
    {ENGINE_FAILED, true, "Error", CONTAINER_FAILED},
    {ENGINE_FAILED, false, "error waiting for container", CONTAINER_LOST},
    {1, true, "Error response from daemon", CONTAINER_FAILED},
    {1, true, "Cannot connect to the Docker daemon", CONTAINER_FAILED},
    {1, true, "error during connect", CONTAINER_FAILED},
};

/* A container that loads its code was up before: it cannot fail to start. */
static bool
fits(const struct engine_end *end, enum container_mode mode, int status,
    const char *words)
{
	const char *found = strstr(words, end->words);

	return status == end->status && found != NULL &&
	    (found == words || !end->begins) &&
	    (mode == CONTAINER_COPY || end->kind != CONTAINER_FAILED);
}

static enum container_end_kind
kind_of(struct container *container, int status)
{
	enum container_end_kind kind = CONTAINER_EXITED;
	size_t length;
	char *words = capture_text(&container->words, &length);

	if (status > 128 && status <= 128 + SIGSYS)
		kind = CONTAINER_SIGNALED;
	for (size_t i = 0; i < sizeof(engine_ends) / sizeof(*engine_ends); i++)
		if (fits(&engine_ends[i], container->mode, status, words))
			kind = engine_ends[i].kind;
	free(words);
	return kind;
}

static void
end_by_itself(struct container *container, int status)
{
	enum container_end_kind kind = kind_of(container, status);

	container_ended(container, kind,
	    kind == CONTAINER_SIGNALED ? status - 128 : status);
}

void
container_end_by_status(struct container *container, int status)
{
	bool told = container_is_program(container) &&
	    container->state == CONTAINER_RUNNING && status >= 0;

	if (container->state == CONTAINER_STARTING ||
	    container->state == CONTAINER_READY)
		container_ended(container, CONTAINER_FAILED, 0);
	else if (!told)
		container_ended(container, CONTAINER_LOST, 0);
	else
		end_by_itself(container, status);
}

/*
 * Whether its container may still be there.  It may if the CLI was ended, even
 * behind a removal, which may have come before the container was made.  While
 * it starts, the engine may have made it and not gone on.  The CLI ends with
 * the runner, which exits with 0, or is killed; with anything else it speaks
 * for itself: it has lost its daemon, or podman its conmon.
 * Where the program is the first process the status is its own, or means what
 * kind_of() knows.
 */
bool
container_may_be_left(const struct container *container, int status)
{
	if (status < 0 || container->asked)
		return true;
	if (container->removed)
		return false;
	if (container->mode == CONTAINER_COPY && status == 1)
		return true;
	if (container->state != CONTAINER_STARTING &&
	    container_is_program(container))
		return status == ENGINE_FAILED;
	return status != 0 && status != 128 + SIGKILL;
}
