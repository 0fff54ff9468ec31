#ifndef RESULT_H
#define RESULT_H

#include <yyjson.h>

#include "mcp/revision.h"
#include "sandbox/sandbox.h"
#include "settings/language.h"

/*
 * What the client gets for a tool call: a text item for the model to read, and
 * the same as facts in structuredContent where the revision has it.
 */
yyjson_mut_val *result_build(yyjson_mut_doc *doc, const struct outcome *outcome,
    const struct language *language, const struct settings *settings,
    enum revision revision);
/* Words alone, of something that was done. */
yyjson_mut_val *result_build_text(yyjson_mut_doc *doc, const char *text);
/* The sandbox could not run it, or an argument was wrong. */
yyjson_mut_val *result_build_error(yyjson_mut_doc *doc, const char *message);
/* The JSON Schema of structuredContent. */
yyjson_mut_val *result_schema(yyjson_mut_doc *doc);

#endif
