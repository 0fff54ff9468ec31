#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "helpers.h"
#include "suites.h"

#define FFFD "\xEF\xBF\xBD"

static const struct {
	const char *name;
	const char *data;
	size_t length;
	size_t expected;
} sequences[] = {
    {"ASCII", BYTES("a"), 1},
    {"NUL", BYTES("\0"), 1},
    {"ASCII before anything", BYTES("a\xFF"), 1},
    {"last ASCII", BYTES("\x7F"), 1},
    {"first of two bytes", BYTES("\xC2\x80"), 2},
    {"last of two bytes", BYTES("\xDF\xBF"), 2},
    {"first of three bytes", BYTES("\xE0\xA0\x80"), 3},
    {"last before the surrogates", BYTES("\xED\x9F\xBF"), 3},
    {"first after the surrogates", BYTES("\xEE\x80\x80"), 3},
    {"last of three bytes", BYTES("\xEF\xBF\xBF"), 3},
    {"first of four bytes", BYTES("\xF0\x90\x80\x80"), 4},
    {"last of all", BYTES("\xF4\x8F\xBF\xBF"), 4},
    {"nothing", "", 0, 0},
    {"lone continuation, lowest", BYTES("\x80"), 0},
    {"lone continuation, highest", BYTES("\xBF"), 0},
    {"overlong NUL", BYTES("\xC0\x80"), 0},
    {"overlong in two bytes", BYTES("\xC1\xBF"), 0},
    {"overlong in three bytes", BYTES("\xE0\x9F\xBF"), 0},
    {"overlong in four bytes", BYTES("\xF0\x8F\xBF\xBF"), 0},
    {"first surrogate", BYTES("\xED\xA0\x80"), 0},
    {"last surrogate", BYTES("\xED\xBF\xBF"), 0},
    {"above U+10FFFF", BYTES("\xF4\x90\x80\x80"), 0},
    {"lead F5", BYTES("\xF5\x80\x80\x80"), 0},
    {"five bytes", BYTES("\xF8\x88\x80\x80\x80"), 0},
    {"six bytes", BYTES("\xFC\x84\x80\x80\x80\x80"), 0},
    {"FE", BYTES("\xFE"), 0},
    {"FF", BYTES("\xFF"), 0},
    {"second of two is ASCII", BYTES("\xC2\x41"), 0},
    {"second of two is a lead", BYTES("\xC2\xC2"), 0},
    {"second of three is ASCII", BYTES("\xE1\x41\x80"), 0},
    {"third of three is ASCII", BYTES("\xE1\x80\x41"), 0},
    {"second of four is ASCII", BYTES("\xF1\x41\x80\x80"), 0},
    {"third of four is ASCII", BYTES("\xF1\x80\x41\x80"), 0},
    {"fourth of four is ASCII", BYTES("\xF1\x80\x80\x41"), 0},
    {"two bytes cut after one", BYTES("\xC3"), 0},
    {"three bytes cut after one", BYTES("\xE2"), 0},
    {"three bytes cut after two", BYTES("\xE2\x82"), 0},
    {"four bytes cut after one", BYTES("\xF0"), 0},
    {"four bytes cut after two", BYTES("\xF0\x9F"), 0},
    {"four bytes cut after three", BYTES("\xF0\x9F\x98"), 0},
};

START_TEST(sequence_length)
{
	size_t found = utf8_sequence(sequences[_i].data, sequences[_i].length);

	ck_assert_msg(found == sequences[_i].expected, "%s: %zu and not %zu",
	    sequences[_i].name, found, sequences[_i].expected);
}
END_TEST

static const struct {
	const char *name;
	const char *data;
	size_t length;
	const char *expected;
	size_t expected_length;
} repairs[] = {
    {"nothing", BYTES(""), BYTES("")},
    {"plain text", BYTES("plain"), BYTES("plain")},
    {"valid characters of every length stay",
        BYTES("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z"),
        BYTES("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z")},
    {"NUL stays", BYTES("a\0b"), BYTES("a\0b")},
    {"one bad byte",
        BYTES("a\xFF"
              "b"),
        BYTES("a" FFFD "b")},
    {"only bad bytes", BYTES("\xFF\xFE\x80"), BYTES(FFFD FFFD FFFD)},
    {"each byte of a surrogate", BYTES("\xED\xA0\x80"), BYTES(FFFD FFFD FFFD)},
    {"each byte of a cut character", BYTES("x\xE2\x82"), BYTES("x" FFFD FFFD)},
    {"what follows a broken character",
        BYTES("\xE2\x82"
              "A\xC3\xA9"),
        BYTES(FFFD FFFD "A\xC3\xA9")},
    {"U+FFFD itself stays", BYTES(FFFD), BYTES(FFFD)},
};

START_TEST(repair)
{
	size_t length;
	char *text = utf8_repair(repairs[_i].data, repairs[_i].length, &length);

	ck_assert_msg(length == repairs[_i].expected_length &&
	        memcmp(text, repairs[_i].expected, length) == 0,
	    "%s: %s", repairs[_i].name, text);
	ck_assert_msg(
	    text[length] == '\0', "%s: no NUL at the end", repairs[_i].name);
	free(text);
}
END_TEST

