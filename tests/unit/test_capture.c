#include "base/capture.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"

#define EURO "\xE2\x82\xAC"
#define SMILE "\xF0\x9F\x98\x80"

/* What a capture of this limit makes of data that comes in such pieces. */
static char *
captured(const char *data, size_t length, size_t limit, size_t piece,
    bool *truncated)
{
	struct capture capture;
	size_t text_length;
	char *text;

	capture_init(&capture, limit);
	for (size_t i = 0; i < length; i += piece)
		capture_add(&capture, data + i,
		    i + piece > length ? length - i : piece);
	if (truncated != NULL)
		*truncated = capture_truncated(&capture);
	text = capture_text(&capture, &text_length);
	ck_assert_msg(
	    is_utf8(text, text_length), "limit %zu: invalid UTF-8", limit);
	ck_assert_uint_eq(strlen(text), text_length);
	capture_release(&capture);
	return text;
}

static const struct {
	const char *name;
	size_t limit;
	const char *data;
	const char *expected;
} rows[] = {
    {"nothing", 10, "", ""},
    {"less than the head", 10, "abc", "abc"},
    {"just the head", 10, "abcde", "abcde"},
    {"head and a part of the tail", 10, "abcdefg", "abcdefg"},
    {"just the limit", 10, "abcdefghij", "abcdefghij"},
    {"one byte too many", 10, "abcdefghijk",
        "abcde\n[... 1 bytes cut ...]\nghijk"},
    {"twice the limit", 10, "abcdefghijklmnopqrst",
        "abcde\n[... 10 bytes cut ...]\npqrst"},
    {"odd limit: the head has the odd byte", 5, "abcdefgh",
        "abc\n[... 3 bytes cut ...]\ngh"},
    {"odd limit, filled", 5, "abcde", "abcde"},
    {"limit of two", 2, "abc", "a\n[... 1 bytes cut ...]\nc"},
    {"limit of one, kept", 1, "a", "a"},
    {"limit of one, cut", 1, "abc", "a\n[... 2 bytes cut ...]\n"},
    {"limit of nothing, kept", 0, "", ""},
    {"limit of nothing, cut", 0, "abc", "\n[... 3 bytes cut ...]\n"},
    {"a character cut at the end of the head", 8, "abc" EURO "efghij",
        "abc\n[... 5 bytes cut ...]\nghij"},
    {"a character cut at the start of the tail", 8, "abcdefg" EURO "xyz",
        "abcd\n[... 6 bytes cut ...]\nxyz"},
    {"the same character cut on both sides", 4, "a" SMILE "z",
        "a\n[... 4 bytes cut ...]\nz"},
    {"characters that fit are kept", 12, EURO EURO "abcde" EURO EURO,
        EURO EURO "\n[... 5 bytes cut ...]\n" EURO EURO},
    {"nothing left of head and tail", 4, SMILE SMILE SMILE,
        "\n[... 12 bytes cut ...]\n"},
    {"damage that is not from the cut shows", 10,
        "a\xFF"
        "cdefghijk",
        "a\xEF\xBF\xBD"
        "cde\n[... 1 bytes cut ...]\nghijk"},
    {"a cut character at the end, within the limit, shows", 10, "ab\xE2\x82",
        "ab\xEF\xBF\xBD\xEF\xBF\xBD"},
};

START_TEST(text_of)
{
	size_t length = strlen(rows[_i].data);
	static const size_t pieces[] = {1, 2, 3, 7, 1000};

	for (size_t i = 0; i < COUNT(pieces); i++) {
		bool truncated;
		char *text = captured(rows[_i].data, length, rows[_i].limit,
		    pieces[i], &truncated);

		ck_assert_msg(strcmp(text, rows[_i].expected) == 0,
		    "%s, in pieces of %zu: \"%s\" and not \"%s\"",
		    rows[_i].name, pieces[i], text, rows[_i].expected);
		ck_assert_msg(truncated == (length > rows[_i].limit),
		    "%s: truncated is %d", rows[_i].name, truncated);
		free(text);
	}
}
END_TEST

/* By another road: the whole text is there to cut from. */
static char *
model(const char *data, size_t length, size_t limit)
{
	size_t tail = limit / 2, head = limit - tail;

	if (length <= limit)
		return xstrndup(data, length);
	return xasprintf("%.*s\n[... %zu bytes cut ...]\n%.*s", (int)head, data,
	    length - limit, (int)tail, data + length - tail);
}

