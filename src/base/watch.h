#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>

struct event;
struct event_base;
struct timeval;

/*
 * libevent, where it must not fail: an event that is not watched for never
 * comes, and what waits for it waits for ever.  So these end the process with
 * a message, as alloc.h does.  Timers cannot fail but for want of memory.
 */
struct event_base *watch_new(void);
void watch(struct event *event, const struct timeval *timeout);
/* A timer. */
void watch_after(struct event *timer, int milliseconds);

/* Whether the other side of a pipe or socket has closed it, though there may
 * be something to read still. */
bool watch_is_closed(int fd);

#endif
