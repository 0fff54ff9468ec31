#include "transport/http_connections.h"

#include <stdbool.h>
#include <stdlib.h>

#include <bsd/sys/queue.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/watch.h"

/* What a connection may have sent since its last request was taken: a whole
 * one, and the lines between its chunks. */
#define INPUT_MAX (HTTP_BODY_MAX + HTTP_BODY_MAX / 8 + HTTP_HEADERS_MAX)
/* ... and all of them together. */
#define INPUT_SUM_MAX (4 * INPUT_MAX)
/* Answers that nobody has read yet, of all of them together but the largest. */
#define BACKLOG_SUM_MAX ((size_t)256 * 1024 * 1024)

static const struct timeval silence = {.tv_sec = HTTP_SILENCE_SECONDS};
/* libevent remembers the limit before none. */
static const struct timeval forever = {.tv_sec = 365L * 24 * 3600};
static const struct timeval turn = {.tv_sec = HTTP_TURN_SECONDS};
static const struct timeval look_interval = {.tv_sec = 1};
static const struct timeval accept_pause = {.tv_usec = 200000};

struct http_connection {
	TAILQ_ENTRY(http_connection) entry;
	struct http_connections *all;
	struct bufferevent *stream;
	/* NULL: libevent is still making it */
	struct evhttp_connection *connection;
	size_t received;
	struct event *deadline;
	struct event *stir; /* while we work: it is closed, or has more */
	struct event *look; /* if it has more: whether it is closed too */
	/* NULL: nobody works on an answer */
	const struct http_connection_callbacks *callbacks;
	void *arg;
};

struct http_connections {
	struct event_base *base;
	/* The one that has waited the longest for its client is the first. */
	TAILQ_HEAD(http_connection_list, http_connection) list;
	int count, most;
	size_t received;
	struct event *tidy;
};

static void
forget(struct http_connection *connection)
{
	struct http_connections *all = connection->all;

	TAILQ_REMOVE(&all->list, connection, entry);
	all->count--;
	all->received -= connection->received;
	event_free(connection->deadline);
	if (connection->stir != NULL)
		event_free(connection->stir);
	event_free(connection->look);
	free(connection);
}

/* Whatever the reason, this is called last. */
static void
on_close(struct evhttp_connection *evhttp, void *arg)
{
	struct http_connection *connection = arg;
	const struct http_connection_callbacks *callbacks =
	    connection->callbacks;
	void *callback_arg = connection->arg;

	(void)evhttp;
	forget(connection);
	if (callbacks != NULL)
		callbacks->closed(callback_arg);
}

static void
close_connection(struct http_connection *connection, const char *why)
{
	log_debug("a connection is closed: %s", why);
	evhttp_connection_free(connection->connection);
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	close_connection(arg, "its client is too slow");
}

/*
 * libevent does not look at a connection while its request is being handled,
 * so we look ourselves whether the other side has closed it.  One that was
 * reset is told of as one with something to read; and what is to be read, the
 * next request, would be told of for ever.
 */
static void
on_stir(evutil_socket_t fd, short what, void *arg)
{
	struct http_connection *connection = arg;

	(void)fd;
	(void)what;
	if (watch_is_closed(bufferevent_getfd(connection->stream)))
		close_connection(connection, "its client went away");
	else
		evtimer_add(connection->look, &look_interval);
}

/* libevent shows a connection to nobody before its first request; but it is
 * what libevent wants to be told when there is something to read. */
static void
adopt(struct http_connection *connection)
{
	void *arg;

	bufferevent_getcb(connection->stream, NULL, NULL, NULL, &arg);
	if (arg == NULL) {
		/* It could not be watched, and libevent has let it go. */
		forget(connection);
		return;
	}
	connection->connection = arg;
	connection->stir = event_new(connection->all->base,
	    bufferevent_getfd(connection->stream), EV_READ | EV_CLOSED, on_stir,
	    connection);
	evhttp_connection_set_closecb(arg, on_close, connection);
}

static struct http_connection *
find_largest(struct http_connections *all)
{
	struct http_connection *connection, *largest = TAILQ_FIRST(&all->list);

	TAILQ_FOREACH (connection, &all->list, entry)
		if (connection->received > largest->received)
			largest = connection;
	return largest;
}

/* Of those that hold more than most, the one that has had the longest to read
 * it, before one on which we still work; NULL: they hold no more than they
 * may. */
static struct http_connection *
find_laggard(struct http_connections *all)
{
	struct http_connection *connection, *other = NULL;
	size_t sum = 0, largest = 0;

	TAILQ_FOREACH (connection, &all->list, entry) {
		size_t backlog = http_connection_backlog(connection);

		sum += backlog;
		largest = backlog > largest ? backlog : largest;
	}
	/* One answer may be as large as that. */
	if (sum - largest <= BACKLOG_SUM_MAX)
		return NULL;
	TAILQ_FOREACH (connection, &all->list, entry) {
		if (http_connection_backlog(connection) <
		    sum / (size_t)all->count)
			continue;
		if (evtimer_pending(connection->deadline, NULL))
			return connection;
		if (other == NULL)
			other = connection;
	}
	return other;
}

/* One that sends, before one that reads; NULL: it is our turn on all. */
static struct http_connection *
find_idle(struct http_connections *all)
{
	struct http_connection *connection, *reader = NULL;

	TAILQ_FOREACH (connection, &all->list, entry) {
		if (connection->callbacks == NULL)
			return connection;
		if (reader == NULL &&
		    evtimer_pending(connection->deadline, NULL))
			reader = connection;
	}
	return reader;
}

