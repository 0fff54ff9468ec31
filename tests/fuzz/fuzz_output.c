#include "fuzz.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/capture.h"
#include "base/recent.h"
#include "base/utf8.h"
#include "mcp/result.h"
#include "options/options.h"

/*
 * Input: the limit, the size of the pieces, how the program ended, and what it
 * printed.  What the client gets is valid UTF-8 and valid JSON; what was kept
 * and what is said to have been cut are all of it.
 */

static void
expect_repaired(const struct input *input)
{
	size_t length, again_length;
	char *text = utf8_repair(input->data, input->length, &length);
	char *again = utf8_repair(text, length, &again_length);

	EXPECT(is_utf8(text, length) && text[length] == '\0');
	EXPECT(again_length == length && memcmp(again, text, length) == 0);
	EXPECT(is_utf8(input->data, input->length) ==
	    (length == input->length &&
	        (length == 0 || memcmp(text, input->data, length) == 0)));
	free(again);
	free(text);
}

static void
add_repaired(struct bytes *bytes, const char *data, size_t length)
{
	size_t repaired_length;
	char *repaired = utf8_repair(data, length, &repaired_length);

	bytes_add(bytes, repaired, repaired_length);
	free(repaired);
}

/* Whether the text is what is left when the head is cut back by so many bytes
 * and the tail by so many, each at most the rest of one character. */
static bool
is_cut_so(const struct input *text, const struct input *input, size_t head,
    size_t tail)
{
	struct bytes expected = {0};
	char *line = xasprintf(
	    "\n[... %zu bytes cut ...]\n", input->length - head - tail);
	bool equal;

	add_repaired(&expected, input->data, head);
	bytes_add(&expected, line, strlen(line));
	add_repaired(&expected, input->data + input->length - tail, tail);
	equal = bytes_equal(&expected, text->data, text->length);
	bytes_release(&expected);
	free(line);
	return equal;
}

static bool
is_cut_well(const struct input *text, const struct input *input, size_t limit)
{
	size_t head = limit - limit / 2, tail = limit / 2;

	for (size_t i = 0; i <= 3 && i <= head; i++)
		for (size_t j = 0; j <= 3 && j <= tail; j++)
			if (is_cut_so(text, input, head - i, tail - j))
				return true;
	return false;
}

static size_t
count_replaced(const char *data, size_t length)
{
	static const char replacement[] = "\xEF\xBF\xBD";
	const char *found;
	size_t count = 0;

	while ((found = memmem(data, length, replacement, 3)) != NULL) {
		length -= (size_t)(found + 3 - data);
		data = found + 3;
		count++;
	}
	return count;
}

static void
feed_capture(void *arg, const char *data, size_t length)
{
	capture_add(arg, data, length);
}

static struct input
expect_captured(const struct input *input, size_t limit, size_t piece)
{
	struct capture capture;
	struct input text;

	capture_init(&capture, limit);
	in_pieces(input, piece, feed_capture, &capture);
	text.data = capture_text(&capture, &text.length);
	EXPECT(is_utf8(text.data, text.length));
	EXPECT(strlen(text.data) <= text.length);
	EXPECT(capture_truncated(&capture) == (input->length > limit));
	EXPECT(capture.head_size <= limit - limit / 2);
	if (input->length > limit) {
		EXPECT(is_cut_well(&text, input, limit));
	} else {
		struct bytes all = {0};

		add_repaired(&all, input->data, input->length);
		EXPECT(bytes_equal(&all, text.data, text.length));
		bytes_release(&all);
	}
	/* A cut does not look like damage. */
	if (is_utf8(input->data, input->length))
		EXPECT(count_replaced(text.data, text.length) <=
		    count_replaced(input->data, input->length));
	capture_release(&capture);
	return text;
}

static void
feed_recent(void *arg, const char *data, size_t length)
{
	recent_add(arg, data, length);
}

