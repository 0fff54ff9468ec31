#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Pictures among the text of a terminal.  picture_guess() tells from the
 * environment what the terminal takes; picture_encode() makes the bytes that
 * show a PNG there.
 */

enum picture_protocol {
	PICTURE_NONE,
	PICTURE_KITTY, /* its graphics protocol, which others have as well */
	PICTURE_ITERM, /* iTerm2's inline images, likewise */
	PICTURE_SIXEL, /* DEC's, by way of a program that makes them of PNGs */
};

struct picture_guess {
	enum picture_protocol protocol;
	bool ask; /* only if terminal_takes_sixel() */
};

struct picture_guess picture_guess(void);
/* By its first bytes, and of a sane size: the rest is for others to decode,
 * and comes from a program that nobody trusts. */
bool picture_is_png(const char *data, size_t length);
/* NULL when it cannot be shown that way. */
char *picture_encode(enum picture_protocol protocol, char *png, size_t length,
    size_t *encoded_length);

#endif
