#include "sandbox/marker.h"

#include <string.h>

#include "helpers.h"
#include "suites.h"

#define NONCE "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"
#define MARK "\036" NONCE " "

/* Writes down what comes, in its order; markers as "<exit 3>". */
static void
on_payload(void *arg, const char *data, size_t length)
{
	ck_assert_uint_gt(length, 0);
	text_add(arg, data, length);
}

static void
on_marker(void *arg, enum marker_word word, int number, const char *text)
{
	static const char *const names[] = {
	    [MARKER_READY] = "ready",
	    [MARKER_STARTED] = "started",
	    [MARKER_EXIT] = "exit",
	    [MARKER_SIGNAL] = "signal",
	    [MARKER_DONE] = "done",
	    [MARKER_NOTE] = "note",
	    [MARKER_FAILED] = "failed",
	    [MARKER_VALUE] = "value",
	    [MARKER_STAYS] = "stays",
	    [MARKER_ENTRY] = "entry",
	    [MARKER_DATA] = "data",
	    [MARKER_ANSWERED] = "answered",
	};

	text_addf(arg, "<%s %d%s%s>", names[word], number,
	    *text != '\0' ? " " : "", text);
}

static const struct marker_callbacks callbacks = {on_payload, on_marker};

static const struct {
	const char *name;
	const char *data;
	size_t length;
	const char *expected;
	size_t expected_length;
} rows[] = {
    {"nothing", BYTES(""), BYTES("")},
    {"only payload", BYTES("hello\nworld\n"), BYTES("hello\nworld\n")},
    {"ready", BYTES(MARK "ready\n"), BYTES("<ready 0>")},
    {"started", BYTES(MARK "started\n"), BYTES("<started 0>")},
    {"started with a number", BYTES(MARK "started 1\n"),
        BYTES(MARK "started 1\n")},
    {"exit", BYTES(MARK "exit 0\n"), BYTES("<exit 0>")},
    {"highest exit", BYTES(MARK "exit 255\n"), BYTES("<exit 255>")},
    {"signal", BYTES(MARK "signal 9\n"), BYTES("<signal 9>")},
    {"done", BYTES(MARK "done 1\n"), BYTES("<done 1>")},
    {"text", BYTES(MARK "entry 1 2 3|./a b\n"), BYTES("<entry 0 1 2 3|./a b>")},
    {"empty text", BYTES(MARK "note \n"), BYTES("<note 0>")},
    {"text with NUL", BYTES(MARK "note a\0b\n"), BYTES(MARK "note a\0b\n")},
    {"answered", BYTES(MARK "answered\n"), BYTES("<answered 0>")},
    {"answered and more", BYTES(MARK "answered x\n"),
        BYTES(MARK "answered x\n")},
    {"payload before", BYTES("out\n" MARK "exit 1\n"), BYTES("out\n<exit 1>")},
    {"payload before, without a newline", BYTES("out" MARK "exit 1\n"),
        BYTES("out<exit 1>")},
    {"payload after", BYTES(MARK "ready\nout"), BYTES("<ready 0>out")},
    {"one after the other", BYTES(MARK "ready\n" MARK "exit 3\n"),
        BYTES("<ready 0><exit 3>")},
    {"payload between", BYTES(MARK "ready\nabc\n" MARK "signal 11\nx"),
        BYTES("<ready 0>abc\n<signal 11>x")},
    {"after the beginning of another one", BYTES(MARK "ex" MARK "exit 1\n"),
        BYTES(MARK "ex<exit 1>")},
    {"NUL and high bytes", BYTES("a\0\xFF" MARK "exit 2\n\0"),
        BYTES("a\0\xFF<exit 2>\0")},
    {"a lone \\036", BYTES("a\036b"), BYTES("a\036b")},
    {"\\036 at the end", BYTES("a\036"), BYTES("a\036")},
    {"\\036\\036", BYTES("\036\036"), BYTES("\036\036")},
    {"\\036 right before a marker", BYTES("\036" MARK "exit 4\n"),
        BYTES("\036<exit 4>")},
    {"many \\036 before a marker", BYTES("\036\036\036" MARK "exit 4\n"),
        BYTES("\036\036\036<exit 4>")},
    {"half a nonce before a marker", BYTES("\0360123456" MARK "exit 4\n"),
        BYTES("\0360123456<exit 4>")},
    {"all but the space before a marker", BYTES("\036" NONCE MARK "exit 4\n"),
        BYTES("\036" NONCE "<exit 4>")},
    {"wrong nonce", BYTES("\036" OTHER " exit 0\n"),
        BYTES("\036" OTHER " exit 0\n")},
    {"last digit of the nonce is wrong",
        BYTES("\0360123456789abcdef0123456789abcdee exit 0\n"),
        BYTES("\0360123456789abcdef0123456789abcdee exit 0\n")},
    {"nonce in capitals",
        BYTES("\0360123456789ABCDEF0123456789ABCDEF exit 0\n"),
        BYTES("\0360123456789ABCDEF0123456789ABCDEF exit 0\n")},
    {"nonce without \\036", BYTES(NONCE " exit 0\n"), BYTES(NONCE " exit 0\n")},
    {"unknown word", BYTES(MARK "over\n"), BYTES(MARK "over\n")},
    {"no word", BYTES(MARK "\n"), BYTES(MARK "\n")},
    {"word with more behind it", BYTES(MARK "readyx\n"),
        BYTES(MARK "readyx\n")},
    {"ready with a number", BYTES(MARK "ready 1\n"), BYTES(MARK "ready 1\n")},
    {"exit without a number", BYTES(MARK "exit\n"), BYTES(MARK "exit\n")},
    {"exit with a space only", BYTES(MARK "exit \n"), BYTES(MARK "exit \n")},
    {"exit with a word", BYTES(MARK "exit no\n"), BYTES(MARK "exit no\n")},
    {"exit with a number and more", BYTES(MARK "exit 1x\n"),
        BYTES(MARK "exit 1x\n")},
    {"exit above 255", BYTES(MARK "exit 256\n"), BYTES(MARK "exit 256\n")},
    {"exit below 0", BYTES(MARK "exit -1\n"), BYTES(MARK "exit -1\n")},
    {"a number past all types", BYTES(MARK "exit 99999999999999999\n"),
        BYTES(MARK "exit 99999999999999999\n")},
    {"many zeros", BYTES(MARK "exit 000000000000000007\nx"),
        BYTES("<exit 7>x")},
    {"a marker behind a bad one", BYTES(MARK "bad\n" MARK "exit 5\n"),
        BYTES(MARK "bad\n<exit 5>")},
    {"a marker behind a wrong nonce",
        BYTES("\036" OTHER " exit 0\n" MARK "exit 5\n"),
        BYTES("\036" OTHER " exit 0\n<exit 5>")},
    {"a marker cut at the end of the stream", BYTES("x" MARK "exit 0"),
        BYTES("x" MARK "exit 0")},
};

