#include <stdlib.h>
#include <string.h>

#include "base/tar.h"
#include "sandbox/container_private.h"

static void
copy_failed(struct container *container, const struct command_result *result)
{
	capture_add(&container->words, result->words, strlen(result->words));
	container->end.cli_status = result->exit_status;
	container_ended(container, CONTAINER_FAILED, 0);
	container_remove(container);
}

static void
on_copied(void *arg, const struct command_result *result)
{
	struct container *container = arg;
	struct strlist argv = {0};
	struct err err;

	container->command = NULL;
	free(container->tar);
	container->tar = NULL;
	if (!result->ok || container->state == CONTAINER_OVER) {
		copy_failed(container, result);
		return;
	}
	engine_argv_start(&argv, engine_traits(container->containers->engine),
	    container->name);
	container->sides[0].ready = container->sides[1].ready = true;
	if (container_attach(container, &argv, &err) != 0) {
		copy_failed(container,
		    &(struct command_result){
		        .exit_status = -1, .words = err.message});
	} else {
		child_finish_stdin(container->child);
		container_started(container);
	}
	strlist_release(&argv);
}

static void
on_created(void *arg, const struct command_result *result)
{
	struct container *container = arg;
	struct strlist argv = {0};

	container->command = NULL;
	if (!result->ok || container->state == CONTAINER_OVER) {
		copy_failed(container, result);
		return;
	}
	engine_argv_copy_in(&argv, engine_traits(container->containers->engine),
	    container->name);
	container->command = engine_command(container->containers->engine,
	    (struct engine_command){.argv = argv,
	        .input = container->tar,
	        .input_length = container->tar_length,
	        .timeout_seconds = CONTAINER_START_SECONDS,
	        .done = on_copied,
	        .arg = container});
}

void
container_copy_run(struct container *container, const char *code, size_t length)
{
	container->tar = tar_single_file(&CONTAINER_WORKDIR[1],
	    container->language->file, code, length, &container->tar_length);
	container->command = engine_command(container->containers->engine,
	    (struct engine_command){.argv = container->create_argv,
	        .timeout_seconds = CONTAINER_START_SECONDS,
	        .done = on_created,
	        .arg = container});
	container->create_argv = (struct strlist){0};
}
