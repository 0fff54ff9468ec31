#include "mcp/icon.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base64.h"

#define TYPE "image/svg+xml"

static const char prompt[] =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 8 8\">"
    "<path d=\"M1 1l3 3-3 3m4 0h2\" fill=\"none\" stroke=\"gray\"/></svg>";

void
icon_add(yyjson_mut_doc *doc, yyjson_mut_val *object, enum revision revision)
{
	yyjson_mut_val *icon;
	char *encoded, *uri;

	if (revision < REVISION_2025_11_25)
		return;
	encoded = base64_encode(prompt, sizeof(prompt) - 1, NULL);
	uri = xasprintf("data:" TYPE ";base64,%s", encoded);
	icon = yyjson_mut_arr_add_obj(
	    doc, yyjson_mut_obj_add_arr(doc, object, "icons"));
	yyjson_mut_obj_add_strcpy(doc, icon, "src", uri);
	yyjson_mut_obj_add_str(doc, icon, "mimeType", TYPE);
	yyjson_mut_arr_add_str(
	    doc, yyjson_mut_obj_add_arr(doc, icon, "sizes"), "any");
	free(uri);
	free(encoded);
}
