#include "terminal/cli_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "sandbox/collector.h"
#include "sandbox/work_path.h"
#include "terminal/cli_figures.h"
#include "terminal/save.h"

#define DIRECTORY_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)
/* More names than these are only counted. */
#define NAMES_MAX 10

struct cli_output {
	const struct settings *settings;
	int directory;
	struct cli_figures figures;
};

static int
open_output_dir(const char *path, struct err *err)
{
	int fd = open(path, DIRECTORY_FLAGS);

	if (fd < 0 && errno == ENOENT && mkdir(path, 0777) == 0)
		fd = open(path, DIRECTORY_FLAGS);
	if (fd < 0)
		err_system(err, errno, "--output-dir: %s", path);
	return fd;
}

/* One that its user may not enter is one to run programs in all the same. */
static int
open_directory(const struct settings *settings, struct err *err)
{
	int fd;

	if (settings->output_dir != NULL)
		return open_output_dir(settings->output_dir, err);
	fd = open(".", DIRECTORY_FLAGS);
	if (fd >= 0)
		return fd;
	if (settings->outputs.count == 0)
		return AT_FDCWD;
	err_system(err, errno, "--output: the current directory");
	return -1;
}

static bool
is_hidden(const char *path)
{
	return *path == '.' || strstr(path, "/.") != NULL;
}

/* What cannot be saved is better told before an hour's work. */
static int
check_pattern(
    const struct cli_output *output, const char *pattern, struct err *err)
{
	struct err why;

	if (work_path_check(pattern, strlen(pattern), &why) != 0)
		return err_set(err, ERR_ARGUMENT, "--output: %s", why.message);
	if (is_hidden(pattern))
		return err_set(err, ERR_ARGUMENT,
		    "--output: %s: hidden files never come back; let the "
		    "program use another name",
		    pattern);
	if (collector_is_name(pattern) && !output->settings->force &&
	    save_is_taken(output->directory, pattern))
		return err_set(err, ERR_ARGUMENT,
		    "--output: %s is there already; --force replaces it",
		    pattern);
	return 0;
}

static int
check_patterns(const struct cli_output *output, struct err *err)
{
	const struct strlist *patterns = &output->settings->outputs;

	for (size_t i = 0; i < patterns->count; i++)
		if (check_pattern(output, patterns->items[i], err) != 0)
			return -1;
	return 0;
}

struct cli_output *
cli_output_new(const struct settings *settings, struct err *err)
{
	struct cli_output *output = xcalloc(1, sizeof(*output));

	output->settings = settings;
	output->directory = open_directory(settings, err);
	if (output->directory == -1 || check_patterns(output, err) != 0) {
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

/*
 * As the sandbox matches them, but for hidden files: what a program hides in
 * .git or .config of the current directory could be obeyed there.
 */
static bool
is_asked_for(const struct cli_output *output, const char *path)
{
	const struct strlist *patterns = &output->settings->outputs;

	for (size_t i = 0; i < patterns->count; i++)
		if (collector_fits(patterns->items[i], path))
			return is_plain(path) && !is_hidden(path);
	return false;
}

/* Figures have names as well, but one by which a file goes is the file's. */
static bool
is_meant(const struct cli_output *output, const struct artifacts *artifacts,
    const struct artifact *artifact)
{
	for (size_t i = 0; artifact->figure && i < artifacts->count; i++) {
		const struct artifact *other = &artifacts->items[i];

		if (!other->figure && strcmp(other->path, artifact->path) == 0)
			return false;
	}
	return is_asked_for(output, artifact->path);
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

static bool
is_left(const struct cli_output *output, const struct artifact *artifact)
{
	return !artifact->figure && is_plain(artifact->path) &&
	    !is_hidden(artifact->path) && !is_asked_for(output, artifact->path);
}

/* Returns how many there are. */
static size_t
list_left(FILE *stream, const struct cli_output *output,
    const struct artifacts *artifacts)
{
	size_t count = 0;

	for (size_t i = 0; i < artifacts->count; i++) {
		const struct artifact *artifact = &artifacts->items[i];
		char *size;

		if (!is_left(output, artifact) || ++count > NAMES_MAX)
			continue;
		size = human_size(artifact->size);
		fprintf(stream, "%s%s (%s)", count > 1 ? ", " : "",
		    artifact->path, size);
		free(size);
	}
	if (count > NAMES_MAX)
		fprintf(stream, ", %zu more", count - NAMES_MAX);
	return count;
}

/* Files that nobody can name may be among those that a pattern is for. */
static int
tell_left_out(
    const struct cli_output *output, const struct artifacts *artifacts)
{
	const struct strlist *patterns = &output->settings->outputs;
	int status = 0;

	if (artifacts->left_out == 0)
		return 0;
	log_warn("left in the sandbox: %zu more, of more than 200 or with "
	         "names that cannot be shown",
	    artifacts->left_out);
	for (size_t i = 0; i < patterns->count && artifacts->doubtful > 0; i++)
		if (!collector_is_name(patterns->items[i]))
			status = -1;
	return status;
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

enum fit { FIT_NONE, FIT_DIRECTORY, FIT_FILE };

static enum fit
fit_of(const struct artifacts *artifacts, const char *pattern)
{
	size_t length = strlen(pattern);
	enum fit fit = FIT_NONE;

	for (size_t i = 0; i < artifacts->count; i++) {
		const char *path = artifacts->items[i].path;

		if (collector_fits(pattern, path))
			return FIT_FILE;
		if (strncmp(path, pattern, length) == 0 && path[length] == '/')
			fit = FIT_DIRECTORY;
	}
	return fit;
}

/* Patterns by which nothing was saved. */
static int
tell_missing(const struct cli_output *output, const struct artifacts *artifacts)
{
	const struct strlist *patterns = &output->settings->outputs;
	int status = 0;

	for (size_t i = 0; i < patterns->count; i++) {
		const char *pattern = patterns->items[i];
		enum fit fit = fit_of(artifacts, pattern);

		if (fit == FIT_FILE)
			continue;
		status = -1;
		if (fit == FIT_DIRECTORY)
			log_warn("--output: %s is a directory: \"%s/*\" is "
			         "what is in it",
			    pattern, pattern);
		else
			log_warn("--output: the program left no %s", pattern);
	}
	return status;
}

static int
take(struct cli_output *output, const struct artifacts *artifacts,
    const struct artifact *artifact)
{
	bool meant = is_meant(output, artifacts, artifact);
	bool wanted = meant && artifact->data != NULL;
	int status = wanted ? save(output, artifact) : 0;

	if (artifact->figure && artifact->data != NULL)
		cli_figures_add(
		    &output->figures, artifact, wanted && status == 0);
	if (meant && !wanted) {
		log_warn("%s is not saved: it has more than 16 MiB, or all "
		         "files together more than 24 MiB, or it changed "
		         "meanwhile",
		    artifact->path);
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
		status |= take(output, artifacts, &artifacts->items[i]);
	status |= tell_missing(output, artifacts);
	tell_left(output, artifacts);
	return status | tell_left_out(output, artifacts);
}

int
cli_output_show(struct cli_output *output)
{
	return cli_figures_show(
	    &output->figures, output->directory, output->settings->force);
}
