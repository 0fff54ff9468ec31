#include "http_guard.h"

#include <stdlib.h>
#include <string.h>

#include "token.h"

static const char *const loopback_names[] = {
    "localhost", "127.0.0.1", "[::1]", "::1"};

void
http_guard_release(struct http_guard *guard)
{
	strlist_release(&guard->hosts);
	strlist_release(&guard->origins);
	free(guard->token);
	*guard = (struct http_guard){0};
}

/* The length of host in "host:port"; a port is digits only. */
static size_t
name_length(const char *host)
{
	const char *colon = strrchr(host, ':');
	const char *bracket = strrchr(host, ']');

	if (colon == NULL || (bracket != NULL && bracket > colon))
		return strlen(host);
	if (colon[1 + strspn(colon + 1, "0123456789")] != '\0')
		return strlen(host);
	return (size_t)(colon - host);
}

static bool
is_name(const char *host, size_t length, const char *name)
{
	return strlen(name) == length && strncasecmp(host, name, length) == 0;
}

static bool
is_loopback(const char *host)
{
	size_t length = name_length(host);

	for (size_t i = 0;
	     i < sizeof(loopback_names) / sizeof(loopback_names[0]); i++)
		if (is_name(host, length, loopback_names[i]))
			return true;
	return false;
}

bool
http_guard_host(const struct http_guard *guard, const char *host)
{
	if (host == NULL)
		return false;
	if (is_loopback(host))
		return true;
	for (size_t i = 0; i < guard->hosts.count; i++)
		if (is_name(host, name_length(host), guard->hosts.items[i]) ||
		    is_name(host, strlen(host), guard->hosts.items[i]))
			return true;
	return false;
}

bool
http_guard_origin(const struct http_guard *guard, const char *origin)
{
	/* Only browsers send one. */
	if (origin == NULL)
		return true;
	for (size_t i = 0; i < guard->origins.count; i++)
		if (strcasecmp(origin, guard->origins.items[i]) == 0)
			return true;
	if (strncasecmp(origin, "http://", 7) == 0)
		return is_loopback(origin + 7);
	if (strncasecmp(origin, "https://", 8) == 0)
		return is_loopback(origin + 8);
	return false;
}

bool
http_guard_token(const struct http_guard *guard, const char *authorization)
{
	static const char scheme[] = "Bearer ";

	if (guard->token == NULL)
		return true;
	return authorization != NULL &&
	    strncasecmp(authorization, scheme, sizeof(scheme) - 1) == 0 &&
	    token_equal(authorization + sizeof(scheme) - 1, guard->token);
}
