#include "transport/transport_stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/event.h>

#include "base/alloc.h"
#include "base/lines.h"
#include "base/log.h"
#include "base/monotonic.h"
#include "base/watch.h"
#include "mcp/reply.h"

/* A request of 16 MiB of code may take twice that in JSON. */
#define LINE_MAX_BYTES ((size_t)40 * 1024 * 1024)
/* With so much unread by the client we read no further requests, ... */
#define UNSENT_MAX ((size_t)64 * 1024 * 1024)
/* ... and if the answers to those that were read before come to so much, it is
 * let go.  The largest does not count: one may be as large as that. */
#define UNSENT_END ((size_t)256 * 1024 * 1024)
#define READ_SIZE ((size_t)64 * 1024)
#define FLUSH_MS 1000

struct transport_stdio {
	struct mcp_client *client;
	struct outlet outlet;
	struct lines lines;
	struct event *readable;
	struct event *writable;
	struct event *look; /* while paused, whether the client is gone */
	struct evbuffer *unsent;
	size_t largest;   /* message since there was nothing unsent */
	bool unpolled_in; /* a file or /dev/null: never blocks */
	bool paused;
	bool ending; /* the client has closed its end: no pause any more */
	bool mute;   /* given up in the middle of a message, perhaps */
	bool failed; /* otherwise the client went in good order */
	int saved_flags[2];
	void (*closed)(void *arg);
	void *arg;
};

static void
close_transport(struct transport_stdio *transport)
{
	void (*closed)(void *arg) = transport->closed;

	event_del(transport->readable);
	evtimer_del(transport->look);
	transport->closed = NULL;
	if (closed != NULL)
		closed(transport->arg);
}

static void
fail(struct transport_stdio *transport, const char *what, const char *why)
{
	log_warn("%s: %s", what, why);
	transport->failed = true;
}

static void
resume_reading(struct transport_stdio *transport)
{
	static const struct timeval now = {0};

	transport->paused = false;
	evtimer_del(transport->look);
	watch(transport->readable, transport->unpolled_in ? &now : NULL);
}

static void
pause_reading(struct transport_stdio *transport)
{
	static const struct timeval interval = {.tv_sec = 1};

	transport->paused = true;
	watch(transport->look, &interval);
}

/* One that has closed its end may wait for ours, and read nothing meanwhile:
 * what it has sent before is little, and then comes the end. */
static void
on_look(evutil_socket_t fd, short what, void *arg)
{
	struct transport_stdio *transport = arg;

	(void)fd;
	(void)what;
	transport->ending = watch_is_closed(STDIN_FILENO);
	if (transport->ending)
		resume_reading(transport);
	else
		pause_reading(transport);
}

/* 0 when all that can go now has gone, -1 when the client is gone. */
static int
write_some(struct transport_stdio *transport)
{
	while (evbuffer_get_length(transport->unsent) > 0) {
		if (evbuffer_write(transport->unsent, STDOUT_FILENO) >= 0)
			continue;
		/* What a signal is to end must not go on here. */
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	}
	return 0;
}

static void
give_up(struct transport_stdio *transport)
{
	evbuffer_drain(
	    transport->unsent, evbuffer_get_length(transport->unsent));
	transport->mute = true;
	close_transport(transport);
}

static void
on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct transport_stdio *transport = arg;

	(void)fd;
	(void)what;
	if (write_some(transport) != 0) {
		if (errno == EPIPE)
			log_debug("the client does not read any more");
		else
			fail(transport, "cannot write to the client",
			    strerror(errno));
		give_up(transport);
		return;
	}
	if (evbuffer_get_length(transport->unsent) >
	    UNSENT_END + transport->largest) {
		fail(transport, "the client is let go",
		    "it does not read its answers");
		give_up(transport);
		return;
	}
	if (evbuffer_get_length(transport->unsent) > 0)
		watch(transport->writable, NULL);
	if (transport->paused &&
	    evbuffer_get_length(transport->unsent) < UNSENT_MAX)
		resume_reading(transport);
}

static void
send_message(void *arg, const char *message, size_t length)
{
	struct transport_stdio *transport = arg;

	if (transport->mute)
		return;
	if (evbuffer_get_length(transport->unsent) == 0)
		transport->largest = 0;
	if (transport->largest < length)
		transport->largest = length;
	evbuffer_add(transport->unsent, message, length);
	evbuffer_add(transport->unsent, "\n", 1);
	/* What goes wrong here is seen, and dealt with, from the loop. */
	if (write_some(transport) != 0 ||
	    evbuffer_get_length(transport->unsent) > 0)
		event_active(transport->writable, EV_WRITE, 0);
}

