#include "options/option_values.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "base/alloc.h"
#include "settings/names.h"
#include "settings/settings.h"

static int
bad_value(const struct option *option, const char *value, const char *wanted,
    struct err *err)
{
	return err_set(err, ERR_ARGUMENT, "%s: \"%s\" is not %s", option->name,
	    value, wanted);
}

int
option_text(const struct option *option, void *field, const char *value,
    struct err *err)
{
	char **text = field;

	if (*value == '\0')
		return bad_value(option, value, "a value", err);
	free(*text);
	*text = xstrdup(value);
	return 0;
}

int
option_image(const struct option *option, void *field, const char *value,
    struct err *err)
{
	struct err why;

	if (names_check_image(value, &why) != 0)
		return err_set(
		    err, ERR_ARGUMENT, "%s: %s", option->name, why.message);
	return option_text(option, field, value, err);
}

/* A word that is handed to the engine as the value of a flag. */
int
option_word(const struct option *option, void *field, const char *value,
    struct err *err)
{
	for (const char *byte = value; *byte != '\0'; byte++)
		if (!isgraph((unsigned char)*byte) || *value == '-')
			return bad_value(option, value, "a plain word", err);
	return option_text(option, field, value, err);
}

int
option_number(const struct option *option, void *field, const char *value,
    struct err *err)
{
	const char *problem;
	long long number =
	    strtonum(value, option->minimum, option->maximum, &problem);

	if (problem != NULL)
		return err_set(err, ERR_ARGUMENT,
		    "%s: \"%s\" is not a whole number from %lld to %lld",
		    option->name, value, option->minimum, option->maximum);
	*(int *)field = (int)number;
	return 0;
}

int
option_bytes(
    const char *value, long long minimum, long long maximum, long long *bytes)
{
	static const char units[] = "bkmg";
	const char *problem, *unit;
	size_t digits = strspn(value, "0123456789");
	char number[20];

	if (digits == 0 || digits >= sizeof(number))
		return -1;
	memcpy(number, value, digits);
	number[digits] = '\0';
	*bytes = strtonum(number, 0, 1LL << 50, &problem);
	if (problem != NULL)
		return -1;
	if (value[digits] != '\0') {
		unit = strchr(units, tolower((unsigned char)value[digits]));
		if (unit == NULL || value[digits + 1] != '\0')
			return -1;
		if (*bytes > maximum >> (10 * (unit - units)))
			return -1;
		*bytes <<= 10 * (unit - units);
	}
	return *bytes < minimum || *bytes > maximum ? -1 : 0;
}

int
option_size(const struct option *option, void *field, const char *value,
    struct err *err)
{
	long long bytes;

	if (option_bytes(value, option->minimum, option->maximum, &bytes) != 0)
		return err_set(err, ERR_ARGUMENT,
		    "%s: \"%s\" is not a number of bytes from %lld to %lld (k, "
		    "m and g may follow)",
		    option->name, value, option->minimum, option->maximum);
	*(size_t *)field = (size_t)bytes;
	return 0;
}

int
option_memory(const struct option *option, void *field, const char *value,
    struct err *err)
{
	long long bytes;

	if (option_bytes(value, option->minimum, option->maximum, &bytes) != 0)
		return bad_value(option, value,
		    "a number of bytes, 16m or more (k, m and g may follow)",
		    err);
	return option_text(option, field, value, err);
}

int
option_cpus(const struct option *option, void *field, const char *value,
    struct err *err)
{
	size_t length = strspn(value, "0123456789.");
	char *end;

	if (value[length] != '\0' || strtod(value, &end) < 0.01 ||
	    strtod(value, NULL) > 1024 || *end != '\0')
		return bad_value(option, value,
		    "a number of processors such as 0.5 or 2", err);
	return option_text(option, field, value, err);
}

int
option_switch(const struct option *option, void *field, const char *value,
    struct err *err)
{
	(void)option;
	(void)err;
	/* From the environment it is a word, as in VERBOSE=false. */
	*(bool *)field = strcasecmp(value, "true") == 0 ||
	    strcmp(value, "1") == 0 || strcasecmp(value, "yes") == 0;
	return 0;
}

