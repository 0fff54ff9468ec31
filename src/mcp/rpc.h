#ifndef RPC_H
#define RPC_H

#include <stddef.h>

#include <yyjson.h>

#include "base/err.h"

/*
 * JSON-RPC 2.0: from bytes to a checked message and back.  Knows nothing of
 * MCP or of transports.
 */

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE };

struct rpc_message {
	enum rpc_kind kind;
	char *id; /* as JSON text; NULL when there is none */
	const char *method;
	yyjson_val *params; /* an object, or NULL */
	yyjson_val *result; /* of a response; NULL: it is an error */
	yyjson_doc *doc;    /* that the message owns, or NULL */
};

/* Reads JSON within our bounds; NULL when it is none. */
yyjson_doc *rpc_read(const char *data, size_t length, struct err *err);
/* Makes a message of a value, which must outlive it.  On failure message->id
 * is set if it could be read, so that the error can name it.  Release the
 * message in either case. */
int rpc_check(struct rpc_message *message, yyjson_val *root, struct err *err);
/* Both in one. */
int rpc_parse(struct rpc_message *message, const char *data, size_t length,
    struct err *err);
void rpc_message_release(struct rpc_message *message);

/* The text of a string; NULL when it is none, or has a NUL in it and would be
 * taken for a shorter one. */
const char *rpc_text(yyjson_val *value);
/* An id, or a progress token, as JSON text; NULL when it is neither an integer
 * nor a string, or too long a one to be kept. */
char *rpc_id_text(yyjson_val *value);

/* A message as text, to be freed; doc holds result or params. */
char *rpc_result(const char *id, yyjson_mut_doc *doc, yyjson_mut_val *result,
    size_t *length);
char *rpc_notification(const char *method, yyjson_mut_doc *doc,
    yyjson_mut_val *params, size_t *length);
/* The object that says what is wrong; data is JSON text, or NULL. */
yyjson_mut_val *rpc_error_object(
    yyjson_mut_doc *doc, const struct err *err, const char *data);
char *rpc_error(
    const char *id, const struct err *err, const char *data, size_t *length);

#endif
