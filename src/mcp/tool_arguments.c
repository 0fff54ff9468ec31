#include "mcp/tool_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strlist.h"
#include "base/token.h"
#include "mcp/rpc.h"
#include "mcp/tool_arguments_private.h"

#define INPUT_MAX ((size_t)16 * 1024 * 1024)

static bool
is_given(yyjson_val *value)
{
	return value != NULL && !yyjson_is_null(value);
}

static bool
uses_default_image(
    const struct language *language, const struct settings *settings)
{
	return strcmp(settings->images[language->id], language->image) == 0;
}

static void
describe_code(yyjson_mut_doc *doc, yyjson_mut_val *property,
    const struct language *language, const struct settings *settings)
{
	char *names = strlist_join(language->libraries, ", ", ", ");
	bool known = uses_default_image(language, settings) && *names != '\0';
	char *text = known
	    ? xasprintf("The %s program to run. Libraries of the standard "
	                "image: %s.",
	          language->title, names)
	    : xasprintf("The %s program to run.", language->title);

	yyjson_mut_obj_add_str(doc, property, "type", "string");
	yyjson_mut_obj_add_strcpy(doc, property, "description", text);
	free(text);
	free(names);
}

static int
read_code(yyjson_val *value, const struct settings *settings, struct job *job,
    struct err *err)
{
	const struct language *language = job->language;
	const char *code;
	size_t length;

	(void)settings;
	if (value == NULL)
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"code\" is missing: pass the %s program as "
		    "a string.",
		    language->title);
	if (!yyjson_is_str(value))
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"code\" must be a string, not %s.",
		    yyjson_get_type_desc(value));
	code = yyjson_get_str(value);
	length = yyjson_get_len(value);
	if (code[strspn(code, " \t\r\n")] == '\0' && strlen(code) == length)
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"code\" is empty: pass the %s program to "
		    "run.",
		    language->title);
	if (memchr(code, '\0', length) != NULL)
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"code\" contains a NUL character; write it "
		    "as an escape sequence inside the program.");
	if (length > JOB_CODE_MAX)
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"code\" has %zu bytes; the limit is %zu.",
		    length, JOB_CODE_MAX);
	job->code = job_copy(code, length);
	job->code_length = length;
	return 0;
}

static void
describe_timeout(yyjson_mut_doc *doc, yyjson_mut_val *property,
    const struct language *language, const struct settings *settings)
{
	(void)language;
	yyjson_mut_obj_add_str(doc, property, "type", "integer");
	yyjson_mut_obj_add_str(doc, property, "description",
	    "Seconds after which the program is stopped; what it printed "
	    "until then is returned.");
	yyjson_mut_obj_add_int(doc, property, "minimum", 1);
	yyjson_mut_obj_add_int(
	    doc, property, "maximum", settings->max_timeout_seconds);
	yyjson_mut_obj_add_int(
	    doc, property, "default", settings->timeout_seconds);
}

static int
read_timeout(yyjson_val *value, const struct settings *settings,
    struct job *job, struct err *err)
{
	double seconds = yyjson_get_num(value);

	if (!is_given(value))
		return 0;
	if (!yyjson_is_num(value) || seconds < 1 ||
	    seconds > settings->max_timeout_seconds)
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"timeout_seconds\" must be a number from 1 "
		    "to %d.",
		    settings->max_timeout_seconds);
	job->timeout_seconds = (int)seconds;
	return 0;
}

static void
describe_network(yyjson_mut_doc *doc, yyjson_mut_val *property,
    const struct language *language, const struct settings *settings)
{
	(void)language;
	yyjson_mut_obj_add_str(doc, property, "type", "boolean");
	yyjson_mut_obj_add_str(doc, property, "description",
	    "false: the program gets no network at all. Use it for code that "
	    "needs none.");
	yyjson_mut_obj_add_bool(doc, property, "default", !settings->offline);
}

