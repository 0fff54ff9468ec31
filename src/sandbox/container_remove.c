#include <string.h>

#include <event2/event.h>

#include "base/log.h"
#include "sandbox/container_private.h"

#define REMOVE_SECONDS 30

static bool
already_gone(const char *words)
{
	return strcasestr(words, "no such container") != NULL ||
	    strcasestr(words, "no container with") != NULL;
}

/* What is not there may be on its way: the CLI is still at it.  When it is, it
 * ends by itself, because its stdin has ended. */
static bool
may_come(const struct container *container)
{
	return container->child != NULL && !container->sides[0].ready &&
	    container->remove_tries < CONTAINER_REMOVE_TRIES;
}

static void
on_removed(void *arg, const struct command_result *result)
{
	struct container *container = arg;

	container->command = NULL;
	if (result->ok ||
	    (already_gone(result->words) && !may_come(container))) {
		container->removed = true;
		/* The CLI goes by itself now; if not, it is killed. */
		if (container->child == NULL)
			container_free(container);
		else
			container_doom(container, CONTAINER_REMOVED_MS);
		return;
	}
	if (container->remove_tries < CONTAINER_REMOVE_TRIES) {
		/* A daemon that is restarted is back in seconds. */
		container_doom(container, 500 << container->remove_tries);
		return;
	}
	log_warn("container %s could not be removed: %s", container->name,
	    result->words);
	container_free(container);
}

void
container_remove(struct container *container)
{
	struct strlist argv = {0};

	if (container->command != NULL)
		command_drop(container->command);
	evtimer_del(container->doom);
	container->remove_tries++;
	engine_argv_remove(&argv, engine_traits(container->containers->engine),
	    container->name);
	container->command = engine_command(container->containers->engine,
	    (struct engine_command){.argv = argv,
	        .timeout_seconds = REMOVE_SECONDS,
	        .done = on_removed,
	        .arg = container});
}
