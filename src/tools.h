#ifndef TOOLS_H
#define TOOLS_H

#include <yyjson.h>

#include "err.h"
#include "language.h"
#include "revision.h"
#include "sandbox.h"
#include "settings.h"

/* The tools as the client sees them, and their arguments. */

struct tool {
	const char *name;
	const char *alias; /* a call by this name is taken too */
	const char *title;
	enum language_id language;
};

/* NULL when there is none of that name. */
const struct tool *tool_find(const char *name);
void tools_list(yyjson_mut_doc *doc, yyjson_mut_val *list,
    const struct settings *settings, enum revision revision);

/* Turns arguments into a request; the code stays where the arguments are. */
int tool_request(const struct tool *tool, yyjson_val *arguments,
    const struct settings *settings, struct sandbox_request *request,
    struct err *err);

#endif
