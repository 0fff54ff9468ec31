#include "transport/http_exchange.h"

#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>

#include "base/alloc.h"
#include "mcp/mcp.h"
#include "transport/http_connections.h"
#include "transport/http_request.h"

struct http_exchange {
	struct evhttp_request *request; /* NULL: answered, or disconnected */
	struct http_connection *connection;
	const struct http_exchange_callbacks *callbacks;
	void *arg;
	struct mcp_client *client;
	bool owns_client;
	bool reads_streams; /* the client said that it can read one */
	bool streaming;
	bool status_for_errors;
	bool listening;
	char *session_id;
	struct event *keep_alive;
	struct event *over;
};

/* A reader that is so far behind misses what is said on the way. */
#define BACKLOG_MAX ((size_t)1024 * 1024)
/* A stream with nothing to say shows now and then that it is alive: to the
 * client, and to proxies in between. */
static const struct timeval keep_alive_interval = {.tv_sec = 15};

static int
status_of(const struct http_exchange *exchange, enum err_code code)
{
	if (code == ERR_PARSE)
		return 400;
	if (!exchange->status_for_errors)
		return 200;
	switch (code) {
	case ERR_METHOD:
	case ERR_SESSION:
		return 404;
	case ERR_FULL:
		return 503;
	case ERR_REQUEST:
	case ERR_META:
	case ERR_HEADER:
	case ERR_CAPABILITY:
	case ERR_VERSION:
		return 400;
	default:
		return 200;
	}
}

/* From the loop: whoever gave the answer may still be using the client. */
static void
on_over(evutil_socket_t fd, short what, void *arg)
{
	struct http_exchange *exchange = arg;

	(void)fd;
	(void)what;
	exchange->callbacks->over(exchange->arg, exchange);
	if (exchange->owns_client)
		mcp_client_free(exchange->client);
	event_free(exchange->over);
	free(exchange->session_id);
	free(exchange);
}

static void
settle(struct http_exchange *exchange)
{
	event_free(exchange->keep_alive);
	exchange->request = NULL;
	exchange->callbacks->settled(exchange->arg, exchange);
}

/* The request is libevent's again. */
static void
finish(struct http_exchange *exchange)
{
	settle(exchange);
	http_connection_answered(exchange->connection);
}

static void
on_sent(void *arg)
{
	struct http_exchange *exchange = arg;

	event_active(exchange->over, EV_TIMEOUT, 0);
}

/*
 * The request is freed with the connection; but in the middle of a stream
 * libevent may have noticed before us, and then it has taken the request off
 * the connection and left it to us.
 */
static void
on_closed(void *arg)
{
	struct http_exchange *exchange = arg;
	struct evhttp_request *request = exchange->request;

	event_active(exchange->over, EV_TIMEOUT, 0);
	if (request == NULL)
		return;
	settle(exchange);
	if (evhttp_request_get_connection(request) == NULL)
		evhttp_request_free(request);
	exchange->callbacks->disconnected(exchange->arg, exchange);
}

static const struct http_connection_callbacks connection_callbacks = {
    on_sent, on_closed};

static void
begin_answer(struct http_exchange *exchange, const char *content_type)
{
	http_add_header(exchange->request, "Content-Type", content_type);
	if (exchange->session_id != NULL)
		http_add_header(
		    exchange->request, "Mcp-Session-Id", exchange->session_id);
}

static void
begin_stream(struct http_exchange *exchange)
{
	exchange->streaming = true;
	begin_answer(exchange, "text/event-stream");
	http_add_header(exchange->request, "Cache-Control", "no-cache");
	http_add_header(exchange->request, "X-Accel-Buffering", "no");
	evhttp_send_reply_start(exchange->request, 200, NULL);
}

static void
send_event(struct http_exchange *exchange, const char *message, size_t length)
{
	struct evbuffer *event = evbuffer_new();

	evbuffer_add_printf(event, "event: message\ndata: ");
	evbuffer_add(event, message, length);
	evbuffer_add(event, "\n\n", 2);
	evhttp_send_reply_chunk(exchange->request, event);
	evbuffer_free(event);
}

/* False: what is said on the way has no way, or the client has enough. */
static bool
open_stream(struct http_exchange *exchange)
{
	if (!exchange->streaming && exchange->reads_streams)
		begin_stream(exchange);
	return exchange->streaming &&
	    http_connection_backlog(exchange->connection) < BACKLOG_MAX;
}

