#include "base/capture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

static size_t
head_limit(const struct capture *capture)
{
	return capture->limit - capture->limit / 2;
}

static size_t
tail_limit(const struct capture *capture)
{
	return capture->limit / 2;
}

void
capture_init(struct capture *capture, size_t limit)
{
	*capture = (struct capture){.limit = limit};
}

static size_t
add_to_head(struct capture *capture, const char *data, size_t length)
{
	size_t room = head_limit(capture) - capture->head_length;

	if (length > room)
		length = room;
	if (length == 0)
		return 0;
	if (capture->head_length + length > capture->head_size) {
		size_t size = (capture->head_length + length) * 2;

		if (size > head_limit(capture))
			size = head_limit(capture);
		capture->head = xrealloc(capture->head, size);
		capture->head_size = size;
	}
	memcpy(capture->head + capture->head_length, data, length);
	capture->head_length += length;
	return length;
}

static void
add_to_tail(struct capture *capture, const char *data, size_t length)
{
	size_t size = tail_limit(capture), first;

	if (length == 0 || size == 0)
		return;
	if (capture->tail == NULL)
		capture->tail = xcalloc(1, size);
	if (length > size) {
		/* What would be overwritten at once need not be written. */
		size_t skip = length - size;

		capture->tail_next = (capture->tail_next + skip) % size;
		data += skip;
		length = size;
	}
	first = size - capture->tail_next;
	if (first > length)
		first = length;
	memcpy(capture->tail + capture->tail_next, data, first);
	memcpy(capture->tail, data + first, length - first);
	capture->tail_next = (capture->tail_next + length) % size;
}

void
capture_add(struct capture *capture, const char *data, size_t length)
{
	size_t used = add_to_head(capture, data, length);

	add_to_tail(capture, data + used, length - used);
	capture->total += length;
}

bool
capture_truncated(const struct capture *capture)
{
	return capture->total > capture->limit;
}

/* The tail in the order in which it came. */
static char *
unroll_tail(const struct capture *capture, size_t *length)
{
	size_t size = tail_limit(capture);
	uint64_t behind_head = capture->total - capture->head_length;
	char *text;

	*length = behind_head < size ? (size_t)behind_head : size;
	text = xcalloc(1, *length + 1);
	if (*length < size) {
		if (*length > 0)
			memcpy(text, capture->tail, *length);
	} else if (size > 0) {
		size_t older = size - capture->tail_next;

		memcpy(text, capture->tail + capture->tail_next, older);
		memcpy(text + older, capture->tail, capture->tail_next);
	}
	return text;
}

static char *
join(const char *const parts[], const size_t lengths[], size_t count,
    size_t *length)
{
	char *text;

	*length = 0;
	for (size_t i = 0; i < count; i++)
		*length += lengths[i];
	text = xcalloc(1, *length + 1);
	*length = 0;
	for (size_t i = 0; i < count; i++) {
		if (lengths[i] > 0)
			memcpy(text + *length, parts[i], lengths[i]);
		*length += lengths[i];
	}
	return text;
}

char *
capture_text(const struct capture *capture, size_t *length)
{
	size_t tail_length, raw_length, head_length = capture->head_length;
	char *tail = unroll_tail(capture, &tail_length);
	char *start = tail, *marker = NULL, *raw, *text;

	if (capture_truncated(capture)) {
		size_t skip = utf8_partial_head(tail, tail_length);

		start += skip;
		tail_length -= skip;
		head_length -= utf8_partial_tail(capture->head, head_length);
		marker = xasprintf("\n[... %" PRIu64 " bytes cut ...]\n",
		    capture->total - head_length - tail_length);
	}
	raw = join((const char *[]){capture->head, marker, start},
	    (size_t[]){
	        head_length, marker != NULL ? strlen(marker) : 0, tail_length},
	    3, &raw_length);
	text = utf8_repair(raw, raw_length, length);
	free(raw);
	free(marker);
	free(tail);
	return text;
}

void
capture_release(struct capture *capture)
{
	free(capture->head);
	free(capture->tail);
	*capture = (struct capture){0};
}
