#include "mcp/tool_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"

#define HANDLE "0123456789abcdef0123456789abcdef"
#define KIB ((size_t)1024)
#define MIB ((size_t)1024 * 1024)

/* What languages can be: with all there is, and with nothing. */
static struct language able, bare;
static struct settings settings;

static void
set_up(void)
{
	static const char *const install[] = {"pip", "install", NULL};

	able = languages[LANGUAGE_PYTHON];
	able.install = install;
	bare = able;
	bare.install = NULL;
	bare.hook = NULL;
	settings_make(&settings, NULL);
}

static void
tear_down(void)
{
	settings_release(&settings);
}

static int
read_json(const char *json, const struct language *language,
    const struct settings *with, struct job *job, struct err *err)
{
	yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
	int status;

	ck_assert_msg(doc != NULL, "the test's JSON is bad: %s", json);
	*job = (struct job){.language = language};
	*err = (struct err){0};
	status = tool_arguments_read(yyjson_doc_get_root(doc), with, job, err);
	/* The job must own what it has. */
	yyjson_doc_free(doc);
	return status;
}

/* The job as text: what differs from one of code alone, a line for each. */
static char *
summary(const struct job *job)
{
	struct text text = {0};

	text_add(&text, "", 0);
	if (job->input != NULL) {
		text_addf(&text, "stdin %zu ", job->input_length);
		text_add(&text, job->input, job->input_length);
		text_addf(&text, "\n");
	}
	for (size_t i = 0; i < job->arguments.count; i++)
		text_addf(&text, "arg %s\n", job->arguments.items[i]);
	for (size_t i = 0; i < job->file_count; i++)
		text_addf(&text, "file %s %zu %s\n", job->files[i].path,
		    job->files[i].length, job->files[i].data);
	for (size_t i = 0; i < job->outputs.count; i++)
		text_addf(&text, "output %s\n", job->outputs.items[i]);
	for (size_t i = 0; i < job->packages.count; i++)
		text_addf(&text, "package %s\n", job->packages.items[i]);
	if (job->session != NULL)
		text_addf(&text, "session %s\n", job->session);
	return text.data;
}

static const struct {
	const char *name;
	const char *json;
	const char *expected;
} good[] = {
    {"all of them null",
        "\"stdin\":null,\"args\":null,\"files\":null,\"outputs\":null,"
        "\"packages\":null,\"session\":null",
        ""},
    {"all of them empty",
        "\"stdin\":\"\",\"args\":[],\"files\":[],\"outputs\":[],"
        "\"packages\":[]",
        ""},
    {"stdin", "\"stdin\":\"a\\nb\"", "stdin 3 a\nb\n"},
    {"args", "\"args\":[\"-v\",\"\",\"a b\",\"\\u00e9\\n\"]",
        "arg -v\narg \narg a b\narg \xC3\xA9\n\n"},
    {"a file of text", "\"files\":[{\"path\":\"a/b.txt\",\"text\":\"hi\"}]",
        "file a/b.txt 2 hi\n"},
    {"a file of base64", "\"files\":[{\"base64\":\"aGk=\",\"path\":\"a b\"}]",
        "file a b 2 hi\n"},
    {"an empty file",
        "\"files\":[{\"path\":\"a\",\"text\":\"\"},"
        "{\"path\":\"b\",\"base64\":\"\"}]",
        "file a 0 \nfile b 0 \n"},
    {"a name that begins as the program's",
        "\"files\":[{\"path\":\"code.pyc\",\"text\":\"x\"}]",
        "file code.pyc 1 x\n"},
    {"the program's name in a directory",
        "\"files\":[{\"path\":\"src/code.py\",\"text\":\"x\"}]",
        "file src/code.py 1 x\n"},
    {"outputs", "\"outputs\":[\"*.csv\",\"out/**/[a-z]?.png\"]",
        "output *.csv\noutput out/**/[a-z]?.png\n"},
    {"packages",
        "\"packages\":[\"pandas\",\"pandas==2.2.*\",\"requests[socks]>=2,<3\","
        "\"a_b.c-d~=1.0+local\",\"x!=1\"]",
        "package pandas\npackage pandas==2.2.*\n"
        "package requests[socks]>=2,<3\npackage a_b.c-d~=1.0+local\n"
        "package x!=1\n"},
    {"packages of npm",
        "\"packages\":[\"left-pad@1.3.0\",\"@scope/name\","
        "\"@scope/name@^1.2\",\"x@latest\"]",
        "package left-pad@1.3.0\npackage @scope/name\n"
        "package @scope/name@^1.2\npackage x@latest\n"},
    {"packages with the network asked for",
        "\"network\":true,\"packages\":[\"x\"]", "package x\n"},
    {"no packages without the network", "\"network\":false,\"packages\":[]",
        ""},
    {"a new session", "\"session\":\"new\"", "session new\n"},
    {"a session", "\"session\":\"" HANDLE "\"", "session " HANDLE "\n"},
};

