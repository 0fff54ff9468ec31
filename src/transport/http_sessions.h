#ifndef HTTP_SESSIONS_H
#define HTTP_SESSIONS_H

#include "mcp/mcp.h"

/*
 * Sessions of clients from the time of initialize: an id that nobody can
 * guess, and the client behind it.  One that is not used for long is ended.
 */

struct event_base;
struct http_sessions;
struct http_session;

struct http_sessions *http_sessions_new(
    struct event_base *base, struct mcp *mcp);
void http_sessions_free(struct http_sessions *sessions);

/* NULL when there are too many. */
struct http_session *http_session_new(struct http_sessions *sessions);
/* NULL when there is none of that id. */
struct http_session *http_session_find(
    struct http_sessions *sessions, const char *id);
const char *http_session_id(const struct http_session *session);
struct mcp_client *http_session_client(struct http_session *session);
void http_session_end(struct http_session *session);

#endif
