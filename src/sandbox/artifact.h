#ifndef ARTIFACT_H
#define ARTIFACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Files that a program left in its working directory, and its figures. */

struct artifact {
	char *path; /* valid UTF-8, no control characters, in the working
	             * directory; of a figure, its name */
	uint64_t size;
	bool figure; /* drawn, and not written by the program itself */
	char *data;  /* NULL: it stayed where it is */
	size_t length;
};

struct artifacts {
	struct artifact *items;
	size_t count;
	size_t left_out; /* not among the items: too many, or oddly named */
	size_t doubtful; /* of those: whether they were asked for is unknown */
};

void artifacts_release(struct artifacts *artifacts);

/* What kind of file it is: a MIME type, from its name. */
const char *artifact_type(const char *path);

#endif
