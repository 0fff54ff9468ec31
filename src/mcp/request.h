#ifndef REQUEST_H
#define REQUEST_H

#include <stdbool.h>

#include "mcp/outlet.h"
#include "mcp/revision.h"
#include "mcp/rpc.h"

/* A request, and what it says of the client that sent it. */
struct request {
	const struct rpc_message *message;
	struct outlet outlet;
	enum revision revision;
	bool tasks; /* the client can poll for the result of a call */
};

#endif
