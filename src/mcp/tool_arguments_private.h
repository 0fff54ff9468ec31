#ifndef TOOL_ARGUMENTS_PRIVATE_H
#define TOOL_ARGUMENTS_PRIVATE_H

/* What tool_arguments.c shares with the arguments that are lists. */

#include <stdbool.h>

#include <yyjson.h>

#include "base/err.h"
#include "sandbox/job.h"
#include "settings/settings.h"

/* An argument that is an array of strings. */
struct words {
	const char *name;
	const char *description; /* NULL: that depends on the language */
	size_t count_max, each_max, total_max;    /* bytes; 0: see the others */
	struct strlist *(*list)(struct job *job); /* where it goes */
	int (*check)(const char *word, size_t length, struct err *err);
	/* Of all of them, if there are any; or NULL. */
	int (*check_all)(const struct settings *settings, const struct job *job,
	    struct err *err);
};

extern const struct words words_args, words_outputs, words_packages;

void words_describe(
    const struct words *words, yyjson_mut_doc *doc, yyjson_mut_val *property);
int words_read(const struct words *words, yyjson_val *value,
    const struct settings *settings, struct job *job, struct err *err);

void files_describe(yyjson_mut_doc *doc, yyjson_mut_val *property,
    const struct language *language, const struct settings *settings);
int files_read(yyjson_val *value, const struct settings *settings,
    struct job *job, struct err *err);

#endif
