#include "engine/command.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/capture.h"

#define OUTPUT_LIMIT ((size_t)256 * 1024)
/* An error holds no more, and has to say what it is about. */
#define WORDS_LIMIT 1200
#define LINE_LIMIT 512

struct command {
	struct command_spec spec;
	struct child *child;
	struct event *timer;
	bool timed_out;
	struct err err;
	struct capture captures[CHILD_STREAMS];
	char line[LINE_LIMIT];
	size_t line_length;
};

static void
command_free(struct command *command)
{
	for (size_t i = 0; i < CHILD_STREAMS; i++)
		capture_release(&command->captures[i]);
	event_free(command->timer);
	free(command);
}

static char *
trimmed_text(const struct capture *capture)
{
	size_t length;
	char *text = capture_text(capture, &length);

	while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL)
		text[--length] = '\0';
	return text;
}

static void
finish(struct command *command, int exit_status)
{
	char *out = trimmed_text(&command->captures[CHILD_STDOUT]);
	char *words = trimmed_text(&command->captures[CHILD_STDERR]);

	if (command->err.code != ERR_NONE) {
		free(words);
		words = xstrdup(command->err.message);
	} else if (command->timed_out) {
		free(words);
		words = xasprintf("no answer within %d seconds",
		    command->spec.timeout_seconds);
	}
	command->spec.done(command->spec.arg,
	    &(struct command_result){.ok = exit_status == 0,
	        .exit_status = exit_status,
	        .out = out,
	        .words = words});
	free(out);
	free(words);
	command_free(command);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct command *command = arg;

	(void)fd;
	(void)what;
	if (command->child == NULL) {
		finish(command, -1);
		return;
	}
	command->timed_out = true;
	child_kill(command->child);
}

static void
split_lines(struct command *command, const char *data, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		/* Progress bars overwrite their line with a carriage return. */
		bool ends = data[i] == '\n' || data[i] == '\r';

		if (!ends && command->line_length < LINE_LIMIT - 1)
			command->line[command->line_length++] = data[i];
		if (!ends || command->line_length == 0)
			continue;
		command->line[command->line_length] = '\0';
		command->line_length = 0;
		command->spec.line(command->spec.arg, command->line);
	}
}

static void
on_output(void *arg, enum child_stream stream, const char *data, size_t length)
{
	struct command *command = arg;

	capture_add(&command->captures[stream], data, length);
	if (command->spec.line != NULL)
		split_lines(command, data, length);
}

static void
on_done(void *arg, int status)
{
	struct command *command = arg;

	command->child = NULL;
	finish(command, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static const struct child_callbacks callbacks = {on_output, on_done};

struct command *
command_run(const struct command_spec *spec)
{
	struct command *command = xcalloc(1, sizeof(*command));
	struct timeval timeout = {.tv_sec = spec->timeout_seconds};

	command->spec = *spec;
	for (size_t i = 0; i < CHILD_STREAMS; i++)
		capture_init(&command->captures[i],
		    i == CHILD_STDOUT ? OUTPUT_LIMIT : WORDS_LIMIT);
	command->timer = evtimer_new(spec->base, on_timer, command);
	command->child = child_spawn(spec->children,
	    &(struct child_spec){.argv = spec->argv->items,
	        .envp = spec->env->items,
	        .with_stdin = spec->input != NULL,
	        .callbacks = &callbacks,
	        .arg = command},
	    &command->err);
	if (command->child == NULL)
		timeout = (struct timeval){0}; /* report it from the loop */
	else if (spec->input != NULL) {
		child_write(command->child,
		    &(struct iovec){
		        (void *)(uintptr_t)spec->input, spec->input_length},
		    1);
		child_finish_stdin(command->child);
	}
	evtimer_add(command->timer, &timeout);
	return command;
}

void
command_drop(struct command *command)
{
	if (command->child != NULL) {
		child_abandon(command->child);
		child_kill(command->child);
	}
	command_free(command);
}
