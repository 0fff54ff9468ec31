#include "progress.h"

#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include <yyjson.h>

#include "alloc.h"
#include "recent.h"
#include "rpc.h"
#include "utf8.h"

#define INTERVAL_SECONDS 1

struct progress {
	struct progress_config config;
	char *token;
	struct event *timer;
	unsigned count;
	unsigned seconds;
	struct recent recent; /* since the last notification */
};

void
progress_say(struct progress *progress, const char *text)
{
	size_t text_length;
	char *clean = utf8_repair(text, strlen(text), &text_length);
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
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

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct progress *progress = arg;
	char *text;

	(void)fd;
	(void)what;
	progress->seconds += INTERVAL_SECONDS;
	text = progress->recent.length > 0
	    ? recent_text(&progress->recent)
	    : xasprintf("running for %u s", progress->seconds);
	progress->recent.length = 0;
	progress_say(progress, text);
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
