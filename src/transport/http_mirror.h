#ifndef HTTP_MIRROR_H
#define HTTP_MIRROR_H

#include "base/err.h"
#include "mcp/mcp.h"
#include "mcp/rpc.h"

/*
 * A modern request over HTTP says in headers what its body says: the revision,
 * the method, and what the method is about.  They must agree, or something on
 * the way sees another request than we do.  NULL stands for a header that did
 * not come.
 */

struct http_mirror {
	const char *version; /* MCP-Protocol-Version */
	const char *method;  /* Mcp-Method */
	const char *name;    /* Mcp-Name */
};

int http_mirror_check(const struct http_mirror *mirror,
    const struct rpc_message *message, const char *revision, struct err *err);
/* text is what the header says.  Of a message that does not call the tool,
 * there is nothing to say. */
int http_mirror_check_argument(const struct mirrored_argument *argument,
    const char *text, const struct rpc_message *message, struct err *err);

#endif
