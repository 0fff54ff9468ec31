#ifndef TOOLS_H
#define TOOLS_H

#include <stdbool.h>

#include <yyjson.h>

#include "base/err.h"
#include "mcp/revision.h"
#include "sandbox/sandbox.h"
#include "settings/language.h"
#include "settings/settings.h"

/* The tools as the client sees them: one for each language that is on, and
 * what ends a session if one of these can have any. */

enum tool_kind { TOOL_RUN, TOOL_END_SESSION };

struct tool {
	enum tool_kind kind;
	const struct language *language; /* that it runs; or NULL */
};

/* False when there is none of that name. */
bool tool_find(
    const struct settings *settings, const char *name, struct tool *tool);
bool tools_have_sessions(const struct settings *settings);
void tools_list(yyjson_mut_doc *doc, yyjson_mut_val *list,
    const struct settings *settings, enum revision revision);

/* For a tool that runs programs: turns arguments into a job; on a mistake the
 * job is empty. */
int tool_request(const struct tool *tool, yyjson_val *given,
    const struct settings *settings, struct job *job, struct err *err);
/* For the one that ends sessions: the handle, which is part of the arguments;
 * NULL: there is none. */
const char *tool_session(yyjson_val *given, struct err *err);

#endif
