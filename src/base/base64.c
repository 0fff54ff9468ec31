#include "base/base64.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyz"
                               "0123456789+/";

/* Three bytes, of which there may be fewer at the end, become four digits. */
static void
encode_group(const unsigned char *bytes, size_t count, char digits[4])
{
	uint32_t bits = (uint32_t)bytes[0] << 16;

	if (count > 1)
		bits |= (uint32_t)bytes[1] << 8;
	if (count > 2)
		bits |= bytes[2];
	digits[0] = alphabet[bits >> 18];
	digits[1] = alphabet[bits >> 12 & 63];
	digits[2] = '=';
	digits[3] = '=';
	if (count > 1)
		digits[2] = alphabet[bits >> 6 & 63];
	if (count > 2)
		digits[3] = alphabet[bits & 63];
}

char *
base64_encode(const char *data, size_t length, size_t *out_length)
{
	const unsigned char *bytes = (const unsigned char *)data;
	size_t groups = (length + 2) / 3;
	char *text = xmalloc(groups * 4 + 1);

	for (size_t i = 0; i < groups; i++)
		encode_group(bytes + i * 3, length - i * 3, text + i * 4);
	text[groups * 4] = '\0';
	if (out_length != NULL)
		*out_length = groups * 4;
	return text;
}

/* The value of each digit plus one; 0: it is none. */
static void
make_values(unsigned char values[256])
{
	memset(values, 0, 256);
	for (size_t i = 0; i < 64; i++)
		values[(unsigned char)alphabet[i]] = (unsigned char)(i + 1);
}

static size_t
count_padding(const char *text, size_t length)
{
	if (length == 0 || text[length - 1] != '=')
		return 0;
	return text[length - 2] == '=' ? 2 : 1;
}

/* False when one of them is no digit. */
static bool
read_bits(const unsigned char values[256], const char *digits, size_t count,
    uint32_t *bits)
{
	*bits = 0;
	for (size_t i = 0; i < count; i++) {
		unsigned value = values[(unsigned char)digits[i]];

		if (value == 0)
			return false;
		*bits |= (value - 1) << (18 - 6 * i);
	}
	return true;
}

char *
base64_decode(const char *text, size_t length, size_t *out_length)
{
	unsigned char values[256];
	size_t padding, size;
	char *data;

	if (length % 4 != 0)
		return NULL;
	padding = count_padding(text, length);
	size = length / 4 * 3 - padding;
	data = xmalloc(size + 3);
	make_values(values);
	for (size_t i = 0; i < length; i += 4) {
		size_t digits = i + 4 == length ? 4 - padding : 4;
		char *group = data + i / 4 * 3;
		uint32_t bits;

		/* Bits of the last digit that stand for nothing are 0. */
		if (!read_bits(values, text + i, digits, &bits) ||
		    (bits & ((1U << 8 * (4 - digits)) - 1)) != 0) {
			free(data);
			return NULL;
		}
		group[0] = (char)(bits >> 16);
		group[1] = (char)(bits >> 8 & 255);
		group[2] = (char)(bits & 255);
	}
	data[size] = '\0';
	*out_length = size;
	return data;
}
