"""Several clients at once: sessions, ids, cancelling, going away, the end."""

import concurrent.futures
import json
import signal
import time

import pytest
from harness import until
from http_server import clis_of
from wire import LEGACY, MODERN, TASKS, meta


# Sessions.


@pytest.mark.parametrize("revision", LEGACY)
def test_session(http, revision):
    session = http.session(revision)
    assert session.introduction["protocolVersion"] == revision
    assert session.request("ping").result() == {}
    assert len(session.request("tools/list").result()["tools"]) == 3
    assert session.call("print(1)").result()["content"][0]["text"] == "1"
    assert session.end().status in (200, 204)
    assert session.request("ping").finish().status == 404
    assert session.end().status == 404


def test_session_id_is_missing(http):
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert http.post(message).status == 400
    assert http.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 400
    assert http.get(http.path, method="DELETE").status == 400


@pytest.mark.parametrize("ident", ["x", "0" * 32, "../../etc", "%s%n", "é".encode().decode("latin-1"), "a" * 8000])
def test_session_id_is_unknown(http, ident):
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert http.post(message, {"Mcp-Session-Id": ident}).status == 404
    assert http.get(http.path, {"Mcp-Session-Id": ident}, "DELETE").status == 404


def test_session_ids_differ(http):
    assert len({http.session().ident for _ in range(20)}) == 20


def test_session_id_of_another_server(fake, serve_http):
    session = serve_http(fake()).session()
    other = serve_http(fake())
    assert other.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, session.headers()).status == 404


def test_each_session_has_its_revision(http):
    old, new = http.session("2024-11-05"), http.session("2025-11-25")
    assert "annotations" not in old.request("tools/list").result()["tools"][0]
    assert "outputSchema" in new.request("tools/list").result()["tools"][0]
    assert "structuredContent" not in old.call("print(1)").result()
    assert "structuredContent" in new.call("print(1)").result()


def test_initialize_that_fails_opens_no_session(http):
    for _ in range(300):
        refused = http.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}).finish()
        assert refused.code() == -32602
        assert refused.header("Mcp-Session-Id") is None
    assert http.session().request("ping").result() == {}


def test_sessions_that_nobody_ends_do_not_lock_others_out(http):
    """Clients crash, and are started again."""
    for _ in range(300):
        session = http.session()
    assert session.request("ping").result() == {}


def test_session_that_waits_for_a_call_is_not_ended_for_others(http, program):
    busy = http.session()
    call = busy.call(program.code)
    program.wait_up()
    idle = http.session()
    for _ in range(256):
        session = http.session()
    assert idle.request("ping").status == 404
    assert session.request("ping").result() == {}
    assert busy.request("ping").result() == {}
    program.let_go()
    assert call.result()["content"][0]["text"] == "done"


def test_session_that_has_an_interpreter_is_not_ended_for_others(podman, serve_http):
    server = serve_http(podman)
    keeper = server.session()
    handle = keeper.call("x = 41", session="new").result()["structuredContent"]["session"]
    idle = server.session()
    for _ in range(256):
        server.session()
    assert idle.request("ping").status == 404
    assert keeper.call("x + 1", session=handle).result()["structuredContent"]["value"] == "42"


def test_modern_request_needs_no_session(http):
    assert http.modern().request("tools/list").result()["tools"]
    exchange = http.modern().request("tools/list", headers={"Mcp-Session-Id": "whatever"}).finish()
    assert exchange.status == 200 and exchange.header("Mcp-Session-Id") is None


def test_modern_request_with_a_session_leaves_it_alone(http):
    session = http.session("2024-11-05")
    assert http.modern().request("tools/list", headers=session.headers() | {"MCP-Protocol-Version": MODERN}
                                 ).result()["resultType"] == "complete"
    assert session.revision == "2024-11-05"
    assert "resultType" not in session.request("tools/list").result()


def test_end_of_a_session_ends_its_calls(http, program):
    session = http.session()
    call = session.call(program.code)
    program.wait_up()
    assert session.end().status in (200, 204)
    http.wait_no_containers()
    call.finish()
    assert not [message for message in call.messages if "result" in message]
    program.wait_gone()


# Ids.


@pytest.mark.parametrize("kind", ["session", "modern"])
def test_same_id_in_two_clients(http, program, kind):
    clients = [http.session() if kind == "session" else http.modern() for _ in range(2)]
    calls = [client.call(f"{program.code}\nprint({number})", ident="same")
             for number, client in enumerate(clients)]
    until(lambda: len(http.containers()) == 2)
    program.let_go()
    for number, call in enumerate(calls):
        assert call.answer()["id"] == "same"
        assert call.messages[-1]["result"]["content"][0]["text"] == f"done\n{number}"