/* Every lead byte with all that matters behind it, cut at every length. */
START_TEST(repaired_is_always_valid)
{
	static const unsigned char seconds[] = {
	    0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2, 0xFF};

	for (size_t second = 0; second < COUNT(seconds); second++)
		for (size_t third = 0; third < COUNT(seconds); third++)
			for (size_t cut = 1; cut <= 4; cut++) {
				char data[] = {(char)_i, (char)seconds[second],
				    (char)seconds[third], (char)0x80};
				size_t length;
				char *text = utf8_repair(data, cut, &length);

				ck_assert_msg(is_utf8(text, length),
				    "%02x %02x %02x 80 cut at %zu", _i,
				    seconds[second], seconds[third], cut);
				free(text);
			}
}
END_TEST

static const struct {
	const char *name;
	const char *data;
	size_t length;
	size_t expected;
} tails[] =
    {
        {"nothing", "", 0, 0},
        {"ASCII", BYTES("abc"), 0},
        {"whole two bytes", BYTES("a\xC3\xA9"), 0},
        {"whole three bytes", BYTES("a\xE2\x82\xAC"), 0},
        {"whole four bytes", BYTES("\xF0\x9F\x98\x80"), 0},
        {"one of two", BYTES("a\xC3"), 1},
        {"one of three", BYTES("a\xE2"), 1},
        {"two of three", BYTES("a\xE2\x82"), 2},
        {"one of four", BYTES("a\xF0"), 1},
        {"two of four", BYTES("a\xF0\x9F"), 2},
        {"three of four", BYTES("a\xF0\x9F\x98"), 3},
        {"nothing but the part", BYTES("\xF0\x9F\x98"), 3},
        {"a byte that leads nothing", BYTES("a\xFF"), 0},
        {"continuations without a lead", BYTES("a\x80\x80"), 0},
        {"only continuations", BYTES("\x80\x80\x80\x80"), 0},
        {"one continuation too many", BYTES("\xC3\xA9\xA9"), 0},
},
  heads[] = {
      {"nothing", "", 0, 0},
      {"ASCII", BYTES("abc"), 0},
      {"a lead", BYTES("\xC3\xA9"), 0},
      {"the last of two", BYTES("\xA9z"), 1},
      {"the last two of three", BYTES("\x82\xACz"), 2},
      {"the last three of four", BYTES("\x9F\x98\x80z"), 3},
      {"nothing but the part", BYTES("\x9F\x98"), 2},
      {"more than any character has", BYTES("\x80\x80\x80\x80\x80"), 3},
};

START_TEST(partial_tail)
{
	size_t found = utf8_partial_tail(tails[_i].data, tails[_i].length);

	ck_assert_msg(found == tails[_i].expected, "%s: %zu and not %zu",
	    tails[_i].name, found, tails[_i].expected);
}
END_TEST

START_TEST(partial_head)
{
	size_t found = utf8_partial_head(heads[_i].data, heads[_i].length);

	ck_assert_msg(found == heads[_i].expected, "%s: %zu and not %zu",
	    heads[_i].name, found, heads[_i].expected);
}
END_TEST

/* Wherever a text is cut in two, the partial bytes of both sides together are
 * one character or none. */
START_TEST(cut_at_every_byte)
{
	static const char text[] = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z";
	size_t length = sizeof(text) - 1;

	for (size_t cut = 0; cut <= length; cut++) {
		size_t tail = utf8_partial_tail(text, cut);
		size_t head = utf8_partial_head(text + cut, length - cut);

		ck_assert_msg(is_utf8(text, cut - tail), "before %zu", cut);
		ck_assert_msg(is_utf8(text + cut + head, length - cut - head),
		    "after %zu", cut);
		ck_assert_msg((tail == 0) == (head == 0), "at %zu", cut);
		if (tail > 0)
			ck_assert_uint_eq(
			    utf8_sequence(text + cut - tail, tail + head),
			    tail + head);
	}
}
END_TEST

static const struct {
	const char *text, *kept, *expected;
} printables[] = {
    {"plain \xC3\xA9\xF0\x9F\x98\x80", "", "plain \xC3\xA9\xF0\x9F\x98\x80"},
    {"\033[2Jx\a\r\n\ty\177", "", " [2Jx    y "},
    {"\033[2Jx\a\r\n\ty\177", "\n\t", " [2Jx  \n\ty "},
    {"\xC2\x80\xC2\x9B"
     "31m\xC2\xA0",
        "", "    31m\xC2\xA0"},
    {"\x9B"
     "31m",
        "", FFFD "31m"},
    {"", "\n", ""},
};

START_TEST(printable)
{
	char *text = utf8_printable(printables[_i].text, printables[_i].kept);

	ck_assert_str_eq(text, printables[_i].expected);
	free(text);
}
END_TEST

Suite *
utf8_suite(void)
{
	Suite *suite = suite_create("utf8");
	TCase *tcase = tcase_create("utf8");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_loop_test(tcase, sequence_length, 0, COUNT(sequences));
	tcase_add_loop_test(tcase, repair, 0, COUNT(repairs));
	tcase_add_loop_test(tcase, repaired_is_always_valid, 0x7F, 0x100);
	tcase_add_loop_test(tcase, partial_tail, 0, COUNT(tails));
	tcase_add_loop_test(tcase, partial_head, 0, COUNT(heads));
	tcase_add_test(tcase, cut_at_every_byte);
	tcase_add_loop_test(tcase, printable, 0, COUNT(printables));
	suite_add_tcase(suite, tcase);
	return suite;
}
