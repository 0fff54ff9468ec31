#include "base/err.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"

#define SIZE sizeof(((struct err *)NULL)->message)

START_TEST(set_fills_in_all)
{
	struct err err;

	ck_assert_int_eq(err_set(&err, ERR_IMAGE, "%s %d", "abc", 7), -1);
	ck_assert_int_eq(err.code, ERR_IMAGE);
	ck_assert_str_eq(err.message, "abc 7");
}
END_TEST

START_TEST(system_adds_the_reason)
{
	struct err err;

	ck_assert_int_eq(err_system(&err, ENOENT, "open %s", "x"), -1);
	ck_assert_int_eq(err.code, ERR_SYSTEM);
	ck_assert_str_eq(err.message, "open x: No such file or directory");
}
END_TEST

START_TEST(valid_text_stays)
{
	struct err err;

	err_set(&err, ERR_ENGINE, "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
	ck_assert_str_eq(err.message, "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
}
END_TEST

START_TEST(bad_bytes_become_question_marks)
{
	struct err err;

	err_set(&err, ERR_ENGINE, "a%sb", "\xFF\xE2\x82");
	ck_assert_str_eq(err.message, "a???b");
}
END_TEST

/* A precision cuts in the middle of a character. */
START_TEST(a_part_that_was_cut_is_repaired)
{
	struct err err;

	err_set(&err, ERR_ENGINE, "<%.4s>", "abc\xE2\x82\xAC");
	ck_assert_str_eq(err.message, "<abc?>");
}
END_TEST

/* Texts of two, three and four bytes a character, at every offset. */
START_TEST(truncated_text_is_valid)
{
	static const char *const characters[] = {
	    "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
	struct text text = {0};
	struct err err;

	for (int i = 0; i < _i % 4; i++)
		text_add(&text, "x", 1);
	while (text.length < 2 * SIZE)
		text_addf(&text, "%s", characters[_i / 4]);
	err_set(&err, ERR_ENGINE, "%s", text.data);
	ck_assert_uint_eq(strlen(err.message), SIZE - 1);
	ck_assert(is_utf8(err.message, strlen(err.message)));
	err_system(&err, ENOENT, "%s", text.data);
	ck_assert_uint_lt(strlen(err.message), SIZE);
	ck_assert(is_utf8(err.message, strlen(err.message)));
	text_release(&text);
}
END_TEST

/* The reason is cut, and the message before it left whole. */
START_TEST(system_reason_that_does_not_fit)
{
	struct err err;
	char filler[SIZE];

	memset(filler, 'x', sizeof(filler));
	filler[SIZE - 10] = '\0';
	err_system(&err, ENOENT, "%s", filler);
	ck_assert_uint_eq(strlen(err.message), SIZE - 1);
	ck_assert_str_eq(err.message + SIZE - 10, ": No such");
}
END_TEST

Suite *
err_suite(void)
{
	Suite *suite = suite_create("err");
	TCase *tcase = tcase_create("err");

	tcase_add_test(tcase, set_fills_in_all);
	tcase_add_test(tcase, system_adds_the_reason);
	tcase_add_test(tcase, valid_text_stays);
	tcase_add_test(tcase, bad_bytes_become_question_marks);
	tcase_add_test(tcase, a_part_that_was_cut_is_repaired);
	tcase_add_loop_test(tcase, truncated_text_is_valid, 0, 12);
	tcase_add_test(tcase, system_reason_that_does_not_fit);
	suite_add_tcase(suite, tcase);
	return suite;
}
