#ifndef LANGUAGE_H
#define LANGUAGE_H

#include <stddef.h>

/* Where the runner and its hooks keep their files inside the container. */
#define RUNNER_DIRECTORY "/run/sandbox-runner"

/* One row a language.  Everything that differs between languages is here. */

enum language_id { LANGUAGE_PYTHON, LANGUAGE_JAVASCRIPT };
#define LANGUAGE_COUNT 2

struct language {
	enum language_id id;
	const char *name;  /* as in CONTAINER_LANGUAGE and run --language */
	const char *title; /* as people write it */
	const char *image; /* default */
	const char *file;  /* where the code goes, in the working directory */
	const char *const *command;
	const char *const *suffixes;  /* of files that are in this language */
	const char *const *libraries; /* that the default image has */
	/* Memory that its interpreter maps and does not use: counted by
	 * RLIMIT_DATA all the same. */
	long reserved_bytes;
	const char *print; /* how a program says something */
	/* What makes its interpreter wait for the code (see runner.sh):
	 * variable=value lets it load the hook from hook_file. */
	const char *hook;
	const char *hook_file;
	const char *hook_variable;
	const char *hook_value;
	const char *hook_separator; /* before a value that was there already */
};

extern const struct language languages[LANGUAGE_COUNT];

/* NULL when there is none of that name, or none for that file name. */
const struct language *language_by_name(const char *name);
const struct language *language_by_file(const char *file_name);

#endif
