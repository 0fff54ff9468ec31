#include "mcp/resources.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"

START_TEST(list_by_revision)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	char *json;

	resources_list(doc, list, (enum revision)_i);
	json = json_text(list);
	assert_json(json, "/0/uri", "\"sandbox://environments\"");
	assert_json(json, "/0/name", "\"environments\"");
	assert_json(json, "/0/mimeType", "\"application/json\"");
	assert_json(json, "/0/title",
	    _i >= REVISION_2025_06_18 ? "\"Sandbox environments\"" : "(none)");
	assert_json(json, "/1", "(none)");
	free(json);
	yyjson_mut_doc_free(doc);
}
END_TEST

/* The text of the one content item, which is JSON itself. */
static char *
environments(const struct settings *settings)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *contents = yyjson_mut_arr(doc);
	struct err err = {0};
	yyjson_mut_val *item;
	char *text;

	ck_assert_int_eq(resource_read(doc, contents, "sandbox://environments",
	                     settings, &err),
	    0);
	ck_assert_uint_eq(yyjson_mut_arr_size(contents), 1);
	item = yyjson_mut_arr_get_first(contents);
	ck_assert_str_eq(yyjson_mut_get_str(yyjson_mut_obj_get(item, "uri")),
	    "sandbox://environments");
	ck_assert_str_eq(
	    yyjson_mut_get_str(yyjson_mut_obj_get(item, "mimeType")),
	    "application/json");
	text = xstrdup(yyjson_mut_get_str(yyjson_mut_obj_get(item, "text")));
	yyjson_mut_doc_free(doc);
	return text;
}

START_TEST(default_images)
{
	struct settings settings;
	char *text;

	settings_make(&settings, NULL);
	text = environments(&settings);
	assert_json(text, "",
	    "{\"python\":{\"image\":\"philschmi/code-sandbox-python:latest\","
	    "\"libraries\":[\"numpy\",\"pandas\",\"matplotlib\","
	    "\"scikit-learn\",\"requests\",\"google-genai\"]},"
	    "\"javascript\":{\"image\":\"philschmi/code-sandbox-js:latest\","
	    "\"libraries\":[\"@google/genai\"]}}");
	free(text);
	settings_release(&settings);
}
END_TEST

START_TEST(another_image_has_no_known_libraries)
{
	struct settings settings;
	char *text;

	settings_make(&settings, "--js-image=mine:1", NULL);
	text = environments(&settings);
	assert_json(
	    text, "/javascript", "{\"image\":\"mine:1\",\"libraries\":[]}");
	assert_json(text, "/python/libraries/0", "\"numpy\"");
	free(text);
	settings_release(&settings);
}
END_TEST

START_TEST(those_that_are_on)
{
	struct settings settings;
	char *text;

	settings_make(
	    &settings, "--languages=bash,python", "--image=bash=mine:2", NULL);
	text = environments(&settings);
	assert_json(text, "/bash", "{\"image\":\"mine:2\",\"libraries\":[]}");
	assert_json(text, "/python/libraries/0", "\"numpy\"");
	assert_json(text, "/javascript", "(none)");
	free(text);
	settings_release(&settings);
}
END_TEST

static const char *const unknown[] = {"", "sandbox://", "sandbox://environment",
    "sandbox://environments/", "SANDBOX://environments", "file:///etc/passwd"};

START_TEST(unknown_uri)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *contents = yyjson_mut_arr(doc);
	struct settings settings;
	struct err err = {0};

	settings_make(&settings, NULL);
	ck_assert_int_eq(
	    resource_read(doc, contents, unknown[_i], &settings, &err), -1);
	ck_assert_int_eq(err.code, ERR_RESOURCE);
	ck_assert_ptr_nonnull(strstr(err.message, unknown[_i]));
	ck_assert_uint_eq(yyjson_mut_arr_size(contents), 0);
	settings_release(&settings);
	yyjson_mut_doc_free(doc);
}
END_TEST

#define HANDLE "0123456789abcdef0123456789abcdef"

START_TEST(templates_by_revision)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	char *json;

	resources_list_templates(doc, list, (enum revision)_i);
	json = json_text(list);
	assert_json(
	    json, "/0/uriTemplate", "\"sandbox://session/{session}/{+path}\"");
	assert_json(json, "/0/name", "\"session-file\"");
	assert_json(json, "/0/title",
	    _i >= REVISION_2025_06_18 ? "\"File of a session\"" : "(none)");
	assert_json(json, "/1", "(none)");
	free(json);
	yyjson_mut_doc_free(doc);
}
END_TEST

