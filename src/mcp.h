#ifndef MCP_H
#define MCP_H

#include <stddef.h>

#include "sandbox.h"
#include "settings.h"

/*
 * The Model Context Protocol over any transport.  A transport makes one
 * mcp_client for each client it serves, hands it every message that comes in,
 * and sends what it is given.
 */

struct mcp_client;

struct event_base;

struct mcp_config {
	struct event_base *base;
	const struct settings *settings;
	struct sandbox *sandbox;
	/* Sends one message: JSON text without a newline in it. */
	void (*send)(void *arg, const char *message, size_t length);
	void *arg;
};

struct mcp_client *mcp_client_new(const struct mcp_config *config);
/* Its calls are cancelled. */
void mcp_client_free(struct mcp_client *client);
void mcp_client_receive(
    struct mcp_client *client, const char *message, size_t length);
/* A message that the transport could not even take in. */
void mcp_client_refuse(struct mcp_client *client, const struct err *err);

#endif
