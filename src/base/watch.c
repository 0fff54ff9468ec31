#include "base/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/log.h"

static _Noreturn void
die(void)
{
	log_warn("cannot wait for events: %s", strerror(errno));
	_exit(71);
}

struct event_base *
watch_new(void)
{
	struct event_base *base;

	event_set_mem_functions(xmalloc, xrealloc, free);
	base = event_base_new();
	if (base == NULL)
		die();
	return base;
}

void
watch(struct event *event, const struct timeval *timeout)
{
	if (event_add(event, timeout) != 0)
		die();
}

void
watch_after(struct event *timer, int milliseconds)
{
	struct timeval delay = {
	    milliseconds / 1000, milliseconds % 1000 * 1000L};

	watch(timer, &delay);
}

bool
watch_is_closed(int fd)
{
	struct pollfd look = {.fd = fd, .events = POLLRDHUP};

	return poll(&look, 1, 0) == 1 &&
	    (look.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0;
}