START_TEST(job_that_fetches)
{
	struct err err = {0};
	struct job job;

	ck_assert_int_eq(
	    resource_request(
	        "sandbox://session/" HANDLE "/out/a%20b.csv", &job, &err),
	    0);
	ck_assert_str_eq(job.session, HANDLE);
	ck_assert_str_eq(job.fetch, "out/a b.csv");
	ck_assert_ptr_null(job.code);
	job_release(&job);
	ck_assert_int_eq(
	    resource_request("sandbox://session/" HANDLE "/../x", &job, &err),
	    -1);
	ck_assert_int_eq(err.code, ERR_RESOURCE);
}
END_TEST

/* What a file of a session is as contents; NULL: there is no such file. */
static const struct {
	const char *path;
	const char *data;
	size_t length;
	const char *expected;
} fetched[] = {
    {"a.csv", BYTES("x,y"),
        "{\"uri\":\"u\",\"mimeType\":\"text/csv\",\"text\":\"x,y\"}"},
    {"empty", BYTES(""),
        "{\"uri\":\"u\",\"mimeType\":\"text/plain\",\"text\":\"\"}"},
    {"a.bin", BYTES("\0"),
        "{\"uri\":\"u\",\"mimeType\":\"application/octet-stream\","
        "\"blob\":\"AA==\"}"},
    {"gone", NULL, 0, NULL},
};

START_TEST(contents_of_a_file)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *contents = yyjson_mut_arr(doc);
	struct artifact file = {.path = (char *)(size_t)fetched[_i].path,
	    .data = (char *)(size_t)fetched[_i].data,
	    .length = fetched[_i].length};
	struct outcome outcome = {
	    .ran = true, .artifacts = {.items = &file, .count = 1}};
	struct err err = {0};
	int status = resource_read_fetched(doc, contents, "u", &outcome, &err);
	char *json = json_text(contents);

	ck_assert_int_eq(status, fetched[_i].expected != NULL ? 0 : -1);
	if (fetched[_i].expected != NULL)
		assert_json(json, "/0", fetched[_i].expected);
	else
		ck_assert_int_eq(err.code, ERR_RESOURCE);
	free(json);
	yyjson_mut_doc_free(doc);
}
END_TEST

START_TEST(contents_of_no_file)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *contents = yyjson_mut_arr(doc);
	struct outcome outcome = {.ran = true};
	struct err err = {0};

	ck_assert_int_eq(
	    resource_read_fetched(doc, contents, "u", &outcome, &err), -1);
	ck_assert_int_eq(err.code, ERR_RESOURCE);
	outcome.ran = false;
	err_set(&outcome.err, ERR_ENGINE, "no engine");
	ck_assert_int_eq(
	    resource_read_fetched(doc, contents, "u", &outcome, &err), -1);
	ck_assert_int_eq(err.code, ERR_ENGINE);
	ck_assert_str_eq(err.message, "no engine");
	yyjson_mut_doc_free(doc);
}
END_TEST

static const struct {
	enum err_code before;
	enum revision revision;
	enum err_code after;
} error_codes[] = {
    {ERR_RESOURCE, REVISION_2025_11_25, ERR_RESOURCE},
    {ERR_RESOURCE, REVISION_2026_07_28, ERR_PARAMS},
    {ERR_ENGINE, REVISION_2026_07_28, ERR_ENGINE},
};

START_TEST(errors_name_the_uri)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	struct err err = {.code = error_codes[_i].before};
	char *json =
	    json_text(resource_error(doc, "u", error_codes[_i].revision, &err));

	ck_assert_str_eq(json, "{\"uri\":\"u\"}");
	ck_assert_int_eq(err.code, error_codes[_i].after);
	free(json);
	yyjson_mut_doc_free(doc);
}
END_TEST

Suite *
resources_suite(void)
{
	Suite *suite = suite_create("resources");
	TCase *tcase = tcase_create("resources");

	tcase_add_loop_test(tcase, list_by_revision, 0, REVISION_COUNT);
	tcase_add_test(tcase, default_images);
	tcase_add_test(tcase, another_image_has_no_known_libraries);
	tcase_add_test(tcase, those_that_are_on);
	tcase_add_loop_test(tcase, unknown_uri, 0, COUNT(unknown));
	tcase_add_loop_test(tcase, templates_by_revision, 0, REVISION_COUNT);
	tcase_add_test(tcase, job_that_fetches);
	tcase_add_loop_test(tcase, contents_of_a_file, 0, COUNT(fetched));
	tcase_add_test(tcase, contents_of_no_file);
	tcase_add_loop_test(tcase, errors_name_the_uri, 0, COUNT(error_codes));
	suite_add_tcase(suite, tcase);
	return suite;
}
