"""HTTP as such: methods, status codes, headers, bodies in every size."""

import json
import random
import resource
import socket
import time
from http.client import HTTPException

import pytest
from harness import SANITIZED, until
from wire import LEGACY, META, MODERN, TASKS, meta

# As in src/transport/http_connections.h.
LIMIT = 40 * 1024 * 1024


def body_of(method, ident=1, **params):
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params}).encode()


def headers_of(method, **more):
    return {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, **more}


def modern_bytes(server, ident=1, method="server/discover", **params):
    return server.post_bytes(body_of(method, ident, _meta=meta(), **params), headers_of(method))


def send_until_refused(connection, data, at_most):
    """All of that again and again; whether the server closed the connection."""
    sent = 0
    try:
        while sent < at_most:
            connection.sendall(data)
            sent += len(data)
    except (BrokenPipeError, ConnectionResetError):
        return True
    return False


def closed_by_server(connection):
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def len_of_answer(call):
    """None when the connection was closed before its end."""
    try:
        return len(call.response.read())
    except (HTTPException, ConnectionError):
        return None


def answers_on(connection):
    """All that comes until the server closes the connection."""
    said = b""
    try:
        while piece := connection.recv(65536):
            said += piece
    except ConnectionResetError:
        pass
    return said


def assert_alive(server):
    assert server.get("/healthz").status == 200
    assert server.modern().request("tools/list").result()["tools"]


# Methods, paths and status codes.


def test_health(http):
    health = http.get("/healthz")
    assert (health.status, health.header("Content-Type")) == (200, "application/json")
    assert json.loads(health.body) == {"status": "ok"}


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "OPTIONS"])
def test_other_methods(http, method):
    refused = http.get(http.path, method=method)
    assert refused.status == 405
    assert "POST" in refused.header("Allow")


@pytest.mark.parametrize("path", ["/healthz", "/elsewhere", "/mcp"])
def test_head_leaves_nothing_behind(http, path):
    """Neither a body in the answer, nor its own for the next request."""
    smuggled = http.head("GET", "/healthz")
    connection = http.connect()
    connection.sendall(http.head("HEAD", path, {"Content-Length": len(smuggled)}) + smuggled)
    said = answers_on(connection)
    assert said.startswith(b"HTTP/1.1 ") and said.count(b"HTTP/1.1 ") == 1
    assert said.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("method", ["PATCH", "TRACE", "CONNECT", "BREW", "GET\0"])
def test_methods_that_nobody_needs(http, method):
    try:
        assert http.get(http.path, method=method).status >= 400
    except (ConnectionError, HTTPException):
        pass
    assert_alive(http)


@pytest.mark.parametrize("path", ["/", "/mcp/", "/mcpx", "/MCP", "//mcp", "/%6dcp/x", "/healthz/x"])
def test_elsewhere(http, path):
    assert http.send(http.head("POST", path, {"Content-Type": "application/json", "Content-Length": 0})
                     ).finish().status == 404


def test_query_is_ignored(http):
    exchange = http.send(modern_bytes(http).replace(b" /mcp ", b" /mcp?x=1 "))
    assert exchange.finish().status == 200


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_body_that_is_not_json_by_its_type(http, kind):
    """What a web page can send without asking first."""
    message = body_of("server/discover", _meta=meta())
    refused = http.send(http.post_bytes(message, {**headers_of("server/discover"), "Content-Type": kind}))
    assert refused.finish().status == 415


def test_content_type_with_a_charset(http):
    message = body_of("server/discover", _meta=meta())
    taken = http.send(http.post_bytes(message, {**headers_of("server/discover"),
                                                "Content-Type": "Application/JSON; charset=utf-8"}))
    assert taken.finish().status == 200


def test_accept_of_something_else(http):
    message = body_of("server/discover", _meta=meta())
    assert http.send(http.post_bytes(message, {**headers_of("server/discover"), "Accept": "image/png"})
                     ).finish().status == 406
    for accept in (None, "*/*", "application/json", "text/event-stream", "application/*;q=0.1", "TEXT/*, image/png",
                   "image/png;q=0 ,Application/JSON; charset=utf-8"):
        assert http.send(http.post_bytes(message, {**headers_of("server/discover"), "Accept": accept})
                         ).finish().status == 200


