#include "server.h"

#include <event2/event.h>

#include "mcp.h"
#include "sandbox.h"
#include "shutdown.h"
#include "transport_stdio.h"

static void
on_closed(void *arg)
{
	shutdown_begin(arg);
}

int
server_serve(const struct settings *settings)
{
	struct event_base *base = event_base_new();
	struct sandbox *sandbox = sandbox_new(base, settings);
	struct shutdown *shutdown = shutdown_new(base, sandbox);
	struct mcp *mcp = mcp_new(base, settings, sandbox);
	struct transport_stdio *transport =
	    transport_stdio_new(base, mcp, on_closed, shutdown);

	event_base_dispatch(base);
	transport_stdio_free(transport);
	mcp_free(mcp);
	shutdown_free(shutdown);
	sandbox_free(sandbox);
	event_base_free(base);
	return 0;
}
