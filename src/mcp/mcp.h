#ifndef MCP_H
#define MCP_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/outlet.h"
#include "mcp/rpc.h"
#include "sandbox/sandbox.h"
#include "settings/settings.h"

/*
 * The Model Context Protocol over any transport.
 *
 * There is one struct mcp in a server.  A transport makes an mcp_client for
 * each client that it can tell from others, and hands it the messages that
 * come in, each with the outlet for its answer.
 *
 * Two eras are served, request by request.  A request whose _meta names a
 * revision is modern and stands for itself; others belong to what initialize
 * agreed on.
 */

struct event_base;
struct mcp;
struct mcp_client;
struct method;

/* An argument of a tool that clients repeat in a header of its own, where there
 * are headers: x-mcp-header in the tool's input schema says so. */
struct mirrored_argument {
	const char *tool; /* NULL ends a table */
	const char *argument;
	const char *header; /* Mcp-Param-... */
};

/* For a server that has requests for its clients; ours has none. */
struct mcp_asker {
	/* A response came; whoever asked knows its id. */
	void (*answered)(
	    struct mcp_client *client, const struct rpc_message *response);
	/* Nobody listens to the outlets of this owner any more; NULL: to none,
	 * the client is going. */
	void (*disconnected)(struct mcp_client *client, const void *owner);
};

struct mcp_config {
	struct event_base *base;
	const struct settings *settings;
	struct sandbox *sandbox;
	/* Another server than ours has its own: */
	const struct method *methods;
	const struct mirrored_argument *mirrored;
	const struct mcp_asker *asker;
};

struct mcp *mcp_new(const struct mcp_config *config);
void mcp_free(struct mcp *mcp);
/* The arguments of its tools that are repeated in headers; or NULL. */
const struct mirrored_argument *mcp_mirrored(const struct mcp *mcp);
/* Before the end, so that their clients hear of it. */
void mcp_end_subscriptions(struct mcp *mcp);

struct mcp_client *mcp_client_new(struct mcp *mcp);
/* Its calls are cancelled, its subscriptions ended. */
void mcp_client_free(struct mcp_client *client);
/* initialize has been answered. */
bool mcp_client_agreed(const struct mcp_client *client);
/* It waits for calls, or has sessions. */
bool mcp_client_busy(const struct mcp_client *client);

/* A message as it came. */
void mcp_client_receive(struct mcp_client *client, const char *data,
    size_t length, const struct outlet *outlet);
/* The same, for a transport that has read it already. */
void mcp_client_handle(struct mcp_client *client,
    const struct rpc_message *message, const struct outlet *outlet);
/* Nobody listens to the outlets of this owner any more. */
void mcp_client_disconnect(struct mcp_client *client, const void *owner);

/* The revision that a message names for itself; NULL: it is of the era of
 * initialize. */
const char *mcp_named_revision(const struct rpc_message *message);

#endif
