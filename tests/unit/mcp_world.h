#ifndef MCP_WORLD_H
#define MCP_WORLD_H

#include <stddef.h>

#include "base/strlist.h"
#include "mcp/mcp.h"
#include "mcp/outlet.h"
#include "settings/settings.h"

struct event_base;

/* A client of the protocol and all that it wants around it, for one test. */
struct mcp_world {
	struct event_base *base;
	struct settings settings;
	struct sandbox *sandbox;
	struct mcp *mcp;
	struct mcp_client *client; /* NULL when the test has freed it */
	struct strlist sent;       /* what the client was sent, in order */
	int dropped; /* how often it heard that no response will come */
};
extern struct mcp_world world;
extern const struct outlet world_outlet;

/* Checked fixtures: without an engine, and with a stand-in for one. */
void world_set_up(void);
void world_tear_down(void);
void world_set_up_fake(void);
void world_tear_down_fake(void);

void receive(const char *message);
/* Turns the loop until so many messages have been sent. */
void wait_sent(size_t count);
/* The answer to this message; it must come at once. */
const char *ask(const char *message);
/* The answer with this id, as JSON text, however many others there are. */
const char *answer_to(const char *id);
/* Agrees on a revision of before 2026. */
void initialize(const char *version);

#define LAST world.sent.items[world.sent.count - 1]
#define CALL(id, tool, arguments) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\"," \
	"\"params\":{\"name\":\"" tool "\",\"arguments\":" arguments "}}"

#endif
