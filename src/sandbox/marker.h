#ifndef MARKER_H
#define MARKER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/token.h"

/*
 * The runner inside the container speaks on the same two streams as the
 * program.  What it says is a line that begins with a byte that text does not
 * contain and a nonce that the program was not told:
 *
 *	\036 NONCE SPACE WORD [SPACE NUMBER | SPACE TEXT] \n
 *
 *	absent     the image does not have the language's command
 *	ready      the container is up and waits for the code
 *	started    the code has arrived and runs (on stdout alone)
 *	exit N     the program ended with exit status N
 *	signal N   signal N ended it
 *	done N     the same as exit, of a session: its interpreter goes on
 *
 * on both streams, and on stdout alone:
 *
 *	note TEXT  a line of what is done before the program can run
 *	unplaced TEXT  the name of what could not be put in place for it
 *	failed     ... and that came to nothing
 *	value TEXT a piece, in base64, of the value of the last expression
 *	stays      behind exit or signal the container still answers requests
 *	entry TEXT a file that is there (see collector.h)
 *	data TEXT  a piece of a file, in base64
 *	answered   the end of what was asked for
 *
 * A marker scanner takes a stream apart into payload and such lines.  It holds
 * back no payload but the beginning of something that may become a marker.
 * A program that finds out the nonce can end its own call early, and no
 * other.
 */

enum marker_word {
	MARKER_ABSENT,
	MARKER_READY,
	MARKER_STARTED,
	MARKER_EXIT,
	MARKER_SIGNAL,
	MARKER_DONE,
	MARKER_NOTE,
	MARKER_UNPLACED,
	MARKER_FAILED,
	MARKER_VALUE,
	MARKER_STAYS,
	MARKER_ENTRY,
	MARKER_DATA,
	MARKER_ANSWERED,
};

struct marker_callbacks {
	void (*payload)(void *arg, const char *data, size_t length);
	/* The number, or the text, that stands behind the word; else 0, "". */
	void (*marker)(
	    void *arg, enum marker_word word, int number, const char *text);
};

/* \036, the nonce, a space, and room for the word and the longest path. */
#define MARKER_PREFIX_LENGTH (1 + TOKEN_LENGTH + 1)
#define MARKER_LINE_MAX 8192

struct marker_scanner {
	char prefix[MARKER_PREFIX_LENGTH + 1];
	char held[MARKER_LINE_MAX];
	size_t held_length;
	const struct marker_callbacks *callbacks;
	void *arg;
};

void marker_scanner_init(struct marker_scanner *scanner, const char *nonce,
    const struct marker_callbacks *callbacks, void *arg);
void marker_scanner_feed(
    struct marker_scanner *scanner, const char *data, size_t length);
/* The stream has ended: what was held back is payload after all. */
void marker_scanner_flush(struct marker_scanner *scanner);

#endif
