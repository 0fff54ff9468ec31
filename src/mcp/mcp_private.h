#ifndef MCP_PRIVATE_H
#define MCP_PRIVATE_H

/* What mcp.c shares with mcp_methods.c. */

#include <bsd/sys/queue.h>

#include "mcp/calls.h"
#include "mcp/mcp.h"
#include "mcp/method.h"
#include "mcp/subscriptions.h"
#include "mcp/tasks.h"

#define TASKS_EXTENSION "io.modelcontextprotocol/tasks"

struct mcp {
	struct mcp_config config;
	struct tasks *tasks;
	LIST_HEAD(mcp_clients, mcp_client) clients;
};

struct mcp_client {
	LIST_ENTRY(mcp_client) entry;
	struct mcp *mcp;
	enum revision revision; /* that initialize agreed on */
	bool agreed;
	struct calls *calls;
	struct subscriptions subscriptions;
};

#endif