START_TEST(every_size_and_piece)
{
	static const char alphabet[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t limit = (size_t)_i;

	for (size_t length = 0; length < sizeof(alphabet); length++) {
		char *expected = model(alphabet, length, limit);

		for (size_t piece = 1; piece <= length + 1; piece++) {
			char *text =
			    captured(alphabet, length, limit, piece, NULL);

			ck_assert_msg(strcmp(text, expected) == 0,
			    "limit %zu, %zu bytes in pieces of %zu: \"%s\" "
			    "and not \"%s\"",
			    limit, length, piece, text, expected);
			free(text);
		}
		free(expected);
	}
}
END_TEST

/* Pieces of growing size, so that the ring is entered at every offset. */
START_TEST(ring_wraps_with_uneven_pieces)
{
	enum { LENGTH = 20000 };
	char *data = xcalloc(1, LENGTH), *text, *expected;
	struct capture capture;
	size_t length;

	for (size_t i = 0; i < LENGTH; i++)
		data[i] = (char)('a' + i * 7 % 26);
	capture_init(&capture, 101);
	for (size_t i = 0, piece = 0; i < LENGTH; i += piece) {
		piece = piece % 173 + 1;
		if (piece > LENGTH - i)
			piece = LENGTH - i;
		capture_add(&capture, data + i, piece);
	}
	text = capture_text(&capture, &length);
	expected = model(data, LENGTH, 101);
	ck_assert_str_eq(text, expected);
	free(expected);
	free(text);
	free(data);
	capture_release(&capture);
}
END_TEST

/* A cut at every position within characters of every length. */
START_TEST(multibyte_is_never_broken)
{
	static const char data[] = "\xC3\xA9" EURO SMILE "x" EURO "\xC3\xA9"
	                           "yz" SMILE EURO "\xC3\xA9" SMILE "0123";
	size_t limit = (size_t)_i;

	for (size_t piece = 1; piece < sizeof(data); piece++) {
		unsigned long long cut = 0;
		bool truncated;
		char *text =
		    captured(data, sizeof(data) - 1, limit, piece, &truncated);
		char *mark = strstr(text, "\n[... ");
		char *end = strstr(text, " bytes cut ...]\n");

		ck_assert_ptr_null(strstr(text, "\xEF\xBF\xBD"));
		ck_assert(truncated == (mark != NULL));
		if (mark != NULL) {
			cut = strtoull(mark + 6, NULL, 10);
			ck_assert_ptr_nonnull(end);
			/* What is left and what was cut is all there was. */
			ck_assert_uint_eq(
			    (size_t)(mark - text) + strlen(end + 16) + cut,
			    sizeof(data) - 1);
		}
		free(text);
	}
}
END_TEST

START_TEST(nul_bytes_are_kept)
{
	struct capture capture;
	size_t length;
	char *text;

	capture_init(&capture, 10);
	capture_add(&capture, BYTES("a\0b\0"));
	text = capture_text(&capture, &length);
	ck_assert_uint_eq(length, 4);
	ck_assert_mem_eq(text, "a\0b\0", 5);
	free(text);
	capture_release(&capture);
}
END_TEST

START_TEST(text_can_be_taken_twice)
{
	struct capture capture;
	size_t length;
	char *first, *second;

	capture_init(&capture, 4);
	capture_add(&capture, BYTES("abcdef"));
	first = capture_text(&capture, &length);
	second = capture_text(&capture, &length);
	ck_assert_str_eq(first, second);
	capture_add(&capture, BYTES("g"));
	free(second);
	second = capture_text(&capture, &length);
	ck_assert_str_eq(second, "ab\n[... 3 bytes cut ...]\nfg");
	free(first);
	free(second);
	capture_release(&capture);
}
END_TEST

START_TEST(memory_stays_within_the_limit)
{
	enum { LIMIT = 10001, SLACK = 64 };
	char data[4096];
	struct capture capture;
	size_t length;
	char *text;

	memset(data, 'x', sizeof(data));
	capture_init(&capture, LIMIT);
	for (int i = 0; i < 2500; i++)
		capture_add(&capture, data, sizeof(data));
	ck_assert_uint_le(
	    malloc_usable_size(capture.head), LIMIT - LIMIT / 2 + SLACK);
	ck_assert_uint_le(malloc_usable_size(capture.tail), LIMIT / 2 + SLACK);
	text = capture_text(&capture, &length);
	ck_assert_ptr_nonnull(strstr(text, "\n[... 10229999 bytes cut ...]\n"));
	free(text);
	capture_release(&capture);
}
END_TEST

START_TEST(little_output_takes_little_memory)
{
	struct capture capture;

	capture_init(&capture, (size_t)1 << 28);
	ck_assert_ptr_null(capture.head);
	capture_add(&capture, BYTES("hello"));
	ck_assert_uint_le(malloc_usable_size(capture.head), 256);
	ck_assert_ptr_null(capture.tail);
	capture_release(&capture);
}
END_TEST

START_TEST(release_leaves_nothing)
{
	struct capture capture;

	capture_init(&capture, 4);
	capture_add(&capture, BYTES("abcdef"));
	capture_release(&capture);
	capture_release(&capture);
	ck_assert_ptr_null(capture.head);
	ck_assert_ptr_null(capture.tail);
}
END_TEST

Suite *
capture_suite(void)
{
	Suite *suite = suite_create("capture");
	TCase *tcase = tcase_create("capture");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_loop_test(tcase, text_of, 0, COUNT(rows));
	tcase_add_loop_test(tcase, every_size_and_piece, 0, 21);
	tcase_add_test(tcase, ring_wraps_with_uneven_pieces);
	tcase_add_loop_test(tcase, multibyte_is_never_broken, 0, 42);
	tcase_add_test(tcase, nul_bytes_are_kept);
	tcase_add_test(tcase, text_can_be_taken_twice);
	tcase_add_test(tcase, memory_stays_within_the_limit);
	tcase_add_test(tcase, little_output_takes_little_memory);
	tcase_add_test(tcase, release_leaves_nothing);
	suite_add_tcase(suite, tcase);
	return suite;
}