static void
scan(struct text *seen, const char *data, size_t length, size_t first,
    size_t piece)
{
	struct marker_scanner scanner;

	marker_scanner_init(&scanner, NONCE, &callbacks, seen);
	text_add(seen, "", 0);
	marker_scanner_feed(&scanner, data, first);
	for (size_t i = first; i < length; i += piece)
		marker_scanner_feed(&scanner, data + i,
		    i + piece > length ? length - i : piece);
	marker_scanner_flush(&scanner);
}

static void
assert_seen(int row, struct text *seen, const char *how, size_t where)
{
	ck_assert_msg(seen->length == rows[row].expected_length &&
	        memcmp(seen->data, rows[row].expected, seen->length) == 0,
	    "%s, %s %zu: \"%s\" and not \"%s\"", rows[row].name, how, where,
	    seen->data, rows[row].expected);
	text_release(seen);
}

START_TEST(split_in_two_at_every_byte)
{
	for (size_t cut = 0; cut <= rows[_i].length; cut++) {
		struct text seen = {0};

		scan(&seen, rows[_i].data, rows[_i].length, cut, 1000);
		assert_seen(_i, &seen, "cut at", cut);
	}
}
END_TEST

START_TEST(fed_in_small_pieces)
{
	for (size_t piece = 1; piece < 8; piece++) {
		struct text seen = {0};

		scan(&seen, rows[_i].data, rows[_i].length, 0, piece);
		assert_seen(_i, &seen, "in pieces of", piece);
	}
}
END_TEST

START_TEST(payload_is_not_held_back)
{
	struct marker_scanner scanner;
	struct text seen = {0};

	marker_scanner_init(&scanner, NONCE, &callbacks, &seen);
	marker_scanner_feed(&scanner, BYTES("a prompt> "));
	ck_assert_str_eq(text_string(&seen), "a prompt> ");
	/* What may become a marker waits, and no longer than needed. */
	marker_scanner_feed(&scanner,
	    BYTES("\036"
	          "01"));
	ck_assert_str_eq(text_string(&seen), "a prompt> ");
	marker_scanner_feed(&scanner, BYTES("x"));
	ck_assert_str_eq(text_string(&seen),
	    "a prompt> \036"
	    "01x");
	text_release(&seen);
}
END_TEST

START_TEST(an_unending_marker_is_let_go)
{
	struct marker_scanner scanner;
	struct text seen = {0};
	char digits[MARKER_LINE_MAX];

	memset(digits, '1', sizeof(digits));
	marker_scanner_init(&scanner, NONCE, &callbacks, &seen);
	marker_scanner_feed(&scanner, BYTES(MARK "exit "));
	ck_assert_uint_eq(seen.length, 0);
	marker_scanner_feed(&scanner, digits, sizeof(digits));
	ck_assert_uint_eq(seen.length, strlen(MARK "exit ") + sizeof(digits));
	/* The next one is heard all the same. */
	marker_scanner_feed(&scanner, BYTES("\n" MARK "exit 6\n"));
	ck_assert_ptr_nonnull(strstr(text_string(&seen), "1\n<exit 6>"));
	text_release(&seen);
}
END_TEST

START_TEST(flush_gives_up_what_was_held)
{
	struct marker_scanner scanner;
	struct text seen = {0};

	marker_scanner_init(&scanner, NONCE, &callbacks, &seen);
	marker_scanner_feed(&scanner,
	    BYTES("\036"
	          "0123"));
	ck_assert_uint_eq(seen.length, 0);
	marker_scanner_flush(&scanner);
	ck_assert_str_eq(text_string(&seen),
	    "\036"
	    "0123");
	marker_scanner_flush(&scanner);
	ck_assert_uint_eq(seen.length, 5);
	text_release(&seen);
}
END_TEST

Suite *
marker_suite(void)
{
	Suite *suite = suite_create("marker");
	TCase *tcase = tcase_create("marker");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_loop_test(tcase, split_in_two_at_every_byte, 0, COUNT(rows));
	tcase_add_loop_test(tcase, fed_in_small_pieces, 0, COUNT(rows));
	tcase_add_test(tcase, payload_is_not_held_back);
	tcase_add_test(tcase, an_unending_marker_is_let_go);
	tcase_add_test(tcase, flush_gives_up_what_was_held);
	suite_add_tcase(suite, tcase);
	return suite;
}
