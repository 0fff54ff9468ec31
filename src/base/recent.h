#ifndef RECENT_H
#define RECENT_H

#include <stdbool.h>
#include <stddef.h>

/* The newest piece of a program's output: what a person who waits for it wants
 * to see.  All zero is empty. */

#define RECENT_MAX 2000

struct recent {
	char data[RECENT_MAX];
	size_t length;
	bool cut; /* there was more before it */
};

void recent_add(struct recent *recent, const char *data, size_t length);
/* As valid UTF-8, to be freed.  It begins with a whole line, if it can. */
char *recent_text(const struct recent *recent);
/* The same, and it is no longer there.  A line that has only begun stays for
 * the next time, unless there is nothing else. */
char *recent_take(struct recent *recent);

#endif
