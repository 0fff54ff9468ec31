#ifndef FILE_CONTENT_H
#define FILE_CONTENT_H

#include <yyjson.h>

#include "mcp/revision.h"
#include "sandbox/artifact.h"

/* A file as the protocol shows it. */

/* Its MIME type: from its name, and from its data if there is any. */
const char *file_content_type(const struct artifact *file);

/* The contents of a resource: uri, mimeType, and text or blob.  Of a file that
 * has data, as the next one. */
yyjson_mut_val *file_content_resource(
    yyjson_mut_doc *doc, const char *uri, const struct artifact *file);
/* An item among those of a result: an image, a sound, or a resource. */
yyjson_mut_val *file_content_item(yyjson_mut_doc *doc, const char *uri,
    const struct artifact *file, enum revision revision);
/* An item that says where it can be read; from 2025-06-18 on. */
yyjson_mut_val *file_content_link(
    yyjson_mut_doc *doc, const char *uri, const struct artifact *file);

#endif
