#include "result.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "helpers.h"
#include "suites.h"

static struct settings settings;

static void
set_up(void)
{
	settings_make(&settings, "--memory=512m", "--max-timeout=100", NULL);
}

static void
tear_down(void)
{
	settings_release(&settings);
}

/* An outcome whose streams are these bytes. */
static struct outcome
outcome_of(const char *out, size_t out_length, const char *err_out,
    size_t err_out_length)
{
	return (struct outcome){.ran = true,
	    .out = (char *)(size_t)out,
	    .out_length = out_length,
	    .err_out = (char *)(size_t)err_out,
	    .err_out_length = err_out_length,
	    .duration_ms = 1234};
}

static char *
built(const struct outcome *outcome, enum language_id language,
    enum revision revision)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	char *text = json_text(result_build(
	    doc, outcome, &languages[language], &settings, revision));

	yyjson_mut_doc_free(doc);
	return text;
}

/* Fails unless the one text item of the result is these bytes. */
static void
assert_text(const char *name, const char *json, const char *expected,
    size_t expected_length)
{
	yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
	yyjson_val *text = yyjson_doc_ptr_get(doc, "/content/0/text");

	ck_assert_msg(yyjson_get_len(text) == expected_length &&
	        memcmp(yyjson_get_str(text), expected, expected_length) == 0,
	    "%s: \"%s\" and not \"%s\"", name, yyjson_get_str(text), expected);
	ck_assert(yyjson_equals_str(
	    yyjson_doc_ptr_get(doc, "/content/0/type"), "text"));
	ck_assert_ptr_null(yyjson_doc_ptr_get(doc, "/content/1"));
	yyjson_doc_free(doc);
}

static const struct {
	const char *name;
	const char *out;
	size_t out_length;
	const char *err_out;
	size_t err_out_length;
	const char *expected;
	size_t expected_length;
} successes[] = {
    {"stdout", BYTES("hello"), BYTES(""), BYTES("hello")},
    {"stdout is stripped", BYTES(" \n\thello\r\n\n"), BYTES(""),
        BYTES("hello")},
    {"blanks within stay", BYTES("a  b\n\n  c\n"), BYTES(""),
        BYTES("a  b\n\n  c")},
    {"stderr behind it, marked", BYTES("out\n"), BYTES("warning\n"),
        BYTES("out\n\n[stderr]\nwarning")},
    {"only stderr", BYTES(""), BYTES("warning\n"), BYTES("[stderr]\nwarning")},
    {"stdout of blanks and stderr", BYTES(" \n"), BYTES("warning\n"),
        BYTES("[stderr]\nwarning")},
    {"stderr of blanks is nothing", BYTES("out\n"), BYTES(" \n"), BYTES("out")},
    {"nothing printed", BYTES(""), BYTES(""),
        BYTES("The program ended without an error and printed nothing. "
              "Forgot print()?")},
    {"only blanks printed", BYTES("\n \n"), BYTES("\n"),
        BYTES("The program ended without an error and printed nothing. "
              "Forgot print()?")},
    {"NUL within", BYTES("a\0b\n"), BYTES(""), BYTES("a\0b")},
    /* NUL is not white space: the original keeps it. */
    {"NUL at the ends", BYTES("\0a\0"), BYTES(""), BYTES("\0a\0")},
    {"any character", BYTES("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\n"),
        BYTES(""), BYTES("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80")},
    {"what looks like JSON", BYTES("{\"jsonrpc\":\"2.0\"}\n"), BYTES(""),
        BYTES("{\"jsonrpc\":\"2.0\"}")},
};

START_TEST(text_of_success)
{
	struct outcome outcome =
	    outcome_of(successes[_i].out, successes[_i].out_length,
	        successes[_i].err_out, successes[_i].err_out_length);
	char *json = built(&outcome, LANGUAGE_PYTHON, REVISION_2025_11_25);

	assert_text(successes[_i].name, json, successes[_i].expected,
	    successes[_i].expected_length);
	assert_json(json, "/isError", "false");
	free(json);
}
END_TEST

START_TEST(nothing_printed_names_the_way_to_print)
{
	struct outcome outcome = outcome_of(BYTES(""), BYTES(""));
	char *json = built(&outcome, LANGUAGE_JAVASCRIPT, REVISION_2025_11_25);

	assert_text("javascript", json,
	    BYTES("The program ended without an error and printed nothing. "
	          "Forgot console.log()?"));
	free(json);
}
END_TEST

