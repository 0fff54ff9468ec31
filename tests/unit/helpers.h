#ifndef HELPERS_H
#define HELPERS_H

#include <stdbool.h>
#include <stddef.h>

#include <check.h>
#include <yyjson.h>

#include "base/strlist.h"
#include "options/options.h"
#include "settings/settings.h"

/* What the tests of several modules need. */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* For data that holds NUL bytes: the bytes and how many there are. */
#define BYTES(literal) literal, sizeof(literal) - 1
/* No test is slow, but the machine may be. */
#define PATIENCE_SECONDS 60

/* Bytes that grow; all zero is empty.  NUL-terminated once there are any. */
struct text {
	char *data;
	size_t length;
};
void text_add(struct text *text, const char *data, size_t length);
void text_addf(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *text_string(const struct text *text);
void text_release(struct text *text);

/* Whether all of it is valid UTF-8. */
bool is_utf8(const char *data, size_t length);

/* Puts these variables, and no others, in the place of the environment.  The
 * array must stay; use it in a test case with environment_fixture(). */
void environment_set(const char *const *variables);
void environment_fixture(TCase *tcase);

/* Settings from a command line (NULL-terminated, without the program's name)
 * in an empty environment. */
void settings_make(struct settings *settings, ...) __attribute__((sentinel));

/* The words of a list, each on a line of its own. */
char *strlist_text(const struct strlist *list);

/* JSON as text, to be freed. */
char *json_text(yyjson_mut_val *value);
/* The value at a JSON pointer as text, "(none)" without one. */
char *json_at(const char *json, const char *pointer);
/* Fails unless the value at the pointer is this JSON text. */
void assert_json(const char *json, const char *pointer, const char *expected);

struct event_base;
/* Turns the loop until *flag is true; false when that took too long. */
bool loop_until(struct event_base *base, const bool *flag);
/* Turns the loop for so many milliseconds. */
void loop_for(struct event_base *base, int milliseconds);

int open_descriptors(void);
/* Valgrind makes a fork of the vfork in posix_spawn(), which then cannot tell
 * that there is no such program. */
bool under_valgrind(void);
long long milliseconds_now(void);

/* A new directory under /tmp, and its removal with all that is in it. */
char *scratch_new(void);
void scratch_free(char *directory);
/* An executable file of this content; returns its path, to be freed. */
char *scratch_program(
    const char *directory, const char *name, const char *content);

#endif
