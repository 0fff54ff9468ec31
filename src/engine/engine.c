#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bsd/string.h>
#include <bsd/sys/queue.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/log.h"
#include "engine/environment.h"
#include "engine/reap.h"
#include "engine/seccomp.h"

/* Where many start at once, podman has needed more than 15. */
#define PROBE_SECONDS 30

/* In the order of preference. */
static const char *const known_engines[] = {"podman", "docker"};

enum engine_state { ENGINE_UNKNOWN, ENGINE_PROBING, ENGINE_READY };

struct waiter {
	TAILQ_ENTRY(waiter) entry;
	engine_ready_fn *ready;
	void *arg;
	unsigned round;
};
TAILQ_HEAD(waiters, waiter);

struct engine {
	struct event_base *base;
	struct children *children;
	const struct settings *settings;
	struct strlist env;
	struct strlist pull_env;
	enum engine_state state;
	unsigned round; /* of looking for an engine */
	struct waiters waiters;
	struct command *probe;
	struct reap *reap;
	size_t candidate;
	char *path;
	struct engine_traits traits;
	struct seccomp seccomp;
	struct err failures; /* what each candidate said */
};

static void try_candidate(struct engine *engine);

static rlim_t
hard_limit(__rlimit_resource_t resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) == 0 ? limit.rlim_max
	                                        : RLIM_INFINITY;
}

/* Fails closed: without a profile there is no engine. */
static int
choose_seccomp(struct engine *engine, struct err *err)
{
	const char *wanted = engine->settings->seccomp;

	if (wanted != NULL && strcmp(wanted, "engine") == 0)
		return 0;
	if (wanted == NULL && engine->seccomp.path == NULL &&
	    seccomp_open(&engine->seccomp, err) != 0)
		return -1;
	engine->traits.seccomp = wanted != NULL ? wanted : engine->seccomp.path;
	return 0;
}

struct engine *
engine_new(struct event_base *base, struct children *children,
    const struct settings *settings)
{
	struct engine *engine = xcalloc(1, sizeof(*engine));
	struct err err;

	engine->base = base;
	engine->children = children;
	engine->settings = settings;
	TAILQ_INIT(&engine->waiters);
	environment_for_engine(&engine->env, &settings->pass_env);
	environment_for_pull(&engine->pull_env);
	engine->traits.hard_nofile = hard_limit(RLIMIT_NOFILE);
	engine->traits.hard_nproc = hard_limit(RLIMIT_NPROC);
	engine->traits.hard_fsize = hard_limit(RLIMIT_FSIZE);
	engine->traits.hard_data = hard_limit(RLIMIT_DATA);
	engine->seccomp.fd = -1;
	/* At once, while there are descriptors to be had. */
	choose_seccomp(engine, &err);
	return engine;
}

void
engine_forget(struct engine *engine, void *arg)
{
	struct waiter *waiter, *next;

	TAILQ_FOREACH_SAFE (waiter, &engine->waiters, entry, next) {
		if (waiter->arg != arg)
			continue;
		TAILQ_REMOVE(&engine->waiters, waiter, entry);
		free(waiter);
	}
}

void
engine_free(struct engine *engine)
{
	struct waiter *waiter;

	if (engine->probe != NULL)
		command_drop(engine->probe);
	if (engine->reap != NULL)
		reap_free(engine->reap);
	while ((waiter = TAILQ_FIRST(&engine->waiters)) != NULL)
		engine_forget(engine, waiter->arg);
	seccomp_close(&engine->seccomp);
	strlist_release(&engine->env);
	strlist_release(&engine->pull_env);
	free(engine->path);
	free(engine);
}

/*
 * One at a time, because a callback may make the engine forget others.
 * Whoever asks again from within a callback waits for the next round.
 */
static void
tell_waiters(struct engine *engine, const struct err *err)
{
	unsigned round = engine->round++;
	struct waiter *waiter;

	while ((waiter = TAILQ_FIRST(&engine->waiters)) != NULL &&
	    waiter->round <= round) {
		TAILQ_REMOVE(&engine->waiters, waiter, entry);
		waiter->ready(waiter->arg, err);
		free(waiter);
	}
}

