#include "terminal/sixel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/strlist.h"
#include "base/watch.h"
#include "engine/child.h"

#define SIXEL_MAX ((size_t)64 * 1024 * 1024)
#define MEMORY_MAX ((size_t)1024 * 1024 * 1024)

static const struct timeval patience = {.tv_sec = 10};

static const char *const programs[][5] = {
    {"img2sixel", NULL},
    {"chafa", "--format=sixel", "-", NULL},
};
#define PROGRAM_COUNT (sizeof(programs) / sizeof(programs[0]))

struct conversion {
	struct child *child; /* NULL: it has ended */
	char *data;
	size_t length;
	int status;
};

/* The command, with the path of the program in it; empty: there is none. */
static struct strlist
find_command(void)
{
	struct strlist command = {0};

	for (size_t i = 0; i < PROGRAM_COUNT; i++) {
		char *path = child_find_program(programs[i][0]);

		if (path == NULL)
			continue;
		strlist_add(&command, path);
		strlist_add_all(&command, programs[i] + 1);
		free(path);
		break;
	}
	return command;
}

bool
sixel_is_there(void)
{
	struct strlist command = find_command();
	bool there = command.count > 0;

	strlist_release(&command);
	return there;
}

static void
on_output(void *arg, enum child_stream stream, const char *data, size_t length)
{
	struct conversion *conversion = arg;

	if (stream != CHILD_STDOUT)
		return;
	if (length > SIXEL_MAX - conversion->length) {
		child_kill(conversion->child);
		return;
	}
	conversion->data =
	    xrealloc(conversion->data, conversion->length + length);
	memcpy(conversion->data + conversion->length, data, length);
	conversion->length += length;
}

static void
on_done(void *arg, int wait_status)
{
	struct conversion *conversion = arg;

	conversion->child = NULL;
	conversion->status = wait_status;
}

static void
on_late(evutil_socket_t fd, short what, void *arg)
{
	struct conversion *conversion = arg;

	(void)fd;
	(void)what;
	if (conversion->child != NULL)
		child_kill(conversion->child);
}

/* The picture is the program's, and may be made to hurt whoever decodes it. */
static void
feed(struct child *child, char *png, size_t length)
{
	const struct iovec input = {png, length};

	child_limit(child, RLIMIT_AS, MEMORY_MAX);
	child_limit(child, RLIMIT_CPU, (size_t)patience.tv_sec);
	child_limit(child, RLIMIT_FSIZE, 0);
	child_write(child, &input, 1);
	child_finish_stdin(child);
}

/* Turns the loop until the program has ended; it is killed if that is long in
 * coming. */
static void
wait_for(struct event_base *base, struct conversion *conversion)
{
	struct event *late = evtimer_new(base, on_late, conversion);

	evtimer_add(late, &patience);
	while (conversion->child != NULL &&
	    event_base_loop(base, EVLOOP_ONCE) == 0)
		;
	event_free(late);
}

static void
run(struct conversion *conversion, struct strlist *command, char *png,
    size_t length)
{
	static const struct child_callbacks callbacks = {on_output, on_done};
	struct event_base *base = watch_new();
	struct children *children = children_new(base);
	struct strlist env = {0};
	struct err err;

	strlist_addf(&env, "PATH=%s", getenv("PATH"));
	conversion->child = child_spawn(children,
	    &(struct child_spec){.argv = command->items,
	        .envp = env.items,
	        .with_stdin = true,
	        .callbacks = &callbacks,
	        .arg = conversion},
	    &err);
	if (conversion->child == NULL)
		log_warn("%s", err.message);
	else
		feed(conversion->child, png, length);
	wait_for(base, conversion);
	children_free(children);
	event_base_free(base);
	strlist_release(&env);
}

static bool
is_sixel(const struct conversion *conversion)
{
	return WIFEXITED(conversion->status) &&
	    WEXITSTATUS(conversion->status) == 0 && conversion->length > 0 &&
	    memmem(conversion->data, conversion->length, "\033P", 2) != NULL;
}

/* The picture is followed by a newline, which not every program writes. */
char *
sixel_convert(char *png, size_t length, size_t *converted_length)
{
	struct conversion conversion = {.status = -1};
	struct strlist command = find_command();

	if (command.count > 0)
		run(&conversion, &command, png, length);
	strlist_release(&command);
	if (!is_sixel(&conversion)) {
		free(conversion.data);
		return NULL;
	}
	conversion.data = xrealloc(conversion.data, conversion.length + 1);
	if (conversion.data[conversion.length - 1] != '\n')
		conversion.data[conversion.length++] = '\n';
	*converted_length = conversion.length;
	return conversion.data;
}