def test_same_id_twice_in_one_session(http, program):
    session = http.session()
    first = session.call(program.code, ident=5)
    program.wait_up()
    assert session.call("print(1)", ident=5).code() == -32600
    program.let_go()
    assert first.result()["content"][0]["text"] == "done"


def test_many_clients_at_once(http):
    def one(number):
        client = http.session() if number % 2 else http.modern()
        return [client.call(f"print({number}, {turn})").result()["content"][0]["text"] for turn in range(2)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for number, said in enumerate(pool.map(one, range(16))):
            assert said == [f"{number} 0", f"{number} 1"]


@pytest.mark.parametrize("ident", [0, -1, 2**53, "", "0", "\u2028 'é\"", "x" * 5000])
def test_id_comes_back_as_it_was(http, ident):
    assert http.modern().request("tools/list", ident=ident).answer()["id"] == ident
    assert http.session().request("ping", ident=ident).answer()["id"] == ident


# Cancelling.


def test_cancel(http, program):
    session = http.session()
    call = session.call(program.code, ident="c")
    program.wait_up()
    assert session.notify("notifications/cancelled", {"requestId": "c"}).status == 202
    http.wait_no_containers()
    call.finish()
    assert call.messages == []
    assert session.request("ping").result() == {}


def test_one_session_cannot_cancel_the_call_of_another(http, program):
    mine, theirs = http.session(), http.session()
    call = mine.call(program.code, ident=1000)
    program.wait_up()
    assert theirs.notify("notifications/cancelled", {"requestId": 1000}).status == 202
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1000}}
    assert http.post(message, {"Mcp-Session-Id": "guess"}).status == 404
    assert http.post(message).status == 400
    assert theirs.end().status in (200, 204)
    program.let_go()
    assert call.result()["content"][0]["text"] == "done"


def test_cancel_of_a_modern_call_is_no_business_of_others(http, program):
    """Over HTTP a modern call is cancelled by going away, and in no other way."""
    client = http.modern()
    call = client.call(program.code, ident=1000)
    program.wait_up()
    client.request("server/discover").finish()
    assert http.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
        "requestId": 1000, "_meta": call.request["params"]["_meta"]}},
        {"MCP-Protocol-Version": MODERN}).status == 202
    program.let_go()
    assert call.result()["content"][0]["text"] == "done"


# Going away.


@pytest.mark.parametrize("more", [b"", b"GET /healthz HTTP/1.1\r\n"], ids=["", "with-more-to-read"])
@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("progress", [False, True])
def test_going_away_cancels_a_modern_call(http, program, progress, reset, more):
    call = http.modern().call(program.code, more={"_meta": {"progressToken": 1}} if progress else None)
    program.wait_up()
    if progress:
        assert call.next()["method"] == "notifications/progress"
    call.connection.sendall(more)
    call.hang_up(reset)
    http.wait_no_containers(8)  # not only when something is to be sent, which is after 15
    program.wait_gone()


def test_next_request_that_waits_costs_nothing(http, program):
    call = http.modern().call(program.code)
    program.wait_up()
    call.connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    before = http.ticks()
    time.sleep(1)
    assert http.ticks() - before < 10, "hundredths of a second of the processor"
    program.let_go()
    assert call.result()["content"][0]["text"] == "done"


@pytest.mark.parametrize("progress", [False, True])
def test_going_away_does_not_cancel_a_call_of_a_session(http, program, progress):
    session = http.session()
    call = session.call(program.code, more={"_meta": {"progressToken": 1}} if progress else None)
    program.wait_up()
    if progress:
        assert call.next()["method"] == "notifications/progress"
    call.hang_up()
    assert session.request("ping").result() == {}
    assert http.containers()
    program.let_go()
    until(program.done.exists, what="the call goes on to its end")
    http.wait_no_containers()
    assert session.call("print('next')").result()["content"][0]["text"] == "next"


def test_going_away_while_the_container_starts(http):
    for _ in range(10):
        call = http.modern().call("print(1)")
        until(lambda: clis_of(http) or http.containers())
        call.hang_up()
    http.wait_no_containers()
    assert http.modern().call("print(2)").result()["content"][0]["text"] == "2"


