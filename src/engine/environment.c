#include "engine/environment.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* A name that ends in "*" stands for all that begin so. */
static const char *const engine_names[] = {"PATH", "HOME", "USER", "LOGNAME",
    "LANG", "TMPDIR", "XDG_*", "DOCKER_*", "CONTAINER_*", "CONTAINERS_*",
    "PODMAN_*", "STORAGE_*", "REGISTRY_AUTH_FILE", "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", NULL};

static const char *const proxy_names[] = {"http_proxy", "https_proxy",
    "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", NULL};

static bool
matches(const char *variable, const char *name)
{
	size_t length = strcspn(name, "*");

	return strncmp(variable, name, length) == 0 &&
	    (name[length] == '*' || variable[length] == '=');
}

static bool
matches_any(const char *variable, const char *const *names)
{
	for (; names != NULL && *names != NULL; names++)
		if (matches(variable, *names))
			return true;
	return false;
}

static void
select_variables(struct strlist *env, const char *const *more)
{
	for (char **variable = environ; *variable != NULL; variable++)
		if (matches_any(*variable, engine_names) ||
		    matches_any(*variable, more))
			strlist_add(env, *variable);
}

/*
 * podman and docker are written in Go, and what they collect of garbage in the
 * short time of a start takes longer than all that the server does for a call.
 * With more room for it, a few megabytes, there is next to none.  A program
 * that is to see this variable sees the user's.
 */
static void
add_room_for_garbage(struct strlist *env, const struct strlist *pass_env)
{
	if (!strlist_contains(pass_env, "GOGC"))
		strlist_add(env, "GOGC=400");
}

void
environment_for_engine(struct strlist *env, const struct strlist *pass_env)
{
	select_variables(env, (const char *const *)pass_env->items);
	add_room_for_garbage(env, pass_env);
}

void
environment_for_pull(struct strlist *env)
{
	select_variables(env, proxy_names);
}
