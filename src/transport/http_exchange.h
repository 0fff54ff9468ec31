#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include <stdbool.h>

#include "mcp/outlet.h"

/*
 * One POST and its answer: a JSON body, or a stream of events as soon as there
 * is something to say before the answer.  It notices when the client goes
 * away, and lives until the answer has gone out or nobody wants it.
 */

struct event_base;
struct evhttp_request;
struct http_connection;
struct http_exchange;
struct mcp_client;

struct http_exchange_callbacks {
	/* The client went away before the answer did. */
	void (*disconnected)(void *arg, struct http_exchange *exchange);
	/* Nobody works on it any more: it was answered, or nobody listens. */
	void (*settled)(void *arg, struct http_exchange *exchange);
	/* The answer has gone out, or cannot; the exchange is gone when this
	 * returns. */
	void (*over)(void *arg, struct http_exchange *exchange);
};

struct http_exchange *http_exchange_new(struct event_base *base,
    struct evhttp_request *request, struct http_connection *connection,
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

/* The client reads streams of events. */
bool http_exchange_reads_streams(const struct http_exchange *exchange);
/* It is one that goes on for as long as the client likes. */
void http_exchange_set_listening(struct http_exchange *exchange);
bool http_exchange_is_listening(const struct http_exchange *exchange);
/* Not by the protocol: a status, and a sentence for people, or NULL. */
void http_exchange_refuse(
    struct http_exchange *exchange, int status, const char *why);

#endif
