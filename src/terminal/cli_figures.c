#include "terminal/cli_figures.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/strlist.h"
#include "sandbox/job.h"
#include "terminal/cli_write.h"
#include "terminal/picture.h"
#include "terminal/save.h"
#include "terminal/sixel.h"
#include "terminal/terminal.h"

#define NUMBER_MAX 9999

struct figure {
	char *data;
	size_t length;
	char *suffix; /* with its dot */
	bool saved;
};

/* Of a name that is the program's choice: only what we know to be a picture
 * is called one. */
static const char *
suffix_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	if (strncmp(artifact_type(name), "image/", 6) != 0)
		return ".bin";
	return dot;
}

void
cli_figures_add(
    struct cli_figures *figures, const struct artifact *figure, bool saved)
{
	figures->items = xrealloc(
	    figures->items, (figures->count + 1) * sizeof(*figures->items));
	figures->items[figures->count++] = (struct figure){
	    .data = job_copy(figure->data, figure->length),
	    .length = figure->length,
	    .suffix = xstrdup(suffix_of(figure->path)),
	    .saved = saved,
	};
}

void
cli_figures_release(struct cli_figures *figures)
{
	for (size_t i = 0; i < figures->count; i++) {
		free(figures->items[i].data);
		free(figures->items[i].suffix);
	}
	free(figures->items);
	*figures = (struct cli_figures){0};
}

static enum picture_protocol
choose_protocol(void)
{
	struct picture_guess guess = picture_guess();

	if (guess.protocol == PICTURE_NONE || !isatty(STDOUT_FILENO) ||
	    (guess.protocol == PICTURE_SIXEL && !sixel_is_there()) ||
	    (guess.ask && !terminal_takes_sixel(STDOUT_FILENO)))
		return PICTURE_NONE;
	return guess.protocol;
}

static int
show(const struct figure *figure, enum picture_protocol protocol)
{
	size_t length;
	char *bytes =
	    picture_encode(protocol, figure->data, figure->length, &length);
	int status =
	    bytes != NULL ? cli_write(STDOUT_FILENO, bytes, length) : -1;

	free(bytes);
	return status;
}

/* The next that is free, or with force the next; NULL: there is none. */
static char *
next_name(int directory, bool force, const char *suffix, int *number)
{
	while (*number < NUMBER_MAX) {
		char *name = xasprintf("figure-%d%s", ++*number, suffix);

		if (force || !save_is_taken(directory, name))
			return name;
		free(name);
	}
	return NULL;
}

static int
save(const struct figure *figure, int directory, bool force, int *number,
    struct strlist *names)
{
	char *name = next_name(directory, force, figure->suffix, number);
	struct err err;
	int status;

	if (name == NULL) {
		log_warn("a figure is not saved: there are too many already");
		return -1;
	}
	status = save_file(
	    directory, name, figure->data, figure->length, force, &err);
	if (status == 0)
		strlist_add(names, name);
	else
		log_warn("%s", err.message);
	free(name);
	return status;
}

static void
tell_saved(const struct strlist *names)
{
	if (names->count == 1)
		log_warn("a figure is saved as %s", names->items[0]);
	else if (names->count > 1)
		log_warn("%zu figures are saved as %s to %s", names->count,
		    names->items[0], names->items[names->count - 1]);
}

int
cli_figures_show(const struct cli_figures *figures, int directory, bool force)
{
	enum picture_protocol protocol =
	    figures->count > 0 ? choose_protocol() : PICTURE_NONE;
	struct strlist names = {0};
	int number = 0, status = 0;

	for (size_t i = 0; i < figures->count; i++) {
		const struct figure *figure = &figures->items[i];

		if (show(figure, protocol) != 0 && !figure->saved)
			status |=
			    save(figure, directory, force, &number, &names);
	}
	tell_saved(&names);
	strlist_release(&names);
	return status;
}
