/*
 * Included first when the analyzers read the sources (see scripts/lint).
 *
 * They cannot know that TAILQ_REMOVE of an element changes the first one of
 * its list, and take `while ((x = TAILQ_FIRST(list))) x_free(x);` for a use
 * after free.  So for them the first one is any one, each time.
 */
#include <bsd/sys/queue.h>

void *lint_any(void *);
#undef TAILQ_FIRST
#define TAILQ_FIRST(head) \
	(*(__typeof__(&(head)->tqh_first))lint_any(&(head)->tqh_first))