/* From the loop: libevent is not in the middle of any connection. */
static void
on_tidy(evutil_socket_t fd, short what, void *arg)
{
	struct http_connections *all = arg;
	struct http_connection *connection, *next;

	(void)fd;
	(void)what;
	TAILQ_FOREACH_SAFE (connection, &all->list, entry, next)
		if (connection->connection == NULL)
			adopt(connection);
	while ((connection = find_largest(all)) != NULL &&
	    (connection->received > INPUT_MAX || all->received > INPUT_SUM_MAX))
		close_connection(connection, "it has sent too much");
	while ((connection = find_laggard(all)) != NULL)
		close_connection(connection, "it does not read its answers");
	while (all->count > all->most && (connection = find_idle(all)) != NULL)
		close_connection(connection, "there are too many");
}

static void
on_input(struct evbuffer *input, const struct evbuffer_cb_info *info, void *arg)
{
	struct http_connection *connection = arg;
	struct http_connections *all = connection->all;

	(void)input;
	connection->received += info->n_added;
	all->received += info->n_added;
	if (connection->received > INPUT_MAX || all->received > INPUT_SUM_MAX)
		event_active(all->tidy, EV_TIMEOUT, 0);
}

/* What came before has been taken; there may be the next request already. */
static void
reset_received(struct http_connection *connection)
{
	connection->all->received -= connection->received;
	connection->received =
	    evbuffer_get_length(bufferevent_get_input(connection->stream));
	connection->all->received += connection->received;
}

/* It waits for its client, like all those before it in the list. */
static void
begin_turn(struct http_connection *connection)
{
	struct http_connections *all = connection->all;

	evtimer_add(connection->deadline, &turn);
	TAILQ_REMOVE(&all->list, connection, entry);
	TAILQ_INSERT_TAIL(&all->list, connection, entry);
}

static void
on_complete(struct evhttp_request *request, void *arg)
{
	struct http_connection *connection = arg;
	const struct http_connection_callbacks *callbacks =
	    connection->callbacks;

	(void)request;
	bufferevent_set_timeouts(connection->stream, &silence, &silence);
	event_del(connection->stir);
	evtimer_del(connection->look);
	reset_received(connection);
	begin_turn(connection);
	connection->callbacks = NULL;
	if (callbacks != NULL)
		callbacks->sent(connection->arg);
}

struct bufferevent *
http_connections_add(struct event_base *base, void *arg)
{
	struct http_connections *all = arg;
	struct http_connection *connection = xcalloc(1, sizeof(*connection));

	connection->all = all;
	connection->stream =
	    bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	evbuffer_add_cb(
	    bufferevent_get_input(connection->stream), on_input, connection);
	connection->deadline = evtimer_new(base, on_deadline, connection);
	connection->look = evtimer_new(base, on_stir, connection);
	evtimer_add(connection->deadline, &turn);
	TAILQ_INSERT_TAIL(&all->list, connection, entry);
	all->count++;
	event_active(all->tidy, EV_TIMEOUT, 0);
	return connection->stream;
}

struct http_connection *
http_connections_take(
    struct http_connections *connections, struct evhttp_request *request)
{
	struct evhttp_connection *evhttp =
	    evhttp_request_get_connection(request);
	struct http_connection *connection;

	TAILQ_FOREACH (connection, &connections->list, entry)
		if (connection->connection == evhttp)
			break;
	reset_received(connection);
	evhttp_request_set_on_complete_cb(request, on_complete, connection);
	return connection;
}

void
http_connection_work(struct http_connection *connection,
    const struct http_connection_callbacks *callbacks, void *arg)
{
	connection->callbacks = callbacks;
	connection->arg = arg;
	/* As soon as something is sent libevent reads too, and the client need
	 * not say anything. */
	bufferevent_set_timeouts(connection->stream, &forever, &silence);
	evtimer_del(connection->deadline);
	event_add(connection->stir, NULL);
}

void
http_connection_answered(struct http_connection *connection)
{
	begin_turn(connection);
	event_active(connection->all->tidy, EV_TIMEOUT, 0);
}

size_t
http_connection_backlog(const struct http_connection *connection)
{
	return evbuffer_get_length(bufferevent_get_output(connection->stream));
}

static void
on_resume(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	evconnlistener_enable(arg);
}

/* Out of descriptors, or of memory: it would fail again at once. */
static void
on_accept_error(struct evconnlistener *listener, void *arg)
{
	(void)arg; /* libevent's own */
	log_debug("cannot take a connection");
	evconnlistener_disable(listener);
	event_base_once(evconnlistener_get_base(listener), -1, EV_TIMEOUT,
	    on_resume, listener, &accept_pause);
}

struct http_connections *
http_connections_new(
    struct event_base *base, struct evconnlistener *listener, int most)
{
	struct http_connections *connections = xcalloc(1, sizeof(*connections));

	connections->base = base;
	connections->most = most;
	TAILQ_INIT(&connections->list);
	connections->tidy = evtimer_new(base, on_tidy, connections);
	evconnlistener_set_error_cb(listener, on_accept_error);
	return connections;
}

void
http_connections_close(struct http_connections *connections)
{
	struct http_connection *connection;

	on_tidy(-1, EV_TIMEOUT, connections);
	while ((connection = TAILQ_FIRST(&connections->list)) != NULL)
		close_connection(connection, "the server ends");
}

void
http_connections_free(struct http_connections *connections)
{
	struct http_connection *connection;

	/* Those that libevent had no time to tell us of. */
	while ((connection = TAILQ_FIRST(&connections->list)) != NULL)
		forget(connection);
	event_free(connections->tidy);
	free(connections);
}
