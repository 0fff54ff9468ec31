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

void
environment_for_engine(struct strlist *env, const struct strlist *pass_env)
{
	select_variables(env, (const char *const *)pass_env->items);
}

void
environment_for_pull(struct strlist *env)
{
	select_variables(env, proxy_names);
}