static void
expect_recent(const struct input *input, size_t piece)
{
	struct recent recent = {.length = 0};
	size_t kept = input->length < RECENT_MAX ? input->length : RECENT_MAX;
	char *text;

	in_pieces(input, piece, feed_recent, &recent);
	EXPECT(recent.length == kept);
	EXPECT(kept == 0 ||
	    memcmp(recent.data, input->data + input->length - kept, kept) == 0);
	text = recent_text(&recent);
	EXPECT(is_utf8(text, strlen(text)));
	free(text);
	/* Each time something is taken, until nothing is left. */
	while ((kept = recent.length) > 0) {
		text = recent_take(&recent);
		EXPECT(is_utf8(text, strlen(text)));
		EXPECT(recent.length < kept);
		free(text);
	}
}

static bool
says(yyjson_val *value, const struct input *text)
{
	return yyjson_equals_strn(value, text->data, text->length);
}

/* The text that a failure is: JSON of its own. */
static void
expect_failure(yyjson_val *text, const struct input *printed)
{
	yyjson_doc *doc =
	    yyjson_read(yyjson_get_str(text), yyjson_get_len(text), 0);
	yyjson_val *root = yyjson_doc_get_root(doc);

	EXPECT(yyjson_is_obj(root));
	EXPECT(says(yyjson_obj_get(root, "stdout"), printed));
	EXPECT(says(yyjson_obj_get(root, "stderr"), printed));
	EXPECT(yyjson_is_null(yyjson_obj_get(root, "exit_code")) ==
	    yyjson_is_str(yyjson_obj_get(root, "signal")));
	yyjson_doc_free(doc);
}

static void
expect_result(const struct outcome *outcome, const struct settings *settings,
    const struct input *printed, enum revision revision)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *built = result_build(
	    doc, outcome, &languages[LANGUAGE_PYTHON], settings, revision);
	size_t length;
	char *text = yyjson_mut_val_write(built, 0, &length);
	yyjson_doc *result = yyjson_read(text, length, 0);
	yyjson_val *root = yyjson_doc_get_root(result);
	yyjson_val *facts = yyjson_obj_get(root, "structuredContent");
	yyjson_val *words = yyjson_ptr_get(root, "/content/0/text");

	EXPECT(yyjson_is_false(yyjson_obj_get(root, "isError")));
	EXPECT(yyjson_get_len(words) > 0);
	if (outcome->exit_code != 0 || outcome->timed_out)
		expect_failure(words, printed);
	EXPECT((facts != NULL) == (revision >= REVISION_2025_06_18));
	if (facts != NULL) {
		EXPECT(says(yyjson_obj_get(facts, "stdout"), printed));
		EXPECT(says(yyjson_obj_get(facts, "stderr"), printed));
	}
	yyjson_doc_free(result);
	free(text);
	yyjson_mut_doc_free(doc);
}

/* Even bytes are exit codes, odd ones signals. */
static void
expect_results(const struct input *text, unsigned char end, bool timed_out)
{
	struct settings settings;
	char *printed = (char *)(uintptr_t)text->data;
	struct outcome outcome = {.ran = true,
	    .exit_code = end % 2 == 0 ? end / 2 : -1,
	    .signal = end % 2 == 0 ? 0 : end / 2,
	    .timed_out = timed_out,
	    .out = printed,
	    .err_out = printed,
	    .out_length = text->length,
	    .err_out_length = text->length};

	if (outcome.exit_code < 0 && outcome.signal == 0)
		outcome.signal = 9;
	settings_make(&settings, NULL);
	for (int i = 0; i < REVISION_COUNT; i++)
		expect_result(&outcome, &settings, text, (enum revision)i);
	settings_release(&settings);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_begin(data, size), text;
	size_t limit = input_byte(&input), piece = input_piece(&input);
	unsigned char end = input_byte(&input);

	expect_repaired(&input);
	expect_recent(&input, piece);
	text = expect_captured(&input, limit, piece);
	expect_results(&text, end, piece % 8 == 0);
	free((char *)(uintptr_t)text.data);
	return 0;
}
