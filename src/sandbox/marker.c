#include "sandbox/marker.h"

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

enum operand { OPERAND_NONE, OPERAND_NUMBER, OPERAND_TEXT };

static const struct word {
	const char *text;
	enum marker_word word;
	enum operand operand;
} words[] = {
    {"absent", MARKER_ABSENT, OPERAND_NONE},
    {"ready", MARKER_READY, OPERAND_NONE},
    {"started", MARKER_STARTED, OPERAND_NONE},
    {"exit ", MARKER_EXIT, OPERAND_NUMBER},
    {"signal ", MARKER_SIGNAL, OPERAND_NUMBER},
    {"done ", MARKER_DONE, OPERAND_NUMBER},
    {"note ", MARKER_NOTE, OPERAND_TEXT},
    {"unplaced ", MARKER_UNPLACED, OPERAND_TEXT},
    {"failed", MARKER_FAILED, OPERAND_NONE},
    {"value ", MARKER_VALUE, OPERAND_TEXT},
    {"stays", MARKER_STAYS, OPERAND_NONE},
    {"entry ", MARKER_ENTRY, OPERAND_TEXT},
    {"data ", MARKER_DATA, OPERAND_TEXT},
    {"answered", MARKER_ANSWERED, OPERAND_NONE},
};

static const struct word *
find_word(const char *line)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strncmp(line, words[i].text, strlen(words[i].text)) == 0)
			return &words[i];
	return NULL;
}

static bool
is_complete(const struct word *word, const char *rest, int *number)
{
	const char *error = NULL;

	if (word->operand == OPERAND_NONE)
		return *rest == '\0';
	if (word->operand == OPERAND_NUMBER)
		*number = (int)strtonum(rest, 0, 255, &error);
	return error == NULL;
}

static void
end_of_line(struct marker_scanner *scanner)
{
	char *line = scanner->held + MARKER_PREFIX_LENGTH;
	char *end = scanner->held + scanner->held_length - 1;
	const struct word *word;
	const char *rest;
	int number = 0;

	*end = '\0'; /* in the place of the newline */
	word = find_word(line);
	rest = word != NULL ? line + strlen(word->text) : NULL;
	/* A NUL of its own would hide what follows. */
	if (word == NULL || strlen(line) != (size_t)(end - line) ||
	    !is_complete(word, rest, &number)) {
		*end = '\n';
		release_held(scanner);
		return;
	}
	scanner->held_length = 0;
	scanner->callbacks->marker(scanner->arg, word->word, number,
	    word->operand == OPERAND_TEXT ? rest : "");
}

/* Takes a byte that continues what is held back; false when it does not. */
static bool
hold(struct marker_scanner *scanner, char byte)
{
	if (scanner->held_length < MARKER_PREFIX_LENGTH
	        ? byte != scanner->prefix[scanner->held_length]
	        : byte == MARKER_START)
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
