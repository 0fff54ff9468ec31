#include "sandbox/work_path.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"

#define HANDLE "0123456789abcdef0123456789abcdef"

static const char *const good[] = {"a", "data.csv", "a/b/c.txt", "...", "..a",
    "a..", ".hidden", "a b", "-x", "~", "a\\b", "%2e%2e", "*",
    "\xC3\xA9\xE2\x82\xAC/\xF0\x9F\x98\x80.txt"};

START_TEST(taken)
{
	struct err err = {0};

	ck_assert_msg(work_path_check(good[_i], strlen(good[_i]), &err) == 0,
	    "%s: %s", good[_i], err.message);
}
END_TEST

static const struct {
	const char *path;
	size_t length;
	const char *mention;
} bad[] = {
    {BYTES(""), "empty"},
    {BYTES("/"), "absolute"},
    {BYTES("/etc/passwd"), "absolute"},
    {BYTES("//x"), "absolute"},
    {BYTES("."), "\"..\""},
    {BYTES(".."), "\"..\""},
    {BYTES("../x"), "\"..\""},
    {BYTES("a/../b"), "\"..\""},
    {BYTES("a/.."), "\"..\""},
    {BYTES("./a"), "\"..\""},
    {BYTES("a/./b"), "\"..\""},
    {BYTES("a//b"), "empty part"},
    {BYTES("a/"), "empty part"},
    {BYTES("a\0b"), "control"},
    {BYTES("\0"), "control"},
    {BYTES("a\nb"), "control"},
    {BYTES("a\033[0m"), "control"},
    {BYTES("a\x7F"), "control"},
    {BYTES("a\xC2\x9B"
           "2J"),
        "control"},
    {BYTES("a\xFF"), "UTF-8"},
    {BYTES("\xED\xA0\x80"), "UTF-8"},
};

START_TEST(refused)
{
	struct err err = {0};

	ck_assert_msg(work_path_check(bad[_i].path, bad[_i].length, &err) == -1,
	    "%s", bad[_i].path);
	ck_assert_int_eq(err.code, ERR_ARGUMENT);
	ck_assert_msg(strstr(err.message, bad[_i].mention) != NULL, "%s: %s",
	    bad[_i].path, err.message);
}
END_TEST

static const struct {
	size_t directories, name;
	const char *mention; /* NULL: it is taken */
} sizes[] = {
    {0, 255, NULL},
    {0, 256, "256 bytes in it; the limit is 255"},
    {511, 2, NULL},
    {511, 3, "1025 bytes; the limit is 1024"},
};

START_TEST(lengths)
{
	struct text path = {0};
	struct err err = {0};
	int status;

	for (size_t i = 0; i < sizes[_i].directories; i++)
		text_addf(&path, "d/");
	for (size_t i = 0; i < sizes[_i].name; i++)
		text_addf(&path, "x");
	status = work_path_check(path.data, path.length, &err);
	ck_assert_int_eq(status, sizes[_i].mention == NULL ? 0 : -1);
	if (sizes[_i].mention != NULL)
		ck_assert_msg(strstr(err.message, sizes[_i].mention) != NULL,
		    "%s", err.message);
	text_release(&path);
}
END_TEST

static const struct {
	const char *one, *other;
	bool clash;
} two[] = {
    {"a", "a", true},
    {"a", "a/b", true},
    {"a/b", "a/b/c/d", true},
    {"a", "b", false},
    {"a", "ab", false},
    {"a/b", "a/c", false},
    {"a.b", "a/b", false},
    {"A", "a", false},
};

START_TEST(clashes)
{
	ck_assert_int_eq(
	    work_path_clash(two[_i].one, two[_i].other), two[_i].clash);
	ck_assert_int_eq(
	    work_path_clash(two[_i].other, two[_i].one), two[_i].clash);
}
END_TEST

static const struct {
	const char *path;
	const char *encoded;
} encodings[] = {
    {"plot.png", "plot.png"},
    {"a/b-c_d~e.txt", "a/b-c_d~e.txt"},
    {"a b", "a%20b"},
    {"100%", "100%25"},
    {"%41", "%2541"},
    {"a?b#c", "a%3Fb%23c"},
    {"{x}", "%7Bx%7D"},
    {"a\\b", "a%5Cb"},
    {"\xC3\xA9", "%C3%A9"},
};

