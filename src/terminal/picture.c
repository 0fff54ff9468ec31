#include "terminal/picture.h"

#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "terminal/sixel.h"

#define KITTY_CHUNK ((size_t)4096)
#define SIDE_MAX 4096

/*
 * The first row that fits counts.  Variables are inherited by terminals that
 * are started from another: what is most certainly set by the innermost one
 * comes first.
 */
static const struct {
	const char *variable;
	const char *pattern;
	struct picture_guess guess;
} terminals[] = {
    /* A multiplexer draws for itself, whatever it runs in. */
    {"TMUX", "?*", {PICTURE_SIXEL, true}},
    {"STY", "?*", {PICTURE_NONE, false}},
    {"TERM", "dumb", {PICTURE_NONE, false}},
    /* Images are a setting there, and off at first. */
    {"TERM_PROGRAM", "vscode", {PICTURE_ITERM, true}},
    {"TERM_PROGRAM", "ghostty", {PICTURE_KITTY, false}},
    {"TERM_PROGRAM", "WezTerm", {PICTURE_ITERM, false}},
    {"TERM_PROGRAM", "iTerm.app", {PICTURE_ITERM, false}},
    {"TERM_PROGRAM", "mintty", {PICTURE_ITERM, false}},
    {"TERM", "xterm-kitty", {PICTURE_KITTY, false}},
    {"TERM", "xterm-ghostty", {PICTURE_KITTY, false}},
    {"TERM", "foot*", {PICTURE_SIXEL, false}},
    {"TERM", "mlterm*", {PICTURE_SIXEL, false}},
    {"TERM", "yaft*", {PICTURE_SIXEL, false}},
    {"KITTY_WINDOW_ID", "?*", {PICTURE_KITTY, false}},
    /* Handed on by ssh. */
    {"LC_TERMINAL", "iTerm2", {PICTURE_ITERM, false}},
    {"TERM", "?*", {PICTURE_SIXEL, true}},
};

struct picture_guess
picture_guess(void)
{
	for (size_t i = 0; i < sizeof(terminals) / sizeof(terminals[0]); i++) {
		const char *value = getenv(terminals[i].variable);

		if (value != NULL &&
		    fnmatch(terminals[i].pattern, value, 0) == 0)
			return terminals[i].guess;
	}
	return (struct picture_guess){PICTURE_NONE, false};
}

static uint32_t
big_endian(const char *data)
{
	const unsigned char *bytes = (const unsigned char *)data;

	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
	    (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool
side_is_sane(uint32_t side)
{
	return side >= 1 && side <= SIDE_MAX;
}

bool
picture_is_png(const char *data, size_t length)
{
	static const char start[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
	size_t known = sizeof(start) - 1;

	return length >= known + 8 && memcmp(data, start, known) == 0 &&
	    side_is_sane(big_endian(data + known)) &&
	    side_is_sane(big_endian(data + known + 4));
}

/* In pieces; q=2: no answer, which would look like something typed. */
static void
write_kitty(FILE *stream, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i += KITTY_CHUNK) {
		size_t left = length - i;
		size_t piece = left < KITTY_CHUNK ? left : KITTY_CHUNK;

		fprintf(stream, "\033_G%sm=%d;", i == 0 ? "a=T,f=100,q=2," : "",
		    left > piece);
		fwrite(text + i, 1, piece, stream);
		fputs("\033\\", stream);
	}
	fputc('\n', stream);
}

static char *
encode_text(enum picture_protocol protocol, const char *png, size_t length,
    size_t *encoded_length)
{
	size_t text_length;
	char *text = base64_encode(png, length, &text_length), *encoded = NULL;
	FILE *stream = open_memstream(&encoded, encoded_length);

	if (stream != NULL && protocol == PICTURE_KITTY)
		write_kitty(stream, text, text_length);
	else if (stream != NULL)
		fprintf(stream, "\033]1337;File=inline=1;size=%zu:%s\a\n",
		    length, text);
	free(text);
	if (stream == NULL || fclose(stream) != 0) {
		free(encoded);
		return NULL;
	}
	return encoded;
}

char *
picture_encode(enum picture_protocol protocol, char *png, size_t length,
    size_t *encoded_length)
{
	if (protocol == PICTURE_NONE || !picture_is_png(png, length))
		return NULL;
	if (protocol == PICTURE_SIXEL)
		return sixel_convert(png, length, encoded_length);
	return encode_text(protocol, png, length, encoded_length);
}
