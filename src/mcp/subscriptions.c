#include "mcp/subscriptions.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "mcp/reply.h"

#define META_SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"
#define SUBSCRIPTIONS_MAX 64

struct subscription {
	TAILQ_ENTRY(subscription) entry;
	char *id;
	enum revision revision;
	struct outlet outlet;
};

void
subscriptions_init(struct subscriptions *subscriptions)
{
	TAILQ_INIT(&subscriptions->list);
	subscriptions->count = 0;
}

static void
forget(struct subscriptions *subscriptions, struct subscription *subscription)
{
	TAILQ_REMOVE(&subscriptions->list, subscription, entry);
	subscriptions->count--;
	free(subscription->id);
	free(subscription);
}

/* There will be no response. */
static void
drop(struct subscriptions *subscriptions, struct subscription *subscription)
{
	struct outlet outlet = subscription->outlet;

	forget(subscriptions, subscription);
	if (outlet.drop != NULL)
		outlet.drop(outlet.arg);
}

static void
add_id(yyjson_mut_doc *doc, yyjson_mut_val *object,
    const struct subscription *subscription)
{
	yyjson_mut_obj_add_val(doc, reply_meta(doc, object), META_SUBSCRIPTION,
	    yyjson_mut_raw(doc, subscription->id));
}

static void
send_end(const struct subscription *subscription)
{
	struct reply reply;

	reply_init(&reply);
	add_id(reply.doc, reply.result, subscription);
	reply_send(&reply, &subscription->outlet, subscription->id,
	    subscription->revision);
	reply_release(&reply);
}

void
subscriptions_end(struct subscriptions *subscriptions)
{
	struct subscription *subscription;

	while ((subscription = TAILQ_FIRST(&subscriptions->list)) != NULL) {
		send_end(subscription);
		forget(subscriptions, subscription);
	}
}

static void
acknowledge(const struct subscription *subscription)
{
	yyjson_mut_doc *doc = json_new();
	yyjson_mut_val *params = yyjson_mut_obj(doc);
	size_t length;
	char *text;

	add_id(doc, params, subscription);
	/* What of the wishes we grant: nothing changes, so nothing. */
	yyjson_mut_obj_add_obj(doc, params, "notifications");
	text = rpc_notification(
	    "notifications/subscriptions/acknowledged", doc, params, &length);
	if (text != NULL)
		subscription->outlet.notify(
		    subscription->outlet.arg, text, length);
	free(text);
	yyjson_mut_doc_free(doc);
}

int
subscriptions_add(struct subscriptions *subscriptions,
    const struct request *request, struct err *err)
{
	yyjson_val *wishes =
	    yyjson_obj_get(request->message->params, "notifications");
	struct subscription *subscription;

	if (!yyjson_is_obj(wishes))
		return err_set(
		    err, ERR_PARAMS, "\"notifications\" must be an object");
	if (subscriptions->count >= SUBSCRIPTIONS_MAX)
		return err_set(err, ERR_REQUEST,
		    "this client has %d subscriptions already",
		    subscriptions->count);
	subscription = xcalloc(1, sizeof(*subscription));
	subscription->id = xstrdup(request->message->id);
	subscription->revision = request->revision;
	subscription->outlet = request->outlet;
	TAILQ_INSERT_TAIL(&subscriptions->list, subscription, entry);
	subscriptions->count++;
	acknowledge(subscription);
	return 0;
}

bool
subscriptions_include(const struct subscriptions *subscriptions, const char *id)
{
	const struct subscription *subscription;

	TAILQ_FOREACH (subscription, &subscriptions->list, entry)
		if (strcmp(subscription->id, id) == 0)
			return true;
	return false;
}

void
subscriptions_cancel(struct subscriptions *subscriptions, const char *id)
{
	struct subscription *subscription, *next;

	TAILQ_FOREACH_SAFE (subscription, &subscriptions->list, entry, next)
		if (strcmp(subscription->id, id) == 0)
			drop(subscriptions, subscription);
}

void
subscriptions_disconnect(struct subscriptions *subscriptions, const void *owner)
{
	struct subscription *subscription, *next;

	TAILQ_FOREACH_SAFE (subscription, &subscriptions->list, entry, next)
		if (subscription->outlet.owner == owner)
			drop(subscriptions, subscription);
}
