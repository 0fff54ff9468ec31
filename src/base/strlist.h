#ifndef STRLIST_H
#define STRLIST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A growing, NULL-terminated list of strings that it owns: an argv, an
 * environment, or a list of names.  All zero is an empty list.
 */
struct strlist {
	char **items;
	size_t count;
};

void strlist_add(struct strlist *list, const char *item);
void strlist_addf(struct strlist *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds each of a NULL-terminated array. */
void strlist_add_all(struct strlist *list, const char *const *items);
/* Adds what stands between the separators, trimmed; empty pieces are left
 * out. */
void strlist_add_split(struct strlist *list, const char *text, char separator);
/* All of a NULL-terminated array in one text, to be freed: with the separator
 * between them, and before the last one what is said for it. */
char *strlist_join(
    const char *const *items, const char *separator, const char *before_last);
bool strlist_contains(const struct strlist *list, const char *item);
void strlist_release(struct strlist *list);

#endif
