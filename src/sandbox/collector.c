#include "sandbox/collector.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "sandbox/work_path.h"

#define FOUND_MAX 2000
#define LISTED_MAX 200
#define WORDS_MAX 100 /* of an entry, ahead of the name */
/* Of those that nobody asked for. */
#define SMALL_COUNT 10
#define SMALL_FILE ((size_t)64 * 1024)
#define SMALL_IMAGE ((size_t)1024 * 1024)
#define FIGURE_MAX ((size_t)4 * 1024 * 1024)
#define TOTAL_MAX ((size_t)24 * 1024 * 1024)
#define READINGS_MAX 16 /* of a pattern */
/* In comparing patterns with names, by the product of their lengths: many
 * times what 2000 ordinary names and a few patterns take. */
#define EFFORT_MAX ((size_t)32 * 1024 * 1024)

struct found {
	char *line; /* the whole entry, to know it again */
	char *name; /* as the runner knows it */
	uint64_t size;
	bool dated;  /* as files that come with a call are */
	bool seeded; /* ... or with an image */
	bool figure;
	bool asked; /* for, by a pattern of the call */
	bool wanted;
	char *data;
	size_t length;
};

/* What people call it: without what the runner needs to find it. */
static const char *
path_of(const struct found *found)
{
	return found->name +
	    (found->figure ? sizeof(COLLECTOR_FIGURES) - 1 : 2);
}

static bool
parse(struct found *found, const char *text)
{
	const char *bar = strchr(text, '|'), *name, *error;
	char *words, *rest, *size, *date;
	struct err err;

	if (bar == NULL || bar - text > WORDS_MAX)
		return false;
	words = rest = xstrndup(text, (size_t)(bar - text));
	size = strsep(&rest, " ");
	date = strsep(&rest, " ");
	found->size = (uint64_t)strtonum(size, 0, 1LL << 50, &error);
	found->dated = date != NULL && strcmp(date, COLLECTOR_GIVEN) == 0;
	found->seeded = date != NULL && strcmp(date, COLLECTOR_SEEDED) == 0;
	free(words);
	name = bar + 1;
	found->figure = strncmp(name, COLLECTOR_FIGURES,
	                    sizeof(COLLECTOR_FIGURES) - 1) == 0;
	if (error != NULL || (!found->figure && strncmp(name, "./", 2) != 0))
		return false;
	found->name = xstrdup(name);
	if (work_path_check(path_of(found), strlen(path_of(found)), &err) == 0)
		return true;
	free(found->name);
	return false;
}

static size_t
count_of(const char *text)
{
	const char *error;
	long long count = strtonum(text, 1, 1LL << 40, &error);

	return error == NULL ? (size_t)count : 1;
}

void
collector_entry(struct collector *collector, const char *text)
{
	struct found found = {0};

	if (strchr(text, '|') == NULL) {
		collector->beyond += count_of(text);
		return;
	}
	if (collector->count == FOUND_MAX || !parse(&found, text)) {
		collector->unnamed++;
		return;
	}
	found.line = xstrdup(text);
	collector->found = xrealloc(collector->found,
	    (collector->count + 1) * sizeof(*collector->found));
	collector->found[collector->count++] = found;
}

static void
found_release(struct found *found)
{
	free(found->line);
	free(found->name);
	free(found->data);
}

