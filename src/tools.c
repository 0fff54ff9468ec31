#include "tools.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "result.h"

#define CODE_MAX ((size_t)16 * 1024 * 1024)

static const struct tool tools[] = {
    {"run_python_code", NULL, "Run Python code", LANGUAGE_PYTHON},
    {"run_js_code", "run_javascript_code", "Run JavaScript code",
        LANGUAGE_JAVASCRIPT},
};
#define TOOL_COUNT (sizeof(tools) / sizeof(tools[0]))

const struct tool *
tool_find(const char *name)
{
	for (size_t i = 0; i < TOOL_COUNT; i++)
		if (strcmp(name, tools[i].name) == 0 ||
		    (tools[i].alias != NULL &&
		        strcmp(name, tools[i].alias) == 0))
			return &tools[i];
	return NULL;
}

static char *
join_names(const char *const *names)
{
	char *text = xstrdup("");

	for (; *names != NULL; names++) {
		char *longer = xasprintf(
		    "%s%s%s", text, *text != '\0' ? ", " : "", *names);

		free(text);
		text = longer;
	}
	return text;
}

static bool
uses_default_image(
    const struct language *language, const struct settings *settings)
{
	return strcmp(settings->images[language->id], language->image) == 0;
}

static void
add_description(yyjson_mut_doc *doc, yyjson_mut_val *object,
    const struct language *language, const struct settings *settings)
{
	bool offline =
	    settings->network != NULL && strcmp(settings->network, "none") == 0;
	char *text = xasprintf(
	    "Runs %s code in a fresh, isolated container and returns what it "
	    "prints. Use %s to show results: values of expressions are not "
	    "returned. Each call starts from nothing; files and variables of "
	    "earlier calls are gone. There is no standard input%s. A program "
	    "that fails comes back with its exit code, stdout and stderr.",
	    language->title, language->print, offline ? " and no network" : "");

	yyjson_mut_obj_add_strcpy(doc, object, "description", text);
	free(text);
}

static void
add_code_property(yyjson_mut_doc *doc, yyjson_mut_val *properties,
    const struct language *language, const struct settings *settings)
{
	yyjson_mut_val *code = yyjson_mut_obj_add_obj(doc, properties, "code");
	char *names = join_names(language->libraries);
	char *text = uses_default_image(language, settings)
	    ? xasprintf("The %s program to run. Installed libraries: %s.",
	          language->title, names)
	    : xasprintf("The %s program to run.", language->title);

	yyjson_mut_obj_add_str(doc, code, "type", "string");
	yyjson_mut_obj_add_strcpy(doc, code, "description", text);
	free(text);
	free(names);
}

static void
add_timeout_property(yyjson_mut_doc *doc, yyjson_mut_val *properties,
    const struct settings *settings)
{
	yyjson_mut_val *timeout =
	    yyjson_mut_obj_add_obj(doc, properties, "timeout_seconds");

	yyjson_mut_obj_add_str(doc, timeout, "type", "integer");
	yyjson_mut_obj_add_str(doc, timeout, "description",
	    "Seconds after which the program is stopped; what it printed "
	    "until then is returned.");
	yyjson_mut_obj_add_int(doc, timeout, "minimum", 1);
	yyjson_mut_obj_add_int(
	    doc, timeout, "maximum", settings->max_timeout_seconds);
	yyjson_mut_obj_add_int(
	    doc, timeout, "default", settings->timeout_seconds);
}

static void
add_input_schema(yyjson_mut_doc *doc, yyjson_mut_val *object,
    const struct language *language, const struct settings *settings)
{
	yyjson_mut_val *schema =
	    yyjson_mut_obj_add_obj(doc, object, "inputSchema");
	yyjson_mut_val *properties, *required;

	yyjson_mut_obj_add_str(doc, schema, "type", "object");
	properties = yyjson_mut_obj_add_obj(doc, schema, "properties");
	add_code_property(doc, properties, language, settings);
	add_timeout_property(doc, properties, settings);
	required = yyjson_mut_obj_add_arr(doc, schema, "required");
	yyjson_mut_arr_add_str(doc, required, "code");
	yyjson_mut_obj_add_bool(doc, schema, "additionalProperties", false);
}