static const struct {
	const char *name;
	int exit_code, signal;
	bool timed_out;
	const char *expected;
} failures[] = {
    {"exit 1", 1, 0, false,
        "{\n  \"exit_code\": 1,\n  \"stderr\": \"Trace\\n\",\n"
        "  \"stdout\": \" part\\n\"\n}"},
    {"exit 42", 42, 0, false,
        "{\n  \"exit_code\": 42,\n  \"stderr\": \"Trace\\n\",\n"
        "  \"stdout\": \" part\\n\"\n}"},
    {"exit 137 is no signal", 137, 0, false,
        "{\n  \"exit_code\": 137,\n  \"stderr\": \"Trace\\n\",\n"
        "  \"stdout\": \" part\\n\"\n}"},
    {"SIGSEGV", -1, SIGSEGV, false,
        "{\n  \"exit_code\": null,\n  \"stderr\": \"Trace\\n\",\n"
        "  \"stdout\": \" part\\n\",\n  \"signal\": \"SIGSEGV\",\n"
        "  \"note\": \"The program was ended by SIGSEGV.\"\n}"},
    {"SIGABRT", -1, SIGABRT, false,
        "{\n  \"exit_code\": null,\n  \"stderr\": \"Trace\\n\",\n"
        "  \"stdout\": \" part\\n\",\n  \"signal\": \"SIGABRT\",\n"
        "  \"note\": \"The program was ended by SIGABRT.\"\n}"},
    {"a signal without a name", -1, 63, false,
        "{\n  \"exit_code\": null,\n  \"stderr\": \"Trace\\n\",\n"
        "  \"stdout\": \" part\\n\",\n  \"signal\": \"signal 63\",\n"
        "  \"note\": \"The program was ended by signal 63.\"\n}"},
    {"a signal that cannot be", -1, 255, false,
        "{\n  \"exit_code\": null,\n  \"stderr\": \"Trace\\n\",\n"
        "  \"stdout\": \" part\\n\",\n  \"signal\": \"signal 255\",\n"
        "  \"note\": \"The program was ended by signal 255.\"\n}"},
    {"out of memory", -1, SIGKILL, false,
        "{\n  \"exit_code\": null,\n  \"stderr\": \"Trace\\n\",\n"
        "  \"stdout\": \" part\\n\",\n  \"signal\": \"SIGKILL\",\n"
        "  \"note\": \"The program was killed, most likely because it ran "
        "out of memory (limit: 512m).\"\n}"},
    {"timeout", -1, SIGKILL, true,
        "{\n  \"exit_code\": null,\n  \"stderr\": \"Trace\\n\",\n"
        "  \"stdout\": \" part\\n\",\n  \"signal\": \"SIGKILL\",\n"
        "  \"timed_out\": true,\n  \"note\": \"The program was stopped "
        "after 1.2 seconds, its time limit. timeout_seconds asks for more, "
        "up to 100.\"\n}"},
    {"timeout at the moment of success", 0, 0, true,
        "{\n  \"exit_code\": 0,\n  \"stderr\": \"Trace\\n\",\n"
        "  \"stdout\": \" part\\n\",\n"
        "  \"timed_out\": true,\n  \"note\": \"The program was stopped "
        "after 1.2 seconds, its time limit. timeout_seconds asks for more, "
        "up to 100.\"\n}"},
};

START_TEST(text_of_failure)
{
	struct outcome outcome = outcome_of(BYTES(" part\n"), BYTES("Trace\n"));
	char *json;

	outcome.exit_code = failures[_i].exit_code;
	outcome.signal = failures[_i].signal;
	outcome.timed_out = failures[_i].timed_out;
	json = built(&outcome, LANGUAGE_PYTHON, REVISION_2025_11_25);
	assert_text(failures[_i].name, json, failures[_i].expected,
	    strlen(failures[_i].expected));
	/* The code did run. */
	assert_json(json, "/isError", "false");
	free(json);
}
END_TEST

/* The original's clients look for "error" in what a failure gives. */
START_TEST(failure_keeps_what_was_said)
{
	struct outcome outcome = outcome_of(
	    BYTES(""), BYTES("NameError: \"x\" \\ \xE2\x82\xAC\0\033[0m\n"));
	char *json, *inner;
	yyjson_doc *doc;
	yyjson_val *text;

	outcome.exit_code = 1;
	json = built(&outcome, LANGUAGE_PYTHON, REVISION_2025_11_25);
	doc = yyjson_read(json, strlen(json), 0);
	text = yyjson_doc_ptr_get(doc, "/content/0/text");
	inner = xstrndup(yyjson_get_str(text), yyjson_get_len(text));
	ck_assert_ptr_nonnull(strcasestr(inner, "error"));
	assert_json(inner, "/stderr",
	    "\"NameError: \\\"x\\\" \\\\ \xE2\x82\xAC\\u0000\\u001B[0m\\n\"");
	assert_json(inner, "/exit_code", "1");
	free(inner);
	yyjson_doc_free(doc);
	free(json);
}
END_TEST

