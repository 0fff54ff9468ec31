#include "base/utf8.h"

#include <string.h>

#include "base/alloc.h"

/* U+FFFD */
static const char replacement[] = {'\xEF', '\xBF', '\xBD'};

static bool
is_continuation(unsigned char byte)
{
	return (byte & 0xC0) == 0x80;
}

/* The length that a lead byte announces; 0 for a byte that leads nothing. */
static size_t
announced(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xC2 && lead <= 0xDF)
		return 2;
	if (lead >= 0xE0 && lead <= 0xEF)
		return 3;
	if (lead >= 0xF0 && lead <= 0xF4)
		return 4;
	return 0;
}

/* Overlong forms, surrogates and what lies above U+10FFFF show in the second
 * byte. */
static bool
second_byte_fits(unsigned char lead, unsigned char second)
{
	switch (lead) {
	case 0xE0:
		return second >= 0xA0;
	case 0xED:
		return second <= 0x9F;
	case 0xF0:
		return second >= 0x90;
	case 0xF4:
		return second <= 0x8F;
	default:
		return true;
	}
}

size_t
utf8_sequence(const char *data, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)data;
	size_t need;

	if (length == 0)
		return 0;
	need = announced(bytes[0]);
	if (need == 0 || need > length)
		return 0;
	for (size_t i = 1; i < need; i++)
		if (!is_continuation(bytes[i]))
			return 0;
	if (need > 1 && !second_byte_fits(bytes[0], bytes[1]))
		return 0;
	return need;
}

char *
utf8_repair(const char *data, size_t length, size_t *out_length)
{
	/* The worst case: every byte becomes the three of U+FFFD. */
	size_t bad = 0, step, out = 0;
	char *text;

	for (size_t i = 0; i < length; i += step) {
		step = utf8_sequence(data + i, length - i);
		if (step == 0) {
			bad++;
			step = 1;
		}
	}
	text = xcalloc(1, length + bad * 2 + 1);
	for (size_t i = 0; i < length; i += step) {
		step = utf8_sequence(data + i, length - i);
		if (step == 0) {
			memcpy(text + out, replacement, sizeof(replacement));
			out += sizeof(replacement);
			step = 1;
		} else {
			memcpy(text + out, data + i, step);
			out += step;
		}
	}
	*out_length = out;
	return text;
}

size_t
utf8_partial_tail(const char *data, size_t length)
{
	for (size_t back = 1; back <= 3 && back <= length; back++) {
		unsigned char byte = (unsigned char)data[length - back];

		if (is_continuation(byte))
			continue;
		return announced(byte) > back ? back : 0;
	}
	return 0;
}

size_t
utf8_partial_head(const char *data, size_t length)
{
	size_t skip = 0;

	while (skip < 3 && skip < length &&
	    is_continuation((unsigned char)data[skip]))
		skip++;
	return skip;
}

bool
utf8_is_control(const char *character)
{
	unsigned char first = (unsigned char)character[0];

	return first < ' ' || first == 0x7F ||
	    (first == 0xC2 && (unsigned char)character[1] < 0xA0);
}

char *
utf8_printable(const char *text, const char *kept)
{
	size_t length, step;
	char *clean = utf8_repair(text, strlen(text), &length);

	for (size_t i = 0; i < length; i += step) {
		step = utf8_sequence(clean + i, length - i);
		if (utf8_is_control(clean + i) &&
		    strchr(kept, clean[i]) == NULL)
			memset(clean + i, ' ', step);
	}
	return clean;
}
