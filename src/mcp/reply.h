#ifndef REPLY_H
#define REPLY_H

#include <stdbool.h>

#include <yyjson.h>

#include "base/err.h"
#include "mcp/outlet.h"
#include "mcp/revision.h"

/*
 * The answer to a request under construction: a document and the result in it.
 * What every result of a revision must carry is added when it is sent.
 */
struct reply {
	yyjson_mut_doc *doc;
	yyjson_mut_val *result;
	bool cacheable; /* its revision wants to hear for how long it may be
	                 * kept by the client: */
	int cache_ms;
	const char *result_type;    /* NULL: "complete" */
	yyjson_mut_val *error_data; /* what an error says besides, or NULL */
};

void reply_init(struct reply *reply);
void reply_release(struct reply *reply);
/* Adds that: for a result that is kept, and not sent. */
void reply_complete(struct reply *reply, enum revision revision);
void reply_send(struct reply *reply, const struct outlet *outlet,
    const char *id, enum revision revision);
/* data is JSON text, or NULL. */
void reply_send_error(const struct outlet *outlet, const char *id,
    const struct err *err, const char *data);

/* The name and version of this program, as an object. */
yyjson_mut_val *reply_server_info(yyjson_mut_doc *doc, enum revision revision);
/* The result's _meta object, made if need be. */
yyjson_mut_val *reply_meta(yyjson_mut_doc *doc, yyjson_mut_val *result);

#endif