START_TEST(taken)
{
	char *json = xasprintf("{\"code\":\"x\",%s}", good[_i].json), *found;
	struct job job;
	struct err err;
	int status = read_json(json, &able, &settings, &job, &err);

	ck_assert_msg(status == 0, "%s: %s", good[_i].name, err.message);
	found = summary(&job);
	ck_assert_msg(strcmp(found, good[_i].expected) == 0, "%s: %s",
	    good[_i].name, found);
	ck_assert_int_eq(job_is_plain(&job),
	    good[_i].expected[0] == '\0' ||
	        strncmp(good[_i].expected, "output", 6) == 0);
	free(found);
	free(json);
	job_release(&job);
}
END_TEST

START_TEST(stdin_may_hold_nul)
{
	struct job job;
	struct err err;

	ck_assert_int_eq(read_json("{\"code\":\"x\",\"stdin\":\"a\\u0000b\"}",
	                     &able, &settings, &job, &err),
	    0);
	ck_assert_uint_eq(job.input_length, 3);
	ck_assert_int_eq(memcmp(job.input, "a\0b", 3), 0);
	job_release(&job);
}
END_TEST

#define FILES(files) "\"files\":[" files "]"
#define PATH(path) FILES("{\"path\":\"" path "\",\"text\":\"\"}")
#define CONTENT(content) FILES("{\"path\":\"a\"" content "}")