def test_going_away_from_a_waiting_call(fake, serve_http, program):
    server = serve_http(fake(), "--max-parallel", "1")
    first = server.modern().call(program.code)
    program.wait_up()
    for _ in range(20):
        server.modern().call("print('never')").hang_up()
    last = server.modern().call("print('last')")
    program.let_go()
    assert first.result()["content"][0]["text"] == "done"
    assert last.result()["content"][0]["text"] == "last"
    assert sum(words[0] == "run" for words in server.engine.commands()) < 10


def test_going_away_from_a_subscription(http):
    http.modern().request("tools/list").finish()
    before = http.fds()
    for _ in range(100):
        stream = http.modern().request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        assert stream.next()["method"] == "notifications/subscriptions/acknowledged"
        stream.hang_up()
    until(lambda: http.fds() <= before, what=lambda: f"{http.fds()} descriptors, {before} before")


def test_container_is_gone_on_a_real_engine(podman, serve_http):
    server = serve_http(podman)
    client = server.modern()
    call = client.call("import time; print('up', flush=True); time.sleep(300)", timeout_seconds=300)
    until(server.containers)
    call.hang_up()
    server.wait_no_containers()
    assert client.call("print(1)").result()["content"][0]["text"] == "1"


# Tasks.


@pytest.fixture
def task(http, program):
    """A call that has become one: its client, its id, and the program."""
    client = http.modern(capabilities=TASKS)
    call = client.call(program.code, timeout_seconds=300)
    created = call.result()
    assert created["resultType"] == "task" and created["status"] == "working"
    return client, created["taskId"], program


def test_task_to_its_end(http, task):
    client, ident, program = task
    assert client.request("tasks/get", {"taskId": ident}).result()["status"] == "working"
    assert set(client.request("tasks/update", {"taskId": ident, "inputResponses": {}}).result()) == \
        {"resultType", "_meta"}
    program.let_go()

    def ended():
        state = http.modern(capabilities=TASKS).request("tasks/get", {"taskId": ident}).result()
        return state if state["status"] != "working" else None

    state = until(ended)
    assert state["status"] == "completed"
    assert state["result"]["content"][0]["text"] == "done"
    assert client.request("tasks/cancel", {"taskId": ident}).result()["resultType"] == "complete"
    assert client.request("tasks/get", {"taskId": ident}).result()["status"] == "completed"


def test_task_is_cancelled(http, task):
    client, ident, program = task
    program.wait_up()
    assert client.request("tasks/cancel", {"taskId": ident}).result()["resultType"] == "complete"
    http.wait_no_containers()
    assert client.request("tasks/get", {"taskId": ident}).result()["status"] == "cancelled"
    program.wait_gone()


def test_task_id_cannot_be_guessed(http, task):
    client, ident, _ = task
    assert len(ident) >= 32
    flipped = ident[:-1] + ("0" if ident[-1] != "0" else "1")
    for wrong in (flipped, ident[:-1], ident + "0", ident.upper() if ident.upper() != ident else "X", "", "0" * 32):
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            assert client.request(method, {"taskId": wrong, "inputResponses": {}}).code() == -32602
    for wrong in (None, 5, {}, [ident]):
        refused = client.request("tasks/get", {"taskId": wrong}, headers={"Mcp-Name": "x"}).finish()
        assert refused.status in (200, 400) and "error" in refused.messages[-1]
    assert client.request("tasks/get", {"taskId": ident}).result()["status"] == "working"
    session = http.session()
    assert session.request("tasks/get", {"taskId": ident}).finish().messages[-1]["error"]["code"] in (-32601, -32602)
    assert http.containers()


# The end.


def end(server):
    server.signal(signal.SIGTERM)


def test_end_with_calls_in_flight(http, program):
    """Each gets an answer that says why."""
    calls = [http.session().call(program.code), http.modern().call(program.code),
             http.modern().call(program.code, more={"_meta": {"progressToken": 1}})]
    until(lambda: len(http.containers()) == 3)
    end(http)
    for call in calls:
        answer = call.answer()
        assert "error" in answer or answer["result"]["isError"] is True, answer
    assert http.wait_exit() == 0
    http.assert_clean()
    with pytest.raises(OSError):
        http.connect()


def test_end_with_waiting_calls(fake, serve_http, program):
    server = serve_http(fake(), "--max-parallel", "1")
    calls = [server.modern().call(program.code) for _ in range(20)]
    program.wait_up()
    end(server)
    for call in calls:
        answer = call.answer()
        assert "error" in answer or answer["result"]["isError"] is True, answer
    assert server.wait_exit() == 0
    server.assert_clean()


