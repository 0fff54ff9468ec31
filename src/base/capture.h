#ifndef CAPTURE_H
#define CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Keeps what a stream says within a limit: the first half of the limit and
 * the last half of it.  Memory is taken as output comes and never goes beyond
 * the limit, whatever the stream says.
 */
struct capture {
	size_t limit;
	char *head;
	size_t head_length, head_size;
	char *tail; /* a ring; NULL until the head is full */
	size_t tail_next;
	uint64_t total;
};

void capture_init(struct capture *capture, size_t limit);
void capture_add(struct capture *capture, const char *data, size_t length);
bool capture_truncated(const struct capture *capture);
/* Valid UTF-8, NUL-terminated, with a line in the place of what was cut. */
char *capture_text(const struct capture *capture, size_t *length);
void capture_release(struct capture *capture);

#endif
