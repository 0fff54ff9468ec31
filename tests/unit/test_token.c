#include "base/token.h"

#include <ctype.h>
#include <string.h>

#include "helpers.h"
#include "suites.h"

START_TEST(hexadecimal_and_new_each_time)
{
	char first[TOKEN_LENGTH + 1], second[TOKEN_LENGTH + 1];

	token_make(first);
	token_make(second);
	ck_assert_uint_eq(strlen(first), TOKEN_LENGTH);
	for (const char *digit = first; *digit != '\0'; digit++)
		ck_assert_msg(isdigit((unsigned char)*digit) ||
		        (*digit >= 'a' && *digit <= 'f'),
		    "%s", first);
	ck_assert_str_ne(first, second);
}
END_TEST

START_TEST(equal)
{
	ck_assert(token_equal("abc", "abc"));
	ck_assert(!token_equal("abd", "abc"));
	ck_assert(!token_equal("xbc", "abc"));
	ck_assert(!token_equal("ab", "abc"));
	ck_assert(!token_equal("abcd", "abc"));
	ck_assert(!token_equal("", "abc"));
	ck_assert(!token_equal("ABC", "abc"));
}
END_TEST

static const struct {
	const char *text;
	char end;
	bool is_one;
} looks[] = {
    {"0123456789abcdef0123456789abcdef", '\0', true},
    {"0123456789abcdef0123456789abcdef/x", '/', true},
    {"0123456789abcdef0123456789abcdef/x", '\0', false},
    {"0123456789abcdef0123456789abcde", '\0', false},
    {"0123456789abcdef0123456789abcdef0", '\0', false},
    {"0123456789ABCDEF0123456789ABCDEF", '\0', false},
    {"0123456789abcdef0123456789abcdeg", '\0', false},
    {"", '\0', false},
};

START_TEST(looks_like_one)
{
	ck_assert_int_eq(
	    token_is_one(looks[_i].text, looks[_i].end), looks[_i].is_one);
}
END_TEST

START_TEST(what_is_made_looks_like_one)
{
	char token[TOKEN_LENGTH + 1];

	token_make(token);
	ck_assert(token_is_one(token, '\0'));
}
END_TEST

Suite *
token_suite(void)
{
	Suite *suite = suite_create("token");
	TCase *tcase = tcase_create("token");

	tcase_add_test(tcase, hexadecimal_and_new_each_time);
	tcase_add_test(tcase, equal);
	tcase_add_loop_test(tcase, looks_like_one, 0, COUNT(looks));
	tcase_add_test(tcase, what_is_made_looks_like_one);
	suite_add_tcase(suite, tcase);
	return suite;
}
