#ifndef RESOURCES_H
#define RESOURCES_H

#include <yyjson.h>

#include "base/err.h"
#include "mcp/revision.h"
#include "sandbox/sandbox.h"
#include "settings/settings.h"

/*
 * sandbox://environments: which image and libraries each language has.
 * sandbox://session/...: files of sessions, which are not listed: results have
 * links to them.
 */

void resources_list(
    yyjson_mut_doc *doc, yyjson_mut_val *list, enum revision revision);
void resources_list_templates(
    yyjson_mut_doc *doc, yyjson_mut_val *list, enum revision revision);
/* One that is there at once. */
int resource_read(yyjson_mut_doc *doc, yyjson_mut_val *contents,
    const char *uri, const struct settings *settings, struct err *err);
/* One that is a file of a session: the job that fetches it, and what came of
 * that. */
int resource_request(const char *uri, struct job *job, struct err *err);
int resource_read_fetched(yyjson_mut_doc *doc, yyjson_mut_val *contents,
    const char *uri, const struct outcome *outcome, struct err *err);
/* What goes with the error, and its code in that revision. */
yyjson_mut_val *resource_error(yyjson_mut_doc *doc, const char *uri,
    enum revision revision, struct err *err);

#endif
