#include "base/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void
lines_init(struct lines *lines, size_t limit,
    const struct lines_callbacks *callbacks, void *arg)
{
	*lines =
	    (struct lines){.callbacks = callbacks, .arg = arg, .limit = limit};
}

static void
forget(struct lines *lines)
{
	/* Given back each time: one big request must not stay in memory. */
	free(lines->data);
	lines->data = NULL;
	lines->length = lines->size = 0;
}

static void
keep(struct lines *lines, const char *data, size_t length)
{
	if (lines->draining)
		return;
	if (length > lines->limit - lines->length) {
		lines->draining = true;
		forget(lines);
		return;
	}
	if (lines->length + length > lines->size) {
		lines->size = (lines->length + length) * 2;
		lines->data = xrealloc(lines->data, lines->size);
	}
	memcpy(lines->data + lines->length, data, length);
	lines->length += length;
}

static void
end_line(struct lines *lines)
{
	if (lines->draining)
		lines->callbacks->too_long(lines->arg, lines->limit);
	else if (lines->length > 0)
		lines->callbacks->line(lines->arg, lines->data, lines->length);
	lines->draining = false;
	forget(lines);
}

void
lines_feed(struct lines *lines, const char *data, size_t length)
{
	while (length > 0) {
		const char *newline = memchr(data, '\n', length);
		size_t piece =
		    newline != NULL ? (size_t)(newline - data) : length;

		if (piece > 0)
			keep(lines, data, piece);
		if (newline == NULL)
			return;
		end_line(lines);
		data += piece + 1;
		length -= piece + 1;
	}
}

void
lines_finish(struct lines *lines)
{
	if (lines->length > 0 || lines->draining)
		end_line(lines);
}

void
lines_release(struct lines *lines)
{
	forget(lines);
}
