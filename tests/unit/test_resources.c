#include "resources.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
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

Suite *
resources_suite(void)
{
	Suite *suite = suite_create("resources");
	TCase *tcase = tcase_create("resources");

	tcase_add_loop_test(tcase, list_by_revision, 0, REVISION_COUNT);
	tcase_add_test(tcase, default_images);
	tcase_add_test(tcase, another_image_has_no_known_libraries);
	tcase_add_loop_test(tcase, unknown_uri, 0, COUNT(unknown));
	suite_add_tcase(suite, tcase);
	return suite;
}
