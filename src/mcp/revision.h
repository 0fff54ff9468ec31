#ifndef REVISION_H
#define REVISION_H

#include <stdbool.h>

/* The revisions of MCP that we speak, in the order of their dates. */

enum revision {
	REVISION_2024_11_05,
	REVISION_2025_03_26, /* annotations, audio, batches */
	REVISION_2025_06_18, /* titles, structured content, no batches */
	REVISION_2025_11_25, /* bad arguments are tool errors, icons */
	REVISION_2026_07_28, /* stateless: the revision is in every request */
};
#define REVISION_COUNT 5
/* The newest that initialize can agree on. */
#define REVISION_NEWEST_LEGACY REVISION_2025_11_25
/* What a client gets that calls without having said initialize. */
#define REVISION_UNSAID REVISION_2025_03_26

const char *revision_name(enum revision revision);
bool revision_is_modern(enum revision revision);
/* False when we do not speak it. */
bool revision_parse(const char *name, enum revision *revision);

#endif
