#ifndef METHOD_H
#define METHOD_H

#include <stdbool.h>

#include "mcp/reply.h"
#include "mcp/request.h"

/*
 * A row for each method of the protocol.  The table of this server is
 * mcp_methods; a program that tests the protocol can have another.
 */

struct mcp_client;

/* Fills in reply->result, and it is sent; or fails; or sets *later, and the
 * answer comes by itself. */
typedef int method_fn(struct mcp_client *client, const struct request *request,
    struct reply *reply, bool *later, struct err *err);

enum era { ERA_LEGACY = 1, ERA_MODERN = 2, ERA_BOTH = 3 };

struct method {
	const char *name; /* NULL ends a table */
	method_fn *run;
	enum era era;
	bool cacheable;   /* its result may be kept for a while by the client */
	bool needs_tasks; /* only for clients that know tasks */
};

extern const struct method mcp_methods[];

/* Fails for a client that does not know tasks. */
int method_require_tasks(
    const struct request *request, struct reply *reply, struct err *err);
/* The revisions that we speak, the newest first. */
void method_add_versions(yyjson_mut_doc *doc, yyjson_mut_val *list);

#endif
