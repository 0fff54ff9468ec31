#include "transport/http_endpoint.h"

#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>

#include "base/alloc.h"
#include "mcp/reply.h"
#include "transport/http_exchange.h"
#include "transport/http_mirror.h"
#include "transport/http_request.h"
#include "transport/http_sessions.h"

#define ACCEPT_BOTH "Accept: application/json, text/event-stream"

struct http_endpoint {
	struct event_base *base;
	struct mcp *mcp;
	struct http_sessions *sessions;
	int exchanges;
	int unsettled, most; /* of the exchanges, and how many there may be */
	int listening;       /* of those */
	bool closed;
};

static void
on_disconnected(void *arg, struct http_exchange *exchange)
{
	(void)arg;
	if (http_exchange_client(exchange) != NULL)
		mcp_client_disconnect(http_exchange_client(exchange), exchange);
}

static void
on_settled(void *arg, struct http_exchange *exchange)
{
	struct http_endpoint *endpoint = arg;

	endpoint->unsettled--;
	if (http_exchange_is_listening(exchange))
		endpoint->listening--;
}

static void
on_over(void *arg, struct http_exchange *exchange)
{
	struct http_endpoint *endpoint = arg;

	(void)exchange;
	endpoint->exchanges--;
	if (endpoint->closed && endpoint->exchanges == 0)
		event_base_loopbreak(endpoint->base);
}

static const struct http_exchange_callbacks exchange_callbacks = {
    on_disconnected, on_settled, on_over};

static void
answer_error(struct http_exchange *exchange, const char *id, enum err_code code,
    const char *message)
{
	struct outlet outlet;
	struct err err;

	err_set(&err, code, "%s", message);
	http_exchange_use_status(exchange);
	http_exchange_outlet(exchange, &outlet);
	reply_send_error(&outlet, id, &err, NULL);
}

/* Hands the message over; what gets no response is accepted. */
static void
deliver(struct http_exchange *exchange, const struct rpc_message *message)
{
	struct outlet outlet;

	http_exchange_outlet(exchange, &outlet);
	mcp_client_handle(http_exchange_client(exchange), message, &outlet);
	if (message->kind != RPC_REQUEST)
		outlet.drop(outlet.arg);
}

/* Half of what we answer at a time is left to those who do not stay.  False: it
 * was refused, and that has been said. */
static bool
may_listen(struct http_endpoint *endpoint, struct evhttp_request *request,
    struct http_exchange *exchange, const struct rpc_message *message)
{
	if (message->kind != RPC_REQUEST ||
	    strcmp(message->method, "subscriptions/listen") != 0)
		return true;
	if (!http_exchange_reads_streams(exchange)) {
		http_exchange_refuse(exchange, 406, ACCEPT_BOTH);
		return false;
	}
	if (endpoint->listening >= endpoint->most / 2) {
		http_add_header(request, "Retry-After", "1");
		http_exchange_refuse(exchange, 503,
		    "Too many clients are listening; try again.");
		return false;
	}
	http_exchange_set_listening(exchange);
	endpoint->listening++;
	return true;
}

static int
check_headers(const struct http_endpoint *endpoint,
    struct evhttp_request *request, const struct http_mirror *mirror,
    const struct rpc_message *message, const char *revision, struct err *err)
{
	const struct mirrored_argument *row = mcp_mirrored(endpoint->mcp);

	if (http_mirror_check(mirror, message, revision, err) != 0)
		return -1;
	for (; row != NULL && row->tool != NULL; row++)
		if (http_mirror_check_argument(row,
		        http_header(request, row->header), message, err) != 0)
			return -1;
	return 0;
}

#define UNKNOWN "MCP-Protocol-Version names a revision that is not supported"

static void
handle_modern(struct http_endpoint *endpoint, struct evhttp_request *request,
    struct http_exchange *exchange, const struct rpc_message *message)
{
	const char *revision = mcp_named_revision(message);
	struct http_mirror mirror = {
	    .version = http_header(request, "MCP-Protocol-Version"),
	    .method = http_header(request, "Mcp-Method"),
	    .name = http_header(request, "Mcp-Name"),
	};
	enum revision known;
	struct err err;

