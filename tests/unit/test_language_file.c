#include "settings/language_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "helpers.h"
#include "settings/language_table.h"
#include "suites.h"

/* A row in JSON but for these fields, with more behind them. */
#define ROW(fields) "{" fields "}"
#define NAME "\"name\":\"awk\""
#define TITLE ",\"title\":\"AWK\""
#define IMAGE ",\"image\":\"mine:1\""
#define CODE ",\"file\":\"code.awk\""
#define COMMAND ",\"command\":[\"awk\",\"-f\",\"code.awk\"]"
#define SUFFIXES ",\"suffixes\":[\".awk\"]"
#define GOOD NAME TITLE IMAGE CODE COMMAND SUFFIXES
#define OTHER \
	"\"name\":\"sed\",\"title\":\"sed\",\"image\":\"mine:2\"," \
	"\"file\":\"code.sed\",\"command\":[\"sed\"],\"suffixes\":[\".sed\"]"

START_TEST(row_of_a_file)
{
	static const char json[] = ROW(GOOD
	    ",\"libraries\":[\"one\",\"two\"],\"install\":[\"get\",\"it\"],"
	    "\"print\":\"print\"");
	struct language_file file;
	struct language *row;
	struct err err;

	ck_assert_int_eq(
	    language_file_parse(&file, json, sizeof(json) - 1, &err), 0);
	ck_assert_uint_eq(file.count, 1);
	row = &file.rows[0].language;
	ck_assert_str_eq(row->name, "awk");
	ck_assert_str_eq(row->title, "AWK");
	ck_assert_str_eq(row->tool, "run_awk_code");
	ck_assert_ptr_null(row->tool_alias);
	ck_assert_str_eq(row->image, "mine:1");
	ck_assert_str_eq(row->file, "code.awk");
	ck_assert_str_eq(row->command[0], "awk");
	ck_assert_str_eq(row->command[2], "code.awk");
	ck_assert_ptr_null(row->command[3]);
	ck_assert_str_eq(row->suffixes[0], ".awk");
	ck_assert_ptr_null(row->suffixes[1]);
	ck_assert_str_eq(row->libraries[1], "two");
	ck_assert_str_eq(row->install[1], "it");
	ck_assert_ptr_null(row->install[2]);
	ck_assert_str_eq(row->print, "print");
	ck_assert_ptr_null(row->hook);
	language_file_release(&file);
	ck_assert_ptr_null(file.rows);
	language_file_release(&file);
}
END_TEST

START_TEST(what_need_not_be_said)
{
	static const char json[] =
	    "[" ROW(GOOD ",\"libraries\":[],\"install\":[]") "," ROW(OTHER) "]";
	struct language_file file;
	struct err err;

	ck_assert_int_eq(
	    language_file_parse(&file, json, sizeof(json) - 1, &err), 0);
	ck_assert_uint_eq(file.count, 2);
	for (size_t i = 0; i < file.count; i++) {
		struct language *row = &file.rows[i].language;

		ck_assert_ptr_null(row->libraries[0]);
		ck_assert_ptr_null(row->install);
		ck_assert_str_eq(row->print, "a print statement");
	}
	ck_assert_str_eq(file.rows[1].language.name, "sed");
	language_file_release(&file);
}
END_TEST

