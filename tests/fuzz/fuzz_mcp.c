#include "fuzz.h"

#include <string.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "mcp/mcp.h"
#include "options/options.h"

/*
 * Input: a message of the client on each line, or something that happens:
 *
 *	@turn      what is under way goes on
 *	@pass N    N seconds pass
 *	@hang-up   the client does not read the answers to what it asked so far
 *	@client    it is gone, and another one comes
 *
 * A request is answered once, under its own id, or was dropped; nothing else
 * is answered.
 */

#define ASKED_MAX 64
/* Deeper than this a message is refused unread. */
#define DEPTH_MAX 64

struct asked {
	yyjson_doc *doc; /* what the client said; NULL: no JSON */
	bool too_deep;   /* or maybe not: there are brackets enough */
	int ended;
};

static struct asked asked[ASKED_MAX];
static size_t asked_count;
/* Outlets of different connections have different owners. */
static const char connections[ASKED_MAX];
static size_t connection;

static struct settings settings;
static struct sandbox *sandbox;
static struct mcp *mcp;
static struct mcp_client *client;

static bool
is_id(yyjson_val *value)
{
	return yyjson_is_str(value) || yyjson_is_int(value);
}

/* A notification, or a response to something that we never asked. */
static bool
is_silent(yyjson_val *message)
{
	return yyjson_is_obj(message) &&
	    (yyjson_obj_get(message, "id") == NULL ||
	        (yyjson_obj_get(message, "method") == NULL &&
	            (yyjson_obj_get(message, "result") != NULL ||
	                yyjson_obj_get(message, "error") != NULL)));
}

/* What is in one item of this type. */
static const struct {
	const char *type;
	const char *fields[3];
} item_types[] = {
    {"text", {"/text"}},
    {"image", {"/data", "/mimeType"}},
    {"audio", {"/data", "/mimeType"}},
    {"resource", {"/resource/uri", "/resource/mimeType"}},
    {"resource_link", {"/uri", "/name", "/mimeType"}},
};
#define ITEM_TYPE_COUNT (sizeof(item_types) / sizeof(item_types[0]))

static void
expect_item(yyjson_val *item)
{
	yyjson_val *type = yyjson_obj_get(item, "type");
	size_t row = 0;

	while (row < ITEM_TYPE_COUNT &&
	    !yyjson_equals_str(type, item_types[row].type))
		row++;
	EXPECT(row < ITEM_TYPE_COUNT);
	for (size_t i = 0; i < 3 && item_types[row].fields[i] != NULL; i++)
		EXPECT(yyjson_is_str(
		    yyjson_ptr_get(item, item_types[row].fields[i])));
}

static void
expect_tool_result(yyjson_val *result)
{
	yyjson_val *content = yyjson_obj_get(result, "content"), *item;
	size_t i, count;

	if (yyjson_obj_get(result, "taskId") != NULL)
		return;
	EXPECT(yyjson_is_bool(yyjson_obj_get(result, "isError")));
	EXPECT(yyjson_is_str(yyjson_ptr_get(result, "/content/0/text")));
	yyjson_arr_foreach(content, i, count, item)
	{
		expect_item(item);
	}
}

/* The resource that was asked for, and all of it. */
static void
expect_contents(yyjson_val *result, yyjson_val *message)
{
	yyjson_val *contents = yyjson_ptr_get(result, "/contents/0");

	EXPECT(yyjson_equals(yyjson_obj_get(contents, "uri"),
	    yyjson_ptr_get(message, "/params/uri")));
	EXPECT(yyjson_is_str(yyjson_obj_get(contents, "text")) !=
	    yyjson_is_str(yyjson_obj_get(contents, "blob")));
}

static bool
answers(yyjson_val *answer, yyjson_val *message)
{
	yyjson_val *id = yyjson_obj_get(answer, "id");
	yyjson_val *wanted = yyjson_obj_get(message, "id");

	if (is_silent(message))
		return false;
	return is_id(wanted) ? yyjson_equals(id, wanted) : id == NULL;
}

/* It answers one of these. */
static bool
answers_any(yyjson_val *answer, yyjson_val *messages)
{
	yyjson_val *message;
	size_t i, count;

	yyjson_arr_foreach(messages, i, count, message)
	{
		if (answers(answer, message))
			return true;
	}
	return false;
}

