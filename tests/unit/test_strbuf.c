#include "base/strbuf.h"

#include <string.h>

#include "helpers.h"
#include "suites.h"

START_TEST(grows)
{
	struct strbuf buf = {0};

	strbuf_add(&buf, BYTES("a\0b"));
	ck_assert_uint_eq(buf.length, 3);
	strbuf_addf(&buf, "-%d", 42);
	ck_assert_uint_eq(buf.length, 6);
	ck_assert_int_eq(memcmp(buf.data, "a\0b-42", 7), 0);
	strbuf_release(&buf);
	ck_assert_ptr_null(buf.data);
	ck_assert_uint_eq(buf.length, 0);
}
END_TEST

START_TEST(nothing_is_a_string_too)
{
	struct strbuf buf = {0};

	strbuf_add(&buf, NULL, 0);
	ck_assert_str_eq(buf.data, "");
	strbuf_addf(&buf, "%s", "");
	ck_assert_str_eq(buf.data, "");
	strbuf_release(&buf);
}
END_TEST

Suite *
strbuf_suite(void)
{
	Suite *suite = suite_create("strbuf");
	TCase *tcase = tcase_create("strbuf");

	tcase_add_test(tcase, grows);
	tcase_add_test(tcase, nothing_is_a_string_too);
	suite_add_tcase(suite, tcase);
	return suite;
}
