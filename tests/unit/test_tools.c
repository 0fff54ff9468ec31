#include "mcp/tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "helpers.h"
#include "suites.h"

#define CODE_MAX ((size_t)16 * 1024 * 1024)

static struct settings settings;

static void
set_up(void)
{
	settings_make(&settings, "--timeout=20", "--max-timeout=100", NULL);
}

static void
tear_down(void)
{
	settings_release(&settings);
}

static char *
listed(const struct settings *with, enum revision revision)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	char *text;

	tools_list(doc, list, with, revision);
	text = json_text(list);
	yyjson_mut_doc_free(doc);
	return text;
}

/* The tool of this name; with none, its language is NULL. */
static const struct tool *
tool_of(const struct settings *with, const char *name)
{
	static struct tool tool;

	if (!tool_find(with, name, &tool))
		tool.language = NULL;
	return &tool;
}

START_TEST(find_by_name)
{
	ck_assert_ptr_eq(tool_of(&settings, "run_python_code")->language,
	    &languages[LANGUAGE_PYTHON]);
	ck_assert_ptr_eq(tool_of(&settings, "run_js_code")->language,
	    &languages[LANGUAGE_JAVASCRIPT]);
	ck_assert_int_eq(tool_of(&settings, "run_js_code")->kind, TOOL_RUN);
	ck_assert_int_eq(
	    tool_of(&settings, "end_session")->kind, TOOL_END_SESSION);
	ck_assert_ptr_null(tool_of(&settings, "")->language);
	ck_assert_ptr_null(tool_of(&settings, "run_python")->language);
	ck_assert_ptr_null(tool_of(&settings, "RUN_PYTHON_CODE")->language);
	ck_assert_ptr_null(tool_of(&settings, "run_python_code ")->language);
}
END_TEST

START_TEST(find_by_the_name_in_the_original)
{
	ck_assert_ptr_eq(tool_of(&settings, "run_javascript_code")->language,
	    &languages[LANGUAGE_JAVASCRIPT]);
}
END_TEST

/* The names are promised. */
static const struct {
	const char *tool;
	enum language_id language;
	const char *title;
} all_tools[] = {
    {"run_python_code", LANGUAGE_PYTHON, "Run Python code"},
    {"run_js_code", LANGUAGE_JAVASCRIPT, "Run JavaScript code"},
    {"run_typescript_code", LANGUAGE_TYPESCRIPT, "Run TypeScript code"},
    {"run_bash_code", LANGUAGE_BASH, "Run Bash code"},
    {"run_ruby_code", LANGUAGE_RUBY, "Run Ruby code"},
    {"run_go_code", LANGUAGE_GO, "Run Go code"},
    {"run_c_code", LANGUAGE_C, "Run C code"},
    {"run_cpp_code", LANGUAGE_CPP, "Run C++ code"},
    {"run_java_code", LANGUAGE_JAVA, "Run Java code"},
    {"run_r_code", LANGUAGE_R, "Run R code"},
};

START_TEST(tools_of_all_languages)
{
	struct settings all;
	char *text, *pointer = xasprintf("/%d/name", _i);
	char *name = xasprintf("\"%s\"", all_tools[_i].tool);
	char *title = xasprintf("\"%s\"", all_tools[_i].title);

	settings_make(&all, "--languages=all", NULL);
	ck_assert_ptr_eq(tool_of(&all, all_tools[_i].tool)->language,
	    &languages[all_tools[_i].language]);
	text = listed(&all, REVISION_2025_11_25);
	assert_json(text, pointer, name);
	free(pointer);
	pointer = xasprintf("/%d/title", _i);
	assert_json(text, pointer, title);
	free(pointer);
	pointer = xasprintf("/%d/annotations/title", _i);
	assert_json(text, pointer, title);
	free(pointer);
	free(title);
	free(name);
	free(text);
	settings_release(&all);
}
END_TEST

START_TEST(what_is_off_is_not_offered)
{
	struct settings some;
	char *text;

	settings_make(&some, "--languages= r, javascript ", NULL);
	text = listed(&some, REVISION_2025_11_25);
	assert_json(text, "/0/name", "\"run_js_code\"");
	assert_json(text, "/1/name", "\"run_r_code\"");
	assert_json(text, "/2/name", "\"end_session\"");
	assert_json(text, "/3", "(none)");
	ck_assert_ptr_null(tool_of(&some, "run_python_code")->language);
	ck_assert_ptr_null(tool_of(&settings, "run_bash_code")->language);
	free(text);
	settings_release(&some);
}
END_TEST

