#include "mcp/rpc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* The reader recurses into what it is given; nobody needs more than this. */
#define DEPTH_MAX 64
/* Ids are kept for as long as their requests take. */
#define ID_MAX 16384

/* What an error is called on the wire; all others are -32603, our own. */
static const struct {
	enum err_code code;
	int number;
} wire_numbers[] = {
    {ERR_PARSE, -32700},
    {ERR_REQUEST, -32600},
    {ERR_METHOD, -32601},
    {ERR_PARAMS, -32602},
    {ERR_RESOURCE, -32002},
    {ERR_META, -32602},
    {ERR_SESSION, -32001},
    {ERR_HEADER, -32020},
    {ERR_CAPABILITY, -32021},
    {ERR_VERSION, -32022},
};

static bool
too_deep(const char *data, size_t length)
{
	bool in_string = false;
	int depth = 0;

	for (size_t i = 0; i < length; i++) {
		if (in_string) {
			if (data[i] == '\\')
				i++;
			else if (data[i] == '"')
				in_string = false;
		} else if (data[i] == '"') {
			in_string = true;
		} else if (data[i] == '[' || data[i] == '{') {
			if (++depth > DEPTH_MAX)
				return true;
		} else if (data[i] == ']' || data[i] == '}') {
			depth--;
		}
	}
	return false;
}

char *
rpc_id_text(yyjson_val *value)
{
	if ((!yyjson_is_str(value) && !yyjson_is_int(value)) ||
	    yyjson_get_len(value) > ID_MAX)
		return NULL;
	return json_write_read_value(value);
}

const char *
rpc_text(yyjson_val *value)
{
	const char *text = yyjson_get_str(value);

	return text != NULL && strlen(text) == yyjson_get_len(value) ? text
	                                                             : NULL;
}

static int
read_id(struct rpc_message *message, yyjson_val *root, struct err *err)
{
	yyjson_val *id = yyjson_obj_get(root, "id");

	if (id == NULL) {
		message->kind = RPC_NOTIFICATION;
		return 0;
	}
	message->id = rpc_id_text(id);
	if (message->id == NULL)
		return err_set(err, ERR_REQUEST,
		    "id must be an integer, or a string of up to %d bytes",
		    ID_MAX);
	message->kind = RPC_REQUEST;
	return 0;
}

int
rpc_check(struct rpc_message *message, yyjson_val *root, struct err *err)
{
	yyjson_val *method;

	*message = (struct rpc_message){.kind = RPC_REQUEST};
	if (!yyjson_is_obj(root))
		return err_set(err, ERR_REQUEST,
		    "a message must be a JSON object%s",
		    yyjson_is_arr(root) ? "; batches are not supported" : "");
	method = yyjson_obj_get(root, "method");
	if (method == NULL &&
	    (yyjson_obj_get(root, "result") != NULL ||
	        yyjson_obj_get(root, "error") != NULL)) {
		message->kind = RPC_RESPONSE;
		message->id = rpc_id_text(yyjson_obj_get(root, "id"));
		message->result = yyjson_obj_get(root, "result");
		return 0;
	}
	if (read_id(message, root, err) != 0)
		return -1;
	if (!yyjson_equals_str(yyjson_obj_get(root, "jsonrpc"), "2.0"))
		return err_set(err, ERR_REQUEST, "\"jsonrpc\" must be \"2.0\"");
	if (yyjson_is_str(method) && rpc_text(method) == NULL)
		return err_set(err, ERR_METHOD, "a method has no NUL");
	if (!yyjson_is_str(method))
		return err_set(err, ERR_REQUEST, "\"method\" must be a string");
	message->method = rpc_text(method);
	message->params = yyjson_obj_get(root, "params");
	if (message->params != NULL && !yyjson_is_obj(message->params))
		return err_set(err, ERR_PARAMS, "\"params\" must be an object");
	return 0;
}

yyjson_doc *
rpc_read(const char *data, size_t length, struct err *err)
{
	yyjson_read_err problem;
	yyjson_doc *doc;

	if (too_deep(data, length)) {
		err_set(err, ERR_PARSE,
		    "the message is nested more than %d levels deep",
		    DEPTH_MAX);
		return NULL;
	}
	doc = json_read(data, length, &problem);
	if (doc == NULL)
		err_set(err, ERR_PARSE, "not JSON: %s at byte %zu", problem.msg,
		    problem.pos);
	return doc;
}

int
rpc_parse(struct rpc_message *message, const char *data, size_t length,
    struct err *err)
{
	yyjson_doc *doc = rpc_read(data, length, err);
	int status;

	*message = (struct rpc_message){.kind = RPC_REQUEST};
	if (doc == NULL)
		return -1;
	status = rpc_check(message, yyjson_doc_get_root(doc), err);
	message->doc = doc;
	return status;
}

void
rpc_message_release(struct rpc_message *message)
{
	yyjson_doc_free(message->doc);
	free(message->id);
	*message = (struct rpc_message){0};
}

static yyjson_mut_val *
new_message(yyjson_mut_doc *doc, const char *id)
{
	yyjson_mut_val *root = yyjson_mut_obj(doc);

	yyjson_mut_doc_set_root(doc, root);
	yyjson_mut_obj_add_str(doc, root, "jsonrpc", "2.0");
	if (id != NULL)
		yyjson_mut_obj_add_val(
		    doc, root, "id", yyjson_mut_raw(doc, id));
	return root;
}

char *
rpc_result(
    const char *id, yyjson_mut_doc *doc, yyjson_mut_val *result, size_t *length)
{
	yyjson_mut_val *root = new_message(doc, id);

	yyjson_mut_obj_add_val(doc, root, "result", result);
	return json_write(doc, 0, length);
}

char *
rpc_notification(const char *method, yyjson_mut_doc *doc,
    yyjson_mut_val *params, size_t *length)
{
	yyjson_mut_val *root = new_message(doc, NULL);

	yyjson_mut_obj_add_str(doc, root, "method", method);
	yyjson_mut_obj_add_val(doc, root, "params", params);
	return json_write(doc, 0, length);
}

static int
wire_number(enum err_code code)
{
	for (size_t i = 0; i < sizeof(wire_numbers) / sizeof(*wire_numbers);
	    i++)
		if (wire_numbers[i].code == code)
			return wire_numbers[i].number;
	return -32603;
}

yyjson_mut_val *
rpc_error_object(yyjson_mut_doc *doc, const struct err *err, const char *data)
{
	yyjson_mut_val *error = yyjson_mut_obj(doc);

	yyjson_mut_obj_add_int(doc, error, "code", wire_number(err->code));
	yyjson_mut_obj_add_str(doc, error, "message", err->message);
	if (data != NULL)
		yyjson_mut_obj_add_val(
		    doc, error, "data", yyjson_mut_raw(doc, data));
	return error;
}

char *
rpc_error(
    const char *id, const struct err *err, const char *data, size_t *length)
{
	yyjson_mut_doc *doc = json_new();
	yyjson_mut_val *root = new_message(doc, id);
	char *text;

	yyjson_mut_obj_add_val(
	    doc, root, "error", rpc_error_object(doc, err, data));
	text = json_write(doc, 0, length);
	yyjson_mut_doc_free(doc);
	return text;
}
