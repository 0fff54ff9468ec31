#ifndef STRBUF_H
#define STRBUF_H

#include <stddef.h>

/* Text that grows, NUL-terminated and with NULs in it as they come.  All zero
 * is empty, and its data NULL. */
struct strbuf {
	char *data;
	size_t length;
};

void strbuf_add(struct strbuf *buf, const char *data, size_t length);
void strbuf_addf(struct strbuf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void strbuf_release(struct strbuf *buf);

#endif
