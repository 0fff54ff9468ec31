#include "fuzz.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "options/options.h"
#include "transport/transport_http.h"

/*
 * Input: what a client sends, byte for byte; or, on a line of its own,
 *
 *	@token     at the very beginning: the server wants a token
 *	@json      the rest of the request: Content-Length, and the lines up to
 *	           the next "@" as the body
 *	@turn      what is under way goes on
 *	@pass N    N seconds pass
 *	@other     what follows goes over the other of two connections
 *	@close     the client closes the connection
 *
 * A connection is made when there is something to send.  Answers are HTTP with
 * messages in it; without the token, or a name of this machine, nothing is
 * done; and when the client is gone nothing is left.
 */

#define TOKEN "0123456789abcdef"
#define HEALTH "{\"status\":\"ok\"}\n"

struct peer {
	int fd;     /* -1: not connected */
	bool ended; /* by the server */
	struct bytes sent, received;
};

static struct peer peers[2], *peer;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static struct settings settings;
static struct sandbox *sandbox;
static struct mcp *mcp;
static struct transport_http *transport;
/* Of the input, as a whole. */
static bool has_token, has_name, has_head;

/* --- answers -------------------------------------------------------------- */

static bool
holds(const struct input *text, const char *word)
{
	size_t length = strlen(word);

	for (size_t i = 0; i + length <= text->length; i++)
		if (strncasecmp(text->data + i, word, length) == 0)
			return true;
	return false;
}

/* The value of a header; without a data when it is not there. */
static struct input
header(const struct input *headers, const char *name)
{
	struct input rest = *headers, line;

	while (input_line(&rest, &line))
		if (input_skip(&line, name)) {
			EXPECT(input_skip(&line, ": ") && line.length > 0);
			line.length--; /* CR */
			return line;
		}
	return (struct input){NULL, 0};
}

static struct input
take(struct input *from, size_t length)
{
	struct input piece = {from->data, length};

	EXPECT(length <= from->length);
	from->data += length;
	from->length -= length;
	return piece;
}

/* What has come of a body that is sent in chunks.  The server does not stop in
 * the middle of it. */
static void
take_chunks(struct input *stream, struct bytes *body)
{
	struct input line, chunk;
	size_t length = 1;

	while (length > 0 && input_line(stream, &line)) {
		EXPECT(line.length > 1 && line.data[line.length - 1] == '\r');
		length = strtoul(line.data, NULL, 16);
		chunk = take(stream, length);
		bytes_add(body, chunk.data, chunk.length);
		EXPECT(input_skip(stream, "\r\n"));
	}
	EXPECT(length == 0 || !peer->ended);
}

static void
take_body(struct input *stream, const struct input *headers,
    unsigned long status, struct bytes *body)
{
	struct input length = header(headers, "Content-Length"), all;

	if (header(headers, "Transfer-Encoding").data != NULL) {
		take_chunks(stream, body);
	} else if (status != 204) {
		/* Without a length it goes on until the connection ends. */
		all = take(stream,
		    length.data != NULL ? input_number(&length)
		                        : stream->length);
		bytes_add(body, all.data, all.length);
	}
}

static void
expect_events(const struct bytes *body)
{
	struct input stream = {body->data, body->length}, line;

	while (stream.length > 0) {
		if (input_skip(&stream, ": still here\n\n"))
			continue;
		EXPECT(input_skip(&stream, "event: message\ndata: "));
		EXPECT(input_line(&stream, &line));
		yyjson_doc_free(expect_message(line.data, line.length));
		EXPECT(input_skip(&stream, "\n"));
	}
}

static void
expect_body(const struct bytes *body, unsigned long status, struct input type)
{
	EXPECT(status >= 200 && status < 600);
	if (status < 300)
		EXPECT(has_name);
	if (bytes_equal(body, HEALTH, strlen(HEALTH)))
		return;
	if (status < 300)
		EXPECT(has_token || settings.token == NULL);
	if (input_skip(&type, "application/json"))
		yyjson_doc_free(expect_message(body->data, body->length));
	else if (input_skip(&type, "text/event-stream"))
		expect_events(body);
}

static void
take_answer(struct input *stream)
{
	const char *end = memmem(stream->data, stream->length, "\r\n\r\n", 4);
	struct input headers;
	struct bytes body = {0};
	unsigned long status;

	EXPECT(end != NULL);
	headers = take(stream, (size_t)(end + 4 - stream->data));
	/* libevent answers in the version that it was asked in. */
	EXPECT(input_skip(&headers, "HTTP/"));
	while (input_byte(&headers) != ' ')
		EXPECT(headers.length > 0);
	status = input_number(&headers);
	if (status == 100)
		return;
	take_body(stream, &headers, status, &body);
	expect_body(&body, status, header(&headers, "Content-Type"));
	bytes_release(&body);
}