	http_exchange_use_status(exchange);
	/* Only requests must say it in their _meta. */
	if (revision == NULL && message->kind != RPC_REQUEST) {
		revision = mirror.version;
		if (!revision_parse(revision, &known)) {
			answer_error(exchange, NULL, ERR_REQUEST, UNKNOWN);
			return;
		}
	}
	if (revision == NULL)
		answer_error(exchange, message->id, ERR_META,
		    "the header names a revision that wants it in _meta too");
	else if (check_headers(
	             endpoint, request, &mirror, message, revision, &err) != 0)
		answer_error(exchange, message->id, err.code, err.message);
	else if (may_listen(endpoint, request, exchange, message)) {
		http_exchange_own(exchange, mcp_client_new(endpoint->mcp));
		deliver(exchange, message);
	}
}

/* A session is there once initialize has been answered. */
static void
open_session(struct http_endpoint *endpoint, struct evhttp_request *request,
    struct http_exchange *exchange, const struct rpc_message *message)
{
	struct http_session *session = http_session_new(endpoint->sessions);
	struct mcp_client *client;

	if (session == NULL) {
		http_add_header(request, "Retry-After", "1");
		answer_error(exchange, message->id, ERR_FULL,
		    "there are too many sessions; end one, or try later");
		return;
	}
	client = http_session_client(session);
	http_exchange_set_client(exchange, client);
	http_exchange_set_session(exchange, http_session_id(session));
	deliver(exchange, message);
	if (!mcp_client_agreed(client))
		http_session_end(session);
}

/* False: it was refused, and that has been said. */
static bool
enter_session(struct http_endpoint *endpoint, struct evhttp_request *request,
    struct http_exchange *exchange, const char *message_id)
{
	const char *id = http_header(request, "Mcp-Session-Id");
	const char *version = http_header(request, "MCP-Protocol-Version");
	struct http_session *session;
	enum revision revision;

	if (version != NULL && !revision_parse(version, &revision)) {
		answer_error(exchange, message_id, ERR_REQUEST, UNKNOWN);
		return false;
	}
	if (id == NULL) {
		answer_error(exchange, message_id, ERR_REQUEST,
		    "the header Mcp-Session-Id is missing: initialize gives "
		    "one");
		return false;
	}
	session = http_session_find(endpoint->sessions, id);
	if (session == NULL) {
		answer_error(exchange, message_id, ERR_SESSION,
		    "there is no such session, or not any more");
		return false;
	}
	http_exchange_set_client(exchange, http_session_client(session));
	return true;
}

static void
handle_legacy(struct http_endpoint *endpoint, struct evhttp_request *request,
    struct http_exchange *exchange, const struct rpc_message *message)
{
	if (message->kind == RPC_REQUEST &&
	    strcmp(message->method, "initialize") == 0)
		open_session(endpoint, request, exchange, message);
	else if (enter_session(endpoint, request, exchange, message->id))
		deliver(exchange, message);
}

static bool
is_batch(const char *data, size_t length)
{
	while (length > 0 && strchr(" \t\r\n", *data) != NULL) {
		data++;
		length--;
	}
	return length > 0 && *data == '[';
}

static bool
header_is_modern(struct evhttp_request *request)
{
	const char *version = http_header(request, "MCP-Protocol-Version");

	return version != NULL && strcmp(version, "2026") >= 0;
}

/* Only a session can have agreed on a revision that knows batches. */
static void
handle_batch(struct http_endpoint *endpoint, struct evhttp_request *request,
    struct http_exchange *exchange, const char *data, size_t length)
{
	struct outlet outlet;

