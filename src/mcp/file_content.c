#include "mcp/file_content.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/utf8.h"

#define UNKNOWN_TYPE "application/octet-stream"

/* What models can look at or listen to, and how it begins.  A file that only
 * has the name of one would be refused by the model's service, and the whole
 * conversation with it. */
static const struct {
	const char *type;
	const char *begin;
	size_t length, offset;
} media[] = {
    {"image/png", "\x89PNG\r\n\x1A\n", 8, 0},
    {"image/jpeg", "\xFF\xD8\xFF", 3, 0},
    {"image/gif", "GIF8", 4, 0},
    {"image/webp", "WEBP", 4, 8},
    {"audio/wav", "WAVE", 4, 8},
    {"audio/mpeg", "ID3", 3, 0},
    {"audio/mpeg", "\xFF\xFB", 2, 0},
    {"audio/mpeg", "\xFF\xFA", 2, 0},
    {"audio/mpeg", "\xFF\xF3", 2, 0},
    {"audio/mpeg", "\xFF\xF2", 2, 0},
};
#define MEDIA_COUNT (sizeof(media) / sizeof(media[0]))

static bool
is_media_type(const char *type)
{
	for (size_t i = 0; i < MEDIA_COUNT; i++)
		if (strcmp(media[i].type, type) == 0)
			return true;
	return false;
}

static bool
begins_like(const struct artifact *file, const char *type)
{
	for (size_t i = 0; i < MEDIA_COUNT; i++)
		if (strcmp(media[i].type, type) == 0 &&
		    file->length >= media[i].offset + media[i].length &&
		    memcmp(file->data + media[i].offset, media[i].begin,
		        media[i].length) == 0)
			return true;
	return false;
}

static bool
is_text_type(const char *type)
{
	static const char *const others[] = {"application/json",
	    "application/jsonl", "application/xml", "application/yaml",
	    "image/svg+xml"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(type, others[i]) == 0)
			return true;
	return strncmp(type, "text/", 5) == 0;
}

static bool
is_text(const struct artifact *file)
{
	size_t step;

	for (size_t i = 0; i < file->length; i += step) {
		step = utf8_sequence(file->data + i, file->length - i);
		if (step == 0 || file->data[i] == '\0')
			return false;
	}
	return true;
}

const char *
file_content_type(const struct artifact *file)
{
	const char *type = artifact_type(file->path);

	if (file->data == NULL)
		return type;
	if (is_media_type(type) && !begins_like(file, type))
		type = UNKNOWN_TYPE;
	if (strcmp(type, UNKNOWN_TYPE) == 0 && is_text(file))
		return "text/plain";
	return type;
}

static void
add_base64(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
    const struct artifact *file)
{
	size_t length;
	char *text = base64_encode(file->data, file->length, &length);

	yyjson_mut_obj_add_strncpy(doc, object, key, text, length);
	free(text);
}

yyjson_mut_val *
file_content_resource(
    yyjson_mut_doc *doc, const char *uri, const struct artifact *file)
{
	yyjson_mut_val *resource = yyjson_mut_obj(doc);
	const char *type = file_content_type(file);

	yyjson_mut_obj_add_strcpy(doc, resource, "uri", uri);
	yyjson_mut_obj_add_str(doc, resource, "mimeType", type);
	if (is_text_type(type) && is_text(file))
		yyjson_mut_obj_add_strncpy(
		    doc, resource, "text", file->data, file->length);
	else
		add_base64(doc, resource, "blob", file);
	return resource;
}

/* What has a kind of item of its own; NULL: it is a resource. */
static const char *
item_kind(const char *type, enum revision revision)
{
	if (!is_media_type(type))
		return NULL;
	if (strncmp(type, "image/", 6) == 0)
		return "image";
	return revision >= REVISION_2025_03_26 ? "audio" : NULL;
}

yyjson_mut_val *
file_content_item(yyjson_mut_doc *doc, const char *uri,
    const struct artifact *file, enum revision revision)
{
	yyjson_mut_val *item = yyjson_mut_obj(doc);
	const char *type = file_content_type(file);
	const char *kind = item_kind(type, revision);

	if (kind == NULL) {
		yyjson_mut_obj_add_str(doc, item, "type", "resource");
		yyjson_mut_obj_add_val(doc, item, "resource",
		    file_content_resource(doc, uri, file));
		return item;
	}
	yyjson_mut_obj_add_str(doc, item, "type", kind);
	add_base64(doc, item, "data", file);
	yyjson_mut_obj_add_str(doc, item, "mimeType", type);
	return item;
}

yyjson_mut_val *
file_content_link(
    yyjson_mut_doc *doc, const char *uri, const struct artifact *file)
{
	yyjson_mut_val *item = yyjson_mut_obj(doc);

	yyjson_mut_obj_add_str(doc, item, "type", "resource_link");
	yyjson_mut_obj_add_strcpy(doc, item, "uri", uri);
	yyjson_mut_obj_add_strcpy(doc, item, "name", file->path);
	yyjson_mut_obj_add_str(doc, item, "mimeType", file_content_type(file));
	yyjson_mut_obj_add_uint(doc, item, "size", file->size);
	return item;
}
