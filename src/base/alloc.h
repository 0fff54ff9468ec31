#ifndef ALLOC_H
#define ALLOC_H

#include <stdarg.h>
#include <stddef.h>

/*
 * Allocation that does not return NULL.  Out of memory ends the process with
 * a message; the containers then end too, because each watches its stdin.
 */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *pointer, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t length);
char *xvasprintf(const char *format, va_list ap)
    __attribute__((format(printf, 1, 0)));
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