	http_exchange_outlet(exchange, &outlet);
	if (header_is_modern(request))
		answer_error(exchange, NULL, ERR_REQUEST,
		    "the revision in the header knows no batches");
	else if (enter_session(endpoint, request, exchange, NULL))
		mcp_client_receive(
		    http_exchange_client(exchange), data, length, &outlet);
}

/* Of the revision in the body; or in the header, when that is a modern one. */
static bool
is_modern(struct evhttp_request *request, const struct rpc_message *message)
{
	return mcp_named_revision(message) != NULL || header_is_modern(request);
}

static void
handle_message(struct http_endpoint *endpoint, struct evhttp_request *request,
    struct http_exchange *exchange, const char *data, size_t length)
{
	struct rpc_message message;
	struct err err;

	if (is_batch(data, length)) {
		handle_batch(endpoint, request, exchange, data, length);
		return;
	}
	if (rpc_parse(&message, data, length, &err) != 0)
		/* One of the two has a status to go with it. */
		answer_error(exchange, message.id,
		    err.code == ERR_PARAMS ? ERR_META : err.code, err.message);
	else if (is_modern(request, &message))
		handle_modern(endpoint, request, exchange, &message);
	else
		handle_legacy(endpoint, request, exchange, &message);
	rpc_message_release(&message);
}

/* The body is not kept for as long as the answer takes. */
static void
handle_body(struct http_endpoint *endpoint, struct evhttp_request *request,
    struct http_connection *connection)
{
	struct http_exchange *exchange = http_exchange_new(
	    endpoint->base, request, connection, &exchange_callbacks, endpoint);
	struct evbuffer *body = evbuffer_new();

	endpoint->exchanges++;
	endpoint->unsettled++;
	evbuffer_add_buffer(body, evhttp_request_get_input_buffer(request));
	handle_message(endpoint, request, exchange,
	    (const char *)evbuffer_pullup(body, -1), evbuffer_get_length(body));
	evbuffer_free(body);
}

static bool
is_json(const char *content_type)
{
	return content_type != NULL &&
	    strncasecmp(content_type, "application/json", 16) == 0;
}

void
http_endpoint_post(struct http_endpoint *endpoint,
    struct evhttp_request *request, struct http_connection *connection)
{
	if (!is_json(http_header(request, "Content-Type")))
		http_send_status(
		    request, 415, "Send JSON: Content-Type: application/json");
	else if (!http_accepts(request, "application/json") &&
	    !http_accepts(request, "text/event-stream"))
		http_send_status(request, 406, ACCEPT_BOTH);
	else if (endpoint->closed || endpoint->unsettled >= endpoint->most) {
		http_add_header(request, "Retry-After", "1");
		http_send_status(request, 503,
		    "Too many requests are being answered; try again.");
	} else
		handle_body(endpoint, request, connection);
}

void
http_endpoint_delete(
    struct http_endpoint *endpoint, struct evhttp_request *request)
{
	const char *id = http_header(request, "Mcp-Session-Id");
	struct http_session *session;

	if (id == NULL) {
		http_send_status(request, 400, "Mcp-Session-Id is missing.");
		return;
	}
	session = http_session_find(endpoint->sessions, id);
	if (session == NULL) {
		http_send_status(request, 404, "There is no such session.");
		return;
	}
	http_session_end(session);
	http_send_status(request, 204, NULL);
}

struct http_endpoint *
http_endpoint_new(struct event_base *base, struct mcp *mcp, int most)
{
	struct http_endpoint *endpoint = xcalloc(1, sizeof(*endpoint));

	endpoint->base = base;
	endpoint->mcp = mcp;
	endpoint->sessions = http_sessions_new(base, mcp);
	endpoint->most = most;
	return endpoint;
}

void
http_endpoint_close(struct http_endpoint *endpoint)
{
	endpoint->closed = true;
}

bool
http_endpoint_busy(const struct http_endpoint *endpoint)
{
	return endpoint->exchanges > 0;
}

void
http_endpoint_free(struct http_endpoint *endpoint)
{
	http_sessions_free(endpoint->sessions);
	free(endpoint);
}