/* A comment says nothing to the client. */
static void
on_keep_alive(evutil_socket_t fd, short what, void *arg)
{
	struct http_exchange *exchange = arg;
	struct evbuffer *comment;

	(void)fd;
	(void)what;
	/* To a client that does not read it would only put off the end. */
	if (!open_stream(exchange) ||
	    http_connection_backlog(exchange->connection) > 0)
		return;
	comment = evbuffer_new();
	evbuffer_add_printf(comment, ": still here\n\n");
	evhttp_send_reply_chunk(exchange->request, comment);
	evbuffer_free(comment);
}

struct http_exchange *
http_exchange_new(struct event_base *base, struct evhttp_request *request,
    struct http_connection *connection,
    const struct http_exchange_callbacks *callbacks, void *arg)
{
	struct http_exchange *exchange = xcalloc(1, sizeof(*exchange));

	/* One that merely accepts anything may not expect a stream. */
	exchange->reads_streams = http_may_stream(request) &&
	    http_asks_for(request, "text/event-stream");
	exchange->request = request;
	exchange->connection = connection;
	exchange->callbacks = callbacks;
	exchange->arg = arg;
	exchange->over = evtimer_new(base, on_over, exchange);
	exchange->keep_alive =
	    event_new(base, -1, EV_PERSIST, on_keep_alive, exchange);
	event_add(exchange->keep_alive, &keep_alive_interval);
	http_connection_work(connection, &connection_callbacks, exchange);
	return exchange;
}

static void
on_notify(void *arg, const char *message, size_t length)
{
	struct http_exchange *exchange = arg;

	if (exchange->request != NULL && open_stream(exchange))
		send_event(exchange, message, length);
}

static void
send_json(struct http_exchange *exchange, const char *message, size_t length,
    int status)
{
	struct evhttp_request *request = exchange->request;
	struct evbuffer *body = evbuffer_new();

	evbuffer_add(body, message, length);
	begin_answer(exchange, "application/json");
	finish(exchange);
	evhttp_send_reply(request, status, NULL, body);
	evbuffer_free(body);
}

static void
on_reply(void *arg, const char *message, size_t length, enum err_code code)
{
	struct http_exchange *exchange = arg;
	struct evhttp_request *request = exchange->request;

	if (request == NULL)
		return;
	if (code != ERR_NONE) {
		/* What failed has opened no session. */
		free(exchange->session_id);
		exchange->session_id = NULL;
	}
	if (exchange->streaming) {
		send_event(exchange, message, length);
		finish(exchange);
		evhttp_send_reply_end(request);
		return;
	}
	send_json(exchange, message, length, status_of(exchange, code));
}

void
http_exchange_refuse(
    struct http_exchange *exchange, int status, const char *why)
{
	struct evhttp_request *request = exchange->request;

	finish(exchange);
	http_send_status(request, status, why);
}

/* Nothing was asked, or it was taken back. */
static void
on_drop(void *arg)
{
	struct http_exchange *exchange = arg;
	struct evhttp_request *request = exchange->request;

	if (request == NULL)
		return;
	if (!exchange->streaming) {
		http_exchange_refuse(exchange, 202, NULL);
		return;
	}
	finish(exchange);
	evhttp_send_reply_end(request);
}

void
http_exchange_outlet(struct http_exchange *exchange, struct outlet *outlet)
{
	*outlet = (struct outlet){.notify = on_notify,
	    .reply = on_reply,
	    .drop = on_drop,
	    .arg = exchange,
	    .owner = exchange};
}

void
http_exchange_use_status(struct http_exchange *exchange)
{
	exchange->status_for_errors = true;
}

void
http_exchange_set_session(
    struct http_exchange *exchange, const char *session_id)
{
	exchange->session_id = xstrdup(session_id);
}

void
http_exchange_own(struct http_exchange *exchange, struct mcp_client *client)
{
	exchange->client = client;
	exchange->owns_client = true;
}

void
http_exchange_set_client(
    struct http_exchange *exchange, struct mcp_client *client)
{
	exchange->client = client;
}

struct mcp_client *
http_exchange_client(struct http_exchange *exchange)
{
	return exchange->client;
}

bool
http_exchange_reads_streams(const struct http_exchange *exchange)
{
	return exchange->reads_streams;
}

void
http_exchange_set_listening(struct http_exchange *exchange)
{
	exchange->listening = true;
}

bool
http_exchange_is_listening(const struct http_exchange *exchange)
{
	return exchange->listening;
}
