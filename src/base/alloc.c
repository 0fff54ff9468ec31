#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *
check(void *pointer)
{
	static const char message[] = "code-sandbox-mcp: out of memory\n";

	if (pointer != NULL)
		return pointer;
	if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
		_exit(71);
	_exit(71);
}

void *
xmalloc(size_t size)
{
	return check(malloc(size));
}

void *
xcalloc(size_t count, size_t size)
{
	return check(calloc(count, size));
}

void *
xrealloc(void *pointer, size_t size)
{
	return check(realloc(pointer, size));
}

char *
xstrdup(const char *text)
{
	return check(strdup(text));
}

char *
xstrndup(const char *text, size_t length)
{
	return check(strndup(text, length));
}

char *
xvasprintf(const char *format, va_list ap)
{
	char *text;

	return check(vasprintf(&text, format, ap) < 0 ? NULL : text);
}

char *
xasprintf(const char *format, ...)
{
	va_list ap;
	char *text;

	va_start(ap, format);
	text = xvasprintf(format, ap);
	va_end(ap);
	return text;
}
