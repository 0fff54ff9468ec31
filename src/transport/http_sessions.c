#include "transport/http_sessions.h"

#include <stdlib.h>

#include <bsd/sys/queue.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/token.h"

#define SESSIONS_MAX 256
static const struct timeval idle_limit = {.tv_sec = 3600};

struct http_session {
	TAILQ_ENTRY(http_session) entry;
	struct http_sessions *sessions;
	char id[TOKEN_LENGTH + 1];
	struct mcp_client *client;
	struct event *idle;
};

struct http_sessions {
	struct event_base *base;
	struct mcp *mcp;
	/* The one used last is the last. */
	TAILQ_HEAD(http_session_list, http_session) list;
	int count;
};

struct http_sessions *
http_sessions_new(struct event_base *base, struct mcp *mcp)
{
	struct http_sessions *sessions = xcalloc(1, sizeof(*sessions));

	sessions->base = base;
	sessions->mcp = mcp;
	TAILQ_INIT(&sessions->list);
	return sessions;
}

void
http_session_end(struct http_session *session)
{
	TAILQ_REMOVE(&session->sessions->list, session, entry);
	session->sessions->count--;
	mcp_client_free(session->client);
	event_free(session->idle);
	free(session);
}

void
http_sessions_free(struct http_sessions *sessions)
{
	struct http_session *session;

	while ((session = TAILQ_FIRST(&sessions->list)) != NULL)
		http_session_end(session);
	free(sessions);
}

static void
on_idle(evutil_socket_t fd, short what, void *arg)
{
	struct http_session *session = arg;

	(void)fd;
	(void)what;
	if (mcp_client_busy(session->client))
		evtimer_add(session->idle, &idle_limit);
	else
		http_session_end(session);
}

/* Clients crash and come again: the session that has been silent the longest
 * makes room, unless it waits for a call or has an interpreter. */
static bool
end_oldest(struct http_sessions *sessions)
{
	struct http_session *session;

	TAILQ_FOREACH (session, &sessions->list, entry)
		if (!mcp_client_busy(session->client)) {
			http_session_end(session);
			return true;
		}
	return false;
}

struct http_session *
http_session_new(struct http_sessions *sessions)
{
	struct http_session *session;

	if (sessions->count >= SESSIONS_MAX && !end_oldest(sessions))
		return NULL;
	session = xcalloc(1, sizeof(*session));
	session->sessions = sessions;
	token_make(session->id);
	session->client = mcp_client_new(sessions->mcp);
	session->idle = evtimer_new(sessions->base, on_idle, session);
	evtimer_add(session->idle, &idle_limit);
	TAILQ_INSERT_TAIL(&sessions->list, session, entry);
	sessions->count++;
	return session;
}

struct http_session *
http_session_find(struct http_sessions *sessions, const char *id)
{
	struct http_session *session;

	TAILQ_FOREACH (session, &sessions->list, entry)
		if (token_equal(id, session->id)) {
			TAILQ_REMOVE(&sessions->list, session, entry);
			TAILQ_INSERT_TAIL(&sessions->list, session, entry);
			evtimer_add(session->idle, &idle_limit);
			return session;
		}
	return NULL;
}

const char *
http_session_id(const struct http_session *session)
{
	return session->id;
}

struct mcp_client *
http_session_client(struct http_session *session)
{
	return session->client;
}
