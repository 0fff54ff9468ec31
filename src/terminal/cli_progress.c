#include "terminal/cli_progress.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/monotonic.h"
#include "base/spinner.h"
#include "settings/settings.h"
#include "terminal/cli_write.h"
#include "terminal/terminal.h"

static const struct timeval interval = {.tv_usec = 100000};

struct cli_progress {
	struct spinner spinner;
	struct event *timer;
	bool shown; /* it may be */
};

static void
on_write(void *arg, const char *data, size_t length)
{
	(void)arg;
	cli_write(STDERR_FILENO, data, length);
}

static int
on_columns(void *arg)
{
	(void)arg;
	return terminal_columns(STDERR_FILENO);
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct cli_progress *progress = arg;

	(void)fd;
	(void)what;
	spinner_tick(&progress->spinner, monotonic_ms());
}

static void
before_log(void *arg)
{
	struct cli_progress *progress = arg;

	spinner_erase(&progress->spinner);
}

/* With --verbose there are lines enough. */
static bool
may_draw(const struct settings *settings)
{
	const char *no_color = getenv("NO_COLOR");

	return !settings->verbose && isatty(STDERR_FILENO) &&
	    !terminal_is_dumb() && (no_color == NULL || *no_color == '\0');
}

struct cli_progress *
cli_progress_new(struct event_base *base, const struct settings *settings)
{
	static const struct spinner_terminal terminal = {
	    .write = on_write, .columns = on_columns};
	struct cli_progress *progress = xcalloc(1, sizeof(*progress));

	spinner_init(&progress->spinner, &terminal);
	progress->timer = event_new(base, -1, EV_PERSIST, on_tick, progress);
	progress->shown = may_draw(settings);
	log_set_before(before_log, progress);
	return progress;
}

void
cli_progress_say(struct cli_progress *progress, const char *text)
{
	log_debug("%s", text);
	if (!progress->shown)
		return;
	spinner_say(&progress->spinner, text, monotonic_ms());
	if (!evtimer_pending(progress->timer, NULL))
		evtimer_add(progress->timer, &interval);
}

void
cli_progress_end(struct cli_progress *progress)
{
	progress->shown = false;
	evtimer_del(progress->timer);
	spinner_release(&progress->spinner);
}

void
cli_progress_free(struct cli_progress *progress)
{
	cli_progress_end(progress);
	log_set_before(NULL, NULL);
	event_free(progress->timer);
	free(progress);
}
