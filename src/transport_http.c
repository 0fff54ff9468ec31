#include "transport_http.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>

#include "alloc.h"
#include "http_exchange.h"
#include "http_guard.h"
#include "http_listen.h"
#include "http_mirror.h"
#include "http_sessions.h"
#include "log.h"
#include "reply.h"

#define BODY_MAX (24 * 1024 * 1024)
#define HEADERS_MAX (32 * 1024)
/* A client that sends or reads slower than this per piece is let go. */
#define IO_SECONDS 30
#define TOKEN_MIN 16
/* Requests at a time; further ones are told to come back. */
#define EXCHANGES_MAX 256
/* With so many descriptors open no further connection is taken: programs need
 * some to be started. */
#define DESCRIPTORS_MAX 512
static const struct timeval accept_pause = {.tv_usec = 200000};

struct transport_http {
	struct event_base *base;
	const struct settings *settings;
	struct mcp *mcp;
	struct evhttp *http;
	struct http_listen listen;
	struct http_guard guard;
	struct http_sessions *sessions;
	struct event *resume;
	int exchanges;
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
on_over(void *arg, struct http_exchange *exchange)
{
	struct transport_http *transport = arg;

	(void)exchange;
	transport->exchanges--;
}

static const struct http_exchange_callbacks exchange_callbacks = {
    on_disconnected, on_over};

static const char *
header(struct evhttp_request *request, const char *name)
{
	return evhttp_find_header(
	    evhttp_request_get_input_headers(request), name);
}

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

static void
handle_modern(struct transport_http *transport, struct evhttp_request *request,
    struct http_exchange *exchange, const struct rpc_message *message)
{
	const char *revision = mcp_named_revision(message);
	struct http_mirror mirror = {
	    .version = header(request, "MCP-Protocol-Version"),
	    .method = header(request, "Mcp-Method"),
	    .name = header(request, "Mcp-Name"),
	};
	struct err err;

	http_exchange_use_status(exchange);
	if (revision == NULL)
		answer_error(exchange, message->id, ERR_META,
		    "the header names a revision that wants it in _meta too");
	else if (http_mirror_check(&mirror, message, revision, &err) != 0)
		answer_error(exchange, message->id, err.code, err.message);
	else {
		http_exchange_own(exchange, mcp_client_new(transport->mcp));
		deliver(exchange, message);
	}
}

/* initialize opens a session; all else belongs to one.  NULL: it was refused,
 * and that has been said. */
static struct http_session *
choose_session(struct transport_http *transport, struct evhttp_request *request,
    struct http_exchange *exchange, const char *message_id, bool opening)
{
	const char *id = header(request, "Mcp-Session-Id");
	const char *version = header(request, "MCP-Protocol-Version");
	struct http_session *session;
	enum revision revision;

	if (opening) {
		session = http_session_new(transport->sessions);
		if (session == NULL)
			answer_error(exchange, message_id, ERR_BUSY,
			    "there are too many sessions; end one, or try "
			    "later");
		return session;
	}
	if (version != NULL && !revision_parse(version, &revision)) {
		answer_error(exchange, message_id, ERR_REQUEST,
		    "MCP-Protocol-Version names a revision that is not "
		    "supported");
		return NULL;
	}
	if (id == NULL) {
		answer_error(exchange, message_id, ERR_REQUEST,
		    "the header Mcp-Session-Id is missing: initialize gives "
		    "one");
		return NULL;
	}
	session = http_session_find(transport->sessions, id);
	if (session == NULL)
		answer_error(exchange, message_id, ERR_SESSION,
		    "there is no such session, or not any more");
	return session;
}

static bool
enter_session(struct transport_http *transport, struct evhttp_request *request,
    struct http_exchange *exchange, const char *message_id, bool opening)
{
	struct http_session *session =
	    choose_session(transport, request, exchange, message_id, opening);

	if (session == NULL)
		return false;
	http_exchange_set_client(exchange, http_session_client(session));
	http_exchange_set_session(exchange, http_session_id(session));
	return true;
}

static void
handle_legacy(struct transport_http *transport, struct evhttp_request *request,
    struct http_exchange *exchange, const struct rpc_message *message)
{
	bool opening = message->kind == RPC_REQUEST &&
	    strcmp(message->method, "initialize") == 0;

	if (enter_session(transport, request, exchange, message->id, opening))
		deliver(exchange, message);
}

/* Only a session can have agreed on a revision that knows batches. */
static void
handle_batch(struct transport_http *transport, struct evhttp_request *request,
    struct http_exchange *exchange, const char *data, size_t length)
{
	struct outlet outlet;

