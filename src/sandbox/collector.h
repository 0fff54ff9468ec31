#ifndef COLLECTOR_H
#define COLLECTOR_H

#include <stddef.h>

#include "sandbox/artifact.h"
#include "sandbox/job.h"

/*
 * Learns which files a program has left behind, chooses those that come back,
 * and takes in what they contain.
 *
 *  1. collector_entry() with each entry that the runner lists:
 *     SIZE MTIME STAMP|NAME, or a number: so many more.
 *  2. collector_choose().
 *  3. collector_next() names the next file to ask for; collector_data() with
 *     each piece of it, and collector_answered() behind the last.
 *  4. collector_take().
 *
 * All of it comes from a hostile program: names are checked, numbers and sizes
 * are limited.
 */

struct found;

struct collector {
	struct found *found;
	size_t count;
	size_t beyond;  /* those that were listed: older ones */
	size_t unnamed; /* oddly named ones */
	size_t next;
	size_t wanted; /* files that come back */
	size_t total;  /* bytes of them */
	size_t effort; /* in choosing them */
};

/* What the earlier calls of a session know of. */
struct collector_seen {
	struct strlist lines;
	size_t beyond;
	size_t unnamed;
};

/* Where the runner keeps figures. */
#define COLLECTOR_FIGURES "/home/sandbox/.sandbox/figures/"
/* What a file may have to come back when it is asked for by name. */
#define COLLECTOR_FILE_MAX ((size_t)16 * 1024 * 1024)
/* The date of files that came with the call: 2000-01-01, UTC; and the day
 * after, that of those which came with the image. */
#define COLLECTOR_GIVEN "946684800"
#define COLLECTOR_SEEDED "946771200"

void collector_entry(struct collector *collector, const char *text);
/* The code, and what came with it, are not the program's.  What stands in seen
 * (if it is not NULL) was there before, and comes only if the job asks for it;
 * seen is brought up to date. */
void collector_choose(struct collector *collector, const struct job *job,
    struct collector_seen *seen);
void collector_seen_release(struct collector_seen *seen);
/* Whether a pattern of the job's stands for one file only. */
bool collector_is_name(const char *pattern);
/* Whether a file is meant by a pattern of the job's. */
bool collector_fits(const char *pattern, const char *path);
/* The name to ask for, and how much of it to take; NULL: that was all. */
const char *collector_next(struct collector *collector, size_t *limit);
void collector_data(struct collector *collector, const char *base64);
void collector_answered(struct collector *collector);
void collector_take(struct collector *collector, struct artifacts *artifacts);
void collector_release(struct collector *collector);

#endif
