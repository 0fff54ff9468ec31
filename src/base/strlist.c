#include "base/strlist.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void
strlist_take(struct strlist *list, char *item)
{
	list->items =
	    xrealloc(list->items, (list->count + 2) * sizeof(*list->items));
	list->items[list->count++] = item;
	list->items[list->count] = NULL;
}

void
strlist_add(struct strlist *list, const char *item)
{
	strlist_take(list, xstrdup(item));
}

void
strlist_addf(struct strlist *list, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	strlist_take(list, xvasprintf(format, ap));
	va_end(ap);
}

void
strlist_add_all(struct strlist *list, const char *const *items)
{
	for (; *items != NULL; items++)
		strlist_add(list, *items);
}

static void
add_trimmed(struct strlist *list, const char *start, const char *end)
{
	while (start < end && isspace((unsigned char)*start))
		start++;
	while (end > start && isspace((unsigned char)end[-1]))
		end--;
	if (end > start)
		strlist_take(list, xstrndup(start, (size_t)(end - start)));
}

void
strlist_add_split(struct strlist *list, const char *text, char separator)
{
	const char *end;

	while ((end = strchr(text, separator)) != NULL) {
		add_trimmed(list, text, end);
		text = end + 1;
	}
	add_trimmed(list, text, text + strlen(text));
}

char *
strlist_join(
    const char *const *items, const char *separator, const char *before_last)
{
	char *text = xstrdup(*items != NULL ? *items : "");

	for (size_t i = 1; *items != NULL && items[i] != NULL; i++) {
		char *longer = xasprintf("%s%s%s", text,
		    items[i + 1] == NULL ? before_last : separator, items[i]);

		free(text);
		text = longer;
	}
	return text;
}

bool
strlist_contains(const struct strlist *list, const char *item)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], item) == 0)
			return true;
	return false;
}

void
strlist_release(struct strlist *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct strlist){0};
}
