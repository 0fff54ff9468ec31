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

static bool
equals(const char *text, size_t length, const char *word, size_t word_length)
{
	return length == word_length && strncasecmp(text, word, length) == 0;
}

/* "q=0", "q=0.0": anything but this. */
static bool
is_refused(const char *parameters, size_t length)
{
	const char *end = parameters + length;
	const char *weight = parameters;

	while (weight < end && strncasecmp(weight, "q=", 2) != 0)
		weight++;
	if (weight >= end)
		return false;
	weight += 2;
	weight += strspn(weight, "0.");
	return weight >= end || strchr(" \t,;", *weight) != NULL;
}

/* One element of the list, such as text/html;q=0.5. */
static bool
element_fits(
    const char *element, size_t length, const char *type, bool wildcards)
{
	size_t name = 0, family = strcspn(type, "/") + 1;

	while (name < length && strchr(" \t;", element[name]) == NULL)
		name++;
	if (is_refused(element + name, length - name))
		return false;
	if (equals(element, name, type, strlen(type)))
		return true;
	return wildcards &&
	    (equals(element, name, "*/*", 3) ||
	        (name == family + 1 && element[family] == '*' &&
	            strncasecmp(element, type, family) == 0));
}

static bool
list_has(const char *list, const char *type, bool wildcards)
{
	while (*list != '\0') {
		size_t length;

		list += strspn(list, " \t,");
		length = strcspn(list, ",");
		if (element_fits(list, length, type, wildcards))
			return true;
		list += length;
	}
	return false;
}

/* The header may be spread over several lines. */
static bool
accept_has(struct evhttp_request *request, const char *type, bool wildcards)
{
	const struct evkeyval *header;

	TAILQ_FOREACH (header, evhttp_request_get_input_headers(request), next)
		if (strcasecmp(header->key, "Accept") == 0 &&
		    list_has(header->value, type, wildcards))
			return true;
	return false;
}

bool
http_accepts(struct evhttp_request *request, const char *type)
{
	return http_header(request, "Accept") == NULL ||
	    accept_has(request, type, true);
}

bool
http_asks_for(struct evhttp_request *request, const char *type)
{
	return accept_has(request, type, false);
}

void
http_add_header(
    struct evhttp_request *request, const char *name, const char *value)
{
	evhttp_add_header(
	    evhttp_request_get_output_headers(request), name, value);
}

/* As libevent tells it, which then leaves the connection open. */
#define KEEP_ALIVE "keep-alive"

bool
http_may_stream(struct evhttp_request *request)
{
	const char *connection = http_header(request, "Connection");

	return request->major > 1 ||
	    (request->major == 1 && request->minor >= 1) ||
	    connection == NULL ||
	    strncasecmp(connection, KEEP_ALIVE, sizeof(KEEP_ALIVE) - 1) != 0;
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