/* Where no language has sessions there is nothing to end. */
START_TEST(sessions_that_nobody_has)
{
	struct settings some;
	struct tool tool;
	char *text;

	settings_make(&some, "--languages=r", NULL);
	text = listed(&some, REVISION_2025_11_25);
	assert_json(text, "/0/name", "\"run_r_code\"");
	assert_json(text, "/0/inputSchema/properties/session", "(none)");
	assert_json(text, "/1", "(none)");
	ck_assert(!tool_find(&some, "end_session", &tool));
	free(text);
	settings_release(&some);
}
END_TEST

START_TEST(no_known_libraries_are_not_said)
{
	struct settings some;
	char *text;

	settings_make(&some, "--languages=ruby", NULL);
	text = listed(&some, REVISION_2025_11_25);
	assert_json(text, "/0/inputSchema/properties/code/description",
	    "\"The Ruby program to run.\"");
	free(text);
	settings_release(&some);
}
END_TEST

START_TEST(names_in_a_fixed_order)
{
	char *text = listed(&settings, (enum revision)_i);

	assert_json(text, "/0/name", "\"run_python_code\"");
	assert_json(text, "/1/name", "\"run_js_code\"");
	assert_json(text, "/2/name", "\"end_session\"");
	assert_json(text, "/3", "(none)");
	free(text);
}
END_TEST

START_TEST(input_schema)
{
	char *text = listed(&settings, (enum revision)_i);

	for (int tool = 0; tool < 2; tool++) {
		char *pointer = xasprintf("/%d/inputSchema", tool);
		char *schema = json_at(text, pointer);

		assert_json(schema, "/type", "\"object\"");
		assert_json(schema, "/required", "[\"code\"]");
		assert_json(schema, "/additionalProperties", "false");
		assert_json(schema, "/properties/code/type", "\"string\"");
		assert_json(
		    schema, "/properties/timeout_seconds/type", "\"integer\"");
		assert_json(schema, "/properties/timeout_seconds/minimum", "1");
		assert_json(
		    schema, "/properties/timeout_seconds/maximum", "100");
		assert_json(
		    schema, "/properties/timeout_seconds/default", "20");
		free(schema);
		free(pointer);
	}
	free(text);
}
END_TEST

static const struct {
	enum revision revision;
	bool title, annotations, output_schema, icons;
} shapes[] = {
    {REVISION_2024_11_05, false, false, false, false},
    {REVISION_2025_03_26, false, true, false, false},
    {REVISION_2025_06_18, true, true, true, false},
    {REVISION_2025_11_25, true, true, true, true},
    {REVISION_2026_07_28, true, true, true, true},
};

static bool
has(const char *json, const char *pointer)
{
	char *value = json_at(json, pointer);
	bool found = strcmp(value, "(none)") != 0;

	free(value);
	return found;
}

START_TEST(shape_by_revision)
{
	char *text = listed(&settings, shapes[_i].revision);

	ck_assert(has(text, "/0/description"));
	ck_assert_int_eq(has(text, "/0/title"), shapes[_i].title);
	ck_assert_int_eq(has(text, "/0/annotations"), shapes[_i].annotations);
	ck_assert_int_eq(
	    has(text, "/0/outputSchema"), shapes[_i].output_schema);
	ck_assert_int_eq(has(text, "/0/icons"), shapes[_i].icons);
	free(text);
}
END_TEST

/* It is in every list of tools, so it is small. */
START_TEST(icon)
{
	static const char begin[] = "\"data:image/svg+xml;base64,";
	char *text = listed(&settings, REVISION_2025_11_25);
	char *source = json_at(text, "/0/icons/0/src"), *svg;
	size_t length;

	assert_json(text, "/0/icons/0/mimeType", "\"image/svg+xml\"");
	assert_json(text, "/0/icons/0/sizes", "[\"any\"]");
	ck_assert_int_eq(strncmp(source, begin, sizeof(begin) - 1), 0);
	ck_assert_uint_lt(strlen(source), 300);
	source[strlen(source) - 1] = '\0';
	svg = base64_decode(source + sizeof(begin) - 1,
	    strlen(source + sizeof(begin) - 1), &length);
	ck_assert_ptr_nonnull(svg);
	ck_assert_int_eq(strncmp(svg, "<svg ", 5), 0);
	free(svg);
	free(source);
	free(text);
}
END_TEST