def test_client_that_reads_no_streams(http):
    """It is told nothing on the way, and cannot listen."""
    call = http.modern().call("import time; time.sleep(1.5); print(1)", more={"_meta": {"progressToken": "t"}},
                              headers={"Accept": "application/json"})
    assert call.header("Content-Type") == "application/json"
    assert call.result()["content"][0]["text"] == "1" and call.notifications() == []
    for accept in ("application/json", "*/*", "application/json, text/event-stream;q=0", "text/event-streams"):
        refused = http.modern().request("subscriptions/listen", {"notifications": {}}, headers={"Accept": accept})
        assert refused.finish().status == 406, accept


def test_client_that_reads_streams_says_so_in_its_own_way(http):
    listen = ("subscriptions/listen", {"notifications": {}})
    for accept in ("Text/Event-Stream", "application/json\r\nAccept: text/event-stream", "text/event-stream ; q=0.5"):
        stream = http.modern().request(*listen, headers={"Accept": accept})
        assert stream.next()["method"] == "notifications/subscriptions/acknowledged", accept
        stream.hang_up()


def test_headers_with_bytes_that_no_header_has(http):
    uri = "sandbox://\u00e9"
    message = body_of("resources/read", uri=uri, _meta=meta())
    for name in (uri.encode().decode("latin-1"), "sandbox://\x7f"):
        refused = http.send(http.post_bytes(message, {**headers_of("resources/read"), "Mcp-Name": name}))
        assert refused.finish().status == 400


def test_answers_that_nobody_reads(fake, serve_http):
    """Of all connections together: those with the most go, the others are served."""
    server = serve_http(fake(), "--max-output", "16m", "--max-parallel", "4")
    small = server.modern().call("print(1)", headers={"Accept": "application/json"}).begin()
    calls = []
    for _ in range(5):  # a character is six bytes in JSON, and comes twice
        calls.append(server.modern().call("import sys; sys.stdout.write('\\x01' * (8 << 20))",
                                          headers={"Accept": "application/json"}).begin())
        assert_alive(server)
    lengths = [len_of_answer(call) for call in calls]
    assert lengths.count(None) >= 2 and len([length for length in lengths if length]) >= 2, lengths
    assert small.result()["content"][0]["text"] == "1"
    assert_alive(server)


@pytest.mark.parametrize("body", [b"", b"x", b"{", b"nul", b"\xff\xfe", b'{"jsonrpc":"2.0"', b"\0" * 100,
                                  b"[" * 100000, b'{"a":' * 5000])
def test_body_that_is_not_json(http, body):
    answer = http.send(http.post_bytes(body)).finish()
    assert answer.status == 400
    said = json.loads(answer.body)
    assert said["error"]["code"] in (-32700, -32600) and "id" not in said
    assert_alive(http)


@pytest.mark.parametrize("message", [1, "x", None, {}, {"id": 1}, {"jsonrpc": "2.0", "id": 1},
                                     {"jsonrpc": "1.0", "id": 1, "method": "ping"},
                                     {"jsonrpc": "2.0", "id": None, "method": "ping"},
                                     {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
                                     {"jsonrpc": "2.0", "id": {}, "method": "ping"},
                                     {"jsonrpc": "2.0", "id": 1, "method": 5}])
def test_json_that_is_no_message(http, message):
    answer = http.send(http.post_bytes(json.dumps(message).encode())).finish()
    assert answer.status == 400
    assert json.loads(answer.body)["error"]["code"] == -32600


def test_errors_have_the_status_of_the_modern_revision(http):
    client = http.modern()
    for method in ("no/such", "initialize", "ping", "logging/setLevel", "resources/subscribe"):
        unknown = client.request(method)
        assert (unknown.status, unknown.code()) == (404, -32601)
    for method in ("tasks/get", "tasks/cancel", "tasks/update"):
        refused = client.request(method, {"taskId": "x"})
        assert (refused.status, refused.code()) == (400, -32021)
        assert refused.messages[-1]["error"]["data"] == {"requiredCapabilities": TASKS}
    unknown = client.request("tools/call", {"name": "no_such_tool", "arguments": {}})
    assert unknown.code() == -32602


def test_wishes_for_tasks_want_the_capability(http):
    refused = http.modern().request("subscriptions/listen", {"notifications": {"taskIds": ["x"]}})
    assert (refused.status, refused.code()) == (400, -32021)


@pytest.mark.parametrize("change", [{f"{META}protocolVersion": None}, {f"{META}clientCapabilities": None}])
def test_meta_that_is_missing(http, change):
    carried = {key: value for key, value in {**meta(), **change}.items() if value is not None}
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"_meta": carried}}
    refused = http.post(message, headers_of("tools/list"), MODERN)
    assert (refused.status, refused.code()) == (400, -32602)
    assert refused.messages[-1]["id"] == 7