static const char *
candidate_name(const struct engine *engine)
{
	size_t count = sizeof(known_engines) / sizeof(known_engines[0]);

	if (engine->settings->engine != NULL)
		return engine->candidate == 0 ? engine->settings->engine : NULL;
	return engine->candidate < count ? known_engines[engine->candidate]
	                                 : NULL;
}

static void
give_up(struct engine *engine)
{
	struct err err;

	if (engine->settings->engine != NULL)
		err_set(&err, ERR_ENGINE,
		    "The container engine did not answer. Tried:\n%s"
		    "Check that \"%s info\" works for the user who runs this "
		    "server, or leave the choice of the engine to it.",
		    engine->failures.message, engine->settings->engine);
	else
		err_set(&err, ERR_ENGINE,
		    "No container engine answered. Tried:\n%s"
		    "Install podman, or start docker, and check that "
		    "\"podman info\" or \"docker info\" works for the user "
		    "who runs this server; --engine names another one.",
		    engine->failures.message);
	engine->state = ENGINE_UNKNOWN;
	tell_waiters(engine, &err);
}

static void
candidate_failed(struct engine *engine, const char *words)
{
	char line[512];

	/* The last line: that is where the CLIs say what went wrong. */
	const char *last = strrchr(words, '\n');

	snprintf(line, sizeof(line), "- %s: %s\n", candidate_name(engine),
	    last != NULL ? last + 1 : words);
	strlcat(
	    engine->failures.message, line, sizeof(engine->failures.message));
	log_debug("engine %s", line);
	engine->candidate++;
}

static void
try_next_candidate(struct engine *engine, const char *words)
{
	candidate_failed(engine, words);
	try_candidate(engine);
}

/*
 * podman's default runtime crun refuses hosts with hybrid cgroups (WSL2 is
 * one); runc works on every host with cgroup v1.
 */
static void
choose_runtime(struct engine *engine, const char *info)
{
	char *runc;

	if (engine->traits.kind != ENGINE_PODMAN ||
	    engine->settings->runtime != NULL ||
	    strncmp(info, "crun v1 ", 8) != 0)
		return;
	runc = child_find_program("runc");
	if (runc != NULL) {
		engine->traits.runtime = "runc";
		log_debug("crun on cgroup v1: using runc");
	}
	free(runc);
}

/* "cpuset" is not "cpu". */
static bool
has_word(const char *info, const char *word)
{
	static const char between[] = " []";
	size_t length;

	while (*(info += strspn(info, between)) != '\0') {
		length = strcspn(info, between);
		if (length == strlen(word) && strncmp(info, word, length) == 0)
			return true;
		info += length;
	}
	return false;
}

/*
 * Rootless on cgroup v1, or without delegation, an engine takes limits and
 * ignores them, or refuses to start anything with them.
 */
static void
choose_limits(struct engine *engine, const char *info)
{
	static const struct {
		const char *name, *told;
	} controllers[] = {
	    [CONTROLLER_MEMORY] = {"memory",
	        "memory (--memory holds each process, not all together)"},
	    [CONTROLLER_PIDS] = {"pids",
	        "pids (--pids counts the processes of all sandboxes)"},
	    [CONTROLLER_CPU] = {"cpu", "cpu (--cpus is not held)"},
	};
	char missing[256] = "";

	for (size_t i = 0; i < CONTROLLER_COUNT; i++) {
		engine->traits.lacks[i] = !has_word(info, controllers[i].name);
		if (!engine->traits.lacks[i])
			continue;
		strlcat(missing, *missing != '\0' ? ", " : "", sizeof(missing));
		strlcat(missing, controllers[i].told, sizeof(missing));
	}
	if (*missing != '\0')
		log_warn("%s has no cgroup controller here for %s",
		    engine->path, missing);
}

