#ifndef PROGRESS_H
#define PROGRESS_H

#include <stddef.h>

#include "mcp/revision.h"

/*
 * Progress notifications of one call: at a steady interval, with what the
 * program has printed since the last one, or how long it has been running.
 * They end when the progress is freed, which is before the result is sent.
 */

struct event_base;
struct progress;

struct progress_config {
	struct event_base *base;
	const char *token; /* as JSON text; copied */
	enum revision revision;
	void (*send)(void *arg, const char *message, size_t length);
	void *arg;
};

struct progress *progress_new(const struct progress_config *config);
void progress_free(struct progress *progress);
/* The program has printed something. */
void progress_output(
    struct progress *progress, const char *data, size_t length);
/* A line about what comes before the program: sent at once, unless there are
 * many of them; then it waits as output does. */
void progress_note(struct progress *progress, const char *text);

#endif