/* While a client does not read, what is said on the way is left out. */
static void
send_notification(void *arg, const char *message, size_t length)
{
	struct transport_stdio *transport = arg;

	if (!transport->paused)
		send_message(arg, message, length);
}

static void
send_reply(void *arg, const char *message, size_t length, enum err_code code)
{
	(void)code;
	send_message(arg, message, length);
}

static void
on_line(void *arg, const char *data, size_t length)
{
	struct transport_stdio *transport = arg;

	while (length > 0 && data[length - 1] == '\r')
		length--;
	if (length > 0)
		mcp_client_receive(
		    transport->client, data, length, &transport->outlet);
}

static void
on_too_long(void *arg, size_t limit)
{
	struct transport_stdio *transport = arg;
	struct err err;

	err_set(&err, ERR_REQUEST,
	    "the line is longer than %zu bytes and was not read", limit);
	reply_send_error(&transport->outlet, NULL, &err, NULL);
}

static const struct lines_callbacks lines_callbacks = {on_line, on_too_long};

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct transport_stdio *transport = arg;
	char data[READ_SIZE];
	ssize_t got = read(STDIN_FILENO, data, sizeof(data));

	(void)fd;
	(void)what;
	if (got > 0)
		lines_feed(&transport->lines, data, (size_t)got);
	else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
		if (got < 0)
			fail(transport, "cannot read from the client",
			    strerror(errno));
		lines_finish(&transport->lines);
		close_transport(transport);
		return;
	}
	if (evbuffer_get_length(transport->unsent) >= UNSENT_MAX &&
	    !transport->ending)
		pause_reading(transport);
	else
		resume_reading(transport);
}

/* Files, and devices such as /dev/null: they are always ready. */
static bool
cannot_be_polled(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 &&
	    (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) ||
	        (S_ISCHR(status.st_mode) && !isatty(fd)));
}

/* The flag belongs to the open file, which others may share, and which may be
 * both of ours: it is put back at the end, and a terminal is left alone. */
static void
set_nonblocking(int saved_flags[2])
{
	for (int fd = 0; fd < 2; fd++)
		saved_flags[fd] = isatty(fd) ? -1 : fcntl(fd, F_GETFL);
	for (int fd = 0; fd < 2; fd++)
		if (saved_flags[fd] >= 0)
			fcntl(fd, F_SETFL, saved_flags[fd] | O_NONBLOCK);
}

struct transport_stdio *
transport_stdio_new(struct event_base *base, struct mcp *mcp,
    void (*closed)(void *arg), void *arg)
{
	struct transport_stdio *transport = xcalloc(1, sizeof(*transport));

	transport->closed = closed;
	transport->arg = arg;
	transport->client = mcp_client_new(mcp);
	transport->outlet = (struct outlet){.notify = send_notification,
	    .reply = send_reply,
	    .arg = transport,
	    .owner = transport};
	lines_init(
	    &transport->lines, LINE_MAX_BYTES, &lines_callbacks, transport);
	transport->unsent = evbuffer_new();
	transport->unpolled_in = cannot_be_polled(STDIN_FILENO);
	transport->readable =
	    event_new(base, transport->unpolled_in ? -1 : STDIN_FILENO,
	        transport->unpolled_in ? 0 : EV_READ, on_readable, transport);
	/* Writing to a plain file never blocks, so it never comes to polling
	 * for it. */
	transport->writable = event_new(base,
	    cannot_be_polled(STDOUT_FILENO) ? -1 : STDOUT_FILENO,
	    cannot_be_polled(STDOUT_FILENO) ? 0 : EV_WRITE, on_writable,
	    transport);
	transport->look = evtimer_new(base, on_look, transport);
	set_nonblocking(transport->saved_flags);
	resume_reading(transport);
	return transport;
}

/* A client that reads gets its last answers; one that does not is not waited
 * for long. */
static void
flush(struct transport_stdio *transport)
{
	struct pollfd stdout_poll = {.fd = STDOUT_FILENO, .events = POLLOUT};
	uint64_t deadline = monotonic_ms() + FLUSH_MS, now;

	while (write_some(transport) == 0 &&
	    evbuffer_get_length(transport->unsent) > 0 &&
	    (now = monotonic_ms()) < deadline)
		poll(&stdout_poll, 1, (int)(deadline - now));
}

int
transport_stdio_free(struct transport_stdio *transport)
{
	int status = transport->failed ? 1 : 0;

	mcp_client_free(transport->client);
	flush(transport);
	for (int fd = 0; fd < 2; fd++)
		if (transport->saved_flags[fd] >= 0)
			fcntl(fd, F_SETFL, transport->saved_flags[fd]);
	event_free(transport->readable);
	event_free(transport->writable);
	event_free(transport->look);
	evbuffer_free(transport->unsent);
	lines_release(&transport->lines);
	free(transport);
	return status;
}