static void
on_info(void *arg, const struct command_result *result)
{
	struct engine *engine = arg;
	struct err err;

	engine->probe = NULL;
	/* docker info prints what the client knows and exits with 0 on some
	 * versions even when no daemon answers: then the fields are empty. */
	if (!result->ok || *result->out == '\0' || *result->out == ' ') {
		try_next_candidate(engine,
		    *result->words != '\0' ? result->words
		                           : "\"info\" gave no answer");
		return;
	}
	if (choose_seccomp(engine, &err) != 0) {
		try_next_candidate(engine, err.message);
		return;
	}
	choose_runtime(engine, result->out);
	choose_limits(engine, result->out);
	engine->state = ENGINE_READY;
	log_debug("engine %s (%s)", engine->path, result->out);
	if (engine->reap == NULL)
		engine->reap = reap_start(engine);
	tell_waiters(engine, NULL);
}

static void
probe(struct engine *engine, struct strlist argv,
    void (*done)(void *, const struct command_result *))
{
	engine->probe = engine_command(engine,
	    (struct engine_command){.argv = argv,
	        .timeout_seconds = PROBE_SECONDS,
	        .done = done,
	        .arg = engine});
}

/* By its own word and not by its file name: "docker" is podman where the
 * package podman-docker is installed. */
static void
on_version(void *arg, const struct command_result *result)
{
	struct engine *engine = arg;
	struct strlist argv = {0};

	engine->probe = NULL;
	if (!result->ok) {
		try_next_candidate(engine,
		    *result->words != '\0' ? result->words
		                           : "\"--version\" failed");
		return;
	}
	engine->traits.kind = strcasestr(result->out, "podman") != NULL
	    ? ENGINE_PODMAN
	    : ENGINE_DOCKER;
	engine_argv_info(&argv, &engine->traits);
	probe(engine, argv, on_info);
}

static void
try_candidate(struct engine *engine)
{
	struct strlist argv = {0};
	const char *name;

	free(engine->path);
	engine->path = NULL;
	while ((name = candidate_name(engine)) != NULL) {
		engine->path = child_find_program(name);
		if (engine->path != NULL)
			break;
		candidate_failed(engine,
		    strchr(name, '/') != NULL ? "no such program"
		                              : "not found on PATH");
	}
	engine->traits.path = engine->path;
	if (name == NULL) {
		give_up(engine);
		return;
	}
	engine->traits.runtime = engine->settings->runtime;
	strlist_add(&argv, engine->path);
	strlist_add(&argv, "--version");
	probe(engine, argv, on_version);
}

void
engine_when_ready(struct engine *engine, engine_ready_fn *ready, void *arg)
{
	struct waiter *waiter;

	if (engine->state == ENGINE_READY) {
		ready(arg, NULL);
		return;
	}
	waiter = xcalloc(1, sizeof(*waiter));
	waiter->ready = ready;
	waiter->arg = arg;
	waiter->round = engine->round;
	TAILQ_INSERT_TAIL(&engine->waiters, waiter, entry);
	if (engine->state == ENGINE_PROBING)
		return;
	engine->state = ENGINE_PROBING;
	engine->candidate = 0;
	engine->failures = (struct err){0};
	try_candidate(engine);
}

const struct engine_traits *
engine_traits(const struct engine *engine)
{
	return &engine->traits;
}

/* A login that ends takes the user's runtime directory with it. */
int
engine_prepare(struct engine *engine, struct err *err)
{
	if (engine->seccomp.path != NULL &&
	    access(engine->seccomp.path, R_OK) != 0) {
		seccomp_close(&engine->seccomp);
		engine->traits.seccomp = NULL;
	}
	return choose_seccomp(engine, err);
}

struct child *
engine_spawn(struct engine *engine, const struct strlist *argv,
    const struct child_callbacks *callbacks, void *arg, struct err *err)
{
	return child_spawn(engine->children,
	    &(struct child_spec){.argv = argv->items,
	        .envp = engine->env.items,
	        .with_stdin = true,
	        .callbacks = callbacks,
	        .arg = arg},
	    err);
}

struct command *
engine_command(struct engine *engine, struct engine_command command)
{
	struct command *started =
	    command_run(&(struct command_spec){.children = engine->children,
	        .base = engine->base,
	        .argv = &command.argv,
	        .env = command.registry ? &engine->pull_env : &engine->env,
	        .input = command.input,
	        .input_length = command.input_length,
	        .timeout_seconds = command.timeout_seconds,
	        .line = command.line,
	        .done = command.done,
	        .arg = command.arg});

	strlist_release(&command.argv);
	return started;
}
