#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "language.h"
#include "strlist.h"

/* What the user chose, complete and checked.  Made by options.c, read by all;
 * the strings belong to the settings. */

enum action { ACTION_SERVE, ACTION_RUN, ACTION_HELP, ACTION_VERSION };

enum transport { TRANSPORT_STDIO, TRANSPORT_HTTP };

struct settings {
	enum action action;
	char *engine; /* name or path; NULL: whichever answers */
	char *images[LANGUAGE_COUNT];
	char *pass_env_list;
	struct strlist pass_env; /* names that are set */
	int timeout_seconds;
	int max_timeout_seconds;
	size_t max_output;
	int max_parallel;
	int pool;              /* containers that wait, for each language */
	bool warm_interpreter; /* ... with the interpreter already started */
	char *preload;         /* Python modules, with commas between them */
	char *memory;
	long memory_bytes;
	char *cpus;
	int pids;
	char *network; /* NULL: the engine's default */
	char *seccomp; /* NULL: ours; else a file, or "engine" */
	bool verbose;
	/* streamable HTTP */
	enum transport transport;
	char *host;
	int port;
	char *path;
	char *listen; /* unix:PATH, instead of host and port; or NULL */
	char *allow_host, *allow_origin;
	char *token_file, *token;
	const char *http_option; /* the last one that is only for HTTP */
	/* run */
	const struct language *language;
	char *file;
};

#endif