static void
expect_answer(const struct asked *to, yyjson_val *root, enum err_code code)
{
	yyjson_val *message = yyjson_doc_get_root(to->doc), *part;
	yyjson_val *result = yyjson_obj_get(root, "result");
	size_t i, count;

	if (yyjson_is_arr(root)) {
		EXPECT(yyjson_arr_size(root) <= yyjson_arr_size(message));
		yyjson_arr_foreach(root, i, count, part)
		{
			EXPECT(answers_any(part, message));
		}
		return;
	}
	EXPECT((code == ERR_NONE) == (result != NULL));
	if (code == ERR_PARSE) {
		EXPECT(to->doc == NULL || to->too_deep);
		EXPECT(yyjson_obj_get(root, "id") == NULL);
		return;
	}
	EXPECT(answers(root, message));
	if (result == NULL)
		return;
	if (yyjson_equals_str(yyjson_obj_get(message, "method"), "tools/call"))
		expect_tool_result(result);
	if (yyjson_equals_str(
	        yyjson_obj_get(message, "method"), "resources/read"))
		expect_contents(result, message);
}

static void
on_reply(void *arg, const char *message, size_t length, enum err_code code)
{
	struct asked *to = arg;
	yyjson_doc *doc = expect_message(message, length);

	EXPECT(to->ended++ == 0);
	expect_answer(to, yyjson_doc_get_root(doc), code);
	yyjson_doc_free(doc);
}

static void
on_notify(void *arg, const char *message, size_t length)
{
	struct asked *to = arg;
	yyjson_doc *doc = expect_message(message, length);
	yyjson_val *root = yyjson_doc_get_root(doc);
	yyjson_val *token = yyjson_ptr_get(root, "/params/progressToken");
	yyjson_val *wanted = yyjson_ptr_get(
	    yyjson_doc_get_root(to->doc), "/params/_meta/progressToken");

	EXPECT(to->ended == 0);
	EXPECT(yyjson_obj_get(root, "method") != NULL);
	if (token != NULL && wanted != NULL)
		EXPECT(yyjson_equals(token, wanted));
	yyjson_doc_free(doc);
}

static void
on_drop(void *arg)
{
	struct asked *to = arg;

	EXPECT(to->ended++ == 0);
}

static size_t
count_brackets(const struct input *line)
{
	size_t count = 0;

	for (size_t i = 0; i < line->length; i++)
		count += line->data[i] == '[' || line->data[i] == '{';
	return count;
}

static void
ask(const struct input *line)
{
	struct asked *now = &asked[asked_count++];
	struct outlet outlet = {.notify = on_notify,
	    .reply = on_reply,
	    .drop = on_drop,
	    .arg = now,
	    .owner = &connections[connection]};
	/* Of its own, so that reading beyond it is noticed. */
	char *copy = xcalloc(1, line->length);

	*now = (struct asked){.doc = yyjson_read(line->data, line->length, 0),
	    .too_deep = count_brackets(line) > DEPTH_MAX};
	memcpy(copy, line->data, line->length);
	mcp_client_receive(client, copy, line->length, &outlet);
	free(copy);
}

static void
happen(struct input *line)
{
	if (input_skip(line, "@turn")) {
		loop_turn();
	} else if (input_skip(line, "@pass ")) {
		loop_pass(input_number(line));
	} else if (input_skip(line, "@hang-up") && connection + 1 < ASKED_MAX) {
		mcp_client_disconnect(client, &connections[connection++]);
	} else if (input_skip(line, "@client")) {
		mcp_client_free(client);
		client = mcp_client_new(mcp);
	} else if (line->length > 0 && asked_count < ASKED_MAX) {
		ask(line);
	}
}

static void
begin(void)
{
	settings_make(&settings, NULL);
	sandbox = sandbox_new(loop_base(), &settings);
	mcp = mcp_new(&(struct mcp_config){
	    .base = loop_base(), .settings = &settings, .sandbox = sandbox});
	client = mcp_client_new(mcp);
	asked_count = connection = 0;
}

static void
on_gone(void *arg)
{
	*(bool *)arg = true;
}

static void
end(void)
{
	bool gone = false;

	mcp_client_free(client);
	sandbox_shut_down(sandbox, on_gone, &gone);
	EXPECT(gone);
	loop_turn();
	mcp_free(mcp);
	sandbox_free(sandbox);
	settings_release(&settings);
	EXPECT(event_base_get_num_events(loop_base(), EVENT_BASE_COUNT_ADDED) ==
	    0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_begin(data, size), line;

	begin();
	while (input_line(&input, &line))
		happen(&line);
	end();
	for (size_t i = 0; i < asked_count; i++) {
		if (is_silent(yyjson_doc_get_root(asked[i].doc)))
			EXPECT(asked[i].ended == 0 || asked[i].too_deep);
		else
			EXPECT(asked[i].ended == 1);
		yyjson_doc_free(asked[i].doc);
	}
	return 0;
}