def test_end_with_a_subscription(http):
    """It is ended in form: the result says of which subscription."""
    stream = http.modern().request("subscriptions/listen", {"notifications": {}}, ident="listening")
    assert stream.next()["method"] == "notifications/subscriptions/acknowledged"
    end(http)
    answer = stream.answer()
    assert answer["id"] == "listening"
    assert answer["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "listening"
    assert http.wait_exit() == 0
    http.assert_clean()


def test_end_with_idle_connections(http):
    connections = [http.connect() for _ in range(20)]
    kept = http.send(http.head("GET", "/healthz"), connections[0]).begin()
    kept.response.read()
    connections[1].sendall(b"POST /mcp HT")
    http.session()
    end(http)
    assert http.wait_exit() == 0
    http.assert_clean()
    for connection in connections:
        connection.close()


def test_end_with_a_task(http, task):
    end(http)
    assert http.wait_exit() == 0
    http.assert_clean()


def test_end_with_an_answer_on_its_way(fake, serve_http):
    """All of it still goes out."""
    server = serve_http(fake(), "--max-output", "16m", "--verbose")
    call = server.modern().call("print('x' * 12_000_000)").begin()
    end(server)
    until(lambda: "ending" in server.stderr)
    assert len(call.result()["structuredContent"]["stdout"]) == 12_000_001
    assert server.wait_exit() == 0
    server.assert_clean()


def test_end_with_a_reader_that_does_not_read(fake, serve_http):
    server = serve_http(fake(), "--max-output", "16m")
    server.modern().call("print('x' * 12_000_000)").begin()
    end(server)
    assert server.wait_exit() == 0
    server.assert_clean()


# Batches.


def test_batch(http):
    session = http.session("2025-03-26")
    exchange = session.send([{"jsonrpc": "2.0", "id": 1, "method": "ping"},
                             {"jsonrpc": "2.0", "method": "notifications/initialized"},
                             {"jsonrpc": "2.0", "id": 2, "method": "no/such"},
                             {"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": {
                                 "name": "run_python_code", "arguments": {"code": "print(1)"}}}])
    answers = {answer["id"]: answer for answer in exchange.answer()}
    assert answers[1]["result"] == {}
    assert answers[2]["error"]["code"] == -32601
    assert answers["c"]["result"]["content"][0]["text"] == "1"


def modern_batch(method, **params):
    return [{"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta()}}]


def test_batch_does_not_carry_modern_requests_past_their_headers(http):
    session = http.session("2025-03-26")
    [refused] = session.send(modern_batch("resources/list")).answer()
    assert refused["error"]["code"] == -32600
    headers = {**session.headers(), "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call"}
    assert http.send(http.post_bytes(json.dumps(modern_batch("resources/list")).encode(), headers)).status == 400
    for _ in range(300):
        assert "error" in session.send(modern_batch("subscriptions/listen", notifications={})).answer()[0]
    assert session.request("ping").result() == {}


def test_batch_behind_white_space(http):
    session = http.session("2025-03-26")
    body = b' \r\n[{"jsonrpc":"2.0","id":1,"method":"ping"}]'
    exchange = http.send(http.post_bytes(body, session.headers())).finish()
    assert exchange.body == b'[{"jsonrpc":"2.0","id":1,"result":{}}]'


def test_batch_of_notifications(http):
    session = http.session("2025-03-26")
    accepted = session.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}] * 3).finish()
    assert (accepted.status, accepted.body) == (202, b"")


def test_batch_with_progress(http):
    session = http.session("2025-03-26")
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "run_python_code", "arguments": {"code": "import time; time.sleep(1.5)"},
        "_meta": {"progressToken": "t"}}}
    exchange = session.send([call, {**call, "id": 2, "params": {**call["params"], "_meta": {"progressToken": "u"}}}])
    exchange.finish()
    tokens = {message["params"]["progressToken"] for message in exchange.messages[:-1]}
    assert tokens == {"t", "u"}
    assert {answer["id"] for answer in exchange.messages[-1]} == {1, 2}


def test_batch_whose_client_goes_away(http, program):
    session = http.session("2025-03-26")
    call = {"jsonrpc": "2.0", "method": "tools/call", "params": {
        "name": "run_python_code", "arguments": {"code": program.code}}}
    exchange = session.send([{**call, "id": 1}, {**call, "id": 2}, {"jsonrpc": "2.0", "id": 3, "method": "ping"}])
    until(lambda: len(http.containers()) == 2)
    exchange.hang_up()
    assert session.request("ping").result() == {}
    program.let_go()
    until(program.done.exists)
    http.wait_no_containers()


