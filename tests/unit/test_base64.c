#include "base/base64.h"

#include <stdlib.h>
#include <string.h>

#include "helpers.h"
#include "suites.h"

/* The test vectors of RFC 4648, and bytes of all kinds. */
static const struct {
	const char *data;
	size_t length;
	const char *text;
} pairs[] = {
    {BYTES(""), ""},
    {BYTES("f"), "Zg=="},
    {BYTES("fo"), "Zm8="},
    {BYTES("foo"), "Zm9v"},
    {BYTES("foob"), "Zm9vYg=="},
    {BYTES("fooba"), "Zm9vYmE="},
    {BYTES("foobar"), "Zm9vYmFy"},
    {BYTES("\0"), "AA=="},
    {BYTES("\0\0\0\0"), "AAAAAA=="},
    {BYTES("\xFF\xFF\xFF"), "////"},
    {BYTES("\xFB\xEF\xBE"), "++++"},
    {BYTES("\x89PNG\r\n\x1A\n"), "iVBORw0KGgo="},
};

START_TEST(encoded)
{
	size_t length;
	char *text = base64_encode(pairs[_i].data, pairs[_i].length, &length);

	ck_assert_str_eq(text, pairs[_i].text);
	ck_assert_uint_eq(length, strlen(text));
	free(text);
	text = base64_encode(pairs[_i].data, pairs[_i].length, NULL);
	ck_assert_str_eq(text, pairs[_i].text);
	free(text);
}
END_TEST

START_TEST(decoded)
{
	size_t length;
	char *data =
	    base64_decode(pairs[_i].text, strlen(pairs[_i].text), &length);

	ck_assert_ptr_nonnull(data);
	ck_assert_uint_eq(length, pairs[_i].length);
	ck_assert_int_eq(memcmp(data, pairs[_i].data, length), 0);
	free(data);
}
END_TEST

START_TEST(there_and_back)
{
	char data[300];
	size_t length, text_length;
	char *text, *back;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7 + (size_t)_i);
	text = base64_encode(data, (size_t)_i * 3 + 1, &text_length);
	back = base64_decode(text, text_length, &length);
	ck_assert_uint_eq(length, (size_t)_i * 3 + 1);
	ck_assert_int_eq(memcmp(data, back, length), 0);
	free(text);
	free(back);
}
END_TEST

static const struct {
	const char *name;
	const char *text;
	size_t length;
} none[] = {
    {"no padding", BYTES("Zg")},
    {"half a padding", BYTES("Zg=")},
    {"one digit", BYTES("Z")},
    {"only padding", BYTES("====")},
    {"padding of three", BYTES("Z===")},
    {"padding and more", BYTES("Zg==Zg==")},
    {"padding within", BYTES("Z=g=")},
    {"too much padding", BYTES("Zm9v====")},
    {"white space", BYTES("Zm9v\nYmF")},
    {"a newline at the end", BYTES("Zm9v\n")},
    {"NUL", BYTES("Zm9\0")},
    {"the alphabet of URLs", BYTES("____")},
    {"a digit that is none", BYTES("Zm9%")},
    {"a byte above", BYTES("Zm9\xC3")},
    /* The last digit says something that no byte would. */
    {"bits that stand for nothing", BYTES("Zh==")},
    {"bits that stand for nothing, of two", BYTES("Zm9=")},
};

START_TEST(refused)
{
	size_t length;
	char *data = base64_decode(none[_i].text, none[_i].length, &length);

	ck_assert_msg(data == NULL, "%s", none[_i].name);
}
END_TEST

Suite *
base64_suite(void)
{
	Suite *suite = suite_create("base64");
	TCase *tcase = tcase_create("base64");

	tcase_add_loop_test(tcase, encoded, 0, COUNT(pairs));
	tcase_add_loop_test(tcase, decoded, 0, COUNT(pairs));
	tcase_add_loop_test(tcase, there_and_back, 0, 99);
	tcase_add_loop_test(tcase, refused, 0, COUNT(none));
	suite_add_tcase(suite, tcase);
	return suite;
}
