#include "transport/http_guard.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/token.h"
#include "transport/http_token.h"

static const char *const loopback_names[] = {
    "localhost", "127.0.0.1", "[::1]", "::1"};

static void
add_names(struct http_guard *guard, const struct settings *settings)
{
	if (settings->allow_host != NULL)
		strlist_add_split(&guard->hosts, settings->allow_host, ',');
	if (settings->allow_origin != NULL)
		strlist_add_split(&guard->origins, settings->allow_origin, ',');
	if (settings->listen != NULL)
		return;
	strlist_add(&guard->hosts, settings->host);
	if (strchr(settings->host, ':') != NULL)
		strlist_addf(&guard->hosts, "[%s]", settings->host);
}

int
http_guard_init(struct http_guard *guard, const struct settings *settings,
    bool loopback, struct err *err)
{
	add_names(guard, settings);
	if (http_token_find(settings, &guard->token, err) != 0)
		return -1;
	if (guard->token == NULL && !loopback)
		return err_set(err, ERR_ARGUMENT,
		    "%s can be reached from other machines, and whoever "
		    "reaches it can run code: give it a token with "
		    "--token-file or CODE_SANDBOX_TOKEN, or listen on "
		    "127.0.0.1",
		    settings->host);
	if (guard->token == NULL && settings->allow_host != NULL)
		log_warn("--allow-host: if that is a proxy, whoever reaches it "
		         "can run code here; --token-file asks for a token");
	return 0;
}

void
http_guard_release(struct http_guard *guard)
{
	strlist_release(&guard->hosts);
	strlist_release(&guard->origins);
	free(guard->token);
	*guard = (struct http_guard){0};
}

/* The length of host in "host:port"; a port is digits only.  Colons inside an
 * address are in brackets, or there is no port. */
static size_t
name_length(const char *host)
{
	const char *bracket = strrchr(host, ']');
	const char *colon = strchr(bracket != NULL ? bracket : host, ':');

	if (colon == NULL)
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
http_guard_page(const struct http_guard *guard, const char *origin)
{
	for (size_t i = 0; origin != NULL && i < guard->origins.count; i++)
		if (strcasecmp(origin, guard->origins.items[i]) == 0)
			return true;
	return false;
}

bool
http_guard_origin(const struct http_guard *guard, const char *origin)
{
	/* Only browsers send one. */
	if (origin == NULL || http_guard_page(guard, origin))
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