static const struct {
	const char *name;
	const char *json;
	const char *mention;
} bad[] = {
    {"nothing", "", "not JSON"},
    {"half", "{\"name\"", "not JSON"},
    {"more behind it", ROW(GOOD) "x", "not JSON"},
    {"a number", "1", "must be an object"},
    {"null", "null", "must be an object"},
    {"no languages", "[]", "1 to 64 languages"},
    {"an array of a string", "[\"awk\"]", "language 1: it must be an object"},
    {"an array in an array", "[[" ROW(GOOD) "]]", "must be an object"},
    {"an empty object", "{}", "\"name\" is missing"},
    {"the second one is bad", "[" ROW(GOOD) ",{}]", "language 2: \"name\""},
    {"no name", ROW("\"x\":1"), "no field \"x\""},
    {"a field of another program", ROW(GOOD ",\"hook\":\"x\""), "\"hook\""},
    {"a field in capitals", ROW(GOOD ",\"Print\":\"x\""), "\"Print\""},
    {"a field twice", ROW(GOOD ",\"file\":\"b\""), "\"file\" is there twice"},
    {"no title", ROW(NAME IMAGE CODE COMMAND SUFFIXES), "\"title\" is miss"},
    {"no image", ROW(NAME TITLE CODE COMMAND SUFFIXES), "\"image\" is miss"},
    {"no file", ROW(NAME TITLE IMAGE COMMAND SUFFIXES), "\"file\" is miss"},
    {"no command", ROW(NAME TITLE IMAGE CODE SUFFIXES), "\"command\" is mi"},
    {"no suffixes", ROW(NAME TITLE IMAGE CODE COMMAND), "\"suffixes\" is mi"},
    {"name a number", ROW("\"name\":1" TITLE IMAGE CODE COMMAND SUFFIXES),
        "\"name\": it must be a string"},
    {"name null", ROW("\"name\":null" TITLE IMAGE CODE COMMAND SUFFIXES),
        "must be a string"},
    {"name empty", ROW("\"name\":\"\"" TITLE IMAGE CODE COMMAND SUFFIXES),
        "not a name"},
    {"name in capitals",
        ROW("\"name\":\"Awk\"" TITLE IMAGE CODE COMMAND SUFFIXES),
        "not a name"},
    {"name with a dash",
        ROW("\"name\":\"a-b\"" TITLE IMAGE CODE COMMAND SUFFIXES),
        "not a name"},
    {"name with a comma",
        ROW("\"name\":\"a,b\"" TITLE IMAGE CODE COMMAND SUFFIXES),
        "not a name"},
    {"name with a digit first",
        ROW("\"name\":\"1a\"" TITLE IMAGE CODE COMMAND SUFFIXES), "not a name"},
    {"name too long",
        ROW("\"name\":\"abcdefghijklmnopqrstuvwxyz0123456\"" TITLE IMAGE CODE
                COMMAND SUFFIXES),
        "up to 32"},
    {"name all", ROW("\"name\":\"all\"" TITLE IMAGE CODE COMMAND SUFFIXES),
        "takes it for all of them"},
    {"name with a NUL",
        ROW("\"name\":\"a\\u0000b\"" TITLE IMAGE CODE COMMAND SUFFIXES), "NUL"},
    {"title empty", ROW(NAME ",\"title\":\"\"" IMAGE CODE COMMAND SUFFIXES),
        "empty"},
    {"title of two lines",
        ROW(NAME ",\"title\":\"a\\nb\"" IMAGE CODE COMMAND SUFFIXES),
        "control character"},
    {"image that is a flag",
        ROW(NAME TITLE ",\"image\":\"--privileged\"" CODE COMMAND SUFFIXES),
        "not an image name"},
    {"image with a blank",
        ROW(NAME TITLE ",\"image\":\"a b\"" CODE COMMAND SUFFIXES),
        "not an image name"},
    {"image empty", ROW(NAME TITLE ",\"image\":\"\"" CODE COMMAND SUFFIXES),
        "not an image name"},
    {"image an object", ROW(NAME TITLE ",\"image\":{}" CODE COMMAND SUFFIXES),
        "must be a string"},
    {"file with a slash",
        ROW(NAME TITLE IMAGE ",\"file\":\"../code\"" COMMAND SUFFIXES),
        "plain file name"},
    {"file with a path",
        ROW(NAME TITLE IMAGE ",\"file\":\"a/b\"" COMMAND SUFFIXES),
        "plain file name"},
    {"file dot", ROW(NAME TITLE IMAGE ",\"file\":\".\"" COMMAND SUFFIXES),
        "plain file name"},
    {"file that is a flag",
        ROW(NAME TITLE IMAGE ",\"file\":\"-x\"" COMMAND SUFFIXES),
        "plain file name"},
    {"file with a blank",
        ROW(NAME TITLE IMAGE ",\"file\":\"a b\"" COMMAND SUFFIXES),
        "plain file name"},
    {"file empty", ROW(NAME TITLE IMAGE ",\"file\":\"\"" COMMAND SUFFIXES),
        "plain file name"},
    {"command a string",
        ROW(NAME TITLE IMAGE CODE ",\"command\":\"awk\"" SUFFIXES),
        "\"command\": it must be an array"},
    {"command empty", ROW(NAME TITLE IMAGE CODE ",\"command\":[]" SUFFIXES),
        "an array of 1 to 64"},
    {"command of numbers",
        ROW(NAME TITLE IMAGE CODE ",\"command\":[\"a\",1]" SUFFIXES),
        "array of strings"},
    {"command of nothing",
        ROW(NAME TITLE IMAGE CODE ",\"command\":[\"\"]" SUFFIXES),
        "not a program"},
    {"command that is a flag",
        ROW(NAME TITLE IMAGE CODE ",\"command\":[\"-x\"]" SUFFIXES),
        "not a program"},
    {"command with a NUL",
        ROW(NAME TITLE IMAGE CODE ",\"command\":[\"a\",\"\\u0000\"]" SUFFIXES),
        "\"command\": there is a NUL"},
    {"suffixes empty", ROW(NAME TITLE IMAGE CODE COMMAND ",\"suffixes\":[]"),
        "an array of 1"},
    {"suffix without a dot",
        ROW(NAME TITLE IMAGE CODE COMMAND ",\"suffixes\":[\"awk\"]"),
        "end of a file name"},
    {"suffix of a dot",
        ROW(NAME TITLE IMAGE CODE COMMAND ",\"suffixes\":[\".\"]"),
        "end of a file name"},
    {"suffix of two", /* only what is behind the last dot is looked at */
        ROW(NAME TITLE IMAGE CODE COMMAND ",\"suffixes\":[\".tar.gz\"]"),
        "end of a file name"},
    {"libraries a string", ROW(GOOD ",\"libraries\":\"one\""),
        "\"libraries\": it must be an array"},
    {"libraries null", ROW(GOOD ",\"libraries\":null"), "must be an array"},
    {"install a string", ROW(GOOD ",\"install\":\"pip\""), "\"install\""},
    {"install with an empty word", ROW(GOOD ",\"install\":[\"a\",\"\"]"),
        "\"install\""},
    {"install of two lines", ROW(GOOD ",\"install\":[\"a\",\"b\\nc\"]"),
        "\"install\""},
    {"install that is a flag", ROW(GOOD ",\"install\":[\"--x\"]"),
        "not a program"},
    {"print empty", ROW(GOOD ",\"print\":\"\""), "\"print\": it is empty"},
};