/* All that came over one connection.  The answer to HEAD has the length of a
 * body and not the body: where there may be one we cannot tell. */
static void
expect_answers(void)
{
	struct input stream = {peer->received.data, peer->received.length};

	while (stream.length > 0 && !has_head)
		take_answer(&stream);
	bytes_release(&peer->received);
}

/* --- the client ----------------------------------------------------------- */

/* Turns the loop until no more comes. */
static void
turn(void)
{
	char piece[16384];
	ssize_t got;

	do {
		loop_turn();
		got = peer->fd < 0
		    ? -1
		    : recv(peer->fd, piece, sizeof(piece), MSG_DONTWAIT);
		if (got > 0)
			bytes_add(&peer->received, piece, (size_t)got);
	} while (got > 0);
	peer->ended = got == 0;
}

static void
flush(void)
{
	struct bytes *sent = &peer->sent;

	if (sent->length > 0 && peer->fd < 0) {
		peer->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		EXPECT(connect(peer->fd, (const struct sockaddr *)&address,
		           sizeof(address)) == 0);
	}
	/* The server may have closed it: that is its right. */
	if (sent->length > 0 &&
	    send(peer->fd, sent->data, sent->length,
	        MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		EXPECT(errno == EPIPE || errno == ECONNRESET);
	bytes_release(sent);
	turn();
}

static void
hang_up(void)
{
	flush();
	if (peer->fd >= 0)
		close(peer->fd);
	peer->fd = -1;
	expect_answers();
	loop_turn();
}

static void
add_body(struct input *input)
{
	const char *end = memmem(input->data, input->length, "\n@", 2);
	struct input body = take(
	    input, end != NULL ? (size_t)(end - input->data) : input->length);
	char *line = xasprintf("Content-Length: %zu\r\n\r\n", body.length);

	bytes_add(&peer->sent, line, strlen(line));
	bytes_add(&peer->sent, body.data, body.length);
	input_skip(input, "\n");
	free(line);
}

static void
act(struct input *line, struct input *rest)
{
	if (input_skip(line, "@json")) {
		add_body(rest);
	} else if (input_skip(line, "@turn")) {
		flush();
	} else if (input_skip(line, "@pass ")) {
		flush();
		loop_pass(input_number(line));
	} else if (input_skip(line, "@other")) {
		flush();
		peer = peer == &peers[0] ? &peers[1] : &peers[0];
	} else if (input_skip(line, "@close")) {
		hang_up();
	} else {
		bytes_add(&peer->sent, line->data, line->length);
		bytes_add(&peer->sent, "\n", 1);
	}
}

/* --- the server ----------------------------------------------------------- */

static char directory[] = "/tmp/code-sandbox-fuzz-XXXXXX";

static void
remove_directory(void)
{
	unlink(address.sun_path);
	rmdir(directory);
}

static void
begin(bool with_token)
{
	struct err err;
	char *listen;

	if (*address.sun_path == '\0') {
		EXPECT(mkdtemp(directory) != NULL);
		snprintf(address.sun_path, sizeof(address.sun_path),
		    "%s/socket", directory);
		atexit(remove_directory);
	}
	listen = xasprintf("--listen=unix:%s", address.sun_path);
	settings_make(&settings, "--transport=http", listen, NULL);
	free(listen);
	settings.token = with_token ? xstrdup(TOKEN) : NULL;
	sandbox = sandbox_new(loop_base(), &settings);
	mcp = mcp_new(&(struct mcp_config){
	    .base = loop_base(), .settings = &settings, .sandbox = sandbox});
	transport = transport_http_new(loop_base(), &settings, mcp, &err);
	EXPECT(transport != NULL);
	peers[0] = peers[1] = (struct peer){.fd = -1};
	peer = &peers[0];
}

static void
on_gone(void *arg)
{
	(void)arg;
}

static void
end(void)
{
	for (peer = peers; peer < peers + 2; peer++)
		hang_up();
	EXPECT(!transport_http_busy(transport));
	sandbox_shut_down(sandbox, on_gone, NULL);
	transport_http_free(transport);
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

	has_token = holds(&input, TOKEN);
	has_head = holds(&input, "HEAD");
	has_name = holds(&input, "localhost") || holds(&input, "127.0.0.1") ||
	    holds(&input, "::1");
	begin(input_skip(&input, "@token\n"));
	while (input_line(&input, &line))
		act(&line, &input);
	end();
	return 0;
}