START_TEST(output_schema)
{
	char *text = listed(&settings, REVISION_2025_11_25);

	assert_json(text, "/0/outputSchema/type", "\"object\"");
	assert_json(text, "/0/outputSchema/required",
	    "[\"exit_code\",\"signal\",\"stdout\",\"stderr\",\"timed_out\","
	    "\"truncated\",\"duration_ms\"]");
	assert_json(text, "/0/outputSchema/properties/exit_code/anyOf",
	    "[{\"type\":\"integer\"},{\"type\":\"null\"}]");
	assert_json(text, "/0/outputSchema/properties/signal/anyOf",
	    "[{\"type\":\"string\"},{\"type\":\"null\"}]");
	free(text);
}
END_TEST

static bool
mentions(const char *json, const char *pointer, const char *words)
{
	char *value = json_at(json, pointer);
	bool found = strstr(value, words) != NULL;

	free(value);
	return found;
}

START_TEST(libraries_of_the_default_images)
{
	static const char code[] = "/0/inputSchema/properties/code/description";
	static const char *const names[] = {"numpy", "pandas", "matplotlib",
	    "scikit-learn", "requests", "google-genai"};
	char *text = listed(&settings, REVISION_2025_11_25);

	for (size_t i = 0; i < COUNT(names); i++)
		ck_assert_msg(mentions(text, code, names[i]), "%s", names[i]);
	ck_assert(mentions(text, code, "Libraries of the standard image: "));
	ck_assert(mentions(text, "/1/inputSchema/properties/code/description",
	    "@google/genai"));
	free(text);
}
END_TEST

START_TEST(libraries_of_another_image_are_not_known)
{
	struct settings own;
	char *text;

	settings_make(&own, "--python-image=mine", NULL);
	text = listed(&own, REVISION_2025_11_25);
	ck_assert(!mentions(
	    text, "/0/inputSchema/properties/code/description", "numpy"));
	ck_assert(mentions(text, "/1/inputSchema/properties/code/description",
	    "@google/genai"));
	free(text);
	settings_release(&own);
}
END_TEST

START_TEST(hints_with_the_network)
{
	char *text = listed(&settings, REVISION_2025_11_25);

	assert_json(text, "/0/annotations/readOnlyHint", "false");
	assert_json(text, "/0/annotations/destructiveHint", "false");
	assert_json(text, "/0/annotations/openWorldHint", "true");
	ck_assert(!mentions(text, "/0/description", "no network"));
	free(text);
}
END_TEST

START_TEST(hints_without_the_network)
{
	struct settings offline;
	char *text;

	settings_make(&offline, "--network=none", NULL);
	text = listed(&offline, REVISION_2025_11_25);
	assert_json(text, "/0/annotations/openWorldHint", "false");
	ck_assert(mentions(text, "/0/description", "no network"));
	free(text);
	settings_release(&offline);
}
END_TEST

START_TEST(end_session_by_revision)
{
	char *text = listed(&settings, shapes[_i].revision);

	assert_json(text, "/2/inputSchema/required", "[\"session\"]");
	assert_json(text, "/2/inputSchema/additionalProperties", "false");
	assert_json(text, "/2/outputSchema", "(none)");
	assert_json(text, "/2/title",
	    shapes[_i].title ? "\"End a session\"" : "(none)");
	assert_json(text, "/2/annotations",
	    shapes[_i].annotations
	        ? "{\"title\":\"End a session\",\"readOnlyHint\":false,"
	          "\"destructiveHint\":true,\"idempotentHint\":true,"
	          "\"openWorldHint\":false}"
	        : "(none)");
	free(text);
}
END_TEST

