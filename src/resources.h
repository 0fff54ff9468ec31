#ifndef RESOURCES_H
#define RESOURCES_H

#include <yyjson.h>

#include "err.h"
#include "revision.h"
#include "settings.h"

/* sandbox://environments: which image and libraries each language has. */

void resources_list(
    yyjson_mut_doc *doc, yyjson_mut_val *list, enum revision revision);
int resource_read(yyjson_mut_doc *doc, yyjson_mut_val *contents,
    const char *uri, const struct settings *settings, struct err *err);

#endif
