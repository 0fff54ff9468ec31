#include "base/recent.h"

#include <string.h>

#include "base/utf8.h"

void
recent_add(struct recent *recent, const char *data, size_t length)
{
	size_t keep;

	if (length > RECENT_MAX) {
		data += length - RECENT_MAX;
		length = RECENT_MAX;
		recent->cut = true;
	}
	keep = RECENT_MAX - length;
	if (keep < recent->length)
		recent->cut = true;
	else
		keep = recent->length;
	memmove(recent->data, recent->data + recent->length - keep, keep);
	memcpy(recent->data + keep, data, length);
	recent->length = keep + length;
}

/* Where to begin: behind a line of which only the end is left, or at least
 * behind such a character. */
static size_t
beginning(const struct recent *recent)
{
	const char *newline;

	if (!recent->cut)
		return 0;
	newline = memchr(recent->data, '\n', recent->length);
	if (newline != NULL && newline + 1 < recent->data + recent->length)
		return (size_t)(newline + 1 - recent->data);
	return utf8_partial_head(recent->data, recent->length);
}

static char *
text_until(const struct recent *recent, size_t end)
{
	size_t begin = beginning(recent), length;
	char *text;

	if (begin > end)
		begin = end;
	text = utf8_repair(recent->data + begin, end - begin, &length);
	/* A text ends at a NUL, and this one goes on. */
	while (strlen(text) < length)
		text[strlen(text)] = ' ';
	return text;
}

char *
recent_text(const struct recent *recent)
{
	return text_until(recent, recent->length);
}

char *
recent_take(struct recent *recent)
{
	const char *newline = memrchr(recent->data, '\n', recent->length);
	size_t end;
	char *text;

	if (newline != NULL)
		end = (size_t)(newline + 1 - recent->data);
	else
		end = recent->length -
		    utf8_partial_tail(recent->data, recent->length);
	if (end == 0)
		end = recent->length;
	text = text_until(recent, end);
	recent->length -= end;
	memmove(recent->data, recent->data + end, recent->length);
	recent->cut = false;
	return text;
}
