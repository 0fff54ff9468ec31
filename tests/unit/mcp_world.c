#include "mcp_world.h"

#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "helpers.h"

/*
 * A stand-in for podman: it does what the code says by itself, and speaks as
 * the runner does.  "show ..." prints, "exit N" ends so, "wait" goes on until
 * its stdin is closed; "missing" as the image fails until it has been pulled.
 */
static const char fake_engine[] =
    "#!/bin/sh\n"
    "pulled=${0%/*}/pulled\n"
    "case $1 in\n"
    "--version) echo 'podman version 5.0.0';;\n"
    "info) echo 'crun v2 [memory pids]';;\n"
    "ps | rm) ;;\n"
    "image) [ -e \"$pulled\" ];;\n"
    "pull) printf 'copying \\377 layer\\nlayer done\\n' >&2\n"
    "  : >\"$pulled\";;\n"
    "run)\n"
    "  case \"$*\" in *' missing '*) [ -e \"$pulled\" ] || {\n"
    "    echo 'no such image' >&2; exit 125; };; esac\n"
    "  while [ \"$1\" != runner ]; do shift; done\n"
    "  nonce=$2\n"
    "  say() {\n"
    "    printf '\\036%s %s\\n' $nonce \"$1\"\n"
    "    printf '\\036%s %s\\n' $nonce \"$1\" >&2\n"
    "  }\n"
    "  [ -z \"$6\" ] || { read -r _ size && head -c $size >/dev/null; }\n"
    "  say ready\n"
    "  read -r _ size || exit 0\n"
    "  code=$(head -c $size)\n"
    "  printf '\\036%s started\\n' $nonce\n"
    "  case $code in\n"
    "  show*) echo \"${code#show }\"; say 'exit 0';;\n"
    "  exit*) echo oops >&2; say \"$code\";;\n"
    "  esac\n"
    "  cat >/dev/null;;\n"
    "*) echo \"unknown: $*\" >&2; exit 2;;\n"
    "esac\n";

struct mcp_world world;
static char *scratch;

static void
on_notify(void *arg, const char *message, size_t length)
{
	(void)arg;
	ck_assert_uint_eq(strlen(message), length);
	ck_assert_ptr_null(strchr(message, '\n'));
	strlist_add(&world.sent, message);
}

/* The message of a batch does not end in NUL. */
static void
on_reply(void *arg, const char *message, size_t length, enum err_code code)
{
	char *text = xstrndup(message, length);
	char *found =
	    *text == '{' ? json_at(text, "/error") : xstrdup("(none)");

	(void)arg;
	ck_assert_ptr_null(strchr(text, '\n'));
	ck_assert_msg((code == ERR_NONE) == (strcmp(found, "(none)") == 0),
	    "code %d goes with %s", code, text);
	strlist_add(&world.sent, text);
	free(found);
	free(text);
}

static void
on_drop(void *arg)
{
	(void)arg;
	world.dropped++;
}

const struct outlet world_outlet = {.notify = on_notify,
    .reply = on_reply,
    .drop = on_drop,
    .arg = &world.sent,
    .owner = &world.sent};

static void
start(void)
{
	world.dropped = 0;
	world.base = event_base_new();
	world.sandbox = sandbox_new(world.base, &world.settings);
	world.mcp = mcp_new(&(struct mcp_config){.base = world.base,
	    .settings = &world.settings,
	    .sandbox = world.sandbox});
	world.client = mcp_client_new(world.mcp);
}

void
world_set_up(void)
{
	settings_make(&world.settings, "--engine=/nonexistent/engine", NULL);
	start();
}

void
world_set_up_fake(void)
{
	char *path, *engine;

	scratch = scratch_new();
	path = scratch_program(scratch, "podman", fake_engine);
	engine = xasprintf("--engine=%s", path);
	settings_make(&world.settings, engine, "--pool=0",
	    "--interpreter=plain", "--max-parallel=2", "--js-image=missing",
	    NULL);
	free(engine);
	free(path);
	start();
}

static void
on_gone(void *arg)
{
	*(bool *)arg = true;
}

void
world_tear_down(void)
{
	bool gone = false;

	if (world.client != NULL)
		mcp_client_free(world.client);
	sandbox_shut_down(world.sandbox, on_gone, &gone);
	ck_assert_msg(loop_until(world.base, &gone), "containers are left");
	mcp_free(world.mcp);
	sandbox_free(world.sandbox);
	event_base_free(world.base);
	settings_release(&world.settings);
	strlist_release(&world.sent);
}

void
world_tear_down_fake(void)
{
	world_tear_down();
	scratch_free(scratch);
}

void
receive(const char *message)
{
	mcp_client_receive(
	    world.client, message, strlen(message), &world_outlet);
}

void
wait_sent(size_t count)
{
	long long deadline = milliseconds_now() + PATIENCE_SECONDS * 500;

	while (world.sent.count < count && milliseconds_now() < deadline)
		loop_for(world.base, 10);
	ck_assert_msg(world.sent.count >= count, "%zu messages and not %zu",
	    world.sent.count, count);
}

const char *
ask(const char *message)
{
	size_t before = world.sent.count;

	receive(message);
	ck_assert_msg(world.sent.count == before + 1, "%zu answers to %s",
	    world.sent.count - before, message);
	return world.sent.items[before];
}

const char *
answer_to(const char *id)
{
	const char *found = NULL;

	for (size_t i = 0; i < world.sent.count; i++) {
		char *own = json_at(world.sent.items[i], "/id");

		if (strcmp(own, id) == 0) {
			ck_assert_msg(found == NULL, "two answers to %s", id);
			found = world.sent.items[i];
		}
		free(own);
	}
	return found;
}

void
initialize(const char *version)
{
	char *message = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":\"init\","
	                          "\"method\":\"initialize\",\"params\":{"
	                          "\"protocolVersion\":\"%s\","
	                          "\"capabilities\":{},\"clientInfo\":{"
	                          "\"name\":\"t\",\"version\":\"1\"}}}",
	    version);

	ask(message);
	free(message);
}
