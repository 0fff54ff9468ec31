#include "base/spinner.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

#define ERASE_LINE "\r\033[K"
#define NARROWEST 20

static const char wheel[] = "|/-\\";

void
spinner_init(struct spinner *spinner, const struct spinner_terminal *terminal)
{
	*spinner = (struct spinner){.terminal = *terminal};
}

/* How many bytes of the text fit.  What is not ASCII may be two columns wide:
 * a line that wraps could not be erased. */
static size_t
fitting(const char *text, size_t columns)
{
	size_t length = strlen(text), used = 0, step, width;

	for (size_t i = 0; i < length; i += step) {
		step = utf8_sequence(text + i, length - i);
		width = step > 1 ? 2 : 1;
		if (used + width > columns)
			return i;
		used += width;
	}
	return length;
}

static void
draw(struct spinner *spinner, uint64_t now_ms)
{
	int columns = spinner->terminal.columns(spinner->terminal.arg);
	uint64_t seconds = (now_ms - spinner->since_ms) / 1000;
	char *frame = xasprintf(" (%llu s)", (unsigned long long)seconds);
	size_t used = 3 + strlen(frame), room;
	char *line;

	if (columns < NARROWEST)
		columns = NARROWEST;
	room = (size_t)columns > used ? (size_t)columns - used : 0;
	line = xasprintf(ERASE_LINE "%c %.*s%s",
	    wheel[spinner->turn++ % (sizeof(wheel) - 1)],
	    (int)fitting(spinner->text, room), spinner->text, frame);
	spinner->terminal.write(spinner->terminal.arg, line, strlen(line));
	spinner->drawn = true;
	free(line);
	free(frame);
}

void
spinner_say(struct spinner *spinner, const char *text, uint64_t now_ms)
{
	if (spinner->text == NULL)
		spinner->since_ms = now_ms;
	free(spinner->text);
	/* It comes from the engine, or from an installer. */
	spinner->text = utf8_printable(text, "");
	draw(spinner, now_ms);
}

void
spinner_tick(struct spinner *spinner, uint64_t now_ms)
{
	if (spinner->text != NULL)
		draw(spinner, now_ms);
}

void
spinner_erase(struct spinner *spinner)
{
	if (spinner->drawn)
		spinner->terminal.write(
		    spinner->terminal.arg, ERASE_LINE, strlen(ERASE_LINE));
	spinner->drawn = false;
}

void
spinner_release(struct spinner *spinner)
{
	spinner_erase(spinner);
	free(spinner->text);
	spinner->text = NULL;
}
