#include "recent.h"

#include <string.h>

#include "utf8.h"

void
recent_add(struct recent *recent, const char *data, size_t length)
{
	size_t keep;

	if (length > RECENT_MAX) {
		data += length - RECENT_MAX;
		length = RECENT_MAX;
	}
	keep = RECENT_MAX - length;
	if (keep > recent->length)
		keep = recent->length;
	memmove(recent->data, recent->data + recent->length - keep, keep);
	memcpy(recent->data + keep, data, length);
	recent->length = keep + length;
}

char *
recent_text(const struct recent *recent)
{
	size_t skip = utf8_partial_head(recent->data, recent->length);
	size_t length;

	return utf8_repair(recent->data + skip, recent->length - skip, &length);
}
