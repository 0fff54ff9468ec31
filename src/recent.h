#ifndef RECENT_H
#define RECENT_H

#include <stddef.h>

/* The newest piece of a program's output: what a person who waits for it wants
 * to see.  All zero is empty. */

#define RECENT_MAX 2000

struct recent {
	char data[RECENT_MAX];
	size_t length;
};

void recent_add(struct recent *recent, const char *data, size_t length);
/* As valid UTF-8, to be freed. */
char *recent_text(const struct recent *recent);

#endif
