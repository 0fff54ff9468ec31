#ifndef SUBSCRIPTIONS_H
#define SUBSCRIPTIONS_H

#include <stdbool.h>

#include <bsd/sys/queue.h>

#include "mcp/request.h"

/*
 * The subscriptions/listen requests of one client.  Nothing that we list ever
 * changes, so after the acknowledgement a stream stays silent until one side
 * ends it.
 */

struct subscription;

struct subscriptions {
	TAILQ_HEAD(subscription_list, subscription) list;
	int count;
};

void subscriptions_init(struct subscriptions *subscriptions);
/* Ends them in order: each gets its response. */
void subscriptions_end(struct subscriptions *subscriptions);
int subscriptions_add(struct subscriptions *subscriptions,
    const struct request *request, struct err *err);
bool subscriptions_include(
    const struct subscriptions *subscriptions, const char *id);
void subscriptions_cancel(struct subscriptions *subscriptions, const char *id);
void subscriptions_disconnect(
    struct subscriptions *subscriptions, const void *owner);

#endif