def test_batch_whose_session_ends(http, program):
    session = http.session("2025-03-26")
    call = {"jsonrpc": "2.0", "method": "tools/call", "params": {
        "name": "run_python_code", "arguments": {"code": program.code}}}
    exchange = session.send([{**call, "id": 1}, {**call, "id": 2}])
    until(lambda: len(http.containers()) == 2)
    program.wait_up()
    assert session.end().status in (200, 204)
    exchange.finish()
    assert not [answer for message in exchange.messages for answer in message if "result" in answer]
    program.wait_gone()
    http.wait_no_containers()


@pytest.mark.parametrize("revision", [revision for revision in LEGACY if revision != "2025-03-26"])
def test_batch_in_other_revisions(http, revision):
    session = http.session(revision)
    refused = http.send(http.post_bytes(b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', session.headers())).finish()
    assert b"-32600" in refused.body
    assert session.request("ping").result() == {}


@pytest.mark.parametrize("batch", [[], [1], [[]], [{"jsonrpc": "2.0", "id": 1}]])
def test_batch_of_nonsense(http, batch):
    session = http.session("2025-03-26")
    answer = json.loads(http.send(http.post_bytes(json.dumps(batch).encode(), session.headers())).finish().body)
    parts = answer if isinstance(answer, list) else [answer]
    assert [part["error"]["code"] for part in parts] == [-32600]
    assert session.request("ping").result() == {}


def test_batch_without_a_session(http):
    assert http.send(http.post_bytes(b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]')).finish().status == 400


# Interpreters that stay.


def test_interpreter_belongs_to_its_client(podman, serve_http):
    """Nobody else can use it, read from it or end it; it goes with its client."""
    server = serve_http(podman)
    owner, other, modern = server.session(), server.session(), server.modern()
    handle = owner.call("x = 41; open('f', 'w').write('f')", session="new").result()["structuredContent"]["session"]
    read = ("resources/read", {"uri": f"sandbox://session/{handle}/f"})
    end = ("tools/call", {"name": "end_session", "arguments": {"session": handle}})
    for stranger in (other, modern):
        result = stranger.call("x", session=handle).result()
        assert result["isError"] is True and f"There is no session {handle}" in result["content"][0]["text"]
        assert "There is no session" in stranger.request(*read).answer()["error"]["message"]
        assert stranger.request(*end).result()["isError"] is True
    assert owner.call("x + 1", session=handle).result()["structuredContent"]["value"] == "42"
    assert owner.request(*read).result()["contents"][0]["text"] == "f"
    assert len(server.containers()) == 1
    assert owner.end().status in (200, 204)
    server.wait_no_containers()


def test_interpreter_of_which_nobody_has_heard_goes(podman, serve_http):
    """Its client has hung up, and the handle with it."""
    server = serve_http(podman, "--max-sessions", "1")
    session = server.session()
    call = session.call("import time; print('up'); time.sleep(2)", session="new", more={"_meta": {"progressToken": 1}})
    while "up" not in call.next()["params"]["message"]:
        pass
    call.hang_up()
    server.wait_no_containers()
    result = session.call("6 * 7", session="new").result()
    assert result["structuredContent"]["value"] == "42"


def test_reading_from_an_interpreter_that_is_busy(podman, serve_http):
    """The server is not: 503 would have a proxy keep everybody from it."""
    server = serve_http(podman)
    modern = server.modern()
    handle = modern.call("open('f', 'w').write('f')", session="new").result()["structuredContent"]["session"]
    call = modern.call("import time; print('up'); time.sleep(60)", session=handle, more={"_meta": {"progressToken": 1}})
    while "up" not in call.next()["params"]["message"]:
        pass
    read = modern.request("resources/read", {"uri": f"sandbox://session/{handle}/f"})
    assert "is busy with another call" in read.answer()["error"]["message"]
    assert read.status == 200
    call.hang_up()


def test_interpreter_of_modern_requests(podman, serve_http):
    """They stand alone: whoever has the handle has the session."""
    server = serve_http(podman)
    handle = server.modern().call("x = 41", session="new").result()["structuredContent"]["session"]
    assert server.modern().call("x + 1", session=handle).result()["structuredContent"]["value"] == "42"
    end = ("tools/call", {"name": "end_session", "arguments": {"session": handle}})
    assert server.session().request(*end).result()["isError"] is True
    assert server.modern().request(*end).result()["isError"] is False
    server.wait_no_containers()
