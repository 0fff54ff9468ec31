#ifndef HTTP_ENDPOINT_H
#define HTTP_ENDPOINT_H

#include <stdbool.h>

#include "mcp/mcp.h"

/*
 * What the endpoint does with requests of those who may make them: a POST is a
 * message, of a session or for itself, and its answer; a DELETE ends a session.
 */

struct event_base;
struct evhttp_request;
struct http_connection;
struct http_endpoint;

/* At most so many requests are answered at a time. */
struct http_endpoint *http_endpoint_new(
    struct event_base *base, struct mcp *mcp, int most);
void http_endpoint_post(struct http_endpoint *endpoint,
    struct evhttp_request *request, struct http_connection *connection);
void http_endpoint_delete(
    struct http_endpoint *endpoint, struct evhttp_request *request);

/* Takes no more messages; the loop is broken when the last answer has gone out
 * or nobody wants it. */
void http_endpoint_close(struct http_endpoint *endpoint);
/* Whether answers are still on their way out. */
bool http_endpoint_busy(const struct http_endpoint *endpoint);
/* When no connection is left. */
void http_endpoint_free(struct http_endpoint *endpoint);

#endif
