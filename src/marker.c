#include "marker.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <bsd/stdlib.h>

#define MARKER_START '\036'

void
marker_scanner_init(struct marker_scanner *scanner, const char *nonce,
    const struct marker_callbacks *callbacks, void *arg)
{
	*scanner = (struct marker_scanner){.callbacks = callbacks, .arg = arg};
	snprintf(scanner->prefix, sizeof(scanner->prefix), "%c%s ",
	    MARKER_START, nonce);
}

static void
release_held(struct marker_scanner *scanner)
{
	size_t length = scanner->held_length;

	scanner->held_length = 0;
	if (length > 0)
		scanner->callbacks->payload(
		    scanner->arg, scanner->held, length);
}

static const struct {
	const char *text;
	enum marker_word word;
	bool numbered;
} words[] = {
    {"absent", MARKER_ABSENT, false},
    {"ready", MARKER_READY, false},
    {"started", MARKER_STARTED, false},
    {"exit ", MARKER_EXIT, true},
    {"signal ", MARKER_SIGNAL, true},
};

static bool
parse_line(const char *line, enum marker_word *word, int *number)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i].text);
		const char *error = NULL;

		if (strncmp(line, words[i].text, length) != 0)
			continue;
		*word = words[i].word;
		*number = 0;
		if (!words[i].numbered)
			return line[length] == '\0';
		*number = (int)strtonum(line + length, 0, 255, &error);
		return error == NULL;
	}
	return false;
}

static void
end_of_line(struct marker_scanner *scanner)
{
	enum marker_word word;
	char line[MARKER_LINE_MAX] = "";
	int number;

	/* Without the newline: the rest of line stays NUL. */
	memcpy(line, scanner->held + MARKER_PREFIX_LENGTH,
	    scanner->held_length - MARKER_PREFIX_LENGTH - 1);
	if (!parse_line(line, &word, &number)) {
		release_held(scanner);
		return;
	}
	scanner->held_length = 0;
	scanner->callbacks->marker(scanner->arg, word, number);
}

/* Takes a byte that continues what is held back; false when it does not. */
static bool
hold(struct marker_scanner *scanner, char byte)
{
	if (scanner->held_length < MARKER_PREFIX_LENGTH &&
	    byte != scanner->prefix[scanner->held_length])
		return false;
	if (scanner->held_length == sizeof(scanner->held))
		return false;
	scanner->held[scanner->held_length++] = byte;
	if (byte == '\n')
		end_of_line(scanner);
	return true;
}

void
marker_scanner_feed(
    struct marker_scanner *scanner, const char *data, size_t length)
{
	const char *end = data + length;

	while (data < end) {
		const char *start;

		if (scanner->held_length > 0) {
			if (hold(scanner, *data))
				data++;
			else
				release_held(scanner);
			continue;
		}
		start = memchr(data, MARKER_START, (size_t)(end - data));
		if (start == NULL)
			start = end;
		if (start > data)
			scanner->callbacks->payload(
			    scanner->arg, data, (size_t)(start - data));
		data = start;
		if (data < end)
			hold(scanner, *data++);
	}
}

void
marker_scanner_flush(struct marker_scanner *scanner)
{
	release_held(scanner);
}