START_TEST(refused)
{
	struct language_file file, empty = {0};
	struct err err = {0};
	int status = language_file_parse(
	    &file, bad[_i].json, strlen(bad[_i].json), &err);

	ck_assert_msg(status == -1, "%s: taken", bad[_i].name);
	ck_assert_int_eq(err.code, ERR_ARGUMENT);
	ck_assert_msg(strstr(err.message, bad[_i].mention) != NULL, "%s: %s",
	    bad[_i].name, err.message);
	ck_assert_mem_eq(&file, &empty, sizeof(empty));
}
END_TEST

START_TEST(limits_of_words)
{
	struct text json = {0};
	struct language_file file;
	struct err err;

	text_addf(&json, "{%s,\"libraries\":[\"", GOOD);
	for (int i = 0; i < 4097; i++)
		text_addf(&json, "x");
	text_addf(&json, "\"]}");
	ck_assert_int_eq(
	    language_file_parse(&file, json.data, json.length, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.message, "4096"));
	text_release(&json);
	text_addf(&json, "{%s,\"libraries\":[\"x\"", GOOD);
	for (int i = 0; i < 64; i++)
		text_addf(&json, ",\"x\"");
	text_addf(&json, "]}");
	ck_assert_int_eq(
	    language_file_parse(&file, json.data, json.length, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.message, "1 to 64"));
	text_release(&json);
}
END_TEST

/* As --language-file has it. */
static int
load(struct language_table *table, const char *json, size_t length,
    struct err *err)
{
	char *directory = scratch_new();
	char *path = xasprintf("%s/languages.json", directory);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), status;

	ck_assert_int_eq(write(fd, json, length), length);
	close(fd);
	language_table_init(table);
	*err = (struct err){0};
	status = language_table_load(table, path, err);
	ck_assert(
	    status == 0 || strncmp(err->message, path, strlen(path)) == 0);
	free(path);
	scratch_free(directory);
	return status;
}

