#include "base/lines.h"

#include <string.h>

#include "helpers.h"
#include "suites.h"

#define LIMIT 8

/* Writes down what comes: "[line]", or "{limit}" for one that is too long. */
static void
on_line(void *arg, const char *data, size_t length)
{
	text_add(arg, "[", 1);
	text_add(arg, data, length);
	text_add(arg, "]", 1);
}

static void
on_too_long(void *arg, size_t limit)
{
	text_addf(arg, "{%zu}", limit);
}

static const struct lines_callbacks callbacks = {on_line, on_too_long};

static const struct {
	const char *name;
	const char *data;
	size_t length;
	const char *expected;
	size_t expected_length;
} rows[] = {
    {"nothing", BYTES(""), BYTES("")},
    {"one line", BYTES("abc\n"), BYTES("[abc]")},
    {"two lines", BYTES("abc\nde\n"), BYTES("[abc][de]")},
    {"a last line without a newline", BYTES("abc\nde"), BYTES("[abc][de]")},
    {"empty lines are left out", BYTES("\n\nabc\n\n\n"), BYTES("[abc]")},
    {"a carriage return stays", BYTES("abc\r\nd\re\r\n"),
        BYTES("[abc\r][d\re\r]")},
    {"nothing but a carriage return", BYTES("\r\n"), BYTES("[\r]")},
    {"NUL", BYTES("a\0b\n"), BYTES("[a\0b]")},
    {"as long as it may be", BYTES("12345678\n"), BYTES("[12345678]")},
    {"as long as it may be, without a newline", BYTES("12345678"),
        BYTES("[12345678]")},
    {"one byte too long", BYTES("123456789\n"), BYTES("{8}")},
    {"far too long, reported once", BYTES("1234567890123456789012345\n"),
        BYTES("{8}")},
    {"the line after one that is too long", BYTES("123456789\nabc\n"),
        BYTES("{8}[abc]")},
    {"the longest line after one that is too long",
        BYTES("123456789\n12345678\n"), BYTES("{8}[12345678]")},
    {"two that are too long", BYTES("123456789\n123456789\nx\n"),
        BYTES("{8}{8}[x]")},
    {"too long, and the stream ends", BYTES("abc\n123456789"),
        BYTES("[abc]{8}")},
};

static void
assert_lines(int row, size_t first, size_t piece)
{
	struct text seen = {0};
	struct lines lines;
	size_t length = rows[row].length;

	text_add(&seen, "", 0);
	lines_init(&lines, LIMIT, &callbacks, &seen);
	lines_feed(&lines, rows[row].data, first);
	for (size_t i = first; i < length; i += piece)
		lines_feed(&lines, rows[row].data + i,
		    i + piece > length ? length - i : piece);
	lines_finish(&lines);
	lines_release(&lines);
	ck_assert_msg(seen.length == rows[row].expected_length &&
	        memcmp(seen.data, rows[row].expected, seen.length) == 0,
	    "%s, first %zu then %zu: \"%s\" and not \"%s\"", rows[row].name,
	    first, piece, seen.data, rows[row].expected);
	text_release(&seen);
}

START_TEST(split_in_two_at_every_byte)
{
	for (size_t cut = 0; cut <= rows[_i].length; cut++)
		assert_lines(_i, cut, 1000);
}
END_TEST

START_TEST(fed_in_small_pieces)
{
	for (size_t piece = 1; piece < 5; piece++)
		assert_lines(_i, 0, piece);
}
END_TEST

START_TEST(too_long_is_reported_when_it_ends)
{
	struct text seen = {0};
	struct lines lines;

	lines_init(&lines, LIMIT, &callbacks, &seen);
	for (int i = 0; i < 100; i++)
		lines_feed(&lines, BYTES("0123456789"));
	ck_assert_uint_eq(seen.length, 0);
	lines_feed(&lines, BYTES("\n"));
	ck_assert_str_eq(text_string(&seen), "{8}");
	lines_finish(&lines);
	ck_assert_str_eq(text_string(&seen), "{8}");
	lines_release(&lines);
	text_release(&seen);
}
END_TEST

START_TEST(memory_is_given_back)
{
	struct text seen = {0};
	struct lines lines;

	lines_init(&lines, LIMIT, &callbacks, &seen);
	lines_feed(&lines, BYTES("abc"));
	ck_assert_ptr_nonnull(lines.data);
	lines_feed(&lines, BYTES("\n"));
	ck_assert_ptr_null(lines.data);
	/* A line that is being drained is not kept at all. */
	lines_feed(&lines, BYTES("123456789"));
	ck_assert_ptr_null(lines.data);
	lines_release(&lines);
	text_release(&seen);
}
END_TEST

START_TEST(release_drops_half_a_line)
{
	struct text seen = {0};
	struct lines lines;

	lines_init(&lines, LIMIT, &callbacks, &seen);
	lines_feed(&lines, BYTES("abc"));
	lines_release(&lines);
	ck_assert_uint_eq(seen.length, 0);
}
END_TEST

Suite *
lines_suite(void)
{
	Suite *suite = suite_create("lines");
	TCase *tcase = tcase_create("lines");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_loop_test(tcase, split_in_two_at_every_byte, 0, COUNT(rows));
	tcase_add_loop_test(tcase, fed_in_small_pieces, 0, COUNT(rows));
	tcase_add_test(tcase, too_long_is_reported_when_it_ends);
	tcase_add_test(tcase, memory_is_given_back);
	tcase_add_test(tcase, release_drops_half_a_line);
	suite_add_tcase(suite, tcase);
	return suite;
}
