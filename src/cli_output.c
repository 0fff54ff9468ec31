#include "cli_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "cli_figures.h"
#include "collector.h"
#include "log.h"
#include "save.h"
#include "work_path.h"

#define DIRECTORY_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)
/* More names than these are only counted. */
#define NAMES_MAX 10

struct cli_output {
	const struct settings *settings;
	int directory;
	struct cli_figures figures;
};

static int
open_directory(const char *path, struct err *err)
{
	int fd = open(path, DIRECTORY_FLAGS);

	if (fd < 0 && errno == ENOENT && mkdir(path, 0777) == 0)
		fd = open(path, DIRECTORY_FLAGS);
	if (fd < 0)
		err_system(err, errno, "%s", path);
	return fd;
}

static bool
is_name(const char *pattern)
{
	return pattern[strcspn(pattern, "*?[\\")] == '\0';
}

/* A name that cannot be saved is better told before an hour's work. */
static int
check_name(const struct cli_output *output, const char *name, struct err *err)
{
	struct err why;

	if (work_path_check(name, strlen(name), &why) != 0)
		return err_set(err, ERR_ARGUMENT, "--output: %s", why.message);
	if (!output->settings->force && save_is_taken(output->directory, name))
		return err_set(err, ERR_ARGUMENT,
		    "--output: %s is there already; --force replaces it", name);
	return 0;
}

static int
check_names(const struct cli_output *output, struct err *err)
{
	const struct strlist *patterns = &output->settings->outputs;

	for (size_t i = 0; i < patterns->count; i++)
		if (is_name(patterns->items[i]) &&
		    check_name(output, patterns->items[i], err) != 0)
			return -1;
	return 0;
}

struct cli_output *
cli_output_new(const struct settings *settings, struct err *err)
{
	const char *path =
	    settings->output_dir != NULL ? settings->output_dir : ".";
	struct cli_output *output = xcalloc(1, sizeof(*output));

	output->settings = settings;
	output->directory = open_directory(path, err);
	if (output->directory < 0 || check_names(output, err) != 0) {
		cli_output_free(output);
		return NULL;
	}
	return output;
}

void
cli_output_free(struct cli_output *output)
{
	cli_figures_release(&output->figures);
	if (output->directory >= 0)
		close(output->directory);
	free(output);
}

/* Looked at once more, right where it matters. */
static bool
is_plain(const char *path)
{
	struct err err;

	return work_path_check(path, strlen(path), &err) == 0;
}

static bool
is_hidden(const char *path)
{
	return *path == '.' || strstr(path, "/.") != NULL;
}

/*
 * As the sandbox matches them, but as in a shell "*" stands for no hidden file:
 * what a program hides in .git or .config of the current directory could be
 * obeyed there.
 */
static bool
is_asked_for(const struct cli_output *output, const char *path)
{
	const struct strlist *patterns = &output->settings->outputs;

	for (size_t i = 0; i < patterns->count; i++)
		if (collector_fits(patterns->items[i], path) &&
		    (!is_hidden(path) || is_hidden(patterns->items[i])))
			return is_plain(path);
	return false;
}

static bool
is_wanted(const struct cli_output *output, const struct artifact *artifact)
{
	return artifact->data != NULL && is_asked_for(output, artifact->path);
}

static int
save(const struct cli_output *output, const struct artifact *artifact)
{
	struct err err;

	if (save_file(output->directory, artifact->path, artifact->data,
	        artifact->length, output->settings->force, &err) != 0) {
		log_warn("%s", err.message);
		return -1;
	}
	log_debug("saved %s", artifact->path);
	return 0;
}

static char *
human_size(uint64_t size)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	double number = (double)size;
	size_t unit = 0;

	while (number >= 999.95 && unit < 4) {
		number /= 1000;
		unit++;
	}
	return xasprintf("%.*f %s", unit > 0, number, units[unit]);
}

/* Asked for, and not handed over all the same. */
static bool
is_withheld(const struct cli_output *output, const struct artifact *artifact)
{
	return artifact->data == NULL && is_asked_for(output, artifact->path);
}

static bool
is_left(const struct cli_output *output, const struct artifact *artifact)
{
	return !artifact->figure && !is_asked_for(output, artifact->path);
}

/* Returns how many there are. */
static size_t
list_left(FILE *stream, const struct cli_output *output,
    const struct artifacts *artifacts)
{
	size_t named = 0, more = artifacts->left_out;

	for (size_t i = 0; i < artifacts->count; i++) {
		const struct artifact *artifact = &artifacts->items[i];
		char *size;

		if (!is_left(output, artifact))
			continue;
		if (named == NAMES_MAX || !is_plain(artifact->path)) {
			more++;
			continue;
		}
		size = human_size(artifact->size);
		fprintf(stream, "%s%s (%s)", named++ > 0 ? ", " : "",
		    artifact->path, size);
		free(size);
	}
	if (more > 0)
		fprintf(stream, named > 0 ? ", %zu more" : "%zu of odd names",
		    more);
	return named + more;
}

/* One line about the files that go with the sandbox. */
static void
tell_left(const struct cli_output *output, const struct artifacts *artifacts)
{
	char *names = NULL;
	size_t length, count;
	FILE *stream = open_memstream(&names, &length);

	if (stream == NULL)
		return;
	count = list_left(stream, output, artifacts);
	if (fclose(stream) == 0 && count > 0)
		log_warn("left in the sandbox: %s; --output saves %s", names,
		    count > 1 ? "them" : "it");
	free(names);
}

static bool
is_among(const struct artifacts *artifacts, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < artifacts->count; i++) {
		const char *path = artifacts->items[i].path;

		/* It may be a directory. */
		if (strncmp(path, name, length) == 0 &&
		    (path[length] == '\0' || path[length] == '/'))
			return true;
	}
	return false;
}

static void
tell_missing(const struct cli_output *output, const struct artifacts *artifacts)
{
	const struct strlist *patterns = &output->settings->outputs;

	for (size_t i = 0; i < patterns->count; i++)
		if (is_name(patterns->items[i]) &&
		    !is_among(artifacts, patterns->items[i]))
			log_warn("--output: the program left no %s",
			    patterns->items[i]);
}

static int
take(struct cli_output *output, const struct artifact *artifact)
{
	bool wanted = is_wanted(output, artifact);
	int status = wanted ? save(output, artifact) : 0;

	if (artifact->figure && artifact->data != NULL)
		cli_figures_add(
		    &output->figures, artifact, wanted && status == 0);
	if (is_withheld(output, artifact)) {
		log_warn("%s is not saved: it is too large", artifact->path);
		return -1;
	}
	if (artifact->figure && artifact->data == NULL)
		log_warn("a figure is not shown: it is too large");
	return status;
}

int
cli_output_take(struct cli_output *output, const struct artifacts *artifacts)
{
	int status = 0;

	for (size_t i = 0; i < artifacts->count; i++)
		status |= take(output, &artifacts->items[i]);
	tell_missing(output, artifacts);
	tell_left(output, artifacts);
	return status;
}

int
cli_output_show(struct cli_output *output)
{
	return cli_figures_show(
	    &output->figures, output->directory, output->settings->force);
}