	http_exchange_outlet(exchange, &outlet);
	if (enter_session(transport, request, exchange, NULL, false))
		mcp_client_receive(
		    http_exchange_client(exchange), data, length, &outlet);
}

/* Of the revision in the body; or in the header, when that is a modern one. */
static bool
is_modern(struct evhttp_request *request, const struct rpc_message *message)
{
	const char *version = header(request, "MCP-Protocol-Version");

	return mcp_named_revision(message) != NULL ||
	    (version != NULL && strcmp(version, "2026") >= 0);
}

static void
handle_message(struct transport_http *transport, struct evhttp_request *request,
    const char *data, size_t length)
{
	struct http_exchange *exchange = http_exchange_new(
	    transport->base, request, &exchange_callbacks, transport);
	struct rpc_message message;
	struct err err;

	transport->exchanges++;
	if (length > 0 && data[0] == '[') {
		handle_batch(transport, request, exchange, data, length);
		return;
	}
	if (rpc_parse(&message, data, length, &err) != 0)
		answer_error(exchange, message.id, err.code, err.message);
	else if (is_modern(request, &message))
		handle_modern(transport, request, exchange, &message);
	else
		handle_legacy(transport, request, exchange, &message);
	rpc_message_release(&message);
}

static bool
accepts_us(const char *accept)
{
	return accept == NULL || strstr(accept, "*/*") != NULL ||
	    strstr(accept, "application/") != NULL ||
	    strstr(accept, "text/") != NULL;
}

static bool
is_json(const char *content_type)
{
	return content_type != NULL &&
	    strncasecmp(content_type, "application/json", 16) == 0;
}

static void
handle_post(struct transport_http *transport, struct evhttp_request *request)
{
	struct evbuffer *body = evhttp_request_get_input_buffer(request);
	size_t length = evbuffer_get_length(body);

	if (!is_json(header(request, "Content-Type")))
		http_send_status(
		    request, 415, "Send JSON: Content-Type: application/json");
	else if (!accepts_us(header(request, "Accept")))
		http_send_status(request, 406,
		    "Accept: application/json, text/event-stream");
	else if (transport->closed || transport->exchanges >= EXCHANGES_MAX) {
		evhttp_add_header(evhttp_request_get_output_headers(request),
		    "Retry-After", "1");
		http_send_status(request, 503,
		    "Too many requests are being answered; try again.");
	} else
		handle_message(transport, request,
		    (const char *)evbuffer_pullup(body, -1), length);
}

static void
handle_delete(struct transport_http *transport, struct evhttp_request *request)
{
	const char *id = header(request, "Mcp-Session-Id");
	struct http_session *session = NULL;

	if (id != NULL)
		session = http_session_find(transport->sessions, id);
	if (session != NULL)
		http_session_end(session);
	if (session != NULL)
		http_send_status(request, 204, NULL);
	else if (id != NULL)
		http_send_status(request, 404, "There is no such session.");
	else
		http_send_status(request, 400, "Mcp-Session-Id is missing.");
}

static bool
admitted(struct transport_http *transport, struct evhttp_request *request)
{
	const struct http_guard *guard = &transport->guard;

	if (!http_guard_host(guard, header(request, "Host")) ||
	    !http_guard_origin(guard, header(request, "Origin"))) {
		log_debug("refused a request with a strange Host or Origin");
		http_send_status(request, 403,
		    "Host or Origin is not one that this server knows; "
		    "--allow-host and --allow-origin add some.");
		return false;
	}
	if (!http_guard_token(guard, header(request, "Authorization"))) {
		evhttp_add_header(evhttp_request_get_output_headers(request),
		    "WWW-Authenticate", "Bearer");
		http_send_status(
		    request, 401, "This server wants a bearer token.");
		return false;
	}
	return true;
}

static void
on_endpoint(struct evhttp_request *request, void *arg)
{
	struct transport_http *transport = arg;

	if (!admitted(transport, request))
		return;
	switch (evhttp_request_get_command(request)) {
	case EVHTTP_REQ_POST:
		handle_post(transport, request);
		break;
	case EVHTTP_REQ_DELETE:
		handle_delete(transport, request);
		break;
	default:
		evhttp_add_header(evhttp_request_get_output_headers(request),
		    "Allow", "POST, DELETE");
		http_send_status(request, 405,
		    "The endpoint takes POST, and DELETE to end a session.");
	}
}

static void
on_health(struct evhttp_request *request, void *arg)
{
	struct transport_http *transport = arg;
	struct evbuffer *body;

	if (!http_guard_host(&transport->guard, header(request, "Host"))) {
		http_send_status(
		    request, 403, "Host is not one that this server knows.");
		return;
	}
	body = evbuffer_new();
	evbuffer_add_printf(body, "{\"status\":\"ok\"}\n");
	evhttp_add_header(evhttp_request_get_output_headers(request),
	    "Content-Type", "application/json");
	evhttp_send_reply(request, 200, "OK", body);
	evbuffer_free(body);
}

static void
on_elsewhere(struct evhttp_request *request, void *arg)
{
	struct transport_http *transport = arg;
	char *why = xasprintf("There is nothing here; the endpoint is %s.",
	    transport->settings->path);

	http_send_status(request, 404, why);
	free(why);
}

static int
count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	if (directory == NULL)
		return 0;
	while (readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count;
}

static void
on_resume(evutil_socket_t fd, short what, void *arg)
{
	struct transport_http *transport = arg;

	(void)fd;
	(void)what;
	if (count_descriptors() > DESCRIPTORS_MAX)
		evtimer_add(transport->resume, &accept_pause);
	else if (!transport->closed)
		evconnlistener_enable(transport->listen.listener);
}

/* Called for each connection that has been taken. */
static struct bufferevent *
on_connection(struct event_base *base, void *arg)
{
	struct transport_http *transport = arg;

	if (count_descriptors() > DESCRIPTORS_MAX) {
		evconnlistener_disable(transport->listen.listener);
		evtimer_add(transport->resume, &accept_pause);
	}
	return bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
}

static int
read_token(const char *path, char **token, struct err *err)
{
	char text[4097];
	ssize_t length = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		length = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (length < 0)
		return err_system(err, errno, "--token-file %s", path);
	text[length] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	*token = xstrdup(text);
	return 0;
}

/* From the file if there is one, else from the environment. */
static int
find_token(const struct settings *settings, char **token, struct err *err)
{
	if (settings->token_file != NULL &&
	    read_token(settings->token_file, token, err) != 0)
		return -1;
	if (*token == NULL && settings->token != NULL)
		*token = xstrdup(settings->token);
	if (*token == NULL || strlen(*token) >= TOKEN_MIN)
		return 0;
	return err_set(err, ERR_ARGUMENT,
	    "%s: a token has %d characters at least; \"openssl rand -hex 32\" "
	    "makes a good one",
	    settings->token_file != NULL ? settings->token_file
	                                 : "CODE_SANDBOX_TOKEN",
	    TOKEN_MIN);
}

static int
set_guard(struct transport_http *transport, struct err *err)
{
	const struct settings *settings = transport->settings;
	struct http_guard *guard = &transport->guard;

	if (settings->allow_host != NULL)
		strlist_add_split(&guard->hosts, settings->allow_host, ',');
	if (settings->allow_origin != NULL)
		strlist_add_split(&guard->origins, settings->allow_origin, ',');
	if (settings->listen == NULL)
		strlist_add(&guard->hosts, settings->host);
	if (find_token(settings, &guard->token, err) != 0)
		return -1;
	if (guard->token == NULL && !transport->listen.loopback)
		return err_set(err, ERR_ARGUMENT,
		    "%s can be reached from other machines, and whoever "
		    "reaches it can run code: give it a token with "
		    "--token-file or CODE_SANDBOX_TOKEN, or listen on "
		    "127.0.0.1",
		    settings->host);
	return 0;
}

static void
start_server(struct transport_http *transport)
{
	struct evhttp *http = evhttp_new(transport->base);

	evhttp_set_max_body_size(http, BODY_MAX);
	evhttp_set_max_headers_size(http, HEADERS_MAX);
	evhttp_set_timeout(http, IO_SECONDS);
	evhttp_set_allowed_methods(http,
	    EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_DELETE |
	        EVHTTP_REQ_OPTIONS | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT);
	evhttp_set_bevcb(http, on_connection, transport);
	evhttp_set_cb(http, transport->settings->path, on_endpoint, transport);
	evhttp_set_cb(http, "/healthz", on_health, transport);
	evhttp_set_gencb(http, on_elsewhere, transport);
	evhttp_bind_listener(http, transport->listen.listener);
	transport->http = http;
	log_warn("listening on %s", transport->listen.address);
}

struct transport_http *
transport_http_new(struct event_base *base, const struct settings *settings,
    struct mcp *mcp, struct err *err)
{
	struct transport_http *transport = xcalloc(1, sizeof(*transport));

	transport->base = base;
	transport->settings = settings;
	transport->mcp = mcp;
	transport->sessions = http_sessions_new(base, mcp);
	transport->resume = evtimer_new(base, on_resume, transport);
	if (http_listen_open(&transport->listen, base, settings, err) == 0 &&
	    set_guard(transport, err) == 0) {
		start_server(transport);
		return transport;
	}
	if (transport->listen.listener != NULL)
		evconnlistener_free(transport->listen.listener);
	transport_http_free(transport);
	return NULL;
}

void
transport_http_close(struct transport_http *transport)
{
	transport->closed = true;
	evconnlistener_disable(transport->listen.listener);
}

bool
transport_http_busy(const struct transport_http *transport)
{
	return transport->exchanges > 0;
}

void
transport_http_free(struct transport_http *transport)
{
	http_sessions_free(transport->sessions);
	if (transport->http != NULL)
		evhttp_free(transport->http); /* the listener too */
	event_free(transport->resume);
	http_listen_release(&transport->listen);
	http_guard_release(&transport->guard);
	free(transport);
}
