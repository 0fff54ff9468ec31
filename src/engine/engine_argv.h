#ifndef ENGINE_ARGV_H
#define ENGINE_ARGV_H

#include <stdbool.h>
#include <sys/resource.h>

#include "base/err.h"
#include "base/strlist.h"
#include "settings/language.h"

/*
 * The security boundary: pure functions from what was asked for to the words
 * of an engine command.  Nothing here looks at the world, so that a test can
 * hold every word.
 */

enum engine_kind { ENGINE_PODMAN, ENGINE_DOCKER };

/* Of cgroups: each holds one of the limits. */
enum controller {
	CONTROLLER_MEMORY,
	CONTROLLER_PIDS,
	CONTROLLER_CPU,
	CONTROLLER_COUNT
};

struct engine_traits {
	enum engine_kind kind;
	const char *path;
	const char *runtime; /* OCI runtime to ask for; NULL: the engine's */
	const char *seccomp; /* file with the profile; NULL: the engine's own */
	/* Our own hard limits: asking for more fails where the engine may not
	 * raise its own. */
	rlim_t hard_nofile;
	rlim_t hard_nproc;
	rlim_t hard_fsize;
	rlim_t hard_data;
	/* What the engine cannot hold: limits of the process itself take the
	 * place of memory and pids, and nothing that of cpu. */
	bool lacks[CONTROLLER_COUNT];
};

struct container_limits {
	const char *memory;
	long memory_bytes; /* the same */
	const char *cpus;
	int pids;
	const char *network; /* NULL: the engine's default */
};

/*
 * How the code gets into a container: the interpreter waits for it in a hook;
 * or a runner waits for it and then starts the interpreter.  Without a shell
 * for a runner the program is the container's first process: the interpreter
 * takes the code in by itself; or, if it cannot, it is copied in.
 */
enum container_mode {
	CONTAINER_WARM,
	CONTAINER_PLAIN,
	CONTAINER_LOADED,
	CONTAINER_COPY,
};

struct container_spec {
	const char *name;
	const char *owner; /* see owner.h */
	const char *image;
	const char *nonce; /* see marker.h */
	const struct language *language;
	enum container_mode mode;
	const char *preload;            /* modules, with commas; or "" */
	const struct strlist *pass_env; /* names; values are in the CLI's env */
	const struct strlist *loosened; /* what of the hardening is left out */
	struct container_limits limits;
};

#define OWNER_LABEL "code-sandbox-mcp.owner"
#define CONTAINER_WORKDIR "/sandbox"
#define CONTAINER_HOME "/home/sandbox"

/* Whether it names a part of the hardening that can be left out. */
int engine_argv_check_loosened(const char *name, struct err *err);

/* A container with a runner or a loader in it, waiting for the code on its
 * stdin. */
void engine_argv_run(struct strlist *argv, const struct engine_traits *traits,
    const struct container_spec *spec);
/* CONTAINER_COPY: a container made to run the bare command, to be filled by cp
 * from a tar stream on stdin, and started. */
void engine_argv_create(struct strlist *argv,
    const struct engine_traits *traits, const struct container_spec *spec);
void engine_argv_copy_in(
    struct strlist *argv, const struct engine_traits *traits, const char *name);
void engine_argv_start(
    struct strlist *argv, const struct engine_traits *traits, const char *name);

void engine_argv_remove(
    struct strlist *argv, const struct engine_traits *traits, const char *name);
void engine_argv_info(struct strlist *argv, const struct engine_traits *traits);
void engine_argv_image_inspect(struct strlist *argv,
    const struct engine_traits *traits, const char *image);
void engine_argv_pull(struct strlist *argv, const struct engine_traits *traits,
    const char *image);
/* Ids of all containers that carry our label; then owner and id of each. */
void engine_argv_list_owned(
    struct strlist *argv, const struct engine_traits *traits);
void engine_argv_inspect_owners(struct strlist *argv,
    const struct engine_traits *traits, const struct strlist *ids);

#endif