START_TEST(description_says_what_comes_back)
{
	char *text = listed(&settings, REVISION_2025_11_25);

	for (int tool = 0; tool < 2; tool++) {
		char *pointer = xasprintf("/%d/description", tool);

		ck_assert(mentions(text, pointer, "session"));
		ck_assert(mentions(text, pointer, "Files"));
		free(pointer);
	}
	ck_assert(mentions(text, "/0/description", "matplotlib"));
	ck_assert(!mentions(text, "/1/description", "matplotlib"));
	free(text);
}
END_TEST

static const struct {
	const char *name;
	const char *json;
	const char *mention; /* NULL: it is taken */
} handles[] = {
    {"a handle", "{\"session\":\"0123456789abcdef0123456789abcdef\"}", NULL},
    {"none", "{}", "must be the handle"},
    {"null", "{\"session\":null}", "must be the handle"},
    {"a number", "{\"session\":1}", "must be the handle"},
    {"new", "{\"session\":\"new\"}", "must be the handle"},
    {"too short", "{\"session\":\"0123\"}", "must be the handle"},
    {"NUL behind it",
        "{\"session\":\"0123456789abcdef0123456789abcdef\\u0000\"}",
        "must be the handle"},
    {"another argument",
        "{\"session\":\"0123456789abcdef0123456789abcdef\",\"code\":\"x\"}",
        "no argument \"code\""},
};

START_TEST(session_to_end)
{
	yyjson_doc *doc =
	    yyjson_read(handles[_i].json, strlen(handles[_i].json), 0);
	struct err err = {0};
	const char *found = tool_session(yyjson_doc_get_root(doc), &err);

	ck_assert_msg((found != NULL) == (handles[_i].mention == NULL), "%s",
	    handles[_i].name);
	if (found == NULL)
		ck_assert_msg(strstr(err.message, handles[_i].mention) != NULL,
		    "%s: %s", handles[_i].name, err.message);
	else
		ck_assert_str_eq(found, "0123456789abcdef0123456789abcdef");
	yyjson_doc_free(doc);
}
END_TEST

START_TEST(session_to_end_of_no_arguments)
{
	struct err err = {0};

	ck_assert_ptr_null(tool_session(NULL, &err));
	ck_assert_ptr_nonnull(strstr(err.message, "session"));
}
END_TEST

static int
request(const char *json, size_t length, struct err *err, struct job *request,
    yyjson_doc **doc)
{
	*doc = yyjson_read(json, length, 0);
	ck_assert_msg(*doc != NULL, "the test's JSON is bad: %s", json);
	*err = (struct err){0};
	return tool_request(tool_of(&settings, "run_python_code"),
	    yyjson_doc_get_root(*doc), &settings, request, err);
}

static const struct {
	const char *name;
	const char *json;
	const char *code;
	int timeout;
	bool offline;
} good[] = {
    {"code", "{\"code\":\"print(1)\"}", "print(1)", 0, false},
    {"blanks around the code stay", "{\"code\":\" \\n x \\n\"}", " \n x \n", 0,
        false},
    {"any character", "{\"code\":\"'\\u00e9\\ud83d\\ude00'\"}",
        "'\xC3\xA9\xF0\x9F\x98\x80'", 0, false},
    {"the shortest timeout", "{\"code\":\"x\",\"timeout_seconds\":1}", "x", 1,
        false},
    {"the longest timeout", "{\"code\":\"x\",\"timeout_seconds\":100}", "x",
        100, false},
    {"a whole timeout written as a float",
        "{\"code\":\"x\",\"timeout_seconds\":5.0}", "x", 5, false},
    {"timeout null", "{\"code\":\"x\",\"timeout_seconds\":null}", "x", 0,
        false},
    {"another order", "{\"timeout_seconds\":2,\"code\":\"x\"}", "x", 2, false},
    {"network false", "{\"code\":\"x\",\"network\":false}", "x", 0, true},
    {"network true", "{\"code\":\"x\",\"network\":true}", "x", 0, false},
    {"network null", "{\"code\":\"x\",\"network\":null}", "x", 0, false},
};

