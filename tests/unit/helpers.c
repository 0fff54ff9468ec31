#include "helpers.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/utf8.h"

void
text_add(struct text *text, const char *data, size_t length)
{
	text->data = xrealloc(text->data, text->length + length + 1);
	if (length > 0)
		memcpy(text->data + text->length, data, length);
	text->length += length;
	text->data[text->length] = '\0';
}

void
text_addf(struct text *text, const char *format, ...)
{
	va_list ap;
	char *more;

	va_start(ap, format);
	more = xvasprintf(format, ap);
	va_end(ap);
	text_add(text, more, strlen(more));
	free(more);
}

const char *
text_string(const struct text *text)
{
	return text->data != NULL ? text->data : "";
}

void
text_release(struct text *text)
{
	free(text->data);
	*text = (struct text){0};
}

bool
is_utf8(const char *data, size_t length)
{
	size_t step;

	for (size_t i = 0; i < length; i += step) {
		step = utf8_sequence(data + i, length - i);
		if (step == 0)
			return false;
	}
	return true;
}

static char **real_environment;

void
environment_set(const char *const *variables)
{
	if (real_environment == NULL)
		real_environment = environ;
	environ = (char **)variables;
}

static void
environment_restore(void)
{
	if (real_environment != NULL)
		environ = real_environment;
	real_environment = NULL;
}

static void
environment_empty(void)
{
	static const char *const none[] = {NULL};

	environment_set(none);
}

void
environment_fixture(TCase *tcase)
{
	tcase_add_checked_fixture(
	    tcase, environment_empty, environment_restore);
}

void
settings_make(struct settings *settings, ...)
{
	char program[] = "code-sandbox-mcp", *none[] = {NULL};
	char *argv[32] = {program}, **saved = environ;
	struct err err = {0};
	int argc = 1, status;
	va_list ap;

	va_start(ap, settings);
	while ((argv[argc] = va_arg(ap, char *)) != NULL)
		argc++;
	va_end(ap);
	environ = none;
	status = options_parse(settings, argc, argv, &err);
	environ = saved;
	ck_assert_msg(status == 0, "settings: %s", err.message);
}

char *
strlist_text(const struct strlist *list)
{
	struct text text = {0};

	text_add(&text, "", 0);
	for (size_t i = 0; i < list->count; i++)
		text_addf(&text, "%s\n", list->items[i]);
	return text.data;
}

char *
json_text(yyjson_mut_val *value)
{
	char *text = yyjson_mut_val_write(value, 0, NULL);

	ck_assert_msg(text != NULL, "this cannot be written as JSON");
	return text;
}

char *
json_at(const char *json, const char *pointer)
{
	yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
	yyjson_val *value;
	char *text;

	ck_assert_msg(doc != NULL, "not JSON: %s", json);
	value = yyjson_doc_ptr_get(doc, pointer);
	text = value != NULL ? yyjson_val_write(value, 0, NULL)
	                     : xstrdup("(none)");
	yyjson_doc_free(doc);
	return text;
}

void
assert_json(const char *json, const char *pointer, const char *expected)
{
	char *found = json_at(json, pointer);

	ck_assert_msg(strcmp(found, expected) == 0,
	    "at \"%s\" is %s and not %s in %s", pointer, found, expected, json);
	free(found);
}

long long
milliseconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

/* The tick wakes the loop up, so that the deadline is looked at. */
static bool
turn(struct event_base *base, const bool *flag, long long milliseconds)
{
	static const struct timeval interval = {.tv_usec = 10000};
	struct event *tick = event_new(base, -1, EV_PERSIST, on_tick, NULL);
	long long end = milliseconds_now() + milliseconds;

	event_add(tick, &interval);
	while ((flag == NULL || !*flag) && milliseconds_now() < end)
		event_base_loop(base, EVLOOP_ONCE);
	event_free(tick);
	return flag != NULL && *flag;
}

bool
loop_until(struct event_base *base, const bool *flag)
{
	return turn(base, flag, PATIENCE_SECONDS * 1000 / 2);
}

void
loop_for(struct event_base *base, int milliseconds)
{
	turn(base, NULL, milliseconds);
}

int
open_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	ck_assert_ptr_nonnull(directory);
	while (readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count;
}

bool
under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload != NULL && strstr(preload, "vgpreload") != NULL;
}

char *
scratch_new(void)
{
	char *directory = xstrdup("/tmp/code-sandbox-unit-XXXXXX");

	ck_assert_ptr_nonnull(mkdtemp(directory));
	return directory;
}

void
scratch_free(char *directory)
{
	DIR *stream = opendir(directory);
	struct dirent *entry;

	while (stream != NULL && (entry = readdir(stream)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(stream), entry->d_name, 0);
	if (stream != NULL)
		closedir(stream);
	rmdir(directory);
	free(directory);
}

char *
scratch_program(const char *directory, const char *name, const char *content)
{
	char *path = xasprintf("%s/%s", directory, name);
	FILE *stream = fopen(path, "we");

	ck_assert_ptr_nonnull(stream);
	ck_assert_int_ge(fputs(content, stream), 0);
	ck_assert_int_eq(fclose(stream), 0);
	ck_assert_int_eq(chmod(path, 0700), 0);
	return path;
}
