#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Cuts a byte stream into lines.  A line longer than the limit is drained
 * without being kept, and reported once, when it ends.
 */

struct lines_callbacks {
	void (*line)(void *arg, const char *data, size_t length);
	void (*too_long)(void *arg, size_t limit);
};

struct lines {
	const struct lines_callbacks *callbacks;
	void *arg;
	size_t limit;
	char *data; /* the beginning of a line whose end has not come */
	size_t length, size;
	bool draining;
};

void lines_init(struct lines *lines, size_t limit,
    const struct lines_callbacks *callbacks, void *arg);
void lines_feed(struct lines *lines, const char *data, size_t length);
/* The stream has ended: a last line without a newline counts. */
void lines_finish(struct lines *lines);
void lines_release(struct lines *lines);

#endif