@pytest.mark.parametrize("version", ["2027-01-01", "2025-11-25", "v999", "", "x" * 3000])
def test_version_in_meta_that_is_none(http, version):
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"_meta": meta(revision=version)}}
    refused = http.post(message, headers_of("tools/list", **{"MCP-Protocol-Version": version}), MODERN)
    assert refused.status == 400
    if version:
        assert refused.code() == -32022
        data = refused.messages[-1]["error"]["data"]
        assert data["requested"] == version and data["supported"][0] == MODERN


@pytest.mark.parametrize("headers", [{"MCP-Protocol-Version": "2025-11-25"}, {"MCP-Protocol-Version": None},
                                     {"Mcp-Method": "tools/list"}, {"Mcp-Method": None}, {"Mcp-Name": "run_js_code"},
                                     {"Mcp-Name": None}, {"Mcp-Name": ""}, {"Mcp-Method": "TOOLS/CALL"},
                                     {"Mcp-Name": "=?base64?%%%?="}, {"Mcp-Name": "=?base64?cnVuX2pzX2NvZGU=?="},
                                     {"MCP-Protocol-Version": "=?base64?MjAyNi0wNy0yOA==?="},
                                     {"Mcp-Method": "=?base64?dG9vbHMvY2FsbA==?="}])
def test_headers_that_do_not_match(http, headers):
    refused = http.modern().call("print(1)", headers=headers)
    assert (refused.status, refused.code()) == (400, -32020)
    assert refused.messages[-1]["id"] == 1
    assert not http.engine.commands("run")


@pytest.mark.parametrize("name", ["run_python_code", "  run_python_code\t", "=?base64?cnVuX3B5dGhvbl9jb2Rl?="])
def test_header_in_other_clothes(http, name):
    call = http.modern().call("print(1)", headers={"Mcp-Name": name})
    assert call.result()["structuredContent"]["stdout"] == "1\n"


@pytest.mark.parametrize("carried", [{"_meta": meta()}, {}])
def test_notification_has_no_body(http, carried):
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, **carried}}
    accepted = http.post(message, headers_of("notifications/cancelled")).finish()
    assert (accepted.status, accepted.body) == (202, b"")


def test_notification_whose_header_says_something_else(http):
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "_meta": meta()}}
    assert http.post(message, headers_of("tools/call")).finish().status == 400


