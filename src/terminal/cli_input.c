#include "terminal/cli_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sandbox/work_path.h"

#define ARGUMENTS_MAX ((size_t)64 * 1024)
/* All files and standard input together: as much as the working directory
 * holds. */
#define DATA_MAX ((size_t)256 * 1024 * 1024)

static int
read_descriptor(int fd, const char *name, size_t limit, char **data,
    size_t *length, struct err *err)
{
	size_t size = (size_t)64 * 1024;
	ssize_t got;

	*data = xcalloc(1, size);
	*length = 0;
	while ((got = read(fd, *data + *length, size - *length)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN) {
			poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1,
			    -1);
			continue;
		}
		if (got < 0)
			return err_system(err, errno, "cannot read %s", name);
		*length += (size_t)got;
		if (*length > limit)
			return err_set(err, ERR_ARGUMENT,
			    "%s is too large: %zu bytes are left for it", name,
			    limit);
		if (*length == size)
			*data = xrealloc(*data, size *= 2);
	}
	return 0;
}

/* Data is the caller's to free, even if that failed. */
static int
read_file(const char *path, size_t limit, char **data, size_t *length,
    struct err *err)
{
	bool from_stdin = strcmp(path, "-") == 0;
	int fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int status;

	if (fd < 0)
		return err_system(err, errno, "%s", path);
	status = read_descriptor(
	    fd, from_stdin ? "standard input" : path, limit, data, length, err);
	if (!from_stdin)
		close(fd);
	return status;
}

static int
choose_language(
    struct job *job, const struct settings *settings, struct err *err)
{
	char *names;

	job->language = settings->language;
	if (job->language == NULL && settings->file != NULL)
		job->language =
		    language_by_file(&settings->languages, settings->file);
	if (job->language != NULL)
		return 0;
	names = language_names(&settings->languages);
	err_set(err, ERR_ARGUMENT,
	    "which language? Name a file that ends like one, such as hello.py, "
	    "or say --language with one of: %s",
	    names);
	free(names);
	return -1;
}

static int
read_program(struct job *job, const char *file, struct err *err)
{
	if (read_file(file != NULL ? file : "-", JOB_CODE_MAX, &job->code,
	        &job->code_length, err) != 0)
		return -1;
	if (job->code_length == 0)
		return err_set(err, ERR_ARGUMENT, "the program is empty");
	if (memchr(job->code, '\0', job->code_length) != NULL)
		return err_set(err, ERR_ARGUMENT,
		    "this is not a program: it contains NUL bytes");
	return 0;
}

static int
check_name(const struct job *job, const char *name, struct err *err)
{
	struct err why;

	if (work_path_check(name, strlen(name), &why) != 0)
		return err_set(err, ERR_ARGUMENT, "--file: %s", why.message);
	if (work_path_clash(name, job->language->file))
		return err_set(err, ERR_ARGUMENT,
		    "--file: the program itself will be %s; --file PATH=NAME "
		    "gives another name",
		    job->language->file);
	for (size_t i = 0; i < job->file_count; i++)
		if (work_path_clash(name, job->files[i].path))
			return err_set(err, ERR_ARGUMENT,
			    "--file: %s and %s cannot both be; --file "
			    "PATH=NAME gives another name",
			    job->files[i].path, name);
	return 0;
}

/* Where PATH ends in PATH=NAME; a path that is there as it stands may contain
 * "=". */
static size_t
path_length(const char *word)
{
	const char *equals = strrchr(word, '=');

	if (equals == NULL || access(word, F_OK) == 0)
		return strlen(word);
	return (size_t)(equals - word);
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static int
add_file(struct job *job, const char *word, size_t *room, struct err *err)
{
	size_t split = path_length(word), length = 0;
	char *path = xstrndup(word, split), *data = NULL;
	const char *name =
	    word[split] == '=' ? word + split + 1 : base_name(path);
	int status = check_name(job, name, err);

	if (status == 0 && strcmp(path, "-") == 0)
		status = err_set(err, ERR_ARGUMENT,
		    "--file: \"-\" is no file; --stdin - passes on what we "
		    "are given");
	if (status == 0)
		status = read_file(path, *room, &data, &length, err);
	if (status == 0) {
		job_add_file(job, name, data, length);
		*room -= length;
	}
	free(data);
	free(path);
	return status;
}

static int
add_files(struct job *job, const struct settings *settings, struct err *err)
{
	size_t room = DATA_MAX;

	for (size_t i = 0; i < settings->files.count; i++)
		if (add_file(job, settings->files.items[i], &room, err) != 0)
			return -1;
	if (settings->input == NULL)
		return 0;
	return read_file(
	    settings->input, room, &job->input, &job->input_length, err);
}

static void
copy_list(struct strlist *to, const struct strlist *from)
{
	for (size_t i = 0; i < from->count; i++)
		strlist_add(to, from->items[i]);
}

static int
check_packages(
    const struct job *job, const struct settings *settings, struct err *err)
{
	if (job->packages.count == 0)
		return 0;
	if (job->language->install == NULL)
		return err_set(err, ERR_ARGUMENT,
		    "--package: none can be installed for %s",
		    job->language->title);
	if (settings->offline)
		return err_set(err, ERR_ARGUMENT,
		    "--package needs the network, and --network is none");
	return 0;
}

static int
check_arguments(const struct job *job, struct err *err)
{
	size_t total = 0;

	for (size_t i = 0; i < job->arguments.count; i++)
		total += strlen(job->arguments.items[i]) + 1;
	if (total > ARGUMENTS_MAX)
		return err_set(err, ERR_ARGUMENT,
		    "the arguments of the program are too long: %zu bytes, "
		    "and %zu is the most",
		    total, ARGUMENTS_MAX);
	return 0;
}

int
cli_input_read(
    struct job *job, const struct settings *settings, struct err *err)
{
	copy_list(&job->arguments, &settings->arguments);
	copy_list(&job->packages, &settings->packages);
	copy_list(&job->outputs, &settings->outputs);
	if (choose_language(job, settings, err) != 0 ||
	    check_packages(job, settings, err) != 0 ||
	    check_arguments(job, err) != 0 ||
	    read_program(job, settings->file, err) != 0)
		return -1;
	return add_files(job, settings, err);
}
