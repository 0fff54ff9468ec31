#include "cli_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "alloc.h"
#include "log.h"
#include "sandbox.h"
#include "shutdown.h"

#define CODE_MAX ((size_t)16 * 1024 * 1024)
#define STATUS_TIMED_OUT 124
#define STATUS_NOT_RUN 125

struct run {
	struct shutdown *shutdown;
	bool interrupted; /* by a signal, in the middle of the output */
	int status;
};

static int
read_all(int fd, char **data, size_t *length, struct err *err)
{
	size_t size = 64 * 1024;
	ssize_t got;

	*data = xcalloc(1, size);
	*length = 0;
	while ((got = read(fd, *data + *length, size - *length)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_system(
			    err, errno, "cannot read the program");
		*length += (size_t)got;
		if (*length > CODE_MAX)
			return err_set(err, ERR_ARGUMENT,
			    "the program is larger than %zu bytes", CODE_MAX);
		if (*length == size)
			*data = xrealloc(*data, size *= 2);
	}
	return 0;
}

static int
read_program(const char *file, char **data, size_t *length, struct err *err)
{
	int fd = STDIN_FILENO, status;

	if (file != NULL && strcmp(file, "-") != 0)
		fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_system(err, errno, "%s", file);
	status = read_all(fd, data, length, err);
	if (fd != STDIN_FILENO)
		close(fd);
	if (status == 0 && *length == 0)
		return err_set(err, ERR_ARGUMENT, "the program is empty");
	if (status == 0 && memchr(*data, '\0', *length) != NULL)
		return err_set(err, ERR_ARGUMENT,
		    "this is not a program: it contains NUL bytes");
	return status;
}

static const struct language *
choose_language(const struct settings *settings, struct err *err)
{
	const struct language *language = settings->language;

	if (language == NULL && settings->file != NULL)
		language = language_by_file(settings->file);
	if (language == NULL)
		err_set(err, ERR_ARGUMENT,
		    "which language? Say --language python or --language "
		    "javascript, or name a file that ends in .py or .js");
	return language;
}

/* Waits until a piece can be written without blocking; a signal that is to end
 * us ends the wait (see shutdown.c), a child that has ended does not. */
static bool
wait_until_writable(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
	sigset_t children;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	return ppoll(&poll_fd, 1, NULL, &children) > 0;
}

static void
on_output(void *arg, enum child_stream stream, const char *data, size_t length)
{
	int fd = stream == CHILD_STDOUT ? STDOUT_FILENO : STDERR_FILENO;
	struct run *run = arg;

	while (length > 0 && !run->interrupted) {
		size_t piece = length < PIPE_BUF ? length : PIPE_BUF;
		ssize_t sent;

		if (!wait_until_writable(fd)) {
			run->interrupted = true;
			return;
		}
		sent = write(fd, data, piece);
		if (sent < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (sent < 0) {
			/* Nobody reads us any more: end as if by the signal
			 * that other programs get then. */
			run->interrupted = true;
			run->status = 128 + SIGPIPE;
			shutdown_begin(run->shutdown);
			return;
		}
		data += sent;
		length -= (size_t)sent;
	}
}

static void
on_progress(void *arg, const char *text)
{
	(void)arg;
	log_debug("%s", text);
}

static void
on_done(void *arg, const struct outcome *outcome)
{
	struct run *run = arg;

	if (!outcome->ran) {
		if (outcome->err.code == ERR_SHUTDOWN)
			return; /* whoever began it knows why */
		log_warn("%s", outcome->err.message);
		run->status = STATUS_NOT_RUN;
	} else if (outcome->timed_out) {
		log_warn("stopped after %.1f seconds: --timeout sets the limit",
		    (double)outcome->duration_ms / 1000);
		run->status = STATUS_TIMED_OUT;
	} else if (outcome->signal != 0) {
		log_warn("the program was ended by signal %d (%s)%s",
		    outcome->signal, strsignal(outcome->signal),
		    outcome->signal == SIGKILL
		        ? ", most likely for want of memory: --memory"
		        : "");
		run->status = 128 + outcome->signal;
	} else {
		run->status = outcome->exit_code;
	}
	shutdown_begin(run->shutdown);
}

static const struct sandbox_callbacks callbacks = {
    .output = on_output,
    .progress = on_progress,
    .done = on_done,
};

static int
run_code(const struct settings *settings, const struct sandbox_request *request)
{
	struct event_base *base = event_base_new();
	struct sandbox *sandbox = sandbox_new(base, settings);
	struct run run = {
	    .status = STATUS_NOT_RUN, .shutdown = shutdown_new(base, sandbox)};
	int signal_number;

	sandbox_call(sandbox, request, &callbacks, &run);
	event_base_dispatch(base);
	signal_number = shutdown_signal(run.shutdown);
	shutdown_free(run.shutdown);
	sandbox_free(sandbox);
	event_base_free(base);
	return signal_number != 0 ? 128 + signal_number : run.status;
}

int
cli_run(const struct settings *settings)
{
	const struct language *language;
	char *code = NULL;
	size_t length = 0;
	struct err err;
	int status = 2;

	language = choose_language(settings, &err);
	if (language == NULL ||
	    read_program(settings->file, &code, &length, &err) != 0)
		log_warn("%s", err.message);
	else
		status = run_code(settings,
		    &(struct sandbox_request){.language = language,
		        .code = code,
		        .code_length = length});
	free(code);
	return status;
}
