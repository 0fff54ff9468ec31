#ifndef TRANSPORT_HTTP_H
#define TRANSPORT_HTTP_H

#include "mcp/mcp.h"

/*
 * Streamable HTTP: one endpoint that takes POST, on a TCP address or a unix
 * socket; and GET /healthz for supervisors.
 */

struct event_base;
struct transport_http;

/* NULL, and why, when it cannot listen or must not. */
struct transport_http *transport_http_new(struct event_base *base,
    const struct settings *settings, struct mcp *mcp, struct err *err);
/* Takes no more requests; the loop is broken when the last answer has gone out
 * or nobody wants it. */
void transport_http_close(struct transport_http *transport);
/* Whether answers are still on their way out. */
bool transport_http_busy(const struct transport_http *transport);
void transport_http_free(struct transport_http *transport);

#endif
