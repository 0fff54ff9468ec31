#include "mcp/result_files.h"

#include <inttypes.h>
#include <stdlib.h>

#include "mcp/file_content.h"
#include "sandbox/collector.h"
#include "sandbox/work_path.h"

/* It can still be read when the call is over.  A figure is no file. */
static bool
stays(const struct outcome *outcome, const struct artifact *file)
{
	return outcome->session != NULL && !outcome->session_ended &&
	    !file->figure;
}

static char *
uri_of(const struct outcome *outcome, const struct artifact *file)
{
	return work_path_uri(
	    stays(outcome, file) ? outcome->session : NULL, file->path);
}

static bool
can_be_asked_for(const struct artifact *file)
{
	return file->data == NULL && !file->figure &&
	    file->size <= COLLECTOR_FILE_MAX;
}

static const char *
fate(const struct artifact *file)
{
	if (file->data != NULL)
		return "";
	return can_be_asked_for(file) ? ", not returned" : ", too large";
}

void
result_files_say(const struct outcome *outcome, struct strbuf *text)
{
	const struct artifacts *files = &outcome->artifacts;
	bool can_be_had = false;

	for (size_t i = 0; i < files->count; i++) {
		const struct artifact *file = &files->items[i];

		strbuf_addf(text, "%s%s (%s, %" PRIu64 " bytes%s)",
		    text->length > 0 ? "\n" : "", file->path,
		    file_content_type(file), file->size, fate(file));
		can_be_had = can_be_had || can_be_asked_for(file);
	}
	if (files->left_out > 0)
		strbuf_addf(text,
		    "%s(%zu more left out: too many, or oddly named)",
		    text->length > 0 ? "\n" : "", files->left_out);
	if (can_be_had)
		strbuf_addf(text,
		    "\nWhat is not returned can be asked for in \"outputs\".");
}

static void
add_fact(yyjson_mut_doc *doc, yyjson_mut_val *list,
    const struct outcome *outcome, const struct artifact *file)
{
	yyjson_mut_val *fact = yyjson_mut_arr_add_obj(doc, list);
	char *uri = uri_of(outcome, file);

	yyjson_mut_obj_add_strcpy(doc, fact, "path", file->path);
	yyjson_mut_obj_add_uint(doc, fact, "size", file->size);
	yyjson_mut_obj_add_str(doc, fact, "mimeType", file_content_type(file));
	yyjson_mut_obj_add_bool(doc, fact, "returned", file->data != NULL);
	if (stays(outcome, file))
		yyjson_mut_obj_add_strcpy(doc, fact, "uri", uri);
	free(uri);
}

void
result_files_add_facts(
    yyjson_mut_doc *doc, yyjson_mut_val *facts, const struct outcome *outcome)
{
	const struct artifacts *files = &outcome->artifacts;
	yyjson_mut_val *list = NULL;

	if (files->count > 0)
		list = yyjson_mut_obj_add_arr(doc, facts, "files");
	for (size_t i = 0; i < files->count; i++)
		add_fact(doc, list, outcome, &files->items[i]);
	if (files->left_out > 0)
		yyjson_mut_obj_add_uint(
		    doc, facts, "files_left_out", files->left_out);
}

void
result_files_add_content(yyjson_mut_doc *doc, yyjson_mut_val *content,
    const struct outcome *outcome, enum revision revision)
{
	for (size_t i = 0; i < outcome->artifacts.count; i++) {
		const struct artifact *file = &outcome->artifacts.items[i];
		char *uri = uri_of(outcome, file);

		if (file->data != NULL)
			yyjson_mut_arr_append(content,
			    file_content_item(doc, uri, file, revision));
		else if (stays(outcome, file) && can_be_asked_for(file) &&
		    revision >= REVISION_2025_06_18)
			yyjson_mut_arr_append(
			    content, file_content_link(doc, uri, file));
		free(uri);
	}
}