static int
read_network(yyjson_val *value, const struct settings *settings,
    struct job *job, struct err *err)
{
	if (!is_given(value))
		return 0;
	if (!yyjson_is_bool(value))
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"network\" must be true or false.");
	if (yyjson_get_bool(value) && settings->offline)
		return err_set(err, ERR_ARGUMENT,
		    "This server gives programs no network: leave out the "
		    "argument \"network\", and do without.");
	job->online = yyjson_get_bool(value);
	job->offline = !job->online;
	return 0;
}

static void
describe_stdin(yyjson_mut_doc *doc, yyjson_mut_val *property,
    const struct language *language, const struct settings *settings)
{
	(void)language;
	(void)settings;
	yyjson_mut_obj_add_str(doc, property, "type", "string");
	yyjson_mut_obj_add_str(doc, property, "description",
	    "What the program reads on standard input, all of it. Without "
	    "it there is none.");
}

static int
read_stdin(yyjson_val *value, const struct settings *settings, struct job *job,
    struct err *err)
{
	size_t length = yyjson_get_len(value);

	(void)settings;
	if (!is_given(value))
		return 0;
	if (!yyjson_is_str(value))
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"stdin\" must be a string, not %s.",
		    yyjson_get_type_desc(value));
	if (length > INPUT_MAX)
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"stdin\" has %zu bytes; the limit is %zu.",
		    length, INPUT_MAX);
	if (length == 0)
		return 0;
	job->input = job_copy(yyjson_get_str(value), length);
	job->input_length = length;
	return 0;
}

bool
tool_has_sessions(
    const struct language *language, const struct settings *settings)
{
	return language->hook != NULL && settings->warm_interpreter &&
	    settings->max_sessions > 0;
}

static void
describe_session(yyjson_mut_doc *doc, yyjson_mut_val *property,
    const struct language *language, const struct settings *settings)
{
	(void)language;
	(void)settings;
	yyjson_mut_obj_add_str(doc, property, "type", "string");
	yyjson_mut_obj_add_str(doc, property, "description",
	    "\"new\" begins a session; the result has its handle. With the "
	    "handle, the next call goes on where the last one ended: "
	    "variables, imports and files are still there. A call does not "
	    "wait for timers, callbacks or tasks: await at top level what "
	    "its result should have.");
}

static int
read_session(yyjson_val *value, const struct settings *settings,
    struct job *job, struct err *err)
{
	const char *session = rpc_text(value);

	if (!is_given(value))
		return 0;
	if (!tool_has_sessions(job->language, settings))
		return err_set(err, ERR_ARGUMENT,
		    "There are no sessions for %s here: leave out the argument "
		    "\"session\".",
		    job->language->title);
	if (session == NULL ||
	    (strcmp(session, JOB_SESSION_NEW) != 0 &&
	        !token_is_one(session, '\0')))
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"session\" must be \"new\", or the handle "
		    "that a call with \"new\" has returned.");
	job->session = xstrdup(session);
	return 0;
}

static bool
has_packages(const struct language *language, const struct settings *settings)
{
	return language->install != NULL && !settings->offline;
}

static void
describe_packages(yyjson_mut_doc *doc, yyjson_mut_val *property,
    const struct language *language, const struct settings *settings)
{
	char *text = xasprintf("Packages to install before the program runs, "
	                       "from %s. It takes time: only what is not "
	                       "installed already.",
	    language->packages != NULL ? language->packages
	                               : "the index of the language");

	(void)settings;
	yyjson_mut_obj_add_strcpy(doc, property, "description", text);
	free(text);
}

/* A value that is not there is read as NULL.  Packages want to know whether
 * there is a network, so they come behind it. */
