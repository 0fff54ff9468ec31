#include "engine/reap.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/owner.h"

#define REAP_SECONDS 60

struct reap {
	struct engine *engine;
	struct command *command;
	struct strlist dead;
	size_t next;
};

static void
step(struct reap *reap, struct strlist argv,
    void (*done)(void *, const struct command_result *))
{
	reap->command = engine_command(reap->engine,
	    (struct engine_command){.argv = argv,
	        .timeout_seconds = REAP_SECONDS,
	        .done = done,
	        .arg = reap});
}

static void remove_next(struct reap *reap);

static void
on_removed(void *arg, const struct command_result *result)
{
	struct reap *reap = arg;

	reap->command = NULL;
	if (!result->ok)
		log_warn("could not remove container %s, left by a server that "
		         "is gone: %s",
		    reap->dead.items[reap->next], result->words);
	reap->next++;
	remove_next(reap);
}

static void
remove_next(struct reap *reap)
{
	struct strlist argv = {0};

	if (reap->next >= reap->dead.count)
		return;
	log_debug("removing container %s, left by a server that is gone",
	    reap->dead.items[reap->next]);
	engine_argv_remove(
	    &argv, engine_traits(reap->engine), reap->dead.items[reap->next]);
	step(reap, argv, on_removed);
}

/* What is none could be a flag. */
static bool
is_id(const char *word)
{
	size_t length = strspn(word, "0123456789abcdef");

	return length >= 12 && length <= 64 && word[length] == '\0';
}

static void
on_owners(void *arg, const struct command_result *result)
{
	struct reap *reap = arg;
	struct strlist lines = {0};

	reap->command = NULL;
	/* Not ok means that one of them went while we asked; the others are
	 * in the answer all the same. */
	strlist_add_split(&lines, result->out, '\n');
	for (size_t i = 0; i < lines.count; i++) {
		char *id = strrchr(lines.items[i], ' ');

		if (id == NULL)
			continue;
		*id++ = '\0';
		if (is_id(id) && owner_is_dead(lines.items[i]))
			strlist_add(&reap->dead, id);
	}
	strlist_release(&lines);
	remove_next(reap);
}

static void
on_listed(void *arg, const struct command_result *result)
{
	struct reap *reap = arg;
	struct strlist lines = {0}, ids = {0}, argv = {0};

	reap->command = NULL;
	if (!result->ok)
		log_debug("cannot list containers: %s", result->words);
	else
		strlist_add_split(&lines, result->out, '\n');
	for (size_t i = 0; i < lines.count; i++)
		if (is_id(lines.items[i]))
			strlist_add(&ids, lines.items[i]);
	strlist_release(&lines);
	if (ids.count > 0) {
		engine_argv_inspect_owners(
		    &argv, engine_traits(reap->engine), &ids);
		step(reap, argv, on_owners);
	}
	strlist_release(&ids);
}

struct reap *
reap_start(struct engine *engine)
{
	struct reap *reap = xcalloc(1, sizeof(*reap));
	struct strlist argv = {0};

	reap->engine = engine;
	engine_argv_list_owned(&argv, engine_traits(engine));
	step(reap, argv, on_listed);
	return reap;
}

void
reap_free(struct reap *reap)
{
	if (reap->command != NULL)
		command_drop(reap->command);
	strlist_release(&reap->dead);
	free(reap);
}