START_TEST(uris_and_back)
{
	char *session_uri =
	    xasprintf("sandbox://session/" HANDLE "/%s", encodings[_i].encoded);
	char *files_uri =
	    xasprintf("sandbox://files/%s", encodings[_i].encoded);
	char *made = work_path_uri(HANDLE, encodings[_i].path);
	char *session, *path;
	struct err err = {0};

	ck_assert_str_eq(made, session_uri);
	ck_assert(work_path_is_session_uri(made));
	ck_assert_int_eq(work_path_parse_uri(made, &session, &path, &err), 0);
	ck_assert_str_eq(session, HANDLE);
	ck_assert_str_eq(path, encodings[_i].path);
	free(session);
	free(path);
	free(made);
	made = work_path_uri(NULL, encodings[_i].path);
	ck_assert_str_eq(made, files_uri);
	ck_assert(!work_path_is_session_uri(made));
	free(made);
	free(files_uri);
	free(session_uri);
}
END_TEST

static const struct {
	const char *uri;
	const char *path;
} other_ways[] = {
    /* What a client made of the template. */
    {"sandbox://session/" HANDLE "/a b", "a b"},
    {"sandbox://session/" HANDLE "/%61%2f%62", "a/b"},
    {"sandbox://session/" HANDLE "/\xC3\xA9", "\xC3\xA9"},
};

START_TEST(uris_written_in_another_way)
{
	char *session, *path;
	struct err err = {0};

	ck_assert_int_eq(
	    work_path_parse_uri(other_ways[_i].uri, &session, &path, &err), 0);
	ck_assert_str_eq(path, other_ways[_i].path);
	free(session);
	free(path);
}
END_TEST

static const char *const no_uris[] = {
    "",
    "sandbox://session/",
    "sandbox://session/x/a",
    "sandbox://session/" HANDLE,
    "sandbox://session/" HANDLE "/",
    "sandbox://session/" HANDLE "0/a",
    "sandbox://session/0123456789ABCDEF0123456789ABCDEF/a",
    "sandbox://session/" HANDLE "//etc/passwd",
    "sandbox://session/" HANDLE "/../x",
    "sandbox://session/" HANDLE "/%2e%2e/x",
    "sandbox://session/" HANDLE "/%2Fetc",
    "sandbox://session/" HANDLE "/a%00b",
    "sandbox://session/" HANDLE "/a%0Ab",
    "sandbox://session/" HANDLE "/a%FF",
    "sandbox://session/" HANDLE "/%",
    "sandbox://session/" HANDLE "/%4",
    "sandbox://session/" HANDLE "/%zz",
    "sandbox://session/" HANDLE "/%-1",
    "SANDBOX://session/" HANDLE "/a",
};

START_TEST(no_uri)
{
	char *session = NULL, *path = NULL;
	struct err err = {0};

	ck_assert_msg(
	    work_path_parse_uri(no_uris[_i], &session, &path, &err) == -1, "%s",
	    no_uris[_i]);
	ck_assert_int_eq(err.code, ERR_RESOURCE);
	ck_assert(err.message[0] != '\0');
}
END_TEST

Suite *
work_path_suite(void)
{
	Suite *suite = suite_create("work_path");
	TCase *tcase = tcase_create("work_path");

	tcase_add_loop_test(tcase, taken, 0, COUNT(good));
	tcase_add_loop_test(tcase, refused, 0, COUNT(bad));
	tcase_add_loop_test(tcase, lengths, 0, COUNT(sizes));
	tcase_add_loop_test(tcase, clashes, 0, COUNT(two));
	tcase_add_loop_test(tcase, uris_and_back, 0, COUNT(encodings));
	tcase_add_loop_test(
	    tcase, uris_written_in_another_way, 0, COUNT(other_ways));
	tcase_add_loop_test(tcase, no_uri, 0, COUNT(no_uris));
	suite_add_tcase(suite, tcase);
	return suite;
}
