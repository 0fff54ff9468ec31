#include "mcp/result.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "helpers.h"
#include "sandbox/collector.h"
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
        "  \"timed_out\": true,\n  \"note\": \"The program reached its "
        "time limit, and was stopped after 1.2 seconds. timeout_seconds asks "
        "for more, up to 100.\"\n}"},
    {"timeout at the moment of success", 0, 0, true,
        "{\n  \"exit_code\": 0,\n  \"stderr\": \"Trace\\n\",\n"
        "  \"stdout\": \" part\\n\",\n"
        "  \"timed_out\": true,\n  \"note\": \"The program reached its "
        "time limit, and was stopped after 1.2 seconds. timeout_seconds asks "
        "for more, up to 100.\"\n}"},
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

START_TEST(longest_time_limit)
{
	struct outcome outcome = outcome_of(BYTES(""), BYTES(""));
	char *json;

	outcome.signal = SIGKILL;
	outcome.timed_out = true;
	outcome.duration_ms = 100 * 1000;
	json = built(&outcome, LANGUAGE_PYTHON, REVISION_2025_11_25);
	ck_assert_ptr_nonnull(
	    strstr(json, "No call gets more: the most is 100."));
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

/* What only some outcomes have: files, a session, a value. */

#define HANDLE "0123456789abcdef0123456789abcdef"
#define SESSION_URI "sandbox://session/" HANDLE "/"
#define PNG "\x89PNG\r\n\x1A\n..."
#define PNG_BASE64 "iVBORw0KGgouLi4="

static struct artifact
file_of(const char *path, const char *data, size_t length)
{
	return (struct artifact){.path = (char *)(size_t)path,
	    .size = length,
	    .data = (char *)(size_t)data,
	    .length = length};
}

static void
assert_first_text(const char *json, const char *expected)
{
	yyjson_doc *doc = yyjson_read(json, strlen(json), 0);

	ck_assert_str_eq(
	    yyjson_get_str(yyjson_doc_ptr_get(doc, "/content/0/text")),
	    expected);
	yyjson_doc_free(doc);
}

static const struct {
	const char *path;
	const char *data; /* NULL: it stayed where it is */
	size_t length;
	enum revision revision;
	const char *expected; /* the item */
} items[] = {
    {"a.png", BYTES(PNG), REVISION_2024_11_05,
        "{\"type\":\"image\",\"data\":\"" PNG_BASE64
        "\",\"mimeType\":\"image/png\"}"},
    {"A.JPG", BYTES("\xFF\xD8\xFF"), REVISION_2025_11_25,
        "{\"type\":\"image\",\"data\":\"/9j/\",\"mimeType\":\"image/jpeg\"}"},
    {"a.gif", BYTES("GIF89a"), REVISION_2025_11_25,
        "{\"type\":\"image\",\"data\":\"R0lGODlh\","
        "\"mimeType\":\"image/gif\"}"},
    {"a.webp", BYTES("RIFF\1\2\3\4WEBP"), REVISION_2026_07_28,
        "{\"type\":\"image\",\"data\":\"UklGRgECAwRXRUJQ\","
        "\"mimeType\":\"image/webp\"}"},
    /* Called an image, and none. */
    {"b.png", BYTES("hello"), REVISION_2025_11_25,
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"sandbox://files/"
        "b.png\",\"mimeType\":\"text/plain\",\"text\":\"hello\"}}"},
    {"c.png", BYTES("\xFF\xFF\xFF"), REVISION_2025_11_25,
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"sandbox://files/"
        "c.png\",\"mimeType\":\"application/octet-stream\","
        "\"blob\":\"////\"}}"},
    {"d.png", BYTES(""), REVISION_2025_11_25,
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"sandbox://files/"
        "d.png\",\"mimeType\":\"text/plain\",\"text\":\"\"}}"},
    {"a.wav", BYTES("RIFF\1\2\3\4WAVE"), REVISION_2025_03_26,
        "{\"type\":\"audio\",\"data\":\"UklGRgECAwRXQVZF\","
        "\"mimeType\":\"audio/wav\"}"},
    {"a.wav", BYTES("RIFF\1\2\3\4WAVE"), REVISION_2024_11_05,
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"sandbox://files/"
        "a.wav\",\"mimeType\":\"audio/wav\",\"blob\":\"UklGRgECAwRXQVZF\"}}"},
    {"a.mp3", BYTES("ID3\4"), REVISION_2025_11_25,
        "{\"type\":\"audio\",\"data\":\"SUQzBA==\","
        "\"mimeType\":\"audio/mpeg\"}"},
    {"a.mp3", BYTES("\xFF\xFB\x90"), REVISION_2025_11_25,
        "{\"type\":\"audio\",\"data\":\"//uQ\","
        "\"mimeType\":\"audio/mpeg\"}"},
    {"b.mp3", BYTES("hello"), REVISION_2025_11_25,
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"sandbox://files/"
        "b.mp3\",\"mimeType\":\"text/plain\",\"text\":\"hello\"}}"},
    {"out/a b.csv", BYTES("x,y\n"), REVISION_2024_11_05,
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"sandbox://files/"
        "out/a%20b.csv\",\"mimeType\":\"text/csv\",\"text\":\"x,y\\n\"}}"},
    {"a.svg", BYTES("<svg/>"), REVISION_2025_11_25,
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"sandbox://files/"
        "a.svg\",\"mimeType\":\"image/svg+xml\",\"text\":\"<svg/>\"}}"},
    {"a.json", BYTES("\"\xC3\xA9\""), REVISION_2025_11_25,
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"sandbox://files/"
        "a.json\",\"mimeType\":\"application/json\","
        "\"text\":\"\\\"\xC3\xA9\\\"\"}}"},
    {"not-utf8.txt", BYTES("\xFF\xFF\xFF"), REVISION_2025_11_25,
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"sandbox://files/"
        "not-utf8.txt\",\"mimeType\":\"text/plain\",\"blob\":\"////\"}}"},
    {"nul.txt", BYTES("\0"), REVISION_2025_11_25,
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"sandbox://files/"
        "nul.txt\",\"mimeType\":\"text/plain\",\"blob\":\"AA==\"}}"},
    {"Makefile", BYTES("all:\n"), REVISION_2025_11_25,
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"sandbox://files/"
        "Makefile\",\"mimeType\":\"text/plain\",\"text\":\"all:\\n\"}}"},
    {"a.bin", BYTES("\0"), REVISION_2025_11_25,
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"sandbox://files/"
        "a.bin\",\"mimeType\":\"application/octet-stream\","
        "\"blob\":\"AA==\"}}"},
    /* All of it is ASCII, and still it is no text to read. */
    {"a.pdf", BYTES("%PDF"), REVISION_2025_11_25,
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"sandbox://files/"
        "a.pdf\",\"mimeType\":\"application/pdf\",\"blob\":\"JVBERg==\"}}"},
    {"big.bin", NULL, 0, REVISION_2025_11_25, "(none)"},
};

START_TEST(item_of_a_file)
{
	struct outcome outcome = outcome_of(BYTES("o"), BYTES(""));
	struct artifact file =
	    file_of(items[_i].path, items[_i].data, items[_i].length);
	char *json;

	outcome.artifacts = (struct artifacts){.items = &file, .count = 1};
	json = built(&outcome, LANGUAGE_PYTHON, items[_i].revision);
	assert_json(json, "/content/1", items[_i].expected);
	assert_json(json, "/content/2", "(none)");
	free(json);
}
END_TEST

static const struct {
	const char *name;
	bool session_ended, figure, returned;
	enum revision revision;
	const char *uri; /* in the facts, of MCP 2025-06-18 and later */
	const char *item;
} in_session[] = {
    {"returned", false, false, true, REVISION_2025_11_25,
        "\"" SESSION_URI "a.csv\"",
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"" SESSION_URI
        "a.csv\",\"mimeType\":\"text/csv\",\"text\":\"x\"}}"},
    {"stayed", false, false, false, REVISION_2025_06_18,
        "\"" SESSION_URI "a.csv\"",
        "{\"type\":\"resource_link\",\"uri\":\"" SESSION_URI
        "a.csv\",\"name\":\"a.csv\",\"mimeType\":\"text/csv\",\"size\":1}"},
    {"stayed, before there were links", false, false, false,
        REVISION_2025_03_26, "(none)", "(none)"},
    {"returned by a session that is over", true, false, true,
        REVISION_2025_11_25, "(none)",
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"sandbox://files/"
        "a.csv\",\"mimeType\":\"text/csv\",\"text\":\"x\"}}"},
    {"lost with the session", true, false, false, REVISION_2025_11_25, "(none)",
        "(none)"},
    {"a figure is nowhere to be read again", false, true, true,
        REVISION_2025_11_25, "(none)",
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"sandbox://files/"
        "a.csv\",\"mimeType\":\"text/csv\",\"text\":\"x\"}}"},
};

START_TEST(file_in_a_session)
{
	struct outcome outcome = outcome_of(BYTES("o"), BYTES(""));
	struct artifact file = file_of("a.csv", BYTES("x"));
	char *json;

	file.figure = in_session[_i].figure;
	if (!in_session[_i].returned)
		file.data = NULL;
	outcome.session = HANDLE;
	outcome.session_ended = in_session[_i].session_ended;
	outcome.artifacts = (struct artifacts){.items = &file, .count = 1};
	json = built(&outcome, LANGUAGE_PYTHON, in_session[_i].revision);
	assert_json(json, "/structuredContent/files/0/uri", in_session[_i].uri);
	assert_json(json, "/content/1", in_session[_i].item);
	free(json);
}
END_TEST

#define OVER \
	"The session is over, and its variables and files are lost; " \
	"\"session\": \"new\" begins another."

static const struct {
	const char *name;
	const char *out;
	const char *value;
	const char *path; /* of a file, or NULL */
	bool returned;
	size_t left_out;
	const char *session;
	bool session_ended;
	const char *expected;
} texts[] = {
    {"a value", "hi\n", "42", NULL, false, 0, HANDLE, false,
        "hi\n\n[value]\n42\n\n[session]\n" HANDLE},
    {"only a value", "", "42", NULL, false, 0, HANDLE, false,
        "[value]\n42\n\n[session]\n" HANDLE},
    {"nothing in a session", "", NULL, NULL, false, 0, HANDLE, false,
        "The program ended without an error and printed nothing.\n\n"
        "[session]\n" HANDLE},
    {"a session that is over", "hi\n", NULL, NULL, false, 0, HANDLE, true,
        "hi\n\n[session]\n" OVER},
    {"a file", "hi\n", NULL, "a.csv", true, 0, NULL, false,
        "hi\n\n[files]\na.csv (text/csv, 3 bytes)"},
    {"only a file", "", NULL, "a.csv", true, 0, NULL, false,
        "The program ended without an error and printed nothing.\n\n"
        "[files]\na.csv (text/csv, 3 bytes)"},
    {"a file that stayed", "hi\n", NULL, "a.csv", false, 0, NULL, false,
        "hi\n\n[files]\na.csv (text/csv, 3 bytes, not returned)\n"
        "What is not returned can be asked for in \"outputs\"."},
    {"more files", "hi\n", NULL, "a.csv", true, 7, NULL, false,
        "hi\n\n[files]\na.csv (text/csv, 3 bytes)\n"
        "(7 more left out: too many, or oddly named)"},
    {"only files that were left out", "hi\n", NULL, NULL, false, 1, NULL, false,
        "hi\n\n[files]\n(1 more left out: too many, or oddly named)"},
    {"all of it", "hi\n", "[1, 2]", "a.csv", true, 0, HANDLE, false,
        "hi\n\n[value]\n[1, 2]\n\n[files]\na.csv (text/csv, 3 bytes)\n\n"
        "[session]\n" HANDLE},
};

static struct outcome
outcome_in_full(int row, struct artifact *file)
{
	struct outcome outcome =
	    outcome_of(texts[row].out, strlen(texts[row].out), BYTES(""));

	outcome.session = texts[row].session;
	outcome.session_ended = texts[row].session_ended;
	if (texts[row].value != NULL) {
		outcome.value = (char *)(size_t)texts[row].value;
		outcome.value_length = strlen(texts[row].value);
	}
	outcome.artifacts.left_out = texts[row].left_out;
	if (texts[row].path == NULL)
		return outcome;
	*file = file_of(texts[row].path, BYTES("x,y"));
	if (!texts[row].returned)
		file->data = NULL;
	outcome.artifacts.items = file;
	outcome.artifacts.count = 1;
	return outcome;
}

START_TEST(text_with_all_there_is)
{
	struct artifact file;
	struct outcome outcome = outcome_in_full(_i, &file);
	char *json = built(&outcome, LANGUAGE_PYTHON, REVISION_2024_11_05);

	assert_first_text(json, texts[_i].expected);
	assert_json(json, "/isError", "false");
	free(json);
}
END_TEST

/* There is no use in asking for them. */
START_TEST(too_large_to_be_had)
{
	struct artifact file = file_of("a.csv", BYTES(""));
	struct outcome outcome = outcome_of(BYTES("hi"), BYTES(""));
	char *json;

	file.data = NULL;
	file.size = COLLECTOR_FILE_MAX + 1;
	outcome.session = HANDLE;
	outcome.artifacts.items = &file;
	outcome.artifacts.count = 1;
	json = built(&outcome, LANGUAGE_PYTHON, REVISION_2025_11_25);
	ck_assert_ptr_nonnull(strstr(json, "bytes, too large)"));
	ck_assert_ptr_null(strstr(json, "\\\"outputs\\\""));
	ck_assert_ptr_null(strstr(json, "resource_link"));
	free(json);
}
END_TEST

START_TEST(facts_with_all_there_is)
{
	struct artifact file;
	struct outcome outcome = outcome_in_full(COUNT(texts) - 1, &file);
	char *json;

	outcome.artifacts.left_out = 2;
	json = built(&outcome, LANGUAGE_PYTHON, REVISION_2025_11_25);
	assert_json(json, "/structuredContent/value", "\"[1, 2]\"");
	assert_json(json, "/structuredContent/session", "\"" HANDLE "\"");
	assert_json(json, "/structuredContent/session_ended", "false");
	assert_json(json, "/structuredContent/files",
	    "[{\"path\":\"a.csv\",\"size\":3,\"mimeType\":\"text/csv\","
	    "\"returned\":true,\"uri\":\"" SESSION_URI "a.csv\"}]");
	assert_json(json, "/structuredContent/files_left_out", "2");
	free(json);
}
END_TEST

START_TEST(failure_with_all_there_is)
{
	struct artifact file;
	struct outcome outcome = outcome_in_full(COUNT(texts) - 1, &file);
	char *json;

	outcome.exit_code = 1;
	outcome.session_ended = true;
	outcome.value = NULL;
	json = built(&outcome, LANGUAGE_PYTHON, REVISION_2025_11_25);
	assert_first_text(json,
	    "{\n  \"exit_code\": 1,\n  \"stderr\": \"\",\n"
	    "  \"stdout\": \"hi\\n\",\n"
	    "  \"note\": \"The session is over, and its variables and files "
	    "are lost; \\\"session\\\": \\\"new\\\" begins another.\",\n"
	    "  \"files\": [\n    {\n      \"path\": \"a.csv\",\n"
	    "      \"size\": 3,\n      \"mimeType\": \"text/csv\",\n"
	    "      \"returned\": true\n    }\n  ],\n"
	    "  \"session\": \"" HANDLE "\",\n  \"session_ended\": true\n}");
	assert_json(json, "/content/1/type", "\"resource\"");
	free(json);
}
END_TEST

START_TEST(timeout_ends_the_session_too)
{
	struct outcome outcome = outcome_of(BYTES(""), BYTES(""));
	char *json, *words;

	outcome.signal = SIGKILL;
	outcome.exit_code = -1;
	outcome.timed_out = true;
	outcome.session = HANDLE;
	outcome.session_ended = true;
	json = built(&outcome, LANGUAGE_PYTHON, REVISION_2025_11_25);
	words = json_at(json, "/content/0/text");
	ck_assert_ptr_nonnull(strstr(words, "up to 100. The session is over"));
	free(words);
	free(json);
}
END_TEST

START_TEST(all_facts_stand_in_the_schema)
{
	struct artifact file;
	struct outcome outcome = outcome_in_full(COUNT(texts) - 1, &file);
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *schema = result_schema(doc), *facts, *key;
	yyjson_mut_val *properties = yyjson_mut_obj_get(schema, "properties");
	yyjson_mut_obj_iter iter;

	outcome.artifacts.left_out = 1;
	facts = yyjson_mut_obj_get(
	    result_build(doc, &outcome, &languages[LANGUAGE_PYTHON], &settings,
	        REVISION_2025_11_25),
	    "structuredContent");
	iter = yyjson_mut_obj_iter_with(facts);
	while ((key = yyjson_mut_obj_iter_next(&iter)) != NULL)
		ck_assert_msg(yyjson_mut_obj_get(
		                  properties, yyjson_mut_get_str(key)) != NULL,
		    "%s is not in the schema", yyjson_mut_get_str(key));
	ck_assert_uint_eq(
	    yyjson_mut_obj_size(facts), yyjson_mut_obj_size(properties));
	yyjson_mut_doc_free(doc);
}
END_TEST

START_TEST(words_by_themselves)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	char *json = json_text(result_build_text(doc, "done"));

	ck_assert_str_eq(json,
	    "{\"content\":[{\"type\":\"text\",\"text\":\"done\"}],"
	    "\"isError\":false}");
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
	tcase_add_test(tcase, longest_time_limit);
	tcase_add_test(tcase, too_large_to_be_had);
	tcase_add_test(tcase, failure_keeps_what_was_said);
	tcase_add_test(tcase, facts_of_success);
	tcase_add_test(tcase, facts_of_failure);
	tcase_add_loop_test(tcase, facts_by_revision, 0, revisions);
	tcase_add_test(tcase, facts_conform_to_the_schema);
	tcase_add_loop_test(tcase, not_run_is_an_error, 0, revisions);
	tcase_add_test(tcase, error_by_itself);
	tcase_add_loop_test(tcase, item_of_a_file, 0, COUNT(items));
	tcase_add_loop_test(tcase, file_in_a_session, 0, COUNT(in_session));
	tcase_add_loop_test(tcase, text_with_all_there_is, 0, COUNT(texts));
	tcase_add_test(tcase, facts_with_all_there_is);
	tcase_add_test(tcase, failure_with_all_there_is);
	tcase_add_test(tcase, timeout_ends_the_session_too);
	tcase_add_test(tcase, all_facts_stand_in_the_schema);
	tcase_add_test(tcase, words_by_themselves);
	suite_add_tcase(suite, tcase);
	return suite;
}
