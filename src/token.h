#ifndef TOKEN_H
#define TOKEN_H

#include <stdbool.h>

/* Random names that nobody can guess: 128 bits, as hexadecimal text. */

#define TOKEN_LENGTH 32

void token_make(char token[TOKEN_LENGTH + 1]);
/* Takes the same time whatever the difference is. */
bool token_equal(const char *given, const char *secret);

#endif
