#include "mcp/tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/token.h"
#include "mcp/icon.h"
#include "mcp/result.h"
#include "mcp/rpc.h"
#include "mcp/tool_arguments.h"

#define END_SESSION "end_session"

bool
tools_have_sessions(const struct settings *settings)
{
	const struct language_table *table = &settings->languages;

	for (size_t i = 0; i < table->count; i++)
		if (table->on[i] && tool_has_sessions(table->rows[i], settings))
			return true;
	return false;
}

bool
tool_find(const struct settings *settings, const char *name, struct tool *tool)
{
	const struct language_table *table = &settings->languages;

	if (strcmp(name, END_SESSION) == 0) {
		*tool = (struct tool){.kind = TOOL_END_SESSION};
		return tools_have_sessions(settings);
	}
	*tool = (struct tool){
	    .kind = TOOL_RUN, .language = language_by_tool(table, name)};
	return tool->language != NULL && table->on[tool->language->id];
}

static bool
names(const char *const *list, const char *name)
{
	while (*list != NULL && strcmp(*list, name) != 0)
		list++;
	return *list != NULL;
}

static void
add_description(yyjson_mut_doc *doc, yyjson_mut_val *object,
    const struct language *language, const struct settings *settings)
{
	const char *figures = language->hook != NULL &&
	        settings->warm_interpreter &&
	        names(language->libraries, "matplotlib")
	    ? ", and matplotlib figures,"
	    : "";
	const char *sessions = tool_has_sessions(language, settings)
	    ? "Each call starts from nothing, unless it is in a \"session\": "
	      "there variables and files stay, and the value of the last "
	      "expression is returned too. "
	    : "Each call starts from nothing. ";
	char *text = xasprintf(
	    "Runs %s code in an isolated container and returns what it "
	    "prints: use %s to show results. %sFiles that the program writes "
	    "into its working directory%s come back.%s A program that fails "
	    "comes back with its exit code, stdout and stderr.",
	    language->title, language->print, sessions, figures,
	    settings->offline ? " There is no network." : "");

	yyjson_mut_obj_add_strcpy(doc, object, "description", text);
	free(text);
}

/* What a client may want to know before it lets a model call the tool. */
struct hints {
	bool read_only, destructive, idempotent, open_world;
};

static void
add_annotations(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *title,
    const struct hints *hints)
{
	yyjson_mut_val *annotations =
	    yyjson_mut_obj_add_obj(doc, object, "annotations");

	yyjson_mut_obj_add_strcpy(doc, annotations, "title", title);
	yyjson_mut_obj_add_bool(
	    doc, annotations, "readOnlyHint", hints->read_only);
	yyjson_mut_obj_add_bool(
	    doc, annotations, "destructiveHint", hints->destructive);
	yyjson_mut_obj_add_bool(
	    doc, annotations, "idempotentHint", hints->idempotent);
	yyjson_mut_obj_add_bool(
	    doc, annotations, "openWorldHint", hints->open_world);
}

static yyjson_mut_val *
add_tool(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *name,
    const char *title, enum revision revision)
{
	yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, list);

	yyjson_mut_obj_add_str(doc, object, "name", name);
	if (revision >= REVISION_2025_06_18)
		yyjson_mut_obj_add_strcpy(doc, object, "title", title);
	return object;
}

static void
add_run_tool(yyjson_mut_doc *doc, yyjson_mut_val *list,
    const struct language *language, const struct settings *settings,
    enum revision revision)
{
	char *title = xasprintf("Run %s code", language->title);
	yyjson_mut_val *object =
	    add_tool(doc, list, language->tool, title, revision);
	/* It changes nothing but its own container; with the network on, what
	 * it does elsewhere is not for us to know.  In a session the same
	 * program twice is not the same as once. */
	struct hints hints = {
	    .read_only = settings->offline, .open_world = !settings->offline};

	icon_add(doc, object, revision);
	add_description(doc, object, language, settings);
	tool_arguments_describe(doc,
	    yyjson_mut_obj_add_obj(doc, object, "inputSchema"), language,
	    settings);
	if (revision >= REVISION_2025_06_18)
		yyjson_mut_obj_add_val(
		    doc, object, "outputSchema", result_schema(doc));
	if (revision >= REVISION_2025_03_26)
		add_annotations(doc, object, title, &hints);
	free(title);
}

static void
add_end_session(
    yyjson_mut_doc *doc, yyjson_mut_val *list, enum revision revision)
{
	static const char title[] = "End a session";
	static const char schema[] =
	    "{\"type\":\"object\",\"properties\":{\"session\":{"
	    "\"type\":\"string\",\"description\":"
	    "\"The handle of the session\"}},"
	    "\"required\":[\"session\"],\"additionalProperties\":false}";
	/* What the session had is gone; ending it again changes nothing. */
	static const struct hints hints = {
	    .destructive = true, .idempotent = true};
	yyjson_mut_val *object =
	    add_tool(doc, list, END_SESSION, title, revision);

	yyjson_mut_obj_add_str(doc, object, "description",
	    "Ends a session that is no longer needed: its variables and files "
	    "are gone, and what it runs is stopped.");
	yyjson_mut_obj_add_val(doc, object, "inputSchema",
	    json_copy_text(doc, schema, sizeof(schema) - 1));
	if (revision >= REVISION_2025_03_26)
		add_annotations(doc, object, title, &hints);
}

void
tools_list(yyjson_mut_doc *doc, yyjson_mut_val *list,
    const struct settings *settings, enum revision revision)
{
	const struct language_table *table = &settings->languages;

	for (size_t i = 0; i < table->count; i++)
		if (table->on[i])
			add_run_tool(
			    doc, list, table->rows[i], settings, revision);
	if (tools_have_sessions(settings))
		add_end_session(doc, list, revision);
}

int
tool_request(const struct tool *tool, yyjson_val *given,
    const struct settings *settings, struct job *job, struct err *err)
{
	*job = (struct job){.language = tool->language};
	if (tool_arguments_read(given, settings, job, err) == 0)
		return 0;
	job_release(job);
	return -1;
}

const char *
tool_session(yyjson_val *given, struct err *err)
{
	yyjson_obj_iter iter = yyjson_obj_iter_with(given);
	yyjson_val *value = yyjson_obj_get(given, "session"), *key;
	const char *handle = rpc_text(value);

	while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
		if (yyjson_equals_str(key, "session"))
			continue;
		err_set(err, ERR_ARGUMENT,
		    "There is no argument \"%.100s\"; this tool takes: "
		    "session.",
		    yyjson_get_str(key));
		return NULL;
	}
	if (handle == NULL || !token_is_one(handle, '\0')) {
		err_set(err, ERR_ARGUMENT,
		    "The argument \"session\" must be the handle that a call "
		    "with \"session\": \"new\" has returned.");
		return NULL;
	}
	return handle;
}
