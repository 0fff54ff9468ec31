#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the valid UTF-8 sequence at the start of data; 0 when there is
 * none, because it is malformed or because it is cut off at the end. */
size_t utf8_sequence(const char *data, size_t length);

/*
 * A copy of data, NUL-terminated, in which every byte that is not part of
 * valid UTF-8 has become U+FFFD.  Its length goes to *out_length.
 */
char *utf8_repair(const char *data, size_t length, size_t *out_length);

/* How many bytes at the end of data are the beginning of a sequence whose
 * rest is missing; how many at its start are the rest of one that began
 * before it.  Cutting those off keeps a cut from looking like damage. */
size_t utf8_partial_tail(const char *data, size_t length);
size_t utf8_partial_head(const char *data, size_t length);

/* Whether this character, which is valid, is one that terminals may obey:
 * U+0000 to U+001F, U+007F, U+0080 to U+009F. */
bool utf8_is_control(const char *character);
/* A copy of the text, to be freed, that a terminal can be shown: valid, with
 * spaces in the place of control characters, except for those to be kept. */
char *utf8_printable(const char *text, const char *kept);

#endif
