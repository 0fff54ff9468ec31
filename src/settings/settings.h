#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/redact.h"
#include "base/strlist.h"
#include "settings/language_table.h"

/* What the user chose, complete and checked.  Made by options.c, read by all;
 * the strings belong to the settings. */

enum action { ACTION_SERVE, ACTION_RUN, ACTION_HELP, ACTION_VERSION };

enum transport { TRANSPORT_STDIO, TRANSPORT_HTTP };

struct settings {
	enum action action;
	char *engine; /* name or path; NULL: whichever answers */
	struct language_table languages;
	char *languages_list; /* those that are on; NULL: as they are */
	char *language_file;
	char *images[LANGUAGE_MAX]; /* by the language's id */
	struct strlist image_list;  /* LANGUAGE=IMAGE */
	char *pass_env_list;
	struct strlist pass_env; /* names that are set */
	int timeout_seconds;
	int max_timeout_seconds;
	size_t max_output;
	int max_parallel;
	int pool;              /* containers that wait, for each language */
	bool warm_interpreter; /* ... with the interpreter already started */
	char *preload;         /* Python modules, with commas between them */
	int session_ttl;       /* seconds that a session may be idle */
	int max_sessions;
	char *memory;
	long memory_bytes;
	char *cpus;
	int pids;
	char *network; /* NULL: the engine's default */
	bool offline;  /* ... which is "none" */
	char *seccomp; /* NULL: ours; else a file, or "engine" */
	char *runtime; /* OCI runtime; NULL: the engine's default */
	char *loosen_list;
	struct strlist loosened; /* see engine_argv_check_loosened() */
	bool redact;
	struct secrets secrets; /* with --redact: what pass_env stands for */
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
	const char *tcp_option;  /* ... and not for a unix socket */
	/* run */
	char *language_name;
	const struct language *language; /* the same; or NULL */
	char *file;
	struct strlist arguments;
	struct strlist files; /* PATH, or PATH=NAME */
	struct strlist packages;
	struct strlist outputs; /* patterns */
	char *input;            /* a file, or "-"; NULL: none */
	char *output_dir;       /* NULL: the current one */
	bool force;             /* saved files replace others */
	const char *run_option; /* the last one that is only for run */
};

#endif
