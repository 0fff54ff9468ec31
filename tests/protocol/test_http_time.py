"""What takes long: silence, slow clients, and sessions that nobody uses."""

import select

import pytest
from harness import until

# Seconds, as in src/transport/http_connections.h.
SILENCE, TURN = 30, 300
NOT_SILENT = SILENCE - 2
COMMENT = [b": still here\n", b"\n"]


def lines(stream, count=2):
    stream.begin()
    return [stream.response.readline() for _ in range(count)]


def closed(connection):
    connection.settimeout(0.05)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


def test_silent_call(timed, program):
    """Nobody has anything to say meanwhile, and that is in order."""
    server = timed()
    call = server.modern().call(program.code, timeout_seconds=120, headers={"Accept": "application/json"})
    program.wait_up()
    server.pass_seconds(SILENCE + 5)
    program.let_go()
    assert call.header("Content-Type") == "application/json"
    assert call.result()["content"][0]["text"] == "done"


@pytest.mark.parametrize("kind", ["modern", "session"])
@pytest.mark.parametrize("progress", [False, True])
def test_call_that_is_long_in_coming(timed, program, kind, progress):
    """It becomes a stream, with something in it that says nothing."""
    server = timed()
    client = server.modern() if kind == "modern" else server.session()
    call = client.call(program.code, timeout_seconds=120, more={"_meta": {"progressToken": 1}} if progress else None)
    program.wait_up()
    if progress:
        assert call.next()["method"] == "notifications/progress"
    for _ in range(3):
        server.pass_seconds(16)
        until(lambda: lines(call, 1) == COMMENT[:1], what="a comment")
    program.let_go()
    assert call.result()["content"][0]["text"] == "done"


def test_silent_subscription(timed):
    """A comment every 15 seconds, for as long as one likes."""
    server = timed()
    stream = server.modern().request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    assert stream.next()["method"] == "notifications/subscriptions/acknowledged"
    server.pass_seconds(12)
    assert select.select([stream.connection], [], [], 0)[0] == []
    for _ in range(4):
        server.pass_seconds(15)
        assert lines(stream) == COMMENT
    stream.hang_up()


def test_what_is_said_into_a_stream_does_not_end_it(timed):
    server = timed()
    stream = server.modern().request("subscriptions/listen", {"notifications": {}})
    assert stream.next()["method"] == "notifications/subscriptions/acknowledged"
    stream.connection.sendall(b"GET /healthz")
    for _ in range(4):
        server.pass_seconds(16)
        assert lines(stream) == COMMENT
    stream.hang_up()


@pytest.mark.parametrize("said", [b"", b"POST /mcp HT"])
def test_silent_connection_is_let_go(timed, said):
    server = timed()
    connection = server.connect()
    connection.sendall(said)
    server.pass_seconds(NOT_SILENT)
    assert not closed(connection)
    server.pass_seconds(SILENCE)
    assert closed(connection)
    connection.close()


def test_request_that_never_ends(timed):
    """Byte by byte, and never silent for long."""
    server = timed()
    connection = server.connect()
    connection.sendall(server.head(headers={"Content-Type": "application/json", "Content-Length": 1000000}))
    for _ in range(TURN // NOT_SILENT):
        server.pass_seconds(NOT_SILENT)
        assert not closed(connection)
        connection.sendall(b"x")
    server.pass_seconds(NOT_SILENT)
    assert closed(connection)
    connection.close()


class Reader:
    """Of an answer that does not fit between it and the server."""

    def __init__(self, server, size):
        self.server = server
        self.call = server.modern().call(f"print('x' * {size})", headers={"Accept": "application/json"}).begin()
        self.length = int(self.call.header("Content-Length"))
        assert self.length > 2 * size
        self.got = 0

    def backlog(self):
        """Bytes that the server has given to the system; None: it has closed."""
        here, there = (f":{end[1]:04X}" for end in (self.call.connection.getsockname(),
                                                    self.call.connection.getpeername()))
        with open("/proc/net/tcp") as table:
            for words in map(str.split, table):
                if words[1].endswith(there) and words[2].endswith(here) and words[3] == "01":
                    return int(words[4].partition(":")[0], 16)
        return None

    def read(self, count):
        """So much, and the server follows."""
        self.got += len(self.call.response.read(count))
        self.server.get("/healthz")

    def read_rest(self):
        self.got += len(self.call.response.read())
        return self.got


def test_slow_reader_gets_all_of_it(timed):
    """For longer than silence may last."""
    reader = Reader(timed("--max-output", "32m"), 16_000_000)
    for _ in range(3):
        reader.read(3_000_000)
        reader.server.pass_seconds(NOT_SILENT)
    assert reader.backlog() and reader.got < reader.length // 2
    assert reader.read_rest() == reader.length


def test_answer_that_is_never_read_to_its_end(timed):
    """Nor does the reader fall silent: what waits for it goes."""
    reader = Reader(timed("--max-output", "32m"), 24_000_000)
    for _ in range(TURN // NOT_SILENT):
        reader.server.pass_seconds(NOT_SILENT)
        assert reader.backlog()
        reader.read(3_000_000)
    reader.server.pass_seconds(NOT_SILENT)
    until(lambda: reader.backlog() is None, what="it is closed")
    reader.call.hang_up()


def test_session_that_nobody_uses_ends(timed):
    """After an hour."""
    server = timed()
    used, unused = server.session(), server.session()
    server.pass_seconds(3000)
    assert used.request("ping").result() == {}
    server.pass_seconds(3000)
    assert unused.request("ping").finish().status == 404
    assert used.request("ping").result() == {}
