#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

/* What the terminal that we are on can do. */

bool terminal_is_dumb(void);
/* How wide it is; 80 if it does not say. */
int terminal_columns(int fd);

/*
 * Asks it what it can do (DA1) and waits a moment for the answer; true if
 * pictures in sixel are among it.  What is typed meanwhile is lost, so this is
 * for when a picture is there.
 */
bool terminal_takes_sixel(int fd);
/* Whether an answer, "ESC [ ? 62 ; 4 ... c", has sixel in it. */
bool terminal_answer_has_sixel(const char *answer);

#endif
