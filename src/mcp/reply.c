#include "mcp/reply.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "mcp/icon.h"
#include "mcp/rpc.h"

/* What we say of ourselves changes only with the program. */
#define CACHE_MS 3600000

void
reply_init(struct reply *reply)
{
	*reply = (struct reply){.doc = json_new(), .cache_ms = CACHE_MS};
	reply->result = yyjson_mut_obj(reply->doc);
}

void
reply_release(struct reply *reply)
{
	yyjson_mut_doc_free(reply->doc);
}

yyjson_mut_val *
reply_server_info(yyjson_mut_doc *doc, enum revision revision)
{
	yyjson_mut_val *info = yyjson_mut_obj(doc);

	yyjson_mut_obj_add_str(doc, info, "name", "code-sandbox");
	if (revision >= REVISION_2025_06_18)
		yyjson_mut_obj_add_str(doc, info, "title", "Code sandbox");
	yyjson_mut_obj_add_str(doc, info, "version", VERSION);
	return info;
}

yyjson_mut_val *
reply_meta(yyjson_mut_doc *doc, yyjson_mut_val *result)
{
	yyjson_mut_val *meta = yyjson_mut_obj_get(result, "_meta");

	if (meta == NULL)
		meta = yyjson_mut_obj_add_obj(doc, result, "_meta");
	return meta;
}

void
reply_complete(struct reply *reply, enum revision revision)
{
	yyjson_mut_doc *doc = reply->doc;
	yyjson_mut_val *result = reply->result;
	yyjson_mut_val *info;

	if (!revision_is_modern(revision))
		return;
	info = reply_server_info(doc, revision);
	yyjson_mut_obj_add_str(doc, result, "resultType",
	    reply->result_type != NULL ? reply->result_type : "complete");
	yyjson_mut_obj_add_val(doc, reply_meta(doc, result),
	    "io.modelcontextprotocol/serverInfo", info);
	if (!reply->cacheable)
		return;
	/* Not in every result: it is longer than some of them. */
	icon_add(doc, info, revision);
	yyjson_mut_obj_add_int(doc, result, "ttlMs", reply->cache_ms);
	yyjson_mut_obj_add_str(doc, result, "cacheScope", "private");
}

static void
send_text(
    const struct outlet *outlet, char *text, size_t length, enum err_code code)
{
	if (outlet->reply != NULL)
		outlet->reply(outlet->arg, text, length, code);
	free(text);
}

void
reply_send(struct reply *reply, const struct outlet *outlet, const char *id,
    enum revision revision)
{
	struct err err;
	size_t length;
	char *text;

	reply_complete(reply, revision);
	text = rpc_result(id, reply->doc, reply->result, &length);
	if (text != NULL) {
		send_text(outlet, text, length, ERR_NONE);
		return;
	}
	/* Who waits for an answer gets one. */
	err_set(&err, ERR_INTERNAL, "the answer could not be written as JSON");
	log_warn("%s", err.message);
	reply_send_error(outlet, id, &err, NULL);
}

void
reply_send_error(const struct outlet *outlet, const char *id,
    const struct err *err, const char *data)
{
	size_t length;
	char *text = rpc_error(id, err, data, &length);

	send_text(outlet, text, length, err->code);
}