START_TEST(taken)
{
	struct job found;
	yyjson_doc *doc;
	struct err err;
	int status =
	    request(good[_i].json, strlen(good[_i].json), &err, &found, &doc);

	ck_assert_msg(status == 0, "%s: %s", good[_i].name, err.message);
	ck_assert_msg(strcmp(found.code, good[_i].code) == 0, "%s: %s",
	    good[_i].name, found.code);
	ck_assert_uint_eq(found.code_length, strlen(good[_i].code));
	ck_assert_msg(found.timeout_seconds == good[_i].timeout, "%s: %d",
	    good[_i].name, found.timeout_seconds);
	ck_assert_msg(found.offline == good[_i].offline, "%s", good[_i].name);
	ck_assert_ptr_eq(found.language, &languages[LANGUAGE_PYTHON]);
	job_release(&found);
	yyjson_doc_free(doc);
}
END_TEST

START_TEST(network_that_is_not_to_be_had)
{
	static const char json[] = "{\"code\":\"x\",\"network\":true}";
	yyjson_doc *doc = yyjson_read(json, sizeof(json) - 1, 0);
	struct job found;
	struct settings offline;
	struct err err = {0};

	settings_make(&offline, "--network=none", NULL);
	ck_assert_int_eq(tool_request(tool_of(&settings, "run_js_code"),
	                     yyjson_doc_get_root(doc), &offline, &found, &err),
	    -1);
	ck_assert_ptr_nonnull(strstr(err.message, "no network"));
	settings_release(&offline);
	yyjson_doc_free(doc);
}
END_TEST

static const struct {
	const char *name;
	const char *json;
	const char *mention;
} bad[] = {
    {"no arguments", "{}", "\"code\" is missing"},
    {"only a timeout", "{\"timeout_seconds\":1}", "\"code\" is missing"},
    {"code null", "{\"code\":null}", "must be a string"},
    {"code a number", "{\"code\":1}", "must be a string"},
    {"code an array", "{\"code\":[\"x\"]}", "must be a string"},
    {"code an object", "{\"code\":{}}", "must be a string"},
    {"code true", "{\"code\":true}", "must be a string"},
    {"code empty", "{\"code\":\"\"}", "is empty"},
    {"code of blanks", "{\"code\":\" \\t\\r\\n \"}", "is empty"},
    {"code with NUL", "{\"code\":\"a\\u0000b\"}", "NUL"},
    {"code of NUL", "{\"code\":\"\\u0000\"}", "NUL"},
    {"blanks and NUL", "{\"code\":\" \\u0000\"}", "NUL"},
    {"timeout 0", "{\"code\":\"x\",\"timeout_seconds\":0}", "from 1 to 100"},
    {"timeout below 1", "{\"code\":\"x\",\"timeout_seconds\":0.5}",
        "from 1 to 100"},
    {"timeout below 0", "{\"code\":\"x\",\"timeout_seconds\":-1}",
        "from 1 to 100"},
    {"timeout too long", "{\"code\":\"x\",\"timeout_seconds\":101}",
        "from 1 to 100"},
    {"timeout a little too long", "{\"code\":\"x\",\"timeout_seconds\":100.5}",
        "from 1 to 100"},
    {"timeout past all integers",
        "{\"code\":\"x\",\"timeout_seconds\":18446744073709551617}",
        "from 1 to 100"},
    {"timeout past all floats", "{\"code\":\"x\",\"timeout_seconds\":1e308}",
        "from 1 to 100"},
    {"timeout a string", "{\"code\":\"x\",\"timeout_seconds\":\"5\"}",
        "timeout_seconds"},
    {"timeout true", "{\"code\":\"x\",\"timeout_seconds\":true}",
        "timeout_seconds"},
    {"timeout an object", "{\"code\":\"x\",\"timeout_seconds\":{}}",
        "timeout_seconds"},
    {"network a string", "{\"code\":\"x\",\"network\":\"none\"}",
        "true or false"},
    {"an unknown argument", "{\"code\":\"x\",\"language\":\"c\"}",
        "no argument \"language\""},
    {"an argument in capitals", "{\"Code\":\"x\"}", "no argument \"Code\""},
    {"timeout by another name", "{\"code\":\"x\",\"timeout\":1}",
        "no argument \"timeout\""},
};

START_TEST(refused)
{
	struct job found;
	yyjson_doc *doc;
	struct err err;
	int status =
	    request(bad[_i].json, strlen(bad[_i].json), &err, &found, &doc);

	ck_assert_msg(status == -1, "%s: taken", bad[_i].name);
	ck_assert_int_eq(err.code, ERR_ARGUMENT);
	ck_assert_msg(strstr(err.message, bad[_i].mention) != NULL, "%s: %s",
	    bad[_i].name, err.message);
	yyjson_doc_free(doc);
}
END_TEST