static const struct argument {
	const char *name;
	bool required;
	/* Whether it is of use at all; NULL: always. */
	bool (*offered)(
	    const struct language *language, const struct settings *settings);
	/* Either these, ... */
	void (*describe)(yyjson_mut_doc *doc, yyjson_mut_val *property,
	    const struct language *language, const struct settings *settings);
	int (*read)(yyjson_val *value, const struct settings *settings,
	    struct job *job, struct err *err);
	/* or an array of strings, which may want to be described too. */
	const struct words *words;
} arguments[] = {
    {"code", true, NULL, describe_code, read_code, NULL},
    {"timeout_seconds", false, NULL, describe_timeout, read_timeout, NULL},
    {"network", false, NULL, describe_network, read_network, NULL},
    {"stdin", false, NULL, describe_stdin, read_stdin, NULL},
    {"args", false, NULL, NULL, NULL, &words_args},
    {"files", false, NULL, files_describe, files_read, NULL},
    {"outputs", false, NULL, NULL, NULL, &words_outputs},
    {"packages", false, has_packages, describe_packages, NULL, &words_packages},
    {"session", false, tool_has_sessions, describe_session, read_session, NULL},
};
#define ARGUMENT_COUNT (sizeof(arguments) / sizeof(arguments[0]))

static bool
is_offered(const struct argument *argument, const struct language *language,
    const struct settings *settings)
{
	return argument->offered == NULL ||
	    argument->offered(language, settings);
}

static void
add_property(yyjson_mut_doc *doc, yyjson_mut_val *properties,
    const struct argument *argument, const struct language *language,
    const struct settings *settings)
{
	yyjson_mut_val *property =
	    yyjson_mut_obj_add_obj(doc, properties, argument->name);

	if (argument->words != NULL)
		words_describe(argument->words, doc, property);
	if (argument->describe != NULL)
		argument->describe(doc, property, language, settings);
}

void
tool_arguments_describe(yyjson_mut_doc *doc, yyjson_mut_val *schema,
    const struct language *language, const struct settings *settings)
{
	yyjson_mut_val *properties, *required;

	yyjson_mut_obj_add_str(doc, schema, "type", "object");
	properties = yyjson_mut_obj_add_obj(doc, schema, "properties");
	required = yyjson_mut_obj_add_arr(doc, schema, "required");
	for (size_t i = 0; i < ARGUMENT_COUNT; i++) {
		if (!is_offered(&arguments[i], language, settings))
			continue;
		add_property(
		    doc, properties, &arguments[i], language, settings);
		if (arguments[i].required)
			yyjson_mut_arr_add_str(
			    doc, required, arguments[i].name);
	}
	yyjson_mut_obj_add_bool(doc, schema, "additionalProperties", false);
}

static bool
is_argument(yyjson_val *name)
{
	for (size_t i = 0; i < ARGUMENT_COUNT; i++)
		if (yyjson_equals_str(name, arguments[i].name))
			return true;
	return false;
}

static int
check_names(yyjson_val *given, const struct settings *settings,
    const struct job *job, struct err *err)
{
	yyjson_obj_iter iter = yyjson_obj_iter_with(given);
	const char *names[ARGUMENT_COUNT + 1] = {NULL};
	size_t count = 0;
	yyjson_val *key;
	char *known;

	while ((key = yyjson_obj_iter_next(&iter)) != NULL)
		if (!is_argument(key))
			break;
	if (key == NULL)
		return 0;
	for (size_t i = 0; i < ARGUMENT_COUNT; i++)
		if (is_offered(&arguments[i], job->language, settings))
			names[count++] = arguments[i].name;
	known = strlist_join(names, ", ", ", ");
	err_set(err, ERR_ARGUMENT,
	    "There is no argument \"%.100s\"; this tool takes: %s.",
	    yyjson_get_str(key), known);
	free(known);
	return -1;
}

static int
read_argument(const struct argument *argument, yyjson_val *given,
    const struct settings *settings, struct job *job, struct err *err)
{
	yyjson_val *value = yyjson_obj_get(given, argument->name);

	if (argument->words != NULL)
		return words_read(argument->words, value, settings, job, err);
	return argument->read(value, settings, job, err);
}

int
tool_arguments_read(yyjson_val *given, const struct settings *settings,
    struct job *job, struct err *err)
{
	if (check_names(given, settings, job, err) != 0)
		return -1;
	for (size_t i = 0; i < ARGUMENT_COUNT; i++)
		if (read_argument(&arguments[i], given, settings, job, err) !=
		    0)
			return -1;
	return 0;
}
