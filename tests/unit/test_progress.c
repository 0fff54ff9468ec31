#include "mcp/progress.h"

#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/strlist.h"
#include "helpers.h"
#include "suites.h"

static struct event_base *base;
static struct strlist sent;
static bool any;

static void
on_send(void *arg, const char *message, size_t length)
{
	ck_assert_uint_eq(strlen(message), length);
	ck_assert_ptr_null(strchr(message, '\n'));
	strlist_add(arg, message);
	any = true;
}

static void
set_up(void)
{
	base = event_base_new();
	any = false;
}

static void
tear_down(void)
{
	strlist_release(&sent);
	event_base_free(base);
}

static struct progress *
start(const char *token, enum revision revision)
{
	return progress_new(&(struct progress_config){.base = base,
	    .token = token,
	    .revision = revision,
	    .send = on_send,
	    .arg = &sent});
}

/* The message that the next tick sends. */
static const char *
next(void)
{
	any = false;
	ck_assert_msg(loop_until(base, &any), "no progress came");
	return sent.items[sent.count - 1];
}

START_TEST(said_at_once)
{
	struct progress *progress = start("\"tok\"", REVISION_2025_03_26);

	progress_note(progress, "pulling \"x\"");
	ck_assert_uint_eq(sent.count, 1);
	ck_assert_str_eq(sent.items[0],
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
	    "\"params\":{\"progressToken\":\"tok\",\"progress\":1,"
	    "\"message\":\"pulling \\\"x\\\"\"}}");
	progress_free(progress);
}
END_TEST

START_TEST(the_oldest_revision_has_no_message)
{
	struct progress *progress = start("0", REVISION_2024_11_05);

	progress_note(progress, "pulling");
	ck_assert_str_eq(sent.items[0],
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
	    "\"params\":{\"progressToken\":0,\"progress\":1}}");
	progress_free(progress);
}
END_TEST

START_TEST(the_token_is_copied)
{
	char token[] = "7";
	struct progress *progress = start(token, REVISION_2025_11_25);

	token[0] = '8';
	progress_note(progress, "x");
	assert_json(sent.items[0], "/params/progressToken", "7");
	progress_free(progress);
}
END_TEST

START_TEST(progress_only_grows)
{
	struct progress *progress = start("1", REVISION_2025_11_25);

	for (int i = 1; i <= 5; i++) {
		char number[16];

		progress_note(progress, "x");
		snprintf(number, sizeof(number), "%d", i);
		assert_json(sent.items[i - 1], "/params/progress", number);
	}
	assert_json(next(), "/params/progress", "6");
	progress_free(progress);
}
END_TEST

START_TEST(a_flood_of_notes_waits)
{
	struct progress *progress = start("1", REVISION_2025_11_25);
	char *text;

	for (int i = 0; i < 100000; i++)
		progress_note(progress, i < 10 ? "first" : "another");
	ck_assert_uint_eq(sent.count, 10);
	assert_json(sent.items[9], "/params/message", "\"first\"");
	text = json_at(next(), "/params/message");
	ck_assert_int_eq(strncmp(text, "\"another\\n", 10), 0);
	ck_assert_uint_le(strlen(text), 3000);
	free(text);
	ck_assert_uint_eq(sent.count, 11);
	progress_note(progress, "again");
	ck_assert_uint_eq(sent.count, 12);
	progress_free(progress);
}
END_TEST

START_TEST(a_silent_program_is_still_running)
{
	struct progress *progress = start("1", REVISION_2025_11_25);
	char *text = json_at(next(), "/params/message");

	ck_assert_ptr_nonnull(strstr(text, "under way"));
	free(text);
	progress_free(progress);
}
END_TEST

START_TEST(output_is_sent_once)
{
	struct progress *progress = start("1", REVISION_2025_11_25);
	char *text;

	progress_output(progress, BYTES("one\n"));
	progress_output(progress, BYTES("two\n"));
	assert_json(next(), "/params/message", "\"one\\ntwo\\n\"");
	text = json_at(next(), "/params/message");
	ck_assert_ptr_null(strstr(text, "two"));
	free(text);
	progress_free(progress);
}
END_TEST

/* In one piece and in many: the newest end is what is kept. */
START_TEST(much_output_is_cut_to_its_end)
{
	struct progress *progress = start("1", REVISION_2025_11_25);
	char data[5000], *text;
	size_t piece = _i == 0 ? sizeof(data) : 7;

	memset(data, 'x', sizeof(data));
	memcpy(data + sizeof(data) - 4, "end.", 4);
	for (size_t i = 0; i < sizeof(data); i += piece)
		progress_output(progress, data + i,
		    i + piece > sizeof(data) ? sizeof(data) - i : piece);
	text = json_at(next(), "/params/message");
	ck_assert_uint_le(strlen(text), 2002);
	ck_assert_uint_ge(strlen(text), 1000);
	ck_assert_str_eq(text + strlen(text) - 6, "xend.\"");
	free(text);
	progress_free(progress);
}
END_TEST

