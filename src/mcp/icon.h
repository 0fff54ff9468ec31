#ifndef ICON_H
#define ICON_H

#include <yyjson.h>

#include "mcp/revision.h"

/* The "icons" of the server and of its tools, for the revisions that know
 * them: a prompt, in a gray that shows on light and on dark. */
void icon_add(
    yyjson_mut_doc *doc, yyjson_mut_val *object, enum revision revision);

#endif
