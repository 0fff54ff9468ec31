#ifndef LANGUAGE_H
#define LANGUAGE_H

#include <stddef.h>

/* Where the runner and its hooks keep their files inside the container. */
#define RUNNER_DIRECTORY "/run/sandbox-runner"

/*
 * One row a language.  Everything that differs between languages is here, and
 * a row is all that it takes.  Rows that a user adds are read from a file (see
 * language_file.h).
 */

enum language_id {
	LANGUAGE_PYTHON,
	LANGUAGE_JAVASCRIPT,
	LANGUAGE_TYPESCRIPT,
	LANGUAGE_BASH,
	LANGUAGE_RUBY,
	LANGUAGE_GO,
	LANGUAGE_C,
	LANGUAGE_CPP,
	LANGUAGE_JAVA,
	LANGUAGE_R,
	LANGUAGE_BUILT_IN, /* how many of them there are */
};
/* With those of a file. */
#define LANGUAGE_MAX 64

/* A file of the runner's; a list of them ends with one without a name. */
struct hook_file {
	const char *name;
	const char *text;
};

struct language {
	size_t id;              /* its place among all languages */
	const char *name;       /* as in --languages and run --language */
	const char *title;      /* as people write it */
	const char *tool;       /* what clients call it by */
	const char *tool_alias; /* a call by this name is taken too; or NULL */
	const char *image;      /* default */
	const char *file; /* where the code goes, in the working directory */
	const char *const *command;   /* arguments may follow it */
	const char *const *suffixes;  /* of files that are in this language */
	const char *const *libraries; /* that the default image has */
	/* What installs the packages that are named behind it; NULL: none */
	const char *const *install;
	const char *packages; /* where it finds them, with examples; or NULL */
	/* Memory that its interpreter maps and does not use: counted by
	 * RLIMIT_DATA all the same. */
	long reserved_bytes;
	const char *print; /* how a program says something */
	/* What makes its interpreter wait for the code (see runner.sh):
	 * variable=value lets it load the first of these files, which takes in
	 * the others; with them it can keep a session as well.  Without a hook
	 * there are no sessions, and the command is started when the code is
	 * there. */
	const struct hook_file *hook; /* or NULL */
	const char *hook_variable;
	const char *hook_value;
	const char *hook_separator; /* before a value that was there already */
	/* How its interpreter does without a shell: takes in the code, and runs
	 * it; behind these words come the nonce, the file and the command.
	 * NULL: the code is copied into the container. */
	const char *const *loader;
};

extern const struct language languages[LANGUAGE_BUILT_IN];

#endif
