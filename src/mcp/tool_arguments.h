#ifndef TOOL_ARGUMENTS_H
#define TOOL_ARGUMENTS_H

#include <stdbool.h>

#include <yyjson.h>

#include "base/err.h"
#include "sandbox/job.h"
#include "settings/language.h"
#include "settings/settings.h"

/* What a call that runs a program can say, as a schema and as a job. */

/* Whether a call can be one of several that go on from each other. */
bool tool_has_sessions(
    const struct language *language, const struct settings *settings);
/* Fills in a JSON Schema. */
void tool_arguments_describe(yyjson_mut_doc *doc, yyjson_mut_val *schema,
    const struct language *language, const struct settings *settings);
/* Fills in a job of which only the language is set.  given may be NULL; on a
 * mistake the job is not complete, and still the caller's to release. */
int tool_arguments_read(yyjson_val *given, const struct settings *settings,
    struct job *job, struct err *err);

#endif
