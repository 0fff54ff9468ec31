#ifndef HTTP_CONNECTIONS_H
#define HTTP_CONNECTIONS_H

#include <stddef.h>

/*
 * The connections of the HTTP server, and what each may cost before we know
 * whose it is: bytes that wait to be read, descriptors, and time.
 *
 * A connection is always in one of two turns.  In the client's it sends a
 * request or reads an answer, and has so long for that; in ours it may take as
 * long as it takes.  When there are too many connections, the one that has
 * waited the longest for its client goes; when they have sent too many bytes,
 * the one that has sent the most; and when too many wait to be read, one that
 * holds many of them and has had the longest to read them.
 */

/* As much as over stdio. */
#define HTTP_BODY_MAX ((size_t)40 * 1024 * 1024)
#define HTTP_HEADERS_MAX ((size_t)32 * 1024)
/* A client that sends or reads nothing for so long is let go; ... */
#define HTTP_SILENCE_SECONDS 30
/* ... and so is one that takes so long for a whole request or answer. */
#define HTTP_TURN_SECONDS 300

struct bufferevent;
struct evconnlistener;
struct event_base;
struct evhttp_request;
struct http_connection;
struct http_connections;

/* To whoever works on an answer.  The last one called is the last call. */
struct http_connection_callbacks {
	/* All of the answer has gone out. */
	void (*sent)(void *arg);
	/* The connection has been closed, by either side. */
	void (*closed)(void *arg);
};

struct http_connections *http_connections_new(
    struct event_base *base, struct evconnlistener *listener, int most);
/* All of them. */
void http_connections_close(struct http_connections *connections);
/* When libevent's server is gone. */
void http_connections_free(struct http_connections *connections);
/* For evhttp_set_bevcb(). */
struct bufferevent *http_connections_add(struct event_base *base, void *arg);

/* A whole request is there: the connection that it came over. */
struct http_connection *http_connections_take(
    struct http_connections *connections, struct evhttp_request *request);
/* The answer takes its time: it is our turn. */
void http_connection_work(struct http_connection *connection,
    const struct http_connection_callbacks *callbacks, void *arg);
/* The answer is complete, and on its way: it is the client's turn. */
void http_connection_answered(struct http_connection *connection);
/* Bytes that the client has not taken yet. */
size_t http_connection_backlog(const struct http_connection *connection);

#endif
