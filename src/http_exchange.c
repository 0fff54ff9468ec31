#include "http_exchange.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>

#include "alloc.h"
#include "mcp.h"

struct http_exchange {
	struct event_base *base;
	struct evhttp_request *request; /* NULL: answered, or disconnected */
	const struct http_exchange_callbacks *callbacks;
	void *arg;
	struct mcp_client *client;
	bool owns_client;
	bool streaming;
	bool status_for_errors;
	char *session_id;
	struct event *hang_up;
	struct event *over;
};

static const struct {
	int status;
	const char *reason;
} reasons[] = {
    {200, "OK"},
    {202, "Accepted"},
    {204, "No Content"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {415, "Unsupported Media Type"},
    {429, "Too Many Requests"},
    {503, "Service Unavailable"},
};

static const char *
reason_of(int status)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "";
}

void
http_send_status(struct evhttp_request *request, int status, const char *why)
{
	struct evbuffer *body = evbuffer_new();

	evhttp_add_header(evhttp_request_get_output_headers(request),
	    "Content-Type", "text/plain; charset=utf-8");
	if (why != NULL)
		evbuffer_add_printf(body, "%s\n", why);
	evhttp_send_reply(request, status, reason_of(status), body);
	evbuffer_free(body);
}

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
	case ERR_BUSY:
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
finish(struct http_exchange *exchange)
{
	struct evhttp_connection *connection =
	    evhttp_request_get_connection(exchange->request);

	evhttp_connection_set_closecb(connection, NULL, NULL);
	event_free(exchange->hang_up);
	exchange->hang_up = NULL;
	exchange->request = NULL;
	event_active(exchange->over, EV_TIMEOUT, 0);
}

/* The connection is being freed, and the request with it. */
static void
on_close(struct evhttp_connection *connection, void *arg)
{
	struct http_exchange *exchange = arg;

	(void)connection;
	event_free(exchange->hang_up);
	exchange->hang_up = NULL;
	exchange->request = NULL;
	exchange->callbacks->disconnected(exchange->arg, exchange);
	event_active(exchange->over, EV_TIMEOUT, 0);
}

/*
 * libevent does not look at a connection while its request is being handled,
 * so we look ourselves whether the other side has closed it.
 */
static void
on_hang_up(evutil_socket_t fd, short what, void *arg)
{
	struct http_exchange *exchange = arg;

	(void)fd;
	(void)what;
	evhttp_connection_free(
	    evhttp_request_get_connection(exchange->request));
}

struct http_exchange *
http_exchange_new(struct event_base *base, struct evhttp_request *request,
    const struct http_exchange_callbacks *callbacks, void *arg)
{
	struct http_exchange *exchange = xcalloc(1, sizeof(*exchange));
	struct evhttp_connection *connection =
	    evhttp_request_get_connection(request);
	struct bufferevent *stream =
	    evhttp_connection_get_bufferevent(connection);

	exchange->base = base;
	exchange->request = request;
	exchange->callbacks = callbacks;
	exchange->arg = arg;
	exchange->over = evtimer_new(base, on_over, exchange);
	exchange->hang_up = event_new(
	    base, bufferevent_getfd(stream), EV_CLOSED, on_hang_up, exchange);
	event_add(exchange->hang_up, NULL);
	evhttp_connection_set_closecb(connection, on_close, exchange);
	return exchange;
}

static void
add_header(struct http_exchange *exchange, const char *name, const char *value)
{
	evhttp_add_header(
	    evhttp_request_get_output_headers(exchange->request), name, value);
}

static void
begin_answer(struct http_exchange *exchange, const char *content_type)
{
	add_header(exchange, "Content-Type", content_type);
	if (exchange->session_id != NULL)
		add_header(exchange, "Mcp-Session-Id", exchange->session_id);
}

static void
begin_stream(struct http_exchange *exchange)
{
	exchange->streaming = true;
	begin_answer(exchange, "text/event-stream");
	add_header(exchange, "Cache-Control", "no-cache");
	add_header(exchange, "X-Accel-Buffering", "no");
	evhttp_send_reply_start(exchange->request, 200, reason_of(200));
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

static void
on_notify(void *arg, const char *message, size_t length)
{
	struct http_exchange *exchange = arg;

	if (exchange->request == NULL)
		return;
	if (!exchange->streaming)
		begin_stream(exchange);
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
	evhttp_send_reply(request, status, reason_of(status), body);
	evbuffer_free(body);
}

static void
on_reply(void *arg, const char *message, size_t length, enum err_code code)
{
	struct http_exchange *exchange = arg;
	struct evhttp_request *request = exchange->request;

	if (request == NULL)
		return;
	if (exchange->streaming) {
		send_event(exchange, message, length);
		finish(exchange);
		evhttp_send_reply_end(request);
		return;
	}
	send_json(exchange, message, length, status_of(exchange, code));
}

/* Nothing was asked, or it was taken back. */
static void
on_drop(void *arg)
{
	struct http_exchange *exchange = arg;
	struct evhttp_request *request = exchange->request;
	bool streaming = exchange->streaming;

	if (request == NULL)
		return;
	finish(exchange);
	if (streaming)
		evhttp_send_reply_end(request);
	else
		http_send_status(request, 202, NULL);
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
