#ifndef RESULT_FILES_H
#define RESULT_FILES_H

#include <yyjson.h>

#include "base/strbuf.h"
#include "mcp/revision.h"
#include "sandbox/sandbox.h"

/* The files of an outcome, in the three places of a result: as words for the
 * model, as facts, and themselves as content items. */

/* A line for each; nothing if there are none. */
void result_files_say(const struct outcome *outcome, struct strbuf *text);
/* Adds "files" and "files_left_out", if there are any. */
void result_files_add_facts(
    yyjson_mut_doc *doc, yyjson_mut_val *facts, const struct outcome *outcome);
void result_files_add_content(yyjson_mut_doc *doc, yyjson_mut_val *content,
    const struct outcome *outcome, enum revision revision);

#endif
