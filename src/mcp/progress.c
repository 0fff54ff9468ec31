#include "mcp/progress.h"

#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include <yyjson.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/recent.h"
#include "base/utf8.h"
#include "mcp/rpc.h"

#define INTERVAL_SECONDS 1
/* An installer can say more than anybody wants to read. */
#define NOTES_AT_ONCE 10

struct progress {
	struct progress_config config;
	char *token;
	struct event *timer;
	unsigned count;
	unsigned seconds;
	unsigned noted;       /* at once, since the last tick */
	struct recent recent; /* since the last notification */
};

static void
send_text(struct progress *progress, const char *text)
{
	size_t text_length;
	char *clean = utf8_repair(text, strlen(text), &text_length);
	yyjson_mut_doc *doc = json_new();
	yyjson_mut_val *params = yyjson_mut_obj(doc);
	size_t length;
	char *message;

	yyjson_mut_obj_add_val(
	    doc, params, "progressToken", yyjson_mut_raw(doc, progress->token));
	yyjson_mut_obj_add_uint(doc, params, "progress", ++progress->count);
	if (progress->config.revision >= REVISION_2025_03_26)
		yyjson_mut_obj_add_str(doc, params, "message", clean);
	message =
	    rpc_notification("notifications/progress", doc, params, &length);
	if (message != NULL)
		progress->config.send(progress->config.arg, message, length);
	free(message);
	yyjson_mut_doc_free(doc);
	free(clean);
}

void
progress_output(struct progress *progress, const char *data, size_t length)
{
	recent_add(&progress->recent, data, length);
}

void
progress_note(struct progress *progress, const char *text)
{
	if (progress->noted == NOTES_AT_ONCE) {
		recent_add(&progress->recent, text, strlen(text));
		recent_add(&progress->recent, "\n", 1);
		return;
	}
	progress->noted++;
	send_text(progress, text);
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct progress *progress = arg;
	char *text;

	(void)fd;
	(void)what;
	progress->seconds += INTERVAL_SECONDS;
	progress->noted = 0;
	text = progress->recent.length > 0
	    ? recent_take(&progress->recent)
	    : xasprintf("under way for %u s", progress->seconds);
	send_text(progress, text);
	free(text);
}

struct progress *
progress_new(const struct progress_config *config)
{
	static const struct timeval interval = {.tv_sec = INTERVAL_SECONDS};
	struct progress *progress = xcalloc(1, sizeof(*progress));

	progress->config = *config;
	progress->token = xstrdup(config->token);
	progress->timer =
	    event_new(config->base, -1, EV_PERSIST, on_tick, progress);
	event_add(progress->timer, &interval);
	return progress;
}

void
progress_free(struct progress *progress)
{
	if (progress == NULL)
		return;
	event_free(progress->timer);
	free(progress->token);
	free(progress);
}
