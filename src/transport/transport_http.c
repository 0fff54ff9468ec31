#include "transport/transport_http.h"

#include <stdlib.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>

#include "base/alloc.h"
#include "base/log.h"
#include "engine/descriptors.h"
#include "transport/http_connections.h"
#include "transport/http_cors.h"
#include "transport/http_endpoint.h"
#include "transport/http_guard.h"
#include "transport/http_listen.h"
#include "transport/http_request.h"

/* At a time. */
#define CONNECTIONS_MAX 512

struct transport_http {
	struct event_base *base;
	const struct settings *settings;
	struct evhttp *http;
	struct http_listen listen;
	struct http_guard guard;
	struct http_connections *connections;
	struct http_endpoint *endpoint;
};

static void
refuse(struct evhttp_request *request, const char *header, const char *option)
{
	const char *value = http_header(request, header);
	char *words = xasprintf("The header %s does not say what this server "
	                        "is known by or open to; its option %s adds "
	                        "to that.",
	    header, option);

	log_debug("refused a request: %s is \"%s\"", header,
	    value != NULL ? value : "");
	http_send_status(request, 403, words);
	free(words);
}

/* NULL: it was refused, and that has been said. */
static struct http_connection *
take(struct transport_http *transport, struct evhttp_request *request)
{
	const struct http_guard *guard = &transport->guard;
	struct http_connection *connection =
	    http_connections_take(transport->connections, request);

	if (http_is_doubtful(request)) {
		http_add_header(request, "Connection", "close");
		http_send_status(request, 400,
		    "A header is there twice or has a blank in its name, or "
		    "Transfer-Encoding is not just chunked, or not alone.");
		return NULL;
	}
	if (!http_guard_host(guard, http_header(request, "Host"))) {
		refuse(request, "Host", "--allow-host");
		return NULL;
	}
	if (!http_guard_origin(guard, http_header(request, "Origin"))) {
		refuse(request, "Origin", "--allow-origin");
		return NULL;
	}
	http_cors_allow(request, guard);
	return connection;
}

static bool
has_token(struct transport_http *transport, struct evhttp_request *request)
{
	if (http_guard_token(
	        &transport->guard, http_header(request, "Authorization")))
		return true;
	http_add_header(request, "WWW-Authenticate", "Bearer");
	http_send_status(request, 401, "This server wants a bearer token.");
	return false;
}

static void
on_endpoint(struct evhttp_request *request, void *arg)
{
	struct transport_http *transport = arg;
	struct http_connection *connection = take(transport, request);

	if (connection == NULL ||
	    http_cors_preflight(request, &transport->guard) ||
	    !has_token(transport, request))
		return;
	switch (evhttp_request_get_command(request)) {
	case EVHTTP_REQ_POST:
		http_endpoint_post(transport->endpoint, request, connection);
		break;
	case EVHTTP_REQ_DELETE:
		http_endpoint_delete(transport->endpoint, request);
		break;
	default:
		http_add_header(request, "Allow", "POST, DELETE");
		http_send_status(request, 405,
		    "The endpoint takes POST, and DELETE to end a session.");
	}
}

static void
on_health(struct evhttp_request *request, void *arg)
{
	if (take(arg, request) != NULL)
		http_send(
		    request, 200, "application/json", "{\"status\":\"ok\"}\n");
}

static void
on_elsewhere(struct evhttp_request *request, void *arg)
{
	struct transport_http *transport = arg;
	char *why;

	if (take(transport, request) == NULL)
		return;
	why = xasprintf("There is nothing here; the endpoint is %s.",
	    transport->settings->path);
	http_send_status(request, 404, why);
	free(why);
}

static void
start_server(struct transport_http *transport, struct mcp *mcp)
{
	struct evhttp *http = evhttp_new(transport->base);
	int most = descriptors_reserve(transport->settings, CONNECTIONS_MAX);

	transport->http = http;
	transport->connections = http_connections_new(
	    transport->base, transport->listen.listener, most);
	/* So that there mostly is a connection that can make room. */
	transport->endpoint = http_endpoint_new(transport->base, mcp, most / 2);
	evhttp_set_max_body_size(http, (ev_ssize_t)HTTP_BODY_MAX);
	evhttp_set_max_headers_size(http, (ev_ssize_t)HTTP_HEADERS_MAX);
	evhttp_set_timeout(http, HTTP_SILENCE_SECONDS);
	evhttp_set_allowed_methods(http,
	    EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_DELETE |
	        EVHTTP_REQ_OPTIONS | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT);
	evhttp_set_bevcb(http, http_connections_add, transport->connections);
	evhttp_set_cb(http, transport->settings->path, on_endpoint, transport);
	evhttp_set_cb(http, "/healthz", on_health, transport);
	evhttp_set_gencb(http, on_elsewhere, transport);
	evhttp_bind_listener(http, transport->listen.listener);
	log_warn("listening on %s", transport->listen.address);
}

struct transport_http *
transport_http_new(struct event_base *base, const struct settings *settings,
    struct mcp *mcp, struct err *err)
{
	struct transport_http *transport = xcalloc(1, sizeof(*transport));
	struct evconnlistener *listener;

	transport->base = base;
	transport->settings = settings;
	if (http_listen_open(&transport->listen, base, settings, err) == 0 &&
	    http_guard_init(&transport->guard, settings,
	        transport->listen.loopback, err) == 0) {
		start_server(transport, mcp);
		return transport;
	}
	listener = transport->listen.listener;
	transport_http_free(transport);
	if (listener != NULL)
		evconnlistener_free(listener);
	return NULL;
}

void
transport_http_close(struct transport_http *transport)
{
	evconnlistener_disable(transport->listen.listener);
	/* A pause may end yet (see http_connections.c): libevent does not wake
	 * a listener that has nobody to tell. */
	evconnlistener_set_cb(transport->listen.listener, NULL, NULL);
	http_endpoint_close(transport->endpoint);
}

bool
transport_http_busy(const struct transport_http *transport)
{
	return http_endpoint_busy(transport->endpoint);
}

static void
stop_server(struct transport_http *transport)
{
	http_connections_close(transport->connections);
	/* What nobody is left to hear goes from the loop. */
	event_base_loop(transport->base, EVLOOP_NONBLOCK);
	http_endpoint_free(transport->endpoint);
	evhttp_free(transport->http); /* the listener too */
	http_connections_free(transport->connections);
}

void
transport_http_free(struct transport_http *transport)
{
	/* While it listens: then nobody else's socket is taken for ours. */
	http_listen_release(&transport->listen);
	if (transport->http != NULL)
		stop_server(transport);
	http_guard_release(&transport->guard);
	free(transport);
}
