#include "engine/image.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>

#include "base/alloc.h"
#include "base/log.h"

#define INSPECT_SECONDS 30
#define PULL_SECONDS 1800

struct waiter {
	TAILQ_ENTRY(waiter) entry;
	const struct image_callbacks *callbacks;
	void *arg;
};
TAILQ_HEAD(waiters, waiter);

struct image {
	TAILQ_ENTRY(image) entry;
	struct images *images;
	char *name;
	struct command *command;
	struct waiters waiters;
};

struct images {
	struct engine *engine;
	TAILQ_HEAD(image_list, image) list;
};

struct images *
images_new(struct engine *engine)
{
	struct images *images = xcalloc(1, sizeof(*images));

	images->engine = engine;
	TAILQ_INIT(&images->list);
	return images;
}

static void
image_free(struct image *image)
{
	struct waiter *waiter;

	TAILQ_REMOVE(&image->images->list, image, entry);
	if (image->command != NULL)
		command_drop(image->command);
	while ((waiter = TAILQ_FIRST(&image->waiters)) != NULL) {
		TAILQ_REMOVE(&image->waiters, waiter, entry);
		free(waiter);
	}
	free(image->name);
	free(image);
}

void
images_free(struct images *images)
{
	struct image *image;

	while ((image = TAILQ_FIRST(&images->list)) != NULL)
		image_free(image);
	free(images);
}

void
image_forget(struct images *images, void *arg)
{
	struct image *image;
	struct waiter *waiter, *next;

	TAILQ_FOREACH (image, &images->list, entry) {
		TAILQ_FOREACH_SAFE (waiter, &image->waiters, entry, next) {
			if (waiter->arg != arg)
				continue;
			TAILQ_REMOVE(&image->waiters, waiter, entry);
			free(waiter);
		}
	}
}

static void
tell(struct image *image, bool present, const struct err *err)
{
	struct waiter *waiter;

	while ((waiter = TAILQ_FIRST(&image->waiters)) != NULL) {
		TAILQ_REMOVE(&image->waiters, waiter, entry);
		waiter->callbacks->done(waiter->arg, present, err);
		free(waiter);
	}
	image_free(image);
}

static void
on_pulled(void *arg, const struct command_result *result)
{
	struct image *image = arg;
	struct err err;

	image->command = NULL;
	if (result->ok) {
		log_warn("image %s: pulled", image->name);
		tell(image, false, NULL);
		return;
	}
	err_set(&err, ERR_IMAGE,
	    "The image %s is not there and could not be pulled. %s said:\n%s\n"
	    "Build it with \"make images\" (LANGUAGES=all: for all languages), "
	    "pull or load it by hand, or name "
	    "another one with --image.",
	    image->name, engine_traits(image->images->engine)->path,
	    result->words);
	tell(image, false, &err);
}

static void
on_pull_line(void *arg, const char *text)
{
	struct image *image = arg;
	struct waiter *waiter;

	TAILQ_FOREACH (waiter, &image->waiters, entry)
		waiter->callbacks->progress(waiter->arg, text);
}

static void
pull(struct image *image)
{
	struct engine *engine = image->images->engine;
	struct strlist argv = {0};
	char *text = xasprintf("pulling image %s", image->name);

	log_warn("image %s is missing: pulling it", image->name);
	on_pull_line(image, text);
	free(text);
	engine_argv_pull(&argv, engine_traits(engine), image->name);
	image->command = engine_command(engine,
	    (struct engine_command){.argv = argv,
	        .timeout_seconds = PULL_SECONDS,
	        .registry = true,
	        .line = on_pull_line,
	        .done = on_pulled,
	        .arg = image});
}

/* An engine that misses an image says nothing, or calls it by its name;
 * one that has another problem tells of that. */
static bool
is_missing(const struct image *image, const struct command_result *result)
{
	return result->exit_status > 0 &&
	    (*result->words == '\0' ||
	        strstr(result->words, image->name) != NULL);
}

static void
on_inspected(void *arg, const struct command_result *result)
{
	struct image *image = arg;
	struct err err;

	image->command = NULL;
	if (result->ok) {
		tell(image, true, NULL);
	} else if (is_missing(image, result)) {
		pull(image);
	} else {
		err_set(&err, ERR_ENGINE,
		    "The container engine does not answer: %s", result->words);
		tell(image, false, &err);
	}
}

static struct image *
find_or_inspect(struct images *images, const char *name)
{
	struct strlist argv = {0};
	struct image *image;

	TAILQ_FOREACH (image, &images->list, entry)
		if (strcmp(image->name, name) == 0)
			return image;
	image = xcalloc(1, sizeof(*image));
	image->images = images;
	image->name = xstrdup(name);
	TAILQ_INIT(&image->waiters);
	TAILQ_INSERT_TAIL(&images->list, image, entry);
	engine_argv_image_inspect(&argv, engine_traits(images->engine), name);
	image->command = engine_command(images->engine,
	    (struct engine_command){.argv = argv,
	        .timeout_seconds = INSPECT_SECONDS,
	        .done = on_inspected,
	        .arg = image});
	return image;
}

void
image_ensure(struct images *images, const char *name,
    const struct image_callbacks *callbacks, void *arg)
{
	struct image *image = find_or_inspect(images, name);
	struct waiter *waiter = xcalloc(1, sizeof(*waiter));

	waiter->callbacks = callbacks;
	waiter->arg = arg;
	TAILQ_INSERT_TAIL(&image->waiters, waiter, entry);
}
