#include "fuzz.h"

#include <stdarg.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/log.h"
#include "options/options.h"

#define TURNS_MAX 1000
#define TIMERS_MAX 256

/* --- in the place of what is different each time -------------------------- */

static uint32_t random_count;

/* Ids of sessions and tasks can stand in an input. */
uint32_t
arc4random(void)
{
	return ++random_count;
}

/* Takes the place of log.c: says nothing, but reads its arguments. */
void
log_warn(const char *format, ...)
{
	char line[4096];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
}

void
log_debug(const char *format, ...)
{
	(void)format;
}

void
log_set_verbose(bool verbose)
{
	(void)verbose;
}

bool
log_is_verbose(void)
{
	return false;
}

/* --- inputs --------------------------------------------------------------- */

struct input
input_begin(const uint8_t *data, size_t size)
{
	random_count = 0;
	return (struct input){(const char *)data, size};
}

unsigned char
input_byte(struct input *input)
{
	if (input->length == 0)
		return 0;
	input->length--;
	return (unsigned char)*input->data++;
}

size_t
input_piece(struct input *input)
{
	size_t byte = input_byte(input);

	return 1 + byte * byte / 16;
}

bool
input_line(struct input *input, struct input *line)
{
	const char *newline;

	*line = *input;
	if (input->length == 0)
		return false;
	newline = memchr(input->data, '\n', input->length);
	if (newline != NULL)
		line->length = (size_t)(newline - input->data);
	input->data += line->length + (newline != NULL);
	input->length -= line->length + (newline != NULL);
	return true;
}

bool
input_skip(struct input *line, const char *prefix)
{
	size_t length = strlen(prefix);

	if (line->length < length || memcmp(line->data, prefix, length) != 0)
		return false;
	line->data += length;
	line->length -= length;
	return true;
}

unsigned long
input_number(const struct input *line)
{
	char *text = xstrndup(line->data, line->length);
	unsigned long number = strtoul(text, NULL, 10);

	free(text);
	return number;
}

void
in_pieces(const struct input *input, size_t piece,
    void (*feed)(void *arg, const char *data, size_t length), void *arg)
{
	for (size_t done = 0; done < input->length; done += piece) {
		char *copy;

		if (piece > input->length - done)
			piece = input->length - done;
		copy = xcalloc(1, piece);
		memcpy(copy, input->data + done, piece);
		feed(arg, copy, piece);
		free(copy);
	}
}

/* --- bytes ---------------------------------------------------------------- */

void
bytes_add(struct bytes *bytes, const void *data, size_t length)
{
	bytes->data = xrealloc(bytes->data, bytes->length + length + 1);
	if (length > 0)
		memcpy(bytes->data + bytes->length, data, length);
	bytes->length += length;
}

bool
bytes_equal(const struct bytes *bytes, const void *data, size_t length)
{
	return bytes->length == length &&
	    (length == 0 || memcmp(bytes->data, data, length) == 0);
}

void
bytes_release(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){0};
}

bool
is_utf8(const char *data, size_t length)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	char *text =
	    yyjson_mut_val_write(yyjson_mut_strn(doc, data, length), 0, NULL);
	bool valid = text != NULL;

	free(text);
	yyjson_mut_doc_free(doc);
	return valid;
}

void
settings_make(struct settings *settings, ...)
{
	char program[] = "code-sandbox-mcp", *none[] = {NULL};
	char *argv[8] = {program}, **saved = environ;
	struct err err;
	int argc = 1, status;
	va_list ap;

	va_start(ap, settings);
	while ((argv[argc] = va_arg(ap, char *)) != NULL)
		argc++;
	va_end(ap);
	environ = none;
	status = options_parse(settings, argc, argv, &err);
	environ = saved;
	EXPECT(status == 0);
}

/* --- messages ------------------------------------------------------------- */

static void
expect_one_message(yyjson_val *message)
{
	yyjson_val *id = yyjson_obj_get(message, "id");
	yyjson_val *method = yyjson_obj_get(message, "method");
	yyjson_val *result = yyjson_obj_get(message, "result");
	yyjson_val *error = yyjson_obj_get(message, "error");

	EXPECT(yyjson_equals_str(yyjson_obj_get(message, "jsonrpc"), "2.0"));
	EXPECT((method != NULL) + (result != NULL) + (error != NULL) == 1);
	if (method != NULL) {
		EXPECT(yyjson_is_str(method) && id == NULL);
		EXPECT(yyjson_is_obj(yyjson_obj_get(message, "params")));
	} else if (result != NULL) {
		EXPECT(yyjson_is_obj(result));
		EXPECT(yyjson_is_str(id) || yyjson_is_int(id));
	} else {
		EXPECT(yyjson_is_int(yyjson_obj_get(error, "code")));
		EXPECT(yyjson_is_str(yyjson_obj_get(error, "message")));
		EXPECT(id == NULL || yyjson_is_str(id) || yyjson_is_int(id));
	}
}

yyjson_doc *
expect_message(const char *data, size_t length)
{
	yyjson_doc *doc = yyjson_read(data, length, 0);
	yyjson_val *root = yyjson_doc_get_root(doc), *part;
	size_t i, count;

	EXPECT(doc != NULL);
	EXPECT(memchr(data, '\n', length) == NULL);
	if (!yyjson_is_arr(root)) {
		expect_one_message(root);
		return doc;
	}
	EXPECT(yyjson_arr_size(root) > 0);
	yyjson_arr_foreach(root, i, count, part)
	{
		expect_one_message(part);
	}
	return doc;
}

/* --- time ----------------------------------------------------------------- */

struct event_base *
loop_base(void)
{
	static struct event_base *base;

	if (base == NULL)
		base = event_base_new();
	return base;
}

void
loop_turn(void)
{
	struct event_base *base = loop_base();
	int turns = 0;

	do {
		event_base_loop(base, EVLOOP_NONBLOCK);
		EXPECT(turns++ < TURNS_MAX);
	} while (
	    event_base_get_max_events(base, EVENT_BASE_COUNT_ACTIVE, 1) > 0);
}

struct timers {
	struct timeval end;
	struct event *events[TIMERS_MAX];
	size_t count;
};

static int
gather_timer(
    const struct event_base *base, const struct event *event, void *arg)
{
	struct timers *timers = arg;
	struct timeval when;

	(void)base;
	if (timers->count < TIMERS_MAX &&
	    event_pending(event, EV_TIMEOUT, &when) &&
	    timercmp(&when, &timers->end, <=))
		timers->events[timers->count++] =
		    (struct event *)(uintptr_t)event;
	return 0;
}

/* Activated all at once: one that frees another takes it off the list. */
void
loop_pass(unsigned long seconds)
{
	/* The loop's clock is a little off. */
	struct timeval wait = {
	    .tv_sec = (time_t)(seconds % 100000), .tv_usec = 500000};
	struct timers timers = {0};

	gettimeofday(&timers.end, NULL);
	timeradd(&timers.end, &wait, &timers.end);
	event_base_foreach_event(loop_base(), gather_timer, &timers);
	for (size_t i = 0; i < timers.count; i++)
		event_active(timers.events[i], EV_TIMEOUT, 1);
	loop_turn();
}