static void
add_annotations(yyjson_mut_doc *doc, yyjson_mut_val *object,
    const struct tool *tool, const struct settings *settings)
{
	yyjson_mut_val *hints =
	    yyjson_mut_obj_add_obj(doc, object, "annotations");
	bool offline =
	    settings->network != NULL && strcmp(settings->network, "none") == 0;

	yyjson_mut_obj_add_str(doc, hints, "title", tool->title);
	/* It changes nothing but its own container; with the network on, what
	 * it does elsewhere is not for us to know. */
	yyjson_mut_obj_add_bool(doc, hints, "readOnlyHint", offline);
	yyjson_mut_obj_add_bool(doc, hints, "destructiveHint", false);
	yyjson_mut_obj_add_bool(doc, hints, "idempotentHint", offline);
	yyjson_mut_obj_add_bool(doc, hints, "openWorldHint", !offline);
}

static void
add_tool(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct tool *tool,
    const struct settings *settings, enum revision revision)
{
	const struct language *language = &languages[tool->language];
	yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, list);

	yyjson_mut_obj_add_str(doc, object, "name", tool->name);
	if (revision >= REVISION_2025_06_18)
		yyjson_mut_obj_add_str(doc, object, "title", tool->title);
	add_description(doc, object, language, settings);
	add_input_schema(doc, object, language, settings);
	if (revision >= REVISION_2025_06_18)
		yyjson_mut_obj_add_val(
		    doc, object, "outputSchema", result_schema(doc));
	if (revision >= REVISION_2025_03_26)
		add_annotations(doc, object, tool, settings);
}

void
tools_list(yyjson_mut_doc *doc, yyjson_mut_val *list,
    const struct settings *settings, enum revision revision)
{
	for (size_t i = 0; i < TOOL_COUNT; i++)
		add_tool(doc, list, &tools[i], settings, revision);
}

static int
read_code(yyjson_val *value, const struct language *language,
    struct sandbox_request *request, struct err *err)
{
	if (value == NULL)
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"code\" is missing: pass the %s program as "
		    "a string.",
		    language->title);
	if (!yyjson_is_str(value))
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"code\" must be a string, not %s.",
		    yyjson_get_type_desc(value));
	request->code = yyjson_get_str(value);
	request->code_length = yyjson_get_len(value);
	if (request->code[strspn(request->code, " \t\r\n")] == '\0' &&
	    strlen(request->code) == request->code_length)
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"code\" is empty: pass the %s program to "
		    "run.",
		    language->title);
	if (memchr(request->code, '\0', request->code_length) != NULL)
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"code\" contains a NUL character; write it "
		    "as an escape sequence inside the program.");
	if (request->code_length > CODE_MAX)
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"code\" has %zu bytes; the limit is %zu.",
		    request->code_length, CODE_MAX);
	return 0;
}

static int
read_timeout(yyjson_val *value, const struct settings *settings,
    struct sandbox_request *request, struct err *err)
{
	double seconds = yyjson_get_num(value);

	if (value == NULL || yyjson_is_null(value))
		return 0;
	if (!yyjson_is_num(value) || seconds < 1 ||
	    seconds > settings->max_timeout_seconds)
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"timeout_seconds\" must be a number from 1 "
		    "to %d.",
		    settings->max_timeout_seconds);
	request->timeout_seconds = (int)seconds;
	return 0;
}

static int
check_names(yyjson_val *arguments, struct err *err)
{
	yyjson_obj_iter iter = yyjson_obj_iter_with(arguments);
	yyjson_val *key;

	while ((key = yyjson_obj_iter_next(&iter)) != NULL)
		if (!yyjson_equals_str(key, "code") &&
		    !yyjson_equals_str(key, "timeout_seconds"))
			return err_set(err, ERR_ARGUMENT,
			    "There is no argument \"%.100s\"; this tool takes "
			    "\"code\" and \"timeout_seconds\".",
			    yyjson_get_str(key));
	return 0;
}

int
tool_request(const struct tool *tool, yyjson_val *arguments,
    const struct settings *settings, struct sandbox_request *request,
    struct err *err)
{
	const struct language *language = &languages[tool->language];

	*request = (struct sandbox_request){.language = language};
	if (check_names(arguments, err) != 0 ||
	    read_code(
	        yyjson_obj_get(arguments, "code"), language, request, err) != 0)
		return -1;
	return read_timeout(yyjson_obj_get(arguments, "timeout_seconds"),
	    settings, request, err);
}
