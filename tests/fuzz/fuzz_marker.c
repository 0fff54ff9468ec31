#include "fuzz.h"

#include <string.h>

#include "sandbox/marker.h"

/*
 * Input: the size of the pieces, where the runner speaks, what it says, and
 * what the program prints.  The same is heard in whatever pieces it comes;
 * what is not a marker comes through; and the runner is heard, whatever the
 * program printed before.
 */

#define NONCE "0123456789abcdef0123456789abcdef"
#define PREFIX "\036" NONCE " "

struct heard {
	struct bytes payload;
	struct bytes markers; /* a struct heard_marker each */
};

struct heard_marker {
	size_t at; /* so much payload came before it */
	size_t number;
	size_t word;
};

static void
on_payload(void *arg, const char *data, size_t length)
{
	struct heard *heard = arg;

	EXPECT(length > 0);
	bytes_add(&heard->payload, data, length);
}

static void
on_marker(void *arg, enum marker_word word, int number, const char *text)
{
	struct heard *heard = arg;
	struct heard_marker marker = {
	    heard->payload.length, (size_t)number, word};

	EXPECT(number >= 0 && number <= 255);
	EXPECT(strchr(text, '\n') == NULL);
	bytes_add(&heard->markers, &marker, sizeof(marker));
}

static const struct marker_callbacks callbacks = {on_payload, on_marker};

static void
feed(void *arg, const char *data, size_t length)
{
	marker_scanner_feed(arg, data, length);
}

static void
hear(struct heard *heard, const struct input *stream, size_t piece)
{
	struct marker_scanner scanner;

	*heard = (struct heard){0};
	marker_scanner_init(&scanner, NONCE, &callbacks, heard);
	in_pieces(stream, piece, feed, &scanner);
	marker_scanner_flush(&scanner);
	EXPECT(scanner.held_length == 0);
}

static void
heard_release(struct heard *heard)
{
	bytes_release(&heard->payload);
	bytes_release(&heard->markers);
}

static void
expect_same_in_pieces(const struct input *stream, size_t piece)
{
	struct heard whole, pieces;

	hear(&whole, stream, stream->length);
	hear(&pieces, stream, piece);
	EXPECT(bytes_equal(
	    &whole.payload, pieces.payload.data, pieces.payload.length));
	EXPECT(bytes_equal(
	    &whole.markers, pieces.markers.data, pieces.markers.length));
	if (whole.markers.length == 0)
		EXPECT(
		    bytes_equal(&whole.payload, stream->data, stream->length));
	heard_release(&whole);
	heard_release(&pieces);
}

/* The runner's words in the middle of what the program prints. */
static void
expect_heard(
    const struct input *printed, size_t at, unsigned char number, size_t piece)
{
	struct heard heard;
	struct heard_marker last;
	struct bytes stream = {0};
	char line[sizeof(PREFIX) + 16];
	size_t count;

	if (at > printed->length)
		at = printed->length;
	snprintf(line, sizeof(line), PREFIX "exit %d\n", number);
	bytes_add(&stream, printed->data, at);
	bytes_add(&stream, line, strlen(line));
	hear(&heard, &(struct input){stream.data, stream.length}, piece);
	count = heard.markers.length / sizeof(last);
	EXPECT(count > 0);
	memcpy(&last, heard.markers.data + (count - 1) * sizeof(last),
	    sizeof(last));
	EXPECT(last.word == MARKER_EXIT && last.number == number);
	EXPECT(last.at == heard.payload.length);
	/* Without the nonce a program cannot speak for the runner. */
	if (memmem(printed->data, at, PREFIX, strlen(PREFIX)) == NULL) {
		EXPECT(count == 1);
		EXPECT(bytes_equal(&heard.payload, printed->data, at));
	}
	heard_release(&heard);
	bytes_release(&stream);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_begin(data, size);
	size_t piece = input_piece(&input), at = input_byte(&input);
	unsigned char number = input_byte(&input);

	expect_same_in_pieces(&input, piece);
	expect_heard(&input, at, number, piece);
	return 0;
}