@pytest.mark.parametrize("message, headers", [
    ({"jsonrpc": "2.0", "method": "notifications/initialized", "params": []}, {}),
    ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": []}, {"MCP-Protocol-Version": MODERN})])
def test_params_that_are_no_object(http, message, headers):
    assert http.send(http.post_bytes(json.dumps(message).encode(), headers)).finish().status == 400


def test_ids_have_an_end(http):
    """They are kept for as long as an answer takes."""
    assert http.modern().request("tools/list", ident="x" * 16384).result()["tools"]
    assert http.modern().request("tools/list", ident="x" * 16385).code() == -32600
    call = http.modern().call("import time; time.sleep(1.5)", more={"_meta": {"progressToken": "x" * 16385}})
    call.finish()
    assert call.notifications() == []


def test_stream_has_the_right_headers(http):
    call = http.modern().call("import time; time.sleep(1.5)", more={"_meta": {"progressToken": "t"}})
    assert call.header("Content-Type") == "text/event-stream"
    assert call.header("X-Accel-Buffering") == "no"
    assert "no-cache" in call.header("Cache-Control")
    call.finish()
    values = [message["params"]["progress"] for message in call.notifications()]
    assert values == sorted(set(values)) and values
    assert "result" in call.messages[-1]


def test_answer_without_progress_is_json(http):
    call = http.modern().call("print(1)")
    assert call.header("Content-Type") == "application/json"
    call.finish()


# Sizes.


def test_body_at_the_limit_of_code(http):
    """16 MiB of code is what the tool takes."""
    code = "#" + "x" * (16 * 1024 * 1024 - 10) + "\n1"
    assert http.modern().call(code).result()["isError"] is False


def test_body_at_the_limit(http):
    body = body_of("server/discover", _meta=meta(filler=""))
    body = body.replace(b'"filler": ""', b'"filler": "' + b"x" * (LIMIT - len(body)) + b'"')
    assert len(body) == LIMIT
    assert http.send(http.post_bytes(body, headers_of("server/discover"))).finish().status == 200


def test_body_over_the_limit(http):
    connection = http.connect()
    connection.sendall(http.head(headers={"Content-Type": "application/json", "Content-Length": LIMIT + 1}))
    if not send_until_refused(connection, b"x" * 65536, LIMIT):
        assert answers_on(connection).startswith(b"HTTP/1.1 413")
    connection.close()
    assert_alive(http)


@pytest.mark.parametrize("length", ["99999999999999999999999", "-1", "x", "1 1", "0x10", "18446744073709551616"])
def test_content_length_that_lies(http, length):
    try:
        assert http.send(http.head(headers={"Content-Type": "application/json", "Content-Length": length})
                         + b"{}").status >= 400
    except (ConnectionError, HTTPException):
        pass
    assert_alive(http)


def test_chunked_body(http):
    body = body_of("server/discover", _meta=meta())
    head = http.head(headers={"Content-Type": "application/json", "Transfer-Encoding": "chunked",
                              **headers_of("server/discover")})
    pieces = [body[i:i + 7] for i in range(0, len(body), 7)]
    data = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    assert http.send(head + data).finish().status == 200


ENDLESS = {"chunks": b"10000\r\n" + b"x" * 65536 + b"\r\n", "digits": b"0" * 65536, "empty lines": b"\r\n" * 32768}
if SANITIZED:
    del ENDLESS["digits"]  # libevent looks through all of the line each time: with a sanitizer, for minutes


@pytest.mark.parametrize("block", ENDLESS.values(), ids=ENDLESS)
def test_endless_chunked_body(http, block):
    """Of chunks, and of what stands before one: it ends all the same."""
    connection = http.connect()
    connection.sendall(http.head(headers={"Content-Type": "application/json", "Transfer-Encoding": "chunked"}))
    if not send_until_refused(connection, block, 2 * LIMIT):
        assert answers_on(connection).startswith(b"HTTP/1.1 413")
    connection.close()
    assert_alive(http)


def test_endless_input_while_a_stream_goes(http):
    stream = http.modern().request("subscriptions/listen", {"notifications": {}})
    assert stream.next()["method"] == "notifications/subscriptions/acknowledged"
    assert send_until_refused(stream.connection, b"x" * 65536, 2 * LIMIT)
    stream.hang_up()
    assert_alive(http)


def test_large_bodies_together(http):
    """Nobody has shown a token yet: the largest go, and the small are served."""
    head = http.head(headers={"Content-Type": "application/json", "Content-Length": LIMIT})
    connections = [http.connect() for _ in range(8)]
    small = http.connect()
    small.sendall(head + b"{")
    for connection in connections:
        connection.sendall(head)
        send_until_refused(connection, b"x" * 65536, LIMIT - 65536)
        assert_alive(http)
    resting = [connection for connection in connections if not closed_by_server(connection)]
    assert 3 <= len(resting) <= 4
    assert not closed_by_server(small)
    for connection in (*connections, small):
        connection.close()
    assert_alive(http)


@pytest.mark.parametrize("headers", [{"Content-Length": 48, "Transfer-Encoding": "chunked"},
                                     {"Content-Length": 5, "Transfer-Encoding": "gzip, chunked"},
                                     {"Content-Length": 5, "Transfer-Encoding": "identity"}])
def test_both_lengths_are_not_smuggled(http, headers):
    """Content-Length and Transfer-Encoding: whoever believes the other one
    takes the rest for a request."""
    head = http.head(headers={"Content-Type": "application/json", **headers})
    connection = http.connect()
    connection.sendall(head + b"0\r\n\r\n" + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    said = answers_on(connection)
    assert said.startswith(b"HTTP/1.1 400") and said.count(b"HTTP/1.1") == 1
    assert_alive(http)


TWICE = [b"Content-Length: 2\r\nContent-Length: 47", b"Content-Length: 2\r\nTransfer-Encoding : chunked",
         b"Content-Length: 2\r\nHost: evil.example", b"Content-Length: 2\r\norigin: http://localhost\r\nOrigin: null",
         b"Content-Length: 2\r\nMcp-Method: tools/list\r\nMcp-Method: tools/call"]


@pytest.mark.parametrize("lines", TWICE, ids=lambda lines: lines.decode().replace("\r\n", ", "))
def test_headers_that_say_two_things(http, lines):
    """A proxy might go by the other one."""
    connection = http.connect()
    connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + lines +
                       b"\r\n\r\n{}GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    said = answers_on(connection)
    assert said.startswith(b"HTTP/1.1 400") and said.count(b"HTTP/1.1") == 1
    assert_alive(http)


@pytest.mark.parametrize("filler", [{"X-Filler": "x"}, {f"X-Filler-{number}": "x" * 100 for number in range(200)}])
@pytest.mark.parametrize("size,status", [(31 * 1024, 200), (33 * 1024, 400)])
def test_limit_of_headers(http, filler, size, status):
    message = body_of("server/discover", _meta=meta())
    short = http.post_bytes(message, {**headers_of("server/discover"), **filler, "X-Rest": ""})
    rest = size - (len(short) - len(message))
    assert http.send(http.post_bytes(message, {**headers_of("server/discover"), **filler, "X-Rest": "x" * rest})
                     ).finish().status == status


@pytest.mark.parametrize("flood", [b"X-Filler: " + b"x" * 100 + b"\r\n", b"X: " + b"y" * 65536 + b"\r\n", b"y" * 65536])
def test_flood_of_headers(http, flood):
    connection = http.connect()
    connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n")
    if not send_until_refused(connection, flood, 2000 * len(flood)):
        assert answers_on(connection).startswith(b"HTTP/1.1 400")
    connection.close()
    assert_alive(http)


@pytest.mark.parametrize("junk", [b"\0" * 1000, b"\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
                                  b"GET\r\n\r\n",
                                  b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"POST /mcp HTTP/9.9\r\nHost: localhost\r\n\r\n",
                                  b"POST /mcp HTTP/1.1\r\n: x\r\n\r\n", b"POST http://evil/mcp HTTP/1.1\r\n\r\n"])
def test_what_is_not_http(http, junk):
    connection = http.connect()
    connection.sendall(junk)
    connection.shutdown(socket.SHUT_WR)
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        pass
    connection.close()
    assert_alive(http)


@pytest.mark.parametrize("seed", range(4))
def test_requests_with_mistakes_in_them(http, seed):
    """A valid request, and some bytes of it changed, lost, doubled or swapped."""
    chance = random.Random(seed)
    session = http.session("2025-03-26")
    valid = [modern_bytes(http), modern_bytes(http, method="subscriptions/listen", notifications={"taskIds": ["x"]}),
             http.post_bytes(body_of("ping"), session.headers()),
             http.post_bytes(b"[" + body_of("ping") + b"]", session.headers()),
             http.head("DELETE", headers={"Mcp-Session-Id": "x"}), http.head("GET", "/healthz")]
    for _ in range(150):
        data = bytearray(chance.choice(valid))
        for _ in range(chance.randint(1, 4)):
            at, length = chance.randrange(len(data)), chance.randint(1, 8)
            piece = bytes(data[at:at + length])
            data[at:at + length] = chance.choice([b"", piece * 2, piece[::-1], chance.randbytes(length),
                                                  b"\r\n", b"\0", b'"', b"{" * 80])
        connection = http.connect()
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
        except ConnectionError:
            pass
        connection.close()
    assert_alive(http)


def as_1_0(data, connection):
    return data.replace(b"HTTP/1.1\r\n", b"HTTP/1.0\r\nConnection: %s\r\n" % connection, 1)


@pytest.mark.parametrize("connection", [b"close", b"keep-alive"])
def test_http_1_0(http, connection):
    assert http.send(as_1_0(modern_bytes(http), connection)).finish().status == 200


def test_streams_in_http_1_0(http):
    """As proxies speak it: there are no chunks, and at the end it is closed."""
    body = body_of("tools/call", 7, _meta={**meta(), "progressToken": 1}, name="run_python_code",
                   arguments={"code": "import time; time.sleep(2)"})
    call = http.post_bytes(body, headers_of("tools/call", **{"Mcp-Name": "run_python_code"}))
    exchange = http.send(as_1_0(call, b"close"))
    assert exchange.next()["method"] == "notifications/progress"
    assert exchange.header("Transfer-Encoding") is None
    assert exchange.answer()["id"] == 7
    listen = modern_bytes(http, 8, "subscriptions/listen", notifications={"toolsListChanged": True})
    stream = http.send(as_1_0(listen, b"close"))
    assert stream.next()["method"] == "notifications/subscriptions/acknowledged"
    stream.hang_up()
    for kept in (b"keep-alive", b"Keep-Alive, TE"):
        assert http.send(as_1_0(listen, kept)).finish().status == 406


def test_one_answer_of_any_size(fake, serve_http):
    """A client that reads gets it, though as much unread by several would not
    be kept."""
    server = serve_http(fake(), "--max-output", "64m")
    call = server.modern().call("import sys; sys.stdout.write('\\x01' * (24 << 20))")
    call.revision = None  # too much to be looked at once more
    call.finish()
    assert len(call.body) > 256 << 20
    assert json.loads(call.body)["result"]["structuredContent"]["stdout"] == "\x01" * (24 << 20)


# Connections.


def test_connection_is_kept(http):
    connection = http.connect()
    for ident in range(5):
        exchange = http.send(modern_bytes(http, ident), connection).begin()
        assert json.loads(exchange.response.read())["id"] == ident
    connection.close()


def read_answer(stream):
    """One of several on a connection, from what they come in together."""
    assert stream.readline().startswith(b"HTTP/1.1 200")
    length = 0
    while (line := stream.readline()) != b"\r\n":
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(stream.read(length))


def test_pipelined_requests_are_answered_in_order(http):
    connection = http.connect()
    connection.sendall(b"".join(modern_bytes(http, ident) for ident in range(20)))
    stream = connection.makefile("rb")
    assert [read_answer(stream)["id"] for _ in range(20)] == list(range(20))
    connection.close()


def test_pipelined_behind_a_slow_call(http):
    connection = http.connect()
    slow = body_of("tools/call", 1, _meta=meta(), name="run_python_code",
                   arguments={"code": "import time; time.sleep(1); print('slow')"})
    connection.sendall(http.post_bytes(slow, headers_of("tools/call", **{"Mcp-Name": "run_python_code"}))
                       + modern_bytes(http, 2))
    stream = connection.makefile("rb")
    assert read_answer(stream)["result"]["content"][0]["text"] == "slow"
    assert read_answer(stream)["id"] == 2
    connection.close()


def test_expect_continue(http):
    """As curl sends a large body: it waits to be told to go on."""
    body = body_of("server/discover", _meta=meta(filler="x" * 2000000))
    connection = http.connect()
    connection.sendall(http.head(headers={"Content-Type": "application/json", "Content-Length": len(body),
                                          "Expect": "100-continue", **headers_of("server/discover")}))
    assert connection.recv(65536).startswith(b"HTTP/1.1 100")
    assert http.send(body, connection).finish().status == 200


def test_connection_close(http):
    connection = http.connect()
    connection.sendall(modern_bytes(http).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
    said = b""
    while piece := connection.recv(65536):
        said += piece
    assert said.startswith(b"HTTP/1.1 200")


def test_half_a_request_does_not_hold_up_others(http):
    slow = []
    for data in (b"POST /mcp HT", b"POST /mcp HTTP/1.1\r\nHost: local", http.head(headers={
            "Content-Type": "application/json", "Content-Length": 1000}) + b"{"):
        connection = http.connect()
        connection.sendall(data)
        slow.append(connection)
    for _ in range(5):
        assert_alive(http)
    # One of them makes up its mind after all.
    rest = b'"jsonrpc":"2.0","id":1,"method":"nothing"}'
    slow[2].sendall(rest + b" " * (999 - len(rest)))
    assert http.send(b"", slow[2]).status == 400
    for connection in slow:
        connection.close()


def test_byte_by_byte(http):
    connection = http.connect()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in modern_bytes(http):
        connection.sendall(bytes([byte]))
    assert http.send(b"", connection).finish().status == 200


def test_three_hundred_connections(http):
    """All are served; those that idle keep nobody out."""
    assert_alive(http)
    before = http.fds()
    connections = [http.connect() for _ in range(300)]
    for ident, connection in enumerate(connections):
        connection.sendall(modern_bytes(http, ident))
    for ident, connection in enumerate(connections):
        exchange = http.send(b"", connection).begin()
        assert json.loads(exchange.response.read())["id"] == ident
    assert_alive(http)
    for connection in connections:
        connection.close()
    until(lambda: http.fds() <= before, what=lambda: f"{http.fds()} descriptors, {before} before")


def test_thousand_connections_that_say_nothing(http):
    """More than it takes at a time: who has waited the longest makes room."""
    connections = [http.connect() for _ in range(1000)]
    assert_alive(http)
    assert http.fds() < 700
    last = http.send(modern_bytes(http), connections[-1])
    assert last.finish().status == 200
    assert answers_on(connections[0]) == b""
    for connection in connections:
        connection.close()
    assert_alive(http)


def test_out_of_descriptors(fake, serve_http):
    """Connections wait, and it does not try again and again without a pause."""
    server = serve_http(fake(), "--verbose")
    assert_alive(server)
    failure = "cannot take a connection"
    _, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (server.fds() + 5, hard))
    connections = [server.connect() for _ in range(20)]
    begun = time.monotonic()
    until(lambda: server.stderr.count(failure) >= 4)
    assert server.stderr.count(failure) <= 4 + 10 * (time.monotonic() - begun)
    for connection in connections:
        connection.close()
    assert_alive(server)


def test_descriptors_for_all_that_may_run(fake, serve_http):
    server = serve_http(fake(), "--max-parallel", "1024", "--max-sessions", "1000")
    soft, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    assert soft == hard or soft > 3 * (1024 + 1000) + 512


def test_too_many_requests_at_once(fake, serve_http, tmp_path):
    server = serve_http(fake(), "--max-parallel", "1")
    client, go = server.modern(), tmp_path / "go"
    calls = [client.call(f"import os, time\nwhile not os.path.exists('{go}'): time.sleep(0.02)")]
    calls += [client.call("1") for _ in range(255)]
    refused = until(lambda: (asked := client.request("tools/list").finish()).status == 503 and asked)
    assert int(refused.header("Retry-After")) > 0
    assert server.get("/healthz").status == 200
    for call in calls[100:]:
        call.hang_up()
    until(lambda: client.request("tools/list").finish().status == 200, what="there is room again")
    go.touch()
    for call in calls[:100]:
        assert call.status == 200
        call.finish()


def test_those_who_listen_leave_room_for_others(http):
    client = http.modern()
    streams = []
    for _ in range(128):
        streams.append(client.request("subscriptions/listen", {"notifications": {}}))
        assert streams[-1].next()["method"] == "notifications/subscriptions/acknowledged"
    refused = client.request("subscriptions/listen", {"notifications": {}})
    assert refused.status == 503 and int(refused.header("Retry-After")) > 0
    assert_alive(http)
    streams[0].hang_up()
    until(lambda: client.request("subscriptions/listen", {"notifications": {}}).status == 200, what="there is room")
    for stream in streams:
        stream.hang_up()


def test_reader_that_does_not_read(http):
    """A large answer to somebody who leaves it on the line, and others."""
    lazy = http.modern().call("print('x' * 200000)")
    for _ in range(3):
        assert_alive(http)
    assert len(lazy.result()["structuredContent"]["stdout"]) > 1000


@pytest.mark.parametrize("revision", LEGACY)
def test_bad_version_header_in_a_session(http, revision):
    session = http.session(revision)
    for version in ("1999-01-01", "nonsense", "2025-11-26"):
        refused = session.request("ping", headers={"MCP-Protocol-Version": version}).finish()
        assert refused.status == 400, version
        notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        assert http.post(notice, session.headers() | {"MCP-Protocol-Version": version}).status == 400, version
    assert session.request("ping").result() == {}
