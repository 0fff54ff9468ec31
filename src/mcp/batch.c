#include "mcp/batch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/reply.h"

/* Of all the answers together; one by one they can be as long as they are. */
#define ANSWERS_MAX ((size_t)64 * 1024 * 1024)

struct batch {
	struct outlet outlet;
	size_t expected, arrived;
	bool closed;
	bool too_long;
	char *text;
	size_t length;
};

struct batch *
batch_new(const struct outlet *outlet)
{
	struct batch *batch = xcalloc(1, sizeof(*batch));

	batch->outlet = *outlet;
	return batch;
}

void
batch_expect(struct batch *batch)
{
	batch->expected++;
}

static void
append(struct batch *batch, const char *text, size_t length)
{
	batch->text = xrealloc(batch->text, batch->length + length);
	memcpy(batch->text + batch->length, text, length);
	batch->length += length;
}

static void
send_too_long(const struct batch *batch)
{
	struct err err;

	err_set(&err, ERR_INTERNAL,
	    "the answers to this batch have more than %zu bytes together: "
	    "send its requests one by one",
	    ANSWERS_MAX);
	reply_send_error(&batch->outlet, NULL, &err, NULL);
}

static void
finish_if_over(struct batch *batch)
{
	if (!batch->closed || batch->arrived < batch->expected)
		return;
	if (batch->too_long) {
		send_too_long(batch);
	} else if (batch->arrived > 0) {
		append(batch, "]", 1);
		batch->outlet.reply(
		    batch->outlet.arg, batch->text, batch->length, ERR_NONE);
	} else if (batch->outlet.drop != NULL) {
		batch->outlet.drop(batch->outlet.arg);
	}
	free(batch->text);
	free(batch);
}

static void
on_notify(void *arg, const char *message, size_t length)
{
	struct batch *batch = arg;

	batch->outlet.notify(batch->outlet.arg, message, length);
}

static void
on_reply(void *arg, const char *message, size_t length, enum err_code code)
{
	struct batch *batch = arg;

	(void)code;
	batch->too_long |= batch->length + length > ANSWERS_MAX;
	if (!batch->too_long) {
		append(batch, batch->arrived == 0 ? "[" : ",", 1);
		append(batch, message, length);
	}
	batch->arrived++;
	finish_if_over(batch);
}

static void
on_drop(void *arg)
{
	struct batch *batch = arg;

	batch->expected--;
	finish_if_over(batch);
}

void
batch_outlet(struct batch *batch, struct outlet *outlet)
{
	*outlet = (struct outlet){.notify = on_notify,
	    .reply = on_reply,
	    .drop = on_drop,
	    .arg = batch,
	    .owner = batch->outlet.owner};
}

void
batch_close(struct batch *batch)
{
	batch->closed = true;
	finish_if_over(batch);
}