static int
by_name(const void *left, const void *right)
{
	const struct found *a = left, *b = right;

	if (a->figure != b->figure)
		return a->figure ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int
by_text(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool
was_seen(const struct strlist *seen, char *line)
{
	return seen != NULL && seen->count > 0 &&
	    bsearch(&line, seen->items, seen->count, sizeof(*seen->items),
	        by_text) != NULL;
}

/* In how many ways it can be read: each of its "**"-slash, but for those behind
 * the fourth, stands for no directory too. */
static unsigned
readings_of(const char *pattern)
{
	unsigned count = 1;

	while (count < READINGS_MAX &&
	    (pattern = strstr(pattern, "**/")) != NULL) {
		pattern += 3;
		count *= 2;
	}
	return count;
}

/* One of them: each bit of the number is for one that is left out. */
static char *
reading_of(const char *pattern, unsigned number)
{
	char *copy = xstrdup(pattern), *stars = copy;

	for (; number != 0 && (stars = strstr(stars, "**/")) != NULL;
	    number >>= 1) {
		if ((number & 1) != 0)
			memmove(stars, stars + 3, strlen(stars + 3) + 1);
		else
			stars += 3;
	}
	return copy;
}

bool
collector_is_name(const char *pattern)
{
	return pattern[strcspn(pattern, "*?[\\")] == '\0';
}

bool
collector_fits(const char *pattern, const char *path)
{
	unsigned readings = readings_of(pattern);
	bool fits = strcmp(pattern, path) == 0;

	for (unsigned i = 0; i < readings && !fits; i++) {
		char *reading = reading_of(pattern, i);

		fits = fnmatch(reading, path, 0) == 0;
		free(reading);
	}
	return fits;
}

/* Names and patterns can be such that each comparison takes long, and nothing
 * else is done meanwhile. */
static bool
is_asked_for(struct collector *collector, const struct found *found,
    const struct strlist *outputs)
{
	const char *path = path_of(found);

	for (size_t i = 0; i < outputs->count && !found->figure; i++) {
		const char *pattern = outputs->items[i];

		if (strcmp(pattern, path) == 0)
			return true;
		if (collector_is_name(pattern) ||
		    collector->effort > EFFORT_MAX)
			continue;
		collector->effort +=
		    readings_of(pattern) * strlen(pattern) * strlen(path);
		if (collector_fits(pattern, path))
			return true;
	}
	return false;
}

/* It came with the call and was not changed. */
static bool
was_given(const struct found *found, const struct job *job)
{
	if (found->figure)
		return false;
	if (strcmp(path_of(found), job->language->file) == 0)
		return true;
	for (size_t i = 0; i < job->file_count; i++)
		if (found->dated && found->size == job->files[i].length &&
		    strcmp(path_of(found), job->files[i].path) == 0)
			return true;
	return false;
}

static bool
has_patterns(const struct strlist *outputs)
{
	for (size_t i = 0; i < outputs->count; i++)
		if (!collector_is_name(outputs->items[i]))
			return true;
	return false;
}

/* Leaves what the program of this call has written, and what is asked for.
 * Returns how many there are that were not there before. */
static size_t
drop_old(struct collector *collector, const struct job *job,
    const struct strlist *seen)
{
	size_t kept = 0, fresh = 0;

	for (size_t i = 0; i < collector->count; i++) {
		struct found *found = &collector->found[i];
		bool old = found->seeded || was_seen(seen, found->line);

		fresh += !old;
		/* The newest are listed first: behind these, all are as old. */
		if (found->seeded && !has_patterns(&job->outputs))
			collector->beyond = 0;
		found->asked = is_asked_for(collector, found, &job->outputs);
		if (was_given(found, job) || (old && !found->asked))
			found_release(found);
		else
			collector->found[kept++] = *found;
	}
	collector->count = kept;
	return fresh;
}

static struct collector_seen
remember(const struct collector *collector)
{
	struct collector_seen seen = {
	    .beyond = collector->beyond, .unnamed = collector->unnamed};
	struct strlist *lines = &seen.lines;

	for (size_t i = 0; i < collector->count; i++)
		strlist_add(lines, collector->found[i].line);
	if (lines->count > 0)
		qsort(
		    lines->items, lines->count, sizeof(*lines->items), by_text);
	return seen;
}

void
collector_seen_release(struct collector_seen *seen)
{
	strlist_release(&seen->lines);
}

static size_t
less(size_t from, size_t count)
{
	return from > count ? from - count : 0;
}

/* What the calls before have left is not told again. */
static void
drop_seen(struct collector *collector, const struct job *job,
    struct collector_seen *seen)
{
	struct collector_seen now = remember(collector);
	size_t fresh = drop_old(collector, job, &seen->lines);
	size_t before = seen->lines.count + seen->beyond;

	/* New ones on the list push old ones off it. */
	if (!has_patterns(&job->outputs))
		collector->beyond = less(
		    collector->beyond, less(before + fresh, now.lines.count));
	collector->unnamed = less(collector->unnamed, seen->unnamed);
	collector_seen_release(seen);
	*seen = now;
}

static bool
is_image(const struct found *found)
{
	return strncmp(artifact_type(found->name), "image/", 6) == 0;
}

static bool
is_small_enough(const struct found *found)
{
	if (found->figure)
		return found->size <= FIGURE_MAX;
	if (found->asked)
		return found->size <= COLLECTOR_FILE_MAX;
	return found->size <= (is_image(found) ? SMALL_IMAGE : SMALL_FILE);
}

/* Those that were asked for, or the others: figures, and a few files. */
static void
choose(struct collector *collector, bool asked)
{
	size_t small_count = 0;

	for (size_t i = 0; i < collector->count; i++) {
		struct found *found = &collector->found[i];

		if (found->asked != asked || !is_small_enough(found) ||
		    collector->wanted == LISTED_MAX ||
		    collector->total + found->size > TOTAL_MAX ||
		    (!asked && !found->figure && small_count++ >= SMALL_COUNT))
			continue;
		found->wanted = true;
		collector->wanted++;
		collector->total += found->size;
	}
}

void
collector_choose(struct collector *collector, const struct job *job,
    struct collector_seen *seen)
{
	if (seen != NULL)
		drop_seen(collector, job, seen);
	else
		drop_old(collector, job, NULL);
	if (collector->count > 0)
		qsort(collector->found, collector->count,
		    sizeof(*collector->found), by_name);
	/* What nobody asked for has what room is left. */
	choose(collector, true);
	choose(collector, false);
}

const char *
collector_next(struct collector *collector, size_t *limit)
{
	while (collector->next < collector->count &&
	    !collector->found[collector->next].wanted)
		collector->next++;
	if (collector->next == collector->count)
		return NULL;
	*limit = collector->found[collector->next].size;
	return collector->found[collector->next].name;
}

void
collector_data(struct collector *collector, const char *base64)
{
	struct found *found;
	size_t length;
	char *data;

	if (collector->next >= collector->count)
		return;
	found = &collector->found[collector->next];
	data = base64_decode(base64, strlen(base64), &length);
	/* It may have grown since it was listed. */
	if (data != NULL && found->size <= COLLECTOR_FILE_MAX &&
	    found->length + length <= found->size) {
		if (found->data == NULL)
			found->data = xmalloc(found->size + 1);
		memcpy(found->data + found->length, data, length);
		found->length += length;
	}
	free(data);
}

/* All of a file, or nothing. */
static void
drop_part(struct found *found)
{
	if (found->length == found->size)
		return;
	free(found->data);
	found->data = NULL;
	found->length = 0;
}

void
collector_answered(struct collector *collector)
{
	struct found *found;

	if (collector->next >= collector->count)
		return;
	found = &collector->found[collector->next++];
	if (found->data == NULL && found->size == 0)
		found->data = xcalloc(1, 1);
	/* It has gone, or shrunk, since. */
	drop_part(found);
}

void
collector_take(struct collector *collector, struct artifacts *artifacts)
{
	size_t count = 0;

	artifacts->items =
	    xcalloc(collector->count + 1, sizeof(*artifacts->items));
	artifacts->left_out = collector->beyond + collector->unnamed;
	artifacts->doubtful = artifacts->left_out;
	for (size_t i = 0; i < collector->count; i++) {
		struct found *found = &collector->found[i];

		/* The container may go away in the middle of one. */
		drop_part(found);
		/* What nobody gets to see is not worth a long list. */
		if (found->data == NULL && count >= LISTED_MAX) {
			artifacts->left_out++;
			artifacts->doubtful += found->asked;
			continue;
		}
		artifacts->items[count++] = (struct artifact){
		    .path = xstrdup(path_of(found)),
		    .size = found->size,
		    .figure = found->figure,
		    .data = found->data,
		    .length = found->length,
		};
		found->data = NULL;
	}
	artifacts->count = count;
	collector_release(collector);
}

void
collector_release(struct collector *collector)
{
	for (size_t i = 0; i < collector->count; i++)
		found_release(&collector->found[i]);
	free(collector->found);
	*collector = (struct collector){0};
}
