#include "fuzz.h"

#include <string.h>

#include "base/lines.h"

/*
 * Input: the limit, the size of the pieces, the stream.  However it comes, its
 * lines are those that one sees who has all of it.
 */

static const char too_long[] = "<too long>\n";

static void
on_line(void *arg, const char *data, size_t length)
{
	EXPECT(length > 0);
	bytes_add(arg, data, length);
	bytes_add(arg, "\n", 1);
}

static void
on_too_long(void *arg, size_t limit)
{
	(void)limit;
	bytes_add(arg, too_long, sizeof(too_long) - 1);
}

static const struct lines_callbacks callbacks = {on_line, on_too_long};

static void
feed(void *arg, const char *data, size_t length)
{
	struct lines *lines = arg;

	lines_feed(lines, data, length);
	EXPECT(lines->length <= lines->limit);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_begin(data, size), line;
	size_t limit = input_byte(&input), piece = input_piece(&input);
	struct bytes seen = {0}, expected = {0};
	struct lines lines;

	lines_init(&lines, limit, &callbacks, &seen);
	in_pieces(&input, piece, feed, &lines);
	lines_finish(&lines);
	EXPECT(lines.data == NULL);
	lines_release(&lines);

	while (input_line(&input, &line))
		if (line.length > limit)
			on_too_long(&expected, limit);
		else if (line.length > 0)
			on_line(&expected, line.data, line.length);
	EXPECT(bytes_equal(&seen, expected.data, expected.length));
	bytes_release(&seen);
	bytes_release(&expected);
	return 0;
}