START_TEST(no_arguments_at_all)
{
	struct job found;
	struct err err = {0};

	ck_assert_int_eq(tool_request(tool_of(&settings, "run_js_code"), NULL,
	                     &settings, &found, &err),
	    -1);
	ck_assert_ptr_nonnull(strstr(err.message, "JavaScript"));
}
END_TEST

/* A long name of an argument is cut, but not within a character. */
START_TEST(a_long_unknown_argument)
{
	struct text json = {0};
	struct job found;
	yyjson_doc *doc;
	struct err err;

	text_addf(&json, "{\"x");
	for (int i = 0; i < 1000; i++)
		text_addf(&json, "\xE2\x82\xAC");
	text_addf(&json, "\":1}");
	ck_assert_int_eq(
	    request(json.data, json.length, &err, &found, &doc), -1);
	ck_assert(is_utf8(err.message, strlen(err.message)));
	ck_assert_uint_lt(strlen(err.message), 300);
	yyjson_doc_free(doc);
	text_release(&json);
}
END_TEST

static int
request_of_size(size_t size, struct err *err)
{
	char *code = xcalloc(1, size + 1), *json;
	struct job found;
	yyjson_doc *doc;
	int status;

	memset(code, '#', size);
	json = xasprintf("{\"code\":\"%s\"}", code);
	status = request(json, strlen(json), err, &found, &doc);
	if (status == 0)
		ck_assert_uint_eq(found.code_length, size);
	job_release(&found);
	yyjson_doc_free(doc);
	free(json);
	free(code);
	return status;
}

START_TEST(code_up_to_the_limit)
{
	struct err err;

	ck_assert_int_eq(request_of_size(CODE_MAX, &err), 0);
}
END_TEST

START_TEST(code_above_the_limit)
{
	struct err err;

	ck_assert_int_eq(request_of_size(CODE_MAX + 1, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.message, "16777217"));
	ck_assert_ptr_nonnull(strstr(err.message, "16777216"));
}
END_TEST

Suite *
tools_suite(void)
{
	Suite *suite = suite_create("tools");
	TCase *tcase = tcase_create("tools");
	int revisions = REVISION_COUNT;

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, find_by_name);
	tcase_add_test(tcase, find_by_the_name_in_the_original);
	tcase_add_loop_test(tcase, tools_of_all_languages, 0, COUNT(all_tools));
	tcase_add_test(tcase, what_is_off_is_not_offered);
	tcase_add_test(tcase, sessions_that_nobody_has);
	tcase_add_test(tcase, no_known_libraries_are_not_said);
	tcase_add_loop_test(tcase, names_in_a_fixed_order, 0, revisions);
	tcase_add_loop_test(tcase, input_schema, 0, revisions);
	tcase_add_loop_test(tcase, shape_by_revision, 0, COUNT(shapes));
	tcase_add_test(tcase, icon);
	tcase_add_test(tcase, output_schema);
	tcase_add_test(tcase, libraries_of_the_default_images);
	tcase_add_test(tcase, libraries_of_another_image_are_not_known);
	tcase_add_test(tcase, hints_with_the_network);
	tcase_add_test(tcase, hints_without_the_network);
	tcase_add_loop_test(tcase, end_session_by_revision, 0, COUNT(shapes));
	tcase_add_test(tcase, description_says_what_comes_back);
	tcase_add_loop_test(tcase, session_to_end, 0, COUNT(handles));
	tcase_add_test(tcase, session_to_end_of_no_arguments);
	tcase_add_loop_test(tcase, taken, 0, COUNT(good));
	tcase_add_test(tcase, network_that_is_not_to_be_had);
	tcase_add_loop_test(tcase, refused, 0, COUNT(bad));
	tcase_add_test(tcase, no_arguments_at_all);
	tcase_add_test(tcase, a_long_unknown_argument);
	tcase_add_test(tcase, code_up_to_the_limit);
	tcase_add_test(tcase, code_above_the_limit);
	suite_add_tcase(suite, tcase);
	return suite;
}
