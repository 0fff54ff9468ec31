#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include "outlet.h"

/*
 * One POST and its answer: a JSON body, or a stream of events as soon as there
 * is something to say before the answer.  It notices when the client goes
 * away, and lives until the answer has gone out or nobody wants it.
 */

struct event_base;
struct evhttp_request;
struct http_exchange;
struct mcp_client;

struct http_exchange_callbacks {
	/* The client went away before the answer did. */
	void (*disconnected)(void *arg, struct http_exchange *exchange);
	/* It is over, and gone when this returns. */
	void (*over)(void *arg, struct http_exchange *exchange);
};

struct http_exchange *http_exchange_new(struct event_base *base,
    struct evhttp_request *request,
    const struct http_exchange_callbacks *callbacks, void *arg);

void http_exchange_outlet(
    struct http_exchange *exchange, struct outlet *outlet);
/* In the modern revisions, errors have an HTTP status of their own. */
void http_exchange_use_status(struct http_exchange *exchange);
void http_exchange_set_session(
    struct http_exchange *exchange, const char *session_id);
/* A client of this request alone, to be freed with it. */
void http_exchange_own(
    struct http_exchange *exchange, struct mcp_client *client);
struct mcp_client *http_exchange_client(struct http_exchange *exchange);
void http_exchange_set_client(
    struct http_exchange *exchange, struct mcp_client *client);

/* For what is not answered by the protocol: a status, and a sentence for
 * people, or NULL. */
void http_send_status(
    struct evhttp_request *request, int status, const char *why);

#endif