/* What was printed before each notification, and what it says. */
static const struct {
	const char *first, *second;
	const char *message, *next_message;
} lines[] = {
    {"one\ntw", "o\n", "\"one\\n\"", "\"two\\n\""},
    {"one\ntwo", "", "\"one\\n\"", "\"two\""},
    {"name? ", "x\n", "\"name? \"", "\"x\\n\""},
    {"a\xE2\x82", "\xAC", "\"a\"", "\"\xE2\x82\xAC\""},
    {"\xE2\x82", "b", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"", "\"b\""},
};

START_TEST(lines_are_sent_whole)
{
	struct progress *progress = start("1", REVISION_2025_11_25);

	progress_output(progress, lines[_i].first, strlen(lines[_i].first));
	assert_json(next(), "/params/message", lines[_i].message);
	progress_output(progress, lines[_i].second, strlen(lines[_i].second));
	assert_json(next(), "/params/message", lines[_i].next_message);
	progress_free(progress);
}
END_TEST

START_TEST(much_output_begins_with_a_whole_line)
{
	struct progress *progress = start("1", REVISION_2025_11_25);
	char *text;

	for (int i = 0; i < 1000; i++)
		progress_output(progress, BYTES("line of 16 byte\n"));
	text = json_at(next(), "/params/message");
	ck_assert_int_eq(strncmp(text, "\"line of", 8), 0);
	ck_assert_uint_ge(strlen(text), 1900);
	free(text);
	progress_free(progress);
}
END_TEST

START_TEST(output_of_bad_bytes_is_still_sent)
{
	struct progress *progress = start("1", REVISION_2025_11_25);

	progress_output(progress,
	    BYTES("a\xFF"
	          "b"));
	assert_json(next(), "/params/message",
	    "\"a\xEF\xBF\xBD"
	    "b\"");
	progress_free(progress);
}
END_TEST

/* A text ends at a NUL; what was printed behind it is told all the same. */
START_TEST(output_with_a_nul_is_told_to_its_end)
{
	struct progress *progress = start("1", REVISION_2025_11_25);

	progress_output(progress, BYTES("a\0b\0\0c\n\0"));
	assert_json(next(), "/params/message", "\"a b  c\\n\"");
	assert_json(next(), "/params/message", "\" \"");
	progress_free(progress);
}
END_TEST

START_TEST(words_of_bad_bytes_are_still_sent)
{
	struct progress *progress = start("1", REVISION_2025_11_25);

	progress_note(progress,
	    "a\xFF"
	    "b");
	ck_assert_msg(sent.count == 1, "nothing was sent");
	progress_free(progress);
}
END_TEST

/* A cut at every offset within characters of three bytes. */
START_TEST(a_cut_is_between_characters)
{
	struct progress *progress = start("1", REVISION_2025_11_25);
	struct text data = {0};
	char *text;

	for (int i = 0; i < 1000; i++)
		text_addf(&data, "\xE2\x82\xAC");
	for (int i = 0; i < _i; i++)
		text_addf(&data, "x");
	progress_output(progress, data.data, data.length);
	text = json_at(next(), "/params/message");
	ck_assert_ptr_null(strstr(text, "\xEF\xBF\xBD"));
	free(text);
	text_release(&data);
	progress_free(progress);
}
END_TEST

START_TEST(none_after_the_end)
{
	progress_free(start("1", REVISION_2025_11_25));
	progress_free(NULL);
	loop_for(base, 1300);
	ck_assert_uint_eq(sent.count, 0);
}
END_TEST

Suite *
progress_suite(void)
{
	Suite *suite = suite_create("progress");
	TCase *tcase = tcase_create("progress");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, said_at_once);
	tcase_add_test(tcase, the_oldest_revision_has_no_message);
	tcase_add_test(tcase, the_token_is_copied);
	tcase_add_test(tcase, progress_only_grows);
	tcase_add_test(tcase, a_flood_of_notes_waits);
	tcase_add_test(tcase, a_silent_program_is_still_running);
	tcase_add_test(tcase, output_is_sent_once);
	tcase_add_loop_test(tcase, much_output_is_cut_to_its_end, 0, 2);
	tcase_add_loop_test(tcase, lines_are_sent_whole, 0, COUNT(lines));
	tcase_add_test(tcase, much_output_begins_with_a_whole_line);
	tcase_add_test(tcase, output_of_bad_bytes_is_still_sent);
	tcase_add_test(tcase, output_with_a_nul_is_told_to_its_end);
	tcase_add_test(tcase, words_of_bad_bytes_are_still_sent);
	tcase_add_loop_test(tcase, a_cut_is_between_characters, 0, 3);
	tcase_add_test(tcase, none_after_the_end);
	suite_add_tcase(suite, tcase);
	return suite;
}