static const struct {
	const char *name;
	const char *json;
	const char *mention;
} bad[] = {
    {"stdin a number", "\"stdin\":1", "\"stdin\" must be a string"},
    {"stdin an array", "\"stdin\":[\"x\"]", "\"stdin\" must be a string"},
    {"args a string", "\"args\":\"-v\"", "\"args\" must be an array"},
    {"args an object", "\"args\":{}", "\"args\" must be an array"},
    {"args of numbers", "\"args\":[\"a\",1]", "one item is uint"},
    {"args of null", "\"args\":[null]", "one item is null"},
    {"args with NUL", "\"args\":[\"a\\u0000b\"]", "NUL"},
    {"files an object", "\"files\":{\"path\":\"a\",\"text\":\"\"}",
        "\"files\" must be an array"},
    {"files of strings", FILES("\"a.txt\""), "must be an object"},
    {"a file without a path", FILES("{\"text\":\"x\"}"), "have a \"path\""},
    {"a path that is a number", FILES("{\"path\":1,\"text\":\"x\"}"),
        "have a \"path\""},
    {"a path that is empty", PATH(""), "empty"},
    {"a path that is absolute", PATH("/a"), "absolute"},
    {"a path that leads out", PATH("../a"), "\"..\""},
    {"a path with NUL", PATH("a\\u0000b"), "control"},
    {"a path with a newline", PATH("a\\nb"), "control"},
    {"the program's own path", PATH("code.py"), "the program itself"},
    {"below the program's own path", PATH("code.py/x"), "the program itself"},
    {"the same path twice",
        FILES("{\"path\":\"a\",\"text\":\"\"},{\"path\":\"a\",\"text\":\"\"}"),
        "cannot both be"},
    {"a file as a directory",
        FILES("{\"path\":\"a\",\"text\":\"\"},"
              "{\"path\":\"a/b\",\"text\":\"\"}"),
        "cannot both be"},
    {"neither text nor base64", CONTENT(""), "either \"text\" or"},
    {"both text and base64", CONTENT(",\"text\":\"\",\"base64\":\"\""),
        "either \"text\" or"},
    {"text a number", CONTENT(",\"text\":1"), "either \"text\" or"},
    {"text null", CONTENT(",\"text\":null"), "either \"text\" or"},
    {"base64 a number", CONTENT(",\"base64\":1"), "either \"text\" or"},
    {"base64 that is none", CONTENT(",\"base64\":\"a\""), "not base64"},
    {"base64 with a newline", CONTENT(",\"base64\":\"aGk=\\n\""), "not base64"},
    {"content by another name", CONTENT(",\"content\":\"x\""),
        "has \"content\""},
    {"outputs a string", "\"outputs\":\"*.csv\"",
        "\"outputs\" must be an array"},
    {"outputs that are empty", "\"outputs\":[\"\"]", "empty"},
    {"outputs elsewhere", "\"outputs\":[\"/etc/*\"]", "absolute"},
    {"outputs above", "\"outputs\":[\"../*\"]", "\"..\""},
    {"outputs with a newline", "\"outputs\":[\"a\\nb\"]", "control"},
    {"packages a string", "\"packages\":\"x\"",
        "\"packages\" must be an array"},
    {"a package of nothing", "\"packages\":[\"\"]", "not the name"},
    {"an option", "\"packages\":[\"-r\"]", "not the name"},
    {"a long option", "\"packages\":[\"--index-url=x\"]", "not the name"},
    {"an option behind @", "\"packages\":[\"@-x\"]", "not the name"},
    {"a URL", "\"packages\":[\"https://example.com/x.whl\"]", "not the name"},
    {"a URL behind a name", "\"packages\":[\"x@https://example.com/x\"]",
        "not the name"},
    {"a repository", "\"packages\":[\"git+https://example.com/x\"]",
        "not the name"},
    {"a repository of npm's kind", "\"packages\":[\"user/name\"]",
        "not the name"},
    {"a repository behind a scope", "\"packages\":[\"@a/b@user/name\"]",
        "not the name"},
    {"a repository by a prefix", "\"packages\":[\"github:user\"]",
        "not the name"},
    {"an absolute path", "\"packages\":[\"/tmp/x\"]", "not the name"},
    {"a path", "\"packages\":[\"./x\"]", "not the name"},
    {"a path in a directory", "\"packages\":[\"a/b\"]", "not the name"},
    {"a wheel", "\"packages\":[\"x-1.0-py3-none-any.WHL\"]", "not the name"},
    {"an archive", "\"packages\":[\"x.tar.gz\"]", "not the name"},
    {"an archive behind a name", "\"packages\":[\"x@y.tgz\"]", "not the name"},
    {"a directory behind a name", "\"packages\":[\"x@.\"]", "not the name"},
    {"two words", "\"packages\":[\"a b\"]", "not the name"},
    {"a newline", "\"packages\":[\"a\\n--pre\"]", "not the name"},
    {"a NUL", "\"packages\":[\"a\\u0000\"]", "not the name"},
    {"a marker", "\"packages\":[\"a;python_version<'3'\"]", "not the name"},
    {"for a shell", "\"packages\":[\"a$(id)\"]", "not the name"},
    {"for a shell too", "\"packages\":[\"a`id`\"]", "not the name"},
    {"characters of others", "\"packages\":[\"\\u00e9\"]", "not the name"},
    {"packages without the network", "\"packages\":[\"x\"],\"network\":false",
        "need the network"},
    {"session a number", "\"session\":1", "must be \"new\""},
    {"session true", "\"session\":true", "must be \"new\""},
    {"session empty", "\"session\":\"\"", "must be \"new\""},
    {"session in capitals", "\"session\":\"NEW\"", "must be \"new\""},
    {"a handle of 31 digits", "\"session\":\"0123456789abcdef0123456789abcde\"",
        "must be \"new\""},
    {"a handle of 33 digits", "\"session\":\"" HANDLE "0\"", "must be \"new\""},
    {"a handle in capitals", "\"session\":\"0123456789ABCDEF0123456789ABCDEF\"",
        "must be \"new\""},
    {"a handle and NUL", "\"session\":\"" HANDLE "\\u0000\"",
        "must be \"new\""},
    {"new and NUL", "\"session\":\"new\\u0000\"", "must be \"new\""},
    {"an unknown argument", "\"argv\":[]",
        "takes: code, timeout_seconds, network, stdin, args, files, outputs, "
        "packages, session."},
};

START_TEST(refused)
{
	char *json = xasprintf("{\"code\":\"x\",%s}", bad[_i].json);
	struct job job;
	struct err err;
	int status = read_json(json, &able, &settings, &job, &err);

	ck_assert_msg(status == -1, "%s: taken", bad[_i].name);
	ck_assert_int_eq(err.code, ERR_ARGUMENT);
	ck_assert_msg(strstr(err.message, bad[_i].mention) != NULL, "%s: %s",
	    bad[_i].name, err.message);
	free(json);
	job_release(&job);
}
END_TEST

