#include "fuzz.h"

#include <string.h>

#include "base/alloc.h"
#include "base/redact.h"

/*
 * Input: the size of the pieces, two lines that are secret, and the stream.
 * In whatever pieces it comes, the secrets are taken out that one sees who has
 * all of it; the rest comes through.
 */

static void
on_emit(void *arg, const char *data, size_t length)
{
	bytes_add(arg, data, length);
}

static void
feed(void *arg, const char *data, size_t length)
{
	struct redactor *redactor = arg;

	redactor_feed(redactor, data, length);
	EXPECT(redactor->held_length <= redactor->secrets->longest);
}

/* The longest of the secrets that the text begins with; or NULL. */
static const char *
find_secret(
    const struct secrets *secrets, const struct input *text, const char **name)
{
	const char *found = NULL;

	for (size_t i = 0; i < secrets->values.count; i++) {
		struct input rest = *text;
		const char *value = secrets->values.items[i];

		if (!input_skip(&rest, value) ||
		    (found != NULL && strlen(found) >= strlen(value)))
			continue;
		found = value;
		*name = secrets->names.items[i];
	}
	return found;
}

static void
redact_simply(
    struct bytes *bytes, const struct secrets *secrets, struct input text)
{
	while (text.length > 0) {
		const char *name, *secret = find_secret(secrets, &text, &name);

		if (secret != NULL) {
			input_skip(&text, secret);
			bytes_add(bytes, "[", 1);
			bytes_add(bytes, name, strlen(name));
			bytes_add(bytes, "]", 1);
		} else {
			char byte = (char)input_byte(&text);

			bytes_add(bytes, &byte, 1);
		}
	}
}

static void
add_secret(struct secrets *secrets, struct input *input, const char *name)
{
	struct input line;
	char *value;

	input_line(input, &line);
	value = xstrndup(line.data, line.length);
	secrets_add(secrets, name, value);
	free(value);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_begin(data, size);
	size_t piece = input_piece(&input);
	struct secrets secrets = {.longest = 0};
	struct redactor redactor;
	struct bytes seen = {0}, expected = {0};

	add_secret(&secrets, &input, "A");
	add_secret(&secrets, &input, "B");
	redactor_init(&redactor, &secrets, on_emit, &seen);
	in_pieces(&input, piece, feed, &redactor);
	redactor_flush(&redactor);
	redactor_release(&redactor);
	redact_simply(&expected, &secrets, input);
	EXPECT(bytes_equal(&seen, expected.data, expected.length));
	bytes_release(&seen);
	bytes_release(&expected);
	secrets_release(&secrets);
	return 0;
}
