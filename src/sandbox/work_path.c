#include "sandbox/work_path.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/token.h"
#include "base/utf8.h"

#define PATH_LENGTH_MAX 1024
#define COMPONENT_MAX 255
#define FILES_URI "sandbox://files/"
#define SESSION_URI "sandbox://session/"

static int
check_characters(const char *path, size_t length, struct err *err)
{
	size_t step;

	for (size_t i = 0; i < length; i += step) {
		step = utf8_sequence(path + i, length - i);
		if (step == 0)
			return err_set(err, ERR_ARGUMENT,
			    "The path \"%.100s\" is not UTF-8.", path);
		if (utf8_is_control(path + i))
			return err_set(err, ERR_ARGUMENT,
			    "A path must not hold NUL, newlines or other "
			    "control characters.");
	}
	return 0;
}

static int
check_component(
    const char *path, const char *component, size_t length, struct err *err)
{
	if (length == 0)
		return err_set(err, ERR_ARGUMENT,
		    "The path \"%.100s\" has an empty part: write it with "
		    "single slashes, and none at the end.",
		    path);
	if (length <= 2 && strncmp(component, "..", length) == 0)
		return err_set(err, ERR_ARGUMENT,
		    "The path \"%.100s\" must not have \".\" or \"..\" in it: "
		    "it is relative to the working directory, and stays "
		    "there.",
		    path);
	if (length > COMPONENT_MAX)
		return err_set(err, ERR_ARGUMENT,
		    "The path \"%.100s\" has a name of %zu bytes in it; the "
		    "limit is %d.",
		    path, length, COMPONENT_MAX);
	return 0;
}

int
work_path_check(const char *path, size_t length, struct err *err)
{
	const char *component = path, *slash;

	if (length == 0)
		return err_set(err, ERR_ARGUMENT,
		    "A path is empty: name a file, such as \"data.csv\".");
	if (length > PATH_LENGTH_MAX)
		return err_set(err, ERR_ARGUMENT,
		    "A path has %zu bytes; the limit is %d.", length,
		    PATH_LENGTH_MAX);
	if (check_characters(path, length, err) != 0)
		return -1;
	if (*path == '/')
		return err_set(err, ERR_ARGUMENT,
		    "The path \"%.100s\" is absolute: name the file relative "
		    "to the working directory, such as \"data.csv\".",
		    path);
	for (; (slash = strchr(component, '/')) != NULL; component = slash + 1)
		if (check_component(
		        path, component, (size_t)(slash - component), err) != 0)
			return -1;
	return check_component(path, component, strlen(component), err);
}

bool
work_path_clash(const char *one, const char *other)
{
	size_t length = strlen(one), other_length = strlen(other);
	size_t shorter = length < other_length ? length : other_length;

	if (strncmp(one, other, shorter) != 0)
		return false;
	return length == other_length || one[shorter] == '/' ||
	    other[shorter] == '/';
}

/* What RFC 3986 leaves as it is in a path. */
static bool
is_plain(char character)
{
	return isalnum((unsigned char)character) ||
	    (character != '\0' && strchr("-._~/", character) != NULL);
}

char *
work_path_uri(const char *session, const char *path)
{
	static const char digits[] = "0123456789ABCDEF";
	char *encoded = xmalloc(strlen(path) * 3 + 1), *end = encoded, *uri;

	for (; *path != '\0'; path++) {
		unsigned char byte = (unsigned char)*path;

		if (is_plain(*path)) {
			*end++ = *path;
			continue;
		}
		*end++ = '%';
		*end++ = digits[byte >> 4];
		*end++ = digits[byte & 15];
	}
	*end = '\0';
	uri = session != NULL ? xasprintf(SESSION_URI "%s/%s", session, encoded)
	                      : xasprintf(FILES_URI "%s", encoded);
	free(encoded);
	return uri;
}

bool
work_path_is_session_uri(const char *uri)
{
	return strncmp(uri, SESSION_URI, strlen(SESSION_URI)) == 0;
}

static int
hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

/* In place; false when a % is not followed by two digits. */
static bool
decode_percent(char *text, size_t *length)
{
	char *end = text;

	for (const char *next = text; *next != '\0'; next++) {
		int high, low;

		if (*next != '%') {
			*end++ = *next;
			continue;
		}
		high = hex_value(next[1]);
		low = high < 0 ? -1 : hex_value(next[2]);
		if (low < 0)
			return false;
		*end++ = (char)(high << 4 | low);
		next += 2;
	}
	*end = '\0';
	*length = (size_t)(end - text);
	return true;
}

int
work_path_parse_uri(
    const char *uri, char **session, char **path, struct err *err)
{
	const char *handle = uri + strlen(SESSION_URI);
	char *decoded;
	size_t length;

	if (!work_path_is_session_uri(uri) || !token_is_one(handle, '/'))
		return err_set(
		    err, ERR_RESOURCE, "unknown resource: %.200s", uri);
	decoded = xstrdup(handle + TOKEN_LENGTH + 1);
	if (!decode_percent(decoded, &length)) {
		free(decoded);
		return err_set(err, ERR_RESOURCE,
		    "a %% that is not followed by two hexadecimal digits: "
		    "%.200s",
		    uri);
	}
	if (work_path_check(decoded, length, err) != 0) {
		err->code = ERR_RESOURCE;
		free(decoded);
		return -1;
	}
	*session = xstrndup(handle, TOKEN_LENGTH);
	*path = decoded;
	return 0;
}
