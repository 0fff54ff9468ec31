#include "mcp/mcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "mcp/batch.h"
#include "mcp/mcp_private.h"

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define BATCH_MAX 100

struct mcp *
mcp_new(const struct mcp_config *config)
{
	struct mcp *mcp = xcalloc(1, sizeof(*mcp));

	mcp->config = *config;
	if (mcp->config.methods == NULL)
		mcp->config.methods = mcp_methods;
	mcp->tasks = tasks_new(config->base);
	LIST_INIT(&mcp->clients);
	return mcp;
}

void
mcp_free(struct mcp *mcp)
{
	tasks_free(mcp->tasks);
	free(mcp);
}

const struct mirrored_argument *
mcp_mirrored(const struct mcp *mcp)
{
	return mcp->config.mirrored;
}

struct mcp_client *
mcp_client_new(struct mcp *mcp)
{
	struct mcp_client *client = xcalloc(1, sizeof(*client));

	client->mcp = mcp;
	client->revision = REVISION_UNSAID;
	client->calls =
	    calls_new(&(struct calls_config){.base = mcp->config.base,
	        .settings = mcp->config.settings,
	        .sandbox = mcp->config.sandbox,
	        .tasks = mcp->tasks});
	subscriptions_init(&client->subscriptions);
	LIST_INSERT_HEAD(&mcp->clients, client, entry);
	return client;
}

static void
tell_asker(struct mcp_client *client, const void *owner)
{
	const struct mcp_asker *asker = client->mcp->config.asker;

	if (asker != NULL)
		asker->disconnected(client, owner);
}

void
mcp_client_free(struct mcp_client *client)
{
	LIST_REMOVE(client, entry);
	tell_asker(client, NULL);
	calls_free(client->calls);
	/* A server of other tools has none. */
	if (client->mcp->config.sandbox != NULL)
		sandbox_forget_client(client->mcp->config.sandbox, client);
	subscriptions_end(&client->subscriptions);
	free(client);
}

bool
mcp_client_agreed(const struct mcp_client *client)
{
	return client->agreed;
}

bool
mcp_client_busy(const struct mcp_client *client)
{
	const struct sandbox *sandbox = client->mcp->config.sandbox;

	return !calls_are_over(client->calls) ||
	    (sandbox != NULL && sandbox_has_sessions(sandbox, client));
}

void
mcp_end_subscriptions(struct mcp *mcp)
{
	struct mcp_client *client;

	LIST_FOREACH(client, &mcp->clients, entry)
	subscriptions_end(&client->subscriptions);
}

void
mcp_client_disconnect(struct mcp_client *client, const void *owner)
{
	calls_disconnect(client->calls, owner);
	subscriptions_disconnect(&client->subscriptions, owner);
	tell_asker(client, owner);
}

static const struct method *
find_method(const struct mcp *mcp, const char *name)
{
	for (const struct method *method = mcp->config.methods;
	    method->name != NULL; method++)
		if (strcmp(method->name, name) == 0)
			return method;
	return NULL;
}

static yyjson_val *
meta_value(const struct rpc_message *message, const char *key)
{
	return yyjson_obj_get(yyjson_obj_get(message->params, "_meta"), key);
}

const char *
mcp_named_revision(const struct rpc_message *message)
{
	yyjson_val *value = meta_value(message, META_VERSION);
	const char *name = rpc_text(value);

	/* A number, or a text with a NUL in it, names none that we speak. */
	return name == NULL && value != NULL ? "" : name;
}

static void
refuse(
    const struct request *request, const struct err *err, yyjson_mut_val *data)
{
	char *text = data != NULL ? json_write_value(data) : NULL;

	reply_send_error(&request->outlet, request->message->id, err, text);
	free(text);
}

static void
refuse_version(const struct request *request, const char *requested)
{
	yyjson_mut_doc *doc = json_new();
	yyjson_mut_val *data = yyjson_mut_obj(doc);
	struct err err;

	method_add_versions(
	    doc, yyjson_mut_obj_add_arr(doc, data, "supported"));
	yyjson_mut_obj_add_str(doc, data, "requested", requested);
	err_set(&err, ERR_VERSION, "Unsupported protocol version");
	refuse(request, &err, data);
	yyjson_mut_doc_free(doc);
}

/* Fills in what a modern request says of its client; false: it was refused. */
static bool
read_meta(struct request *request, const char *named)
{
	yyjson_val *capabilities =
	    meta_value(request->message, META_CAPABILITIES);
	struct err err;

	if (!yyjson_is_str(meta_value(request->message, META_VERSION))) {
		err_set(
		    &err, ERR_META, "\"" META_VERSION "\" must be a string");
		refuse(request, &err, NULL);
		return false;
	}
	if (!revision_parse(named, &request->revision) ||
	    !revision_is_modern(request->revision)) {
		refuse_version(request, named);
		return false;
	}
	if (!yyjson_is_obj(capabilities)) {
		err_set(&err, ERR_META,
		    "_meta must carry \"" META_CAPABILITIES "\"");
		refuse(request, &err, NULL);
		return false;
	}
	request->tasks = yyjson_is_obj(yyjson_obj_get(
	    yyjson_obj_get(capabilities, "extensions"), TASKS_EXTENSION));
	return true;
}