START_TEST(loaded_rows_are_like_others)
{
	static const char json[] = "[" ROW(GOOD) "," ROW(OTHER) "]";
	struct language_table table;
	const struct language *sed;
	struct err err;

	ck_assert_int_eq(load(&table, json, sizeof(json) - 1, &err), 0);
	ck_assert_uint_eq(table.count, LANGUAGE_BUILT_IN + 2);
	sed = language_by_name(&table, "sed");
	ck_assert_ptr_nonnull(sed);
	ck_assert_uint_eq(sed->id, LANGUAGE_BUILT_IN + 1);
	ck_assert_ptr_eq(table.rows[sed->id], sed);
	ck_assert_ptr_eq(language_by_file(&table, "x.sed"), sed);
	ck_assert_ptr_eq(language_by_tool(&table, "run_sed_code"), sed);
	ck_assert(table.on[sed->id]);
	ck_assert(table.on[LANGUAGE_PYTHON]);
	ck_assert(!table.on[LANGUAGE_BASH]);
	ck_assert_int_eq(language_table_choose(&table, "sed", &err), 0);
	ck_assert(table.on[sed->id]);
	ck_assert(!table.on[sed->id - 1]);
	language_table_release(&table);
}
END_TEST

static const struct {
	const char *json;
	const char *mention;
} clashes[] = {
    {ROW("\"name\":\"python\"" TITLE IMAGE CODE COMMAND SUFFIXES),
        "a language named python already"},
    {ROW("\"name\":\"js\"" TITLE IMAGE CODE COMMAND SUFFIXES),
        "run_js_code is the tool of javascript"},
    {ROW(NAME TITLE IMAGE CODE COMMAND ",\"suffixes\":[\".awk\",\".go\"]"),
        "the suffix .go is that of go"},
    {"[" ROW(GOOD) "," ROW(GOOD) "]", "a language named awk already"},
    {"{", "not JSON"},
};

START_TEST(clash)
{
	struct language_table table;
	struct err err;

	ck_assert_int_eq(
	    load(&table, clashes[_i].json, strlen(clashes[_i].json), &err), -1);
	ck_assert_int_eq(err.code, ERR_ARGUMENT);
	ck_assert_msg(strstr(err.message, clashes[_i].mention) != NULL, "%s",
	    err.message);
	language_table_release(&table);
}
END_TEST

START_TEST(as_many_as_there_is_room_for)
{
	for (int more = 0; more < 2; more++) {
		int count = LANGUAGE_MAX - LANGUAGE_BUILT_IN + more;
		struct language_table table;
		struct text json = {0};
		struct err err;

		for (int i = 0; i < count; i++)
			text_addf(&json,
			    "%c{\"name\":\"l%d\"" TITLE IMAGE CODE COMMAND
			    ",\"suffixes\":[\".l%d\"]}",
			    i == 0 ? '[' : ',', i, i);
		text_addf(&json, "]");
		ck_assert_int_eq(
		    load(&table, json.data, json.length, &err), -more);
		if (more)
			ck_assert_ptr_nonnull(
			    strstr(err.message, "more than 64"));
		language_table_release(&table);
		text_release(&json);
	}
}
END_TEST

START_TEST(too_large_a_file)
{
	size_t size = (size_t)1024 * 1024 + 1;
	char *data = xmalloc(size);
	struct language_table table;
	struct err err;

	memset(data, ' ', size);
	memcpy(data, ROW(GOOD), sizeof(ROW(GOOD)) - 1);
	ck_assert_int_eq(load(&table, data, size, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.message, "larger than 1048576"));
	language_table_release(&table);
	ck_assert_int_eq(load(&table, data, size - 1, &err), 0);
	language_table_release(&table);
	free(data);
}
END_TEST

Suite *
language_file_suite(void)
{
	Suite *suite = suite_create("language file");
	TCase *tcase = tcase_create("language file");

	tcase_add_test(tcase, row_of_a_file);
	tcase_add_test(tcase, what_need_not_be_said);
	tcase_add_loop_test(tcase, refused, 0, COUNT(bad));
	tcase_add_test(tcase, limits_of_words);
	tcase_add_test(tcase, loaded_rows_are_like_others);
	tcase_add_loop_test(tcase, clash, 0, COUNT(clashes));
	tcase_add_test(tcase, as_many_as_there_is_room_for);
	tcase_add_test(tcase, too_large_a_file);
	suite_add_tcase(suite, tcase);
	return suite;
}
