#include "base/strbuf.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void
strbuf_add(struct strbuf *buf, const char *data, size_t length)
{
	buf->data = xrealloc(buf->data, buf->length + length + 1);
	if (length > 0)
		memcpy(buf->data + buf->length, data, length);
	buf->length += length;
	buf->data[buf->length] = '\0';
}

void
strbuf_addf(struct strbuf *buf, const char *format, ...)
{
	va_list ap;
	char *more;

	va_start(ap, format);
	more = xvasprintf(format, ap);
	va_end(ap);
	strbuf_add(buf, more, strlen(more));
	free(more);
}

void
strbuf_release(struct strbuf *buf)
{
	free(buf->data);
	*buf = (struct strbuf){0};
}