/* So many items of an array, each of so many bytes. */
static const struct {
	const char *argument;
	const char *before, *after; /* around the bytes of an item */
	size_t items, bytes;
	const char *mention; /* NULL: it is taken */
} sizes[] = {
    {"args", "\"", "\"", 100, 1, NULL},
    {"args", "\"", "\"", 101, 1, "101 items; the limit is 100"},
    {"args", "\"", "\"", 1, 64 * KIB, NULL},
    {"args", "\"", "\"", 1, 64 * KIB + 1, "65537 bytes; the limit is 65536"},
    {"args", "\"", "\"", 64, KIB + 1, "65600 bytes; the limit is 65536"},
    {"outputs", "\"", "\"", 20, 200, NULL},
    {"outputs", "\"", "\"", 21, 1, "21 items; the limit is 20"},
    {"outputs", "\"", "\"", 1, 201, "201 bytes; the limit is 200"},
    {"packages", "\"", "\"", 50, 200, NULL},
    {"packages", "\"", "\"", 51, 1, "51 items; the limit is 50"},
    {"packages", "\"", "\"", 1, 201, "201 bytes; the limit is 200"},
    {"files", "{\"path\":\"%zu\",\"text\":\"", "\"}", 100, 1, NULL},
    {"files", "{\"path\":\"%zu\",\"text\":\"", "\"}", 101, 1,
        "101 items; the limit is 100"},
    {"files", "{\"path\":\"%zu\",\"text\":\"", "\"}", 2, 8 * MIB, NULL},
    {"files", "{\"path\":\"%zu\",\"text\":\"", "\"}", 2, 8 * MIB + 1,
        "16777218 bytes together; the limit is 16777216"},
    /* Counted as it will be in the file. */
    {"files", "{\"path\":\"%zu\",\"base64\":\"", "\"}", 1, 20 * MIB, NULL},
    {"files", "{\"path\":\"%zu\",\"base64\":\"", "\"}", 2, 12 * MIB,
        "18874368 bytes together; the limit is 16777216"},
};

static void
add_item(struct text *json, int row, size_t number)
{
	const char *place = strstr(sizes[row].before, "%zu");
	char *bytes = xmalloc(sizes[row].bytes);

	memset(bytes, 'x', sizes[row].bytes);
	if (number > 0)
		text_addf(json, ",");
	if (place != NULL)
		text_addf(json, "%.*s%zu%s", (int)(place - sizes[row].before),
		    sizes[row].before, number, place + 3);
	else
		text_addf(json, "%s", sizes[row].before);
	text_add(json, bytes, sizes[row].bytes);
	text_addf(json, "%s", sizes[row].after);
	free(bytes);
}

START_TEST(limits)
{
	struct text json = {0};
	struct job job;
	struct err err;
	int status;

	text_addf(&json, "{\"code\":\"x\",\"%s\":[", sizes[_i].argument);
	for (size_t i = 0; i < sizes[_i].items; i++)
		add_item(&json, _i, i);
	text_addf(&json, "]}");
	status = read_json(json.data, &able, &settings, &job, &err);
	ck_assert_msg((status == 0) == (sizes[_i].mention == NULL), "%d: %s",
	    _i, err.message);
	if (sizes[_i].mention != NULL)
		ck_assert_msg(strstr(err.message, sizes[_i].mention) != NULL,
		    "%s", err.message);
	text_release(&json);
	job_release(&job);
}
END_TEST

START_TEST(limit_of_stdin)
{
	size_t length = 16 * MIB + (size_t)_i;
	char *bytes = xcalloc(1, length + 1), *json;
	struct job job;
	struct err err;

	memset(bytes, 'x', length);
	json = xasprintf("{\"code\":\"x\",\"stdin\":\"%s\"}", bytes);
	ck_assert_int_eq(
	    read_json(json, &able, &settings, &job, &err), _i == 0 ? 0 : -1);
	if (_i > 0)
		ck_assert_ptr_nonnull(strstr(err.message, "16777217"));
	job_release(&job);
	free(json);
	free(bytes);
}
END_TEST

static const struct {
	const char *json;
	const char *mention;
} not_for_all[] = {
    {"{\"code\":\"x\",\"packages\":[\"x\"]}", "cannot be installed"},
    {"{\"code\":\"x\",\"session\":\"new\"}", "no sessions for Python"},
    {"{\"code\":\"x\",\"y\":1}",
        "takes: code, timeout_seconds, network, stdin, args, files, "
        "outputs."},
};