START_TEST(facts_of_success)
{
	struct outcome outcome = outcome_of(BYTES(" out\n"), BYTES("e\0\n"));
	char *json = built(&outcome, LANGUAGE_PYTHON, REVISION_2025_06_18);

	assert_json(json, "/structuredContent",
	    "{\"exit_code\":0,\"signal\":null,\"stdout\":\" out\\n\","
	    "\"stderr\":\"e\\u0000\\n\",\"timed_out\":false,"
	    "\"truncated\":false,\"duration_ms\":1234}");
	free(json);
}
END_TEST

START_TEST(facts_of_failure)
{
	struct outcome outcome = outcome_of(BYTES("o"), BYTES("e"));
	char *json;

	outcome.exit_code = -1;
	outcome.signal = SIGKILL;
	outcome.timed_out = true;
	outcome.truncated = true;
	json = built(&outcome, LANGUAGE_PYTHON, REVISION_2025_11_25);
	assert_json(json, "/structuredContent",
	    "{\"exit_code\":null,\"signal\":\"SIGKILL\",\"stdout\":\"o\","
	    "\"stderr\":\"e\",\"timed_out\":true,\"truncated\":true,"
	    "\"duration_ms\":1234}");
	free(json);
}
END_TEST

START_TEST(facts_by_revision)
{
	struct outcome outcome = outcome_of(BYTES("o"), BYTES(""));
	char *json = built(&outcome, LANGUAGE_PYTHON, (enum revision)_i);
	char *facts = json_at(json, "/structuredContent");

	ck_assert_int_eq(
	    strcmp(facts, "(none)") != 0, _i >= REVISION_2025_06_18);
	assert_json(json, "/content/0/text", "\"o\"");
	free(facts);
	free(json);
}
END_TEST

/* Each fact stands in the schema, and what the schema requires is there. */
START_TEST(facts_conform_to_the_schema)
{
	struct outcome outcome = outcome_of(BYTES("o"), BYTES("e"));
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *result = result_build(doc, &outcome,
	    &languages[LANGUAGE_PYTHON], &settings, REVISION_2025_11_25);
	yyjson_mut_val *facts = yyjson_mut_obj_get(result, "structuredContent");
	yyjson_mut_val *schema = result_schema(doc);
	yyjson_mut_val *properties = yyjson_mut_obj_get(schema, "properties");
	yyjson_mut_val *required = yyjson_mut_obj_get(schema, "required");
	yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(facts);
	yyjson_mut_val *key;

	while ((key = yyjson_mut_obj_iter_next(&iter)) != NULL)
		ck_assert_msg(yyjson_mut_obj_get(
		                  properties, yyjson_mut_get_str(key)) != NULL,
		    "%s is not in the schema", yyjson_mut_get_str(key));
	for (size_t i = 0; i < yyjson_mut_arr_size(required); i++) {
		const char *name =
		    yyjson_mut_get_str(yyjson_mut_arr_get(required, i));

		ck_assert_msg(yyjson_mut_obj_get(facts, name) != NULL,
		    "%s is missing", name);
	}
	ck_assert_uint_eq(
	    yyjson_mut_arr_size(required), yyjson_mut_obj_size(facts));
	yyjson_mut_doc_free(doc);
}
END_TEST

START_TEST(not_run_is_an_error)
{
	struct outcome outcome = {.ran = false};
	char *json;

	err_set(&outcome.err, ERR_ENGINE, "No engine.\n- podman: \"x\"");
	json = built(&outcome, LANGUAGE_PYTHON, (enum revision)_i);
	ck_assert_str_eq(json,
	    "{\"content\":[{\"type\":\"text\","
	    "\"text\":\"No engine.\\n- podman: \\\"x\\\"\"}],"
	    "\"isError\":true}");
	free(json);
}
END_TEST

START_TEST(error_by_itself)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	char message[] = "why";
	yyjson_mut_val *result = result_build_error(doc, message);
	char *json;

	/* It was copied. */
	message[0] = 'x';
	json = json_text(result);
	ck_assert_str_eq(json,
	    "{\"content\":[{\"type\":\"text\",\"text\":\"why\"}],"
	    "\"isError\":true}");
	free(json);
	yyjson_mut_doc_free(doc);
}
END_TEST

Suite *
result_suite(void)
{
	Suite *suite = suite_create("result");
	TCase *tcase = tcase_create("result");
	int revisions = REVISION_COUNT;

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, text_of_success, 0, COUNT(successes));
	tcase_add_test(tcase, nothing_printed_names_the_way_to_print);
	tcase_add_loop_test(tcase, text_of_failure, 0, COUNT(failures));
	tcase_add_test(tcase, failure_keeps_what_was_said);
	tcase_add_test(tcase, facts_of_success);
	tcase_add_test(tcase, facts_of_failure);
	tcase_add_loop_test(tcase, facts_by_revision, 0, revisions);
	tcase_add_test(tcase, facts_conform_to_the_schema);
	tcase_add_loop_test(tcase, not_run_is_an_error, 0, revisions);
	tcase_add_test(tcase, error_by_itself);
	suite_add_tcase(suite, tcase);
	return suite;
}
