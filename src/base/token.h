#ifndef TOKEN_H
#define TOKEN_H

#include <stdbool.h>

/* Random names that nobody can guess: 128 bits, as hexadecimal text. */

#define TOKEN_LENGTH 32

void token_make(char token[TOKEN_LENGTH + 1]);
/* Whether text begins with what could be a token, and then has this end. */
bool token_is_one(const char *text, char end);
/* Takes the same time whatever the difference is. */
bool token_equal(const char *given, const char *secret);

#endif
