#include "transport/http_request.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>

#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>

#include "base/alloc.h"

const char *
http_header(struct evhttp_request *request, const char *name)
{
	return evhttp_find_header(
	    evhttp_request_get_input_headers(request), name);
}

void
http_add_header(
    struct evhttp_request *request, const char *name, const char *value)
{
	evhttp_add_header(
	    evhttp_request_get_output_headers(request), name, value);
}

bool
http_takes_chunks(const struct evhttp_request *request)
{
	return request->major > 1 ||
	    (request->major == 1 && request->minor >= 1);
}

/* Of two, we go by the first; who knows what a proxy goes by. */
static bool
is_twice(const struct evkeyvalq *headers, const struct evkeyval *header)
{
	static const char *const names[] = {"Host", "Origin", "Authorization",
	    "Content-Length", "Content-Type", "Transfer-Encoding",
	    "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id"};
	static const char parameter[] = "Mcp-Param-";
	bool known =
	    strncasecmp(header->key, parameter, strlen(parameter)) == 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		known |= strcasecmp(header->key, names[i]) == 0;
	return known &&
	    evhttp_find_header(headers, header->key) != header->value;
}

static bool
names_are_doubtful(const struct evkeyvalq *headers)
{
	const struct evkeyval *header;

	TAILQ_FOREACH (header, headers, next)
		if (header->key[strcspn(header->key, " \t")] != '\0' ||
		    is_twice(headers, header))
			return true;
	return false;
}

/* libevent goes by Transfer-Encoding if that is just "chunked", and else by
 * Content-Length; the newest ones refuse such a request themselves. */
static bool
length_is_doubtful(struct evhttp_request *request)
{
	const char *encoding = http_header(request, "Transfer-Encoding");

	return encoding != NULL &&
	    (strcasecmp(encoding, "chunked") != 0 ||
	        http_header(request, "Content-Length") != NULL);
}

bool
http_is_doubtful(struct evhttp_request *request)
{
	return names_are_doubtful(evhttp_request_get_input_headers(request)) ||
	    length_is_doubtful(request);
}

void
http_send(struct evhttp_request *request, int status, const char *type,
    const char *text)
{
	struct evbuffer *body = evbuffer_new();
	struct evbuffer *input = evhttp_request_get_input_buffer(request);

	/* Else it is kept until the answer has gone out. */
	evbuffer_drain(input, evbuffer_get_length(input));
	http_add_header(request, "Content-Type", type);
	/* libevent would send what we say and not read what they do: both
	 * would be taken for the next one's. */
	if (evhttp_request_get_command(request) == EVHTTP_REQ_HEAD)
		http_add_header(request, "Connection", "close");
	else
		evbuffer_add(body, text, strlen(text));
	evhttp_send_reply(request, status, NULL, body);
	evbuffer_free(body);
}

void
http_send_status(struct evhttp_request *request, int status, const char *why)
{
	char *text = why != NULL ? xasprintf("%s\n", why) : xstrdup("");

	http_send(request, status, "text/plain; charset=utf-8", text);
	free(text);
}
