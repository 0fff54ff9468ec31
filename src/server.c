#include "server.h"

#include <event2/event.h>

#include "base/log.h"
#include "base/watch.h"
#include "engine/descriptors.h"
#include "mcp/mcp.h"
#include "sandbox/sandbox.h"
#include "sandbox/shutdown.h"
#include "transport/transport_http.h"
#include "transport/transport_stdio.h"

/* Answers that are ready when the server ends get so long to go out. */
#define FLUSH_SECONDS 2

struct server {
	const struct settings *settings;
	struct event_base *base;
	struct sandbox *sandbox;
	struct shutdown *shutdown;
	struct mcp *mcp;
};

static void
on_closed(void *arg)
{
	struct server *server = arg;

	shutdown_begin(server->shutdown);
}

static int
serve_stdio(struct server *server)
{
	struct transport_stdio *transport =
	    transport_stdio_new(server->base, server->mcp, on_closed, server);

	descriptors_reserve(server->settings, 0);
	event_base_dispatch(server->base);
	return transport_stdio_free(transport);
}

static void
flush_http(struct server *server, struct transport_http *transport)
{
	static const struct timeval limit = {.tv_sec = FLUSH_SECONDS};

	transport_http_close(transport);
	mcp_end_subscriptions(server->mcp);
	if (!transport_http_busy(transport))
		return;
	event_base_loopexit(server->base, &limit);
	event_base_dispatch(server->base);
}

static int
serve_http(struct server *server)
{
	struct err err;
	struct transport_http *transport = transport_http_new(
	    server->base, server->settings, server->mcp, &err);

	if (transport == NULL) {
		log_warn("%s", err.message);
		return 2;
	}
	event_base_dispatch(server->base);
	flush_http(server, transport);
	transport_http_free(transport);
	return 0;
}

int
server_serve(const struct settings *settings)
{
	struct server server = {.settings = settings, .base = watch_new()};
	int status;

	server.sandbox = sandbox_new(server.base, settings);
	server.shutdown = shutdown_new(server.base, server.sandbox);
	server.mcp = mcp_new(&(struct mcp_config){.base = server.base,
	    .settings = settings,
	    .sandbox = server.sandbox});
	status = settings->transport == TRANSPORT_HTTP ? serve_http(&server)
	                                               : serve_stdio(&server);
	mcp_free(server.mcp);
	sandbox_free(server.sandbox);
	shutdown_free(server.shutdown);
	event_base_free(server.base);
	return status;
}
