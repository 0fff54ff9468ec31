#include "transport/http_cors.h"

#include <event2/http.h>

#include "transport/http_guard.h"
#include "transport/http_request.h"

void
http_cors_allow(struct evhttp_request *request, const struct http_guard *guard)
{
	const char *origin = http_header(request, "Origin");

	if (!http_guard_page(guard, origin))
		return;
	http_add_header(request, "Access-Control-Allow-Origin", origin);
	http_add_header(request, "Access-Control-Expose-Headers",
	    "Mcp-Session-Id, WWW-Authenticate, Retry-After");
	http_add_header(request, "Vary", "Origin");
}

bool
http_cors_preflight(
    struct evhttp_request *request, const struct http_guard *guard)
{
	if (evhttp_request_get_command(request) != EVHTTP_REQ_OPTIONS ||
	    !http_guard_page(guard, http_header(request, "Origin")))
		return false;
	http_add_header(
	    request, "Access-Control-Allow-Methods", "POST, DELETE");
	http_add_header(request, "Access-Control-Allow-Headers",
	    "Accept, Authorization, Content-Type, Mcp-Session-Id, "
	    "MCP-Protocol-Version, Mcp-Method, Mcp-Name");
	http_add_header(request, "Access-Control-Max-Age", "600");
	http_send_status(request, 204, NULL);
	return true;
}
