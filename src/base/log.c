#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

#define PREFIX "code-sandbox-mcp: "

static int write_if_ready(int fd, const char *data, size_t length);

static bool log_verbose;
static void (*log_before)(void *arg);
static void *log_before_arg;
static log_write_fn *log_write = write_if_ready;
static unsigned log_lost;

/* A server does not stop because nobody reads what it says: a pipe that polls
 * as writable takes as much as a line has. */
static int
write_if_ready(int fd, const char *data, size_t length)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};

	if (poll(&poll_fd, 1, 0) <= 0) {
		errno = EAGAIN;
		return -1;
	}
	return write(fd, data, length) < 0 ? -1 : 0;
}

/* One write a line: lines of several servers do not mix. */
static int
write_line(const char *text)
{
	char line[PIPE_BUF];
	int length = snprintf(line, sizeof(line) - 1, PREFIX "%s", text);

	if (length > (int)sizeof(line) - 2)
		length = (int)sizeof(line) - 2;
	line[length++] = '\n';
	return log_write(STDERR_FILENO, line, (size_t)length);
}

static void
tell_lost(void)
{
	char text[100];

	snprintf(text, sizeof(text),
	    "lines that are missing here, because nobody read them: %u",
	    log_lost);
	if (write_line(text) == 0)
		log_lost = 0;
}

static void __attribute__((format(printf, 1, 0)))
log_line(const char *format, va_list ap)
{
	char line[PIPE_BUF], *clean;

	vsnprintf(line, sizeof(line), format, ap);
	clean = utf8_printable(line, "\n\t");
	if (log_before != NULL)
		log_before(log_before_arg);
	if (log_lost > 0)
		tell_lost();
	if (log_lost > 0 || (write_line(clean) != 0 && errno == EAGAIN))
		log_lost++;
	free(clean);
}

void
log_set_verbose(bool verbose)
{
	log_verbose = verbose;
}

void
log_set_before(void (*before)(void *arg), void *arg)
{
	log_before = before;
	log_before_arg = arg;
}

void
log_set_write(log_write_fn *write_fn)
{
	log_write = write_fn;
}

bool
log_is_verbose(void)
{
	return log_verbose;
}

void
log_warn(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	log_line(format, ap);
	va_end(ap);
}

void
log_debug(const char *format, ...)
{
	va_list ap;

	if (!log_verbose)
		return;
	va_start(ap, format);
	log_line(format, ap);
	va_end(ap);
}
