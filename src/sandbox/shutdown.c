#include "sandbox/shutdown.h"

#include <signal.h>
#include <stdlib.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/watch.h"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
#define SIGNAL_COUNT (sizeof(signals) / sizeof(signals[0]))

static const struct timeval patience = {.tv_sec = 10};

struct shutdown {
	struct event_base *base;
	struct sandbox *sandbox;
	struct event *signal_events[SIGNAL_COUNT];
	struct event *deadline;
	bool begun;
	int signal;
};

static void
on_gone(void *arg)
{
	struct shutdown *shutdown = arg;

	evtimer_del(shutdown->deadline);
	event_base_loopbreak(shutdown->base);
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct shutdown *shutdown = arg;

	(void)fd;
	(void)what;
	log_warn("the engine did not end all containers in time; the next "
	         "server that starts will remove them");
	event_base_loopbreak(shutdown->base);
}

void
shutdown_begin(struct shutdown *shutdown)
{
	if (shutdown->begun)
		return;
	shutdown->begun = true;
	evtimer_add(shutdown->deadline, &patience);
	sandbox_shut_down(shutdown->sandbox, on_gone, shutdown);
}

static void
on_signal(evutil_socket_t number, short what, void *arg)
{
	struct shutdown *shutdown = arg;

	(void)what;
	if (shutdown->begun) {
		event_base_loopbreak(shutdown->base);
		return;
	}
	log_debug("signal %d: ending", number);
	shutdown->signal = number;
	shutdown_begin(shutdown);
}

/* libevent lets system calls go on after a signal.  A write to somebody who
 * does not read must not: nothing else would ever be done. */
static void
let_interrupt(int number)
{
	struct sigaction action;

	if (sigaction(number, NULL, &action) != 0)
		return;
	action.sa_flags &= ~SA_RESTART;
	sigaction(number, &action, NULL);
}

/* As nohup asks for. */
static bool
is_ignored(int number)
{
	struct sigaction action;

	return number == SIGHUP && sigaction(number, NULL, &action) == 0 &&
	    action.sa_handler == SIG_IGN;
}

struct shutdown *
shutdown_new(struct event_base *base, struct sandbox *sandbox)
{
	struct shutdown *shutdown = xcalloc(1, sizeof(*shutdown));

	shutdown->base = base;
	shutdown->sandbox = sandbox;
	shutdown->deadline = evtimer_new(base, on_deadline, shutdown);
	for (size_t i = 0; i < SIGNAL_COUNT; i++) {
		if (is_ignored(signals[i]))
			continue;
		shutdown->signal_events[i] =
		    evsignal_new(base, signals[i], on_signal, shutdown);
		watch(shutdown->signal_events[i], NULL);
		let_interrupt(signals[i]);
	}
	return shutdown;
}

void
shutdown_free(struct shutdown *shutdown)
{
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		if (shutdown->signal_events[i] != NULL)
			event_free(shutdown->signal_events[i]);
	event_free(shutdown->deadline);
	free(shutdown);
}

int
shutdown_signal(const struct shutdown *shutdown)
{
	return shutdown->signal;
}
