#include "base/strlist.h"

#include <stdlib.h>
#include <string.h>

#include "helpers.h"
#include "suites.h"

static const struct {
	const char *name;
	const char *text;
	char separator;
	const char *expected;
} splits[] = {
    {"nothing", "", ',', ""},
    {"one", "A", ',', "A\n"},
    {"several", "A,B,C", ',', "A\nB\nC\n"},
    {"trimmed", "  A , B\t,\n C \r\n", ',', "A\nB\nC\n"},
    {"blanks within stay", "A B, C  D ", ',', "A B\nC  D\n"},
    {"empty pieces are left out", ",A,,B, ,", ',', "A\nB\n"},
    {"only separators", ",,,", ',', ""},
    {"only blanks", "  \t ", ',', ""},
    {"another separator", "A,B\nC\n", '\n', "A,B\nC\n"},
    {"the same twice", "A,A", ',', "A\nA\n"},
};

START_TEST(split)
{
	struct strlist list = {0};
	char *text;

	strlist_add_split(&list, splits[_i].text, splits[_i].separator);
	text = strlist_text(&list);
	ck_assert_msg(strcmp(text, splits[_i].expected) == 0, "%s: %s",
	    splits[_i].name, text);
	free(text);
	strlist_release(&list);
}
END_TEST

START_TEST(ends_in_null_at_every_size)
{
	struct strlist list = {0};

	for (size_t i = 0; i < 100; i++) {
		strlist_addf(&list, "%zu", i);
		ck_assert_uint_eq(list.count, i + 1);
		ck_assert_ptr_null(list.items[list.count]);
	}
	ck_assert_str_eq(list.items[0], "0");
	ck_assert_str_eq(list.items[99], "99");
	strlist_release(&list);
}
END_TEST

START_TEST(items_are_copies)
{
	struct strlist list = {0};
	char item[] = "abc";

	strlist_add(&list, item);
	item[0] = 'x';
	ck_assert_str_eq(list.items[0], "abc");
	strlist_release(&list);
}
END_TEST

START_TEST(add_all)
{
	struct strlist list = {0};
	char *text;

	strlist_add(&list, "first");
	strlist_add_all(&list, (const char *const[]){NULL});
	strlist_add_all(&list, (const char *const[]){"a", "", "b", NULL});
	text = strlist_text(&list);
	ck_assert_str_eq(text, "first\na\n\nb\n");
	free(text);
	strlist_release(&list);
}
END_TEST

START_TEST(contains_whole_items_only)
{
	struct strlist list = {0};

	ck_assert(!strlist_contains(&list, ""));
	strlist_add_split(&list, "FOO,BAR", ',');
	ck_assert(strlist_contains(&list, "FOO"));
	ck_assert(strlist_contains(&list, "BAR"));
	ck_assert(!strlist_contains(&list, "FO"));
	ck_assert(!strlist_contains(&list, "FOOO"));
	ck_assert(!strlist_contains(&list, "foo"));
	strlist_release(&list);
}
END_TEST

START_TEST(released_is_empty_and_usable)
{
	struct strlist list = {0};

	strlist_add(&list, "a");
	strlist_release(&list);
	ck_assert_uint_eq(list.count, 0);
	ck_assert_ptr_null(list.items);
	strlist_release(&list);
	strlist_add(&list, "b");
	ck_assert_str_eq(list.items[0], "b");
	strlist_release(&list);
}
END_TEST

static const struct {
	const char *items[4];
	const char *before_last;
	const char *expected;
} joined[] = {
    {{NULL}, ", ", ""},
    {{"a", NULL}, ", ", "a"},
    {{"a", "b", "c", NULL}, ", ", "a, b, c"},
    {{"", "b", NULL}, ", ", ", b"},
    {{NULL}, " and ", ""},
    {{"a", NULL}, " and ", "a"},
    {{"a", "b", NULL}, " and ", "a and b"},
    {{"a", "b", "c", NULL}, " and ", "a, b and c"},
};

START_TEST(join)
{
	char *text =
	    strlist_join(joined[_i].items, ", ", joined[_i].before_last);

	ck_assert_str_eq(text, joined[_i].expected);
	free(text);
}
END_TEST

Suite *
strlist_suite(void)
{
	Suite *suite = suite_create("strlist");
	TCase *tcase = tcase_create("strlist");

	tcase_add_loop_test(tcase, split, 0, COUNT(splits));
	tcase_add_test(tcase, ends_in_null_at_every_size);
	tcase_add_test(tcase, items_are_copies);
	tcase_add_test(tcase, add_all);
	tcase_add_test(tcase, contains_whole_items_only);
	tcase_add_test(tcase, released_is_empty_and_usable);
	tcase_add_loop_test(tcase, join, 0, COUNT(joined));
	suite_add_tcase(suite, tcase);
	return suite;
}
