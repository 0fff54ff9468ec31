#ifndef REDACT_H
#define REDACT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/strlist.h"

/*
 * Takes secrets out of a stream.  A value may come in pieces, so what could be
 * the beginning of one is held back until it is clear that it is not.
 */

typedef void redact_emit_fn(void *arg, const char *data, size_t length);

/* The values of some environment variables, without blanks around them; of one
 * that has several lines, each of them too. */
struct secrets {
	struct strlist names, values;
	size_t longest;
	bool first[UCHAR_MAX + 1]; /* bytes that one begins with */
};

/* Shorter values would take harmless text with them; they are said and left
 * alone. */
#define SECRET_MIN 6

void secrets_add(struct secrets *secrets, const char *name, const char *value);
void secrets_release(struct secrets *secrets);

struct redactor {
	const struct secrets *secrets;
	redact_emit_fn *emit;
	void *arg;
	char *held;
	size_t held_length;
};

void redactor_init(struct redactor *redactor, const struct secrets *secrets,
    redact_emit_fn *emit, void *arg);
void redactor_release(struct redactor *redactor);
void redactor_feed(struct redactor *redactor, const char *data, size_t length);
/* The stream is over. */
void redactor_flush(struct redactor *redactor);

/* What is there as a whole: *data is freed and another one takes its place, if
 * there is anything to take out. */
void redact(const struct secrets *secrets, char **data, size_t *length);

#endif