int
option_engine(const struct option *option, void *field, const char *value,
    struct err *err)
{
	if (strcmp(value, "kubernetes") == 0)
		return err_set(err, ERR_ARGUMENT,
		    "kubernetes is not supported as an engine: use podman or "
		    "docker, or a path to one of them");
	return option_word(option, field, value, err);
}

int
option_interpreter(const struct option *option, void *field, const char *value,
    struct err *err)
{
	*(bool *)field = strcmp(value, "warm") == 0;
	if (!*(bool *)field && strcmp(value, "plain") != 0)
		return bad_value(option, value, "warm or plain", err);
	return 0;
}

/* Names of modules; kept without blanks, because they travel as one word. */
int
option_preload(const struct option *option, void *field, const char *value,
    struct err *err)
{
	struct strlist names = {0};
	char *list = xstrdup(""), **text = field;

	strlist_add_split(&names, value, ',');
	for (size_t i = 0; i < names.count; i++) {
		char *longer =
		    xasprintf("%s%s%s", list, i > 0 ? "," : "", names.items[i]);

		free(list);
		list = longer;
	}
	strlist_release(&names);
	free(*text);
	*text = list;
	for (; *list != '\0'; list++)
		if (!isalnum((unsigned char)*list) &&
		    strchr("_.,", *list) == NULL)
			return bad_value(
			    option, value, "a list of module names", err);
	return 0;
}

int
option_transport(const struct option *option, void *field, const char *value,
    struct err *err)
{
	enum transport *transport = field;

	if (strcmp(value, "stdio") == 0)
		*transport = TRANSPORT_STDIO;
	else if (strcmp(value, "streamable-http") == 0 ||
	    strcmp(value, "http") == 0)
		*transport = TRANSPORT_HTTP;
	else
		return bad_value(
		    option, value, "stdio or streamable-http", err);
	return 0;
}

int
option_path(const struct option *option, void *field, const char *value,
    struct err *err)
{
	if (*value != '/' || value[strcspn(value, "?# ")] != '\0')
		return bad_value(option, value, "a path such as /mcp", err);
	return option_text(option, field, value, err);
}

int
option_listen(const struct option *option, void *field, const char *value,
    struct err *err)
{
	if (strncmp(value, "unix:", 5) != 0 || value[5] == '\0')
		return bad_value(option, value, "of the form unix:PATH", err);
	return option_text(option, field, value, err);
}

int
option_seccomp(const struct option *option, void *field, const char *value,
    struct err *err)
{
	char *path;

	if (strcmp(value, "engine") == 0)
		return option_text(option, field, value, err);
	/* The CLI is started from another directory. */
	path = realpath(value, NULL);
	if (path == NULL)
		return err_system(err, errno, "%s: %s", option->name, value);
	free(*(char **)field);
	*(char **)field = path;
	return 0;
}

int
option_items(const struct option *option, void *field, const char *value,
    struct err *err)
{
	if (*value == '\0')
		return bad_value(option, value, "a value", err);
	strlist_add(field, value);
	return 0;
}

int
option_list(const struct option *option, void *field, const char *value,
    struct err *err)
{
	if (*value == '\0')
		return bad_value(option, value, "a value", err);
	strlist_add_split(field, value, ',');
	return 0;
}

/* Handed to the installer of the language, which must not take it for an
 * option of its own. */
int
option_package(const struct option *option, void *field, const char *value,
    struct err *err)
{
	for (const char *byte = value; *byte != '\0'; byte++)
		if (!isprint((unsigned char)*byte) || *value == '-')
			return bad_value(
			    option, value, "the name of a package", err);
	return option_items(option, field, value, err);
}

int
option_pattern(const struct option *option, void *field, const char *value,
    struct err *err)
{
	if (*value == '/')
		return bad_value(option, value,
		    "a pattern for files in the working directory", err);
	return option_items(option, field, value, err);
}
