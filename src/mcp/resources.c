#include "mcp/resources.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "mcp/file_content.h"
#include "sandbox/work_path.h"

#define ENVIRONMENTS_URI "sandbox://environments"
#define URI_MAX 16384
#define ENVIRONMENTS_TYPE "application/json"

void
resources_list(
    yyjson_mut_doc *doc, yyjson_mut_val *list, enum revision revision)
{
	yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);

	yyjson_mut_obj_add_str(doc, item, "uri", ENVIRONMENTS_URI);
	yyjson_mut_obj_add_str(doc, item, "name", "environments");
	if (revision >= REVISION_2025_06_18)
		yyjson_mut_obj_add_str(
		    doc, item, "title", "Sandbox environments");
	yyjson_mut_obj_add_str(doc, item, "description",
	    "For each language, the image that programs run in and the "
	    "libraries that it should have");
	yyjson_mut_obj_add_str(doc, item, "mimeType", ENVIRONMENTS_TYPE);
}

void
resources_list_templates(
    yyjson_mut_doc *doc, yyjson_mut_val *list, enum revision revision)
{
	yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);

	yyjson_mut_obj_add_str(doc, item, "uriTemplate", WORK_PATH_TEMPLATE);
	yyjson_mut_obj_add_str(doc, item, "name", "session-file");
	if (revision >= REVISION_2025_06_18)
		yyjson_mut_obj_add_str(doc, item, "title", "File of a session");
	yyjson_mut_obj_add_str(doc, item, "description",
	    "A file in the working directory of a session, while it lasts");
}

static void
add_language(yyjson_mut_doc *doc, yyjson_mut_val *root,
    const struct language *language, const char *image)
{
	yyjson_mut_val *object =
	    yyjson_mut_obj_add_obj(doc, root, language->name);
	yyjson_mut_val *libraries;

	yyjson_mut_obj_add_str(doc, object, "image", image);
	libraries = yyjson_mut_obj_add_arr(doc, object, "libraries");
	/* Of an image of the user's own we know nothing. */
	if (strcmp(image, language->image) != 0)
		return;
	for (const char *const *name = language->libraries; *name != NULL;
	    name++)
		yyjson_mut_arr_add_str(doc, libraries, *name);
}

static char *
environments_text(const struct settings *settings)
{
	const struct language_table *table = &settings->languages;
	yyjson_mut_doc *doc = json_new();
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	char *text;

	yyjson_mut_doc_set_root(doc, root);
	for (size_t i = 0; i < table->count; i++)
		if (table->on[i])
			add_language(
			    doc, root, table->rows[i], settings->images[i]);
	text = json_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, NULL);
	yyjson_mut_doc_free(doc);
	return text;
}

int
resource_read(yyjson_mut_doc *doc, yyjson_mut_val *contents, const char *uri,
    const struct settings *settings, struct err *err)
{
	yyjson_mut_val *item;
	char *text;

	if (strcmp(uri, ENVIRONMENTS_URI) != 0)
		return err_set(
		    err, ERR_RESOURCE, "unknown resource: %.200s", uri);
	item = yyjson_mut_arr_add_obj(doc, contents);
	text = environments_text(settings);
	yyjson_mut_obj_add_str(doc, item, "uri", ENVIRONMENTS_URI);
	yyjson_mut_obj_add_str(doc, item, "mimeType", ENVIRONMENTS_TYPE);
	yyjson_mut_obj_add_strcpy(doc, item, "text", text);
	free(text);
	return 0;
}

int
resource_request(const char *uri, struct job *job, struct err *err)
{
	*job = (struct job){0};
	return work_path_parse_uri(uri, &job->session, &job->fetch, err);
}

int
resource_read_fetched(yyjson_mut_doc *doc, yyjson_mut_val *contents,
    const char *uri, const struct outcome *outcome, struct err *err)
{
	const struct artifacts *files = &outcome->artifacts;

	if (!outcome->ran)
		return err_set(
		    err, outcome->err.code, "%s", outcome->err.message);
	if (files->count == 0 || files->items[0].data == NULL)
		return err_set(
		    err, ERR_RESOURCE, "unknown resource: %.200s", uri);
	yyjson_mut_arr_append(
	    contents, file_content_resource(doc, uri, &files->items[0]));
	return 0;
}

yyjson_mut_val *
resource_error(yyjson_mut_doc *doc, const char *uri, enum revision revision,
    struct err *err)
{
	yyjson_mut_val *data = yyjson_mut_obj(doc);

	/* No longer than any that there is. */
	if (strlen(uri) <= URI_MAX)
		yyjson_mut_obj_add_strcpy(doc, data, "uri", uri);
	if (err->code == ERR_RESOURCE && revision_is_modern(revision))
		err->code = ERR_PARAMS;
	return data;
}