START_TEST(a_language_that_cannot)
{
	struct job job;
	struct err err;

	ck_assert_int_eq(
	    read_json(not_for_all[_i].json, &bare, &settings, &job, &err), -1);
	ck_assert_msg(strstr(err.message, not_for_all[_i].mention) != NULL,
	    "%s", err.message);
	job_release(&job);
}
END_TEST

START_TEST(packages_on_a_server_without_network)
{
	struct settings offline;
	struct job job;
	struct err err;

	settings_make(&offline, "--network=none", NULL);
	ck_assert_int_eq(read_json("{\"code\":\"x\",\"packages\":[\"x\"]}",
	                     &able, &offline, &job, &err),
	    -1);
	ck_assert_ptr_nonnull(strstr(err.message, "this server"));
	job_release(&job);
	settings_release(&offline);
}
END_TEST

static char *
described(const struct language *language, const struct settings *with)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *schema = yyjson_mut_obj(doc);
	char *text;

	tool_arguments_describe(doc, schema, language, with);
	text = json_text(schema);
	yyjson_mut_doc_free(doc);
	return text;
}

static const struct {
	const char *pointer;
	const char *expected;
} schema[] = {
    {"/properties/stdin/type", "\"string\""},
    {"/properties/args/type", "\"array\""},
    {"/properties/args/items", "{\"type\":\"string\"}"},
    {"/properties/args/maxItems", "100"},
    {"/properties/files/type", "\"array\""},
    {"/properties/files/items/type", "\"object\""},
    {"/properties/files/items/required", "[\"path\"]"},
    {"/properties/files/items/additionalProperties", "false"},
    {"/properties/files/items/properties/base64/type", "\"string\""},
    {"/properties/files/maxItems", "100"},
    {"/properties/outputs/maxItems", "20"},
    {"/properties/packages/maxItems", "50"},
    {"/properties/session/type", "\"string\""},
    {"/required", "[\"code\"]"},
};

START_TEST(in_the_schema)
{
	char *text = described(&able, &settings);

	assert_json(text, schema[_i].pointer, schema[_i].expected);
	free(text);
}
END_TEST

START_TEST(what_is_of_no_use_is_not_offered)
{
	struct settings offline;
	char *text = described(&bare, &settings);

	assert_json(text, "/properties/packages", "(none)");
	assert_json(text, "/properties/session", "(none)");
	free(text);
	settings_make(&offline, "--network=none", NULL);
	text = described(&able, &offline);
	assert_json(text, "/properties/packages", "(none)");
	free(text);
	settings_release(&offline);
}
END_TEST

static const char *const without_sessions[] = {
    "--interpreter=plain", "--max-sessions=0"};

START_TEST(sessions_are_offered_where_there_are_some)
{
	struct settings none;
	char *text;

	settings_make(&none, without_sessions[_i], NULL);
	text = described(&able, &none);
	assert_json(text, "/properties/session", "(none)");
	free(text);
	settings_release(&none);
}
END_TEST

/* No model should ask npm for pandas. */
START_TEST(packages_are_those_of_the_language)
{
	char *python = described(&languages[LANGUAGE_PYTHON], &settings);
	char *node = described(&languages[LANGUAGE_TYPESCRIPT], &settings);

	ck_assert_ptr_nonnull(strstr(python, "PyPI, such as"));
	ck_assert_ptr_nonnull(strstr(node, "npm, such as"));
	ck_assert_ptr_null(strstr(node, "pandas"));
	free(python);
	free(node);
}
END_TEST

Suite *
tool_arguments_suite(void)
{
	Suite *suite = suite_create("tool_arguments");
	TCase *tcase = tcase_create("tool_arguments");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, taken, 0, COUNT(good));
	tcase_add_test(tcase, stdin_may_hold_nul);
	tcase_add_loop_test(tcase, refused, 0, COUNT(bad));
	tcase_add_loop_test(tcase, limits, 0, COUNT(sizes));
	tcase_add_loop_test(tcase, limit_of_stdin, 0, 2);
	tcase_add_loop_test(
	    tcase, a_language_that_cannot, 0, COUNT(not_for_all));
	tcase_add_test(tcase, packages_on_a_server_without_network);
	tcase_add_loop_test(tcase, in_the_schema, 0, COUNT(schema));
	tcase_add_test(tcase, what_is_of_no_use_is_not_offered);
	tcase_add_loop_test(tcase, sessions_are_offered_where_there_are_some, 0,
	    COUNT(without_sessions));
	tcase_add_test(tcase, packages_are_those_of_the_language);
	suite_add_tcase(suite, tcase);
	return suite;
}
