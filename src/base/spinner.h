#ifndef SPINNER_H
#define SPINNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One line on a terminal that shows that something is under way: a wheel, what
 * it is, and for how long.  It draws what it is told when it is told; time and
 * the terminal are the caller's.
 *
 *  1. spinner_say() with each text; the first one starts the clock.
 *  2. spinner_tick() ten times a second or so.
 *  3. spinner_erase() before anything else is written there; the next tick
 *     draws it again.  spinner_release() erases it for good.
 */

struct spinner_terminal {
	void (*write)(void *arg, const char *data, size_t length);
	int (*columns)(void *arg);
	void *arg;
};

struct spinner {
	struct spinner_terminal terminal;
	char *text; /* NULL: nothing was said yet */
	uint64_t since_ms;
	unsigned turn;
	bool drawn;
};

void spinner_init(
    struct spinner *spinner, const struct spinner_terminal *terminal);
void spinner_say(struct spinner *spinner, const char *text, uint64_t now_ms);
void spinner_tick(struct spinner *spinner, uint64_t now_ms);
void spinner_erase(struct spinner *spinner);
void spinner_release(struct spinner *spinner);

#endif
