#ifndef BASE64_H
#define BASE64_H

#include <stddef.h>

/*
 * Base64 as in RFC 4648, the standard alphabet with padding.  Decoding is
 * strict: whatever encoding would not have made is refused, so that nothing is
 * lost or guessed on the way.
 */

/* NUL-terminated; its length goes to *out_length, which may be NULL. */
char *base64_encode(const char *data, size_t length, size_t *out_length);
/* NULL when it is none. */
char *base64_decode(const char *text, size_t length, size_t *out_length);

#endif