static void
run_method(struct mcp_client *client, const struct method *method,
    const struct request *request)
{
	struct reply reply;
	bool later = false;
	struct err err;

	reply_init(&reply);
	reply.cacheable = method->cacheable;
	if ((method->needs_tasks &&
	        method_require_tasks(request, &reply, &err) != 0) ||
	    method->run(client, request, &reply, &later, &err) != 0)
		refuse(request, &err, reply.error_data);
	else if (!later)
		reply_send(&reply, &request->outlet, request->message->id,
		    request->revision);
	reply_release(&reply);
}

/* The method, if it is there for this request; otherwise says why not. */
static const struct method *
choose_method(
    const struct mcp_client *client, const struct request *request, bool modern)
{
	const struct rpc_message *message = request->message;
	const struct method *method = find_method(client->mcp, message->method);
	unsigned era = modern ? ERA_MODERN : ERA_LEGACY;
	struct err err;

	if (method == NULL ||
	    ((method->era & era) == 0 && (modern || client->agreed))) {
		err_set(&err, ERR_METHOD, "unknown method: %.100s",
		    message->method);
	} else if ((method->era & era) == 0) {
		err_set(&err, ERR_META,
		    "%s must carry \"" META_VERSION "\" in its _meta",
		    message->method);
	} else {
		return method;
	}
	refuse(request, &err, NULL);
	return NULL;
}

static void
handle_request(struct mcp_client *client, const struct rpc_message *message,
    const struct outlet *outlet)
{
	struct request request = {.message = message,
	    .outlet = *outlet,
	    .revision = client->revision};
	const char *named = mcp_named_revision(message);
	const struct method *method;

	if (named != NULL && !read_meta(&request, named))
		return;
	method = choose_method(client, &request, named != NULL);
	if (method != NULL)
		run_method(client, method, &request);
}

/* Cancelling what is over, or never was, is no mistake: it crosses our
 * answer on the way. */
static void
handle_cancelled(struct mcp_client *client, const struct rpc_message *message)
{
	char *id = rpc_id_text(yyjson_obj_get(message->params, "requestId"));

	if (id != NULL) {
		calls_cancel(client->calls, id);
		subscriptions_cancel(&client->subscriptions, id);
	}
	free(id);
}

void
mcp_client_handle(struct mcp_client *client, const struct rpc_message *message,
    const struct outlet *outlet)
{
	if (message->kind == RPC_REQUEST)
		handle_request(client, message, outlet);
	else if (message->kind == RPC_NOTIFICATION &&
	    strcmp(message->method, "notifications/cancelled") == 0)
		handle_cancelled(client, message);
	else if (message->kind == RPC_RESPONSE && message->id != NULL &&
	    client->mcp->config.asker != NULL)
		client->mcp->config.asker->answered(client, message);
}

static void
receive_value(struct mcp_client *client, yyjson_val *root,
    const struct outlet *outlet, struct batch *batch)
{
	struct rpc_message message;
	struct err err;
	int status = rpc_check(&message, root, &err);

	if (batch != NULL && message.kind == RPC_REQUEST)
		batch_expect(batch);
	/* What is held against the headers of its own must not slip by. */
	if (status == 0 && batch != NULL &&
	    mcp_named_revision(&message) != NULL)
		status = err_set(&err, ERR_REQUEST,
		    "a message that names its revision comes alone, and not "
		    "in a batch");
	if (status == 0)
		mcp_client_handle(client, &message, outlet);
	else if (message.kind == RPC_REQUEST)
		/* A notification is never answered, not even a bad one. */
		reply_send_error(outlet, message.id, &err, NULL);
	rpc_message_release(&message);
}

/* Batches were part of one revision only. */
static void
receive_batch(
    struct mcp_client *client, yyjson_val *root, const struct outlet *outlet)
{
	struct batch *batch;
	struct outlet part;
	yyjson_arr_iter iter = yyjson_arr_iter_with(root);
	yyjson_val *item;
	struct err err;

	if (yyjson_arr_size(root) > BATCH_MAX) {
		err_set(&err, ERR_REQUEST,
		    "a batch has at most %d messages; this one has %zu",
		    BATCH_MAX, yyjson_arr_size(root));
		reply_send_error(outlet, NULL, &err, NULL);
		return;
	}
	batch = batch_new(outlet);
	batch_outlet(batch, &part);
	while ((item = yyjson_arr_iter_next(&iter)) != NULL)
		receive_value(client, item, &part, batch);
	batch_close(batch);
}

void
mcp_client_receive(struct mcp_client *client, const char *data, size_t length,
    const struct outlet *outlet)
{
	struct err err;
	yyjson_doc *doc = rpc_read(data, length, &err);
	yyjson_val *root = yyjson_doc_get_root(doc);

	if (doc == NULL)
		reply_send_error(outlet, NULL, &err, NULL);
	else if (yyjson_is_arr(root) && yyjson_arr_size(root) > 0 &&
	    client->agreed && client->revision == REVISION_2025_03_26)
		receive_batch(client, root, outlet);
	else
		receive_value(client, root, outlet, NULL);
	yyjson_doc_free(doc);
}
