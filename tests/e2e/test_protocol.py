"""JSON-RPC and MCP as such; the engine does not matter."""

import json
import threading

import pytest
from harness import FLAT, NEWEST, PATIENCE, Server, assert_refused, assert_success, facts_of, text_of, until

LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"


def modern(params=None, capabilities=None, version=MODERN):
    return {**(params or {}), "_meta": {f"{META}protocolVersion": version,
                                        f"{META}clientCapabilities": capabilities or {}}}


def error_without_id(server):
    """The reply to what could not be read; it has no id at all."""
    reply = server.wait(None)
    assert "id" not in reply
    return reply["error"]["code"]


def assert_still_works(server):
    assert server.request("ping")["result"] == {}


# initialize.


@pytest.mark.parametrize("version", LEGACY)
def test_supported_version_is_echoed(fake, serve, version):
    server = serve(fake(), revision=None)
    result = server.initialize(version)["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "code-sandbox"
    assert set(result["capabilities"]) >= {"tools", "resources"}


@pytest.mark.parametrize("version", ["2023-01-01", "2099-01-01", MODERN, "", "x" * 10000])
def test_unknown_version_gets_the_newest(fake, serve, version):
    server = serve(fake(), revision=None)
    assert server.initialize(version)["result"]["protocolVersion"] == NEWEST


@pytest.mark.parametrize("params", [None, {}, {"protocolVersion": 1}, {"protocolVersion": None}])
def test_initialize_without_a_version(plain, params):
    assert plain.request("initialize", params)["error"]["code"] == -32602


@pytest.mark.parametrize("version", LEGACY)
def test_result_fits_the_revision(fake, serve, version):
    server = serve(fake(), revision=version)
    result = server.call("print(1)")
    assert text_of(result) == "1"
    assert ("structuredContent" in result) == (version >= "2025-06-18")
    tool = server.request("tools/list")["result"]["tools"][0]
    assert ("outputSchema" in tool) == (version >= "2025-06-18")
    assert ("annotations" in tool) == (version >= "2025-03-26")


def test_call_without_initialize(fake, serve):
    """Some clients do; they get the plain text."""
    server = serve(fake(), revision=None)
    assert text_of(server.call("print(1)")) == "1"


def test_revision_can_be_agreed_anew(plain):
    plain.initialize("2024-11-05")
    assert "structuredContent" not in plain.call("print(1)")
    plain.initialize(NEWEST)
    assert "structuredContent" in plain.call("print(1)")


# Tools and resources.


def test_tools_are_listed(plain):
    tools = plain.request("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["run_python_code", "run_js_code", "end_session"]
    for tool in tools[:2]:
        schema = tool["inputSchema"]
        assert schema["type"] == "object" and schema["required"] == ["code"]
        assert schema["properties"]["code"]["type"] == "string"
        assert "timeout_seconds" in schema["properties"]
    assert tools[2]["inputSchema"]["required"] == ["session"]


def test_tools_list_is_always_the_same(plain):
    assert plain.request("tools/list")["result"] == plain.request("tools/list")["result"]


def test_structured_content_has_all_that_the_schema_requires(plain):
    schema = plain.request("tools/list")["result"]["tools"][0]["outputSchema"]
    content = plain.call("print(1)")["structuredContent"]
    assert set(schema["required"]) <= set(content) <= set(schema["properties"])


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list"])
def test_unknown_cursor(plain, method):
    assert plain.request(method, {"cursor": "x"})["error"]["code"] == -32602


def test_resources(plain):
    [resource] = plain.request("resources/list")["result"]["resources"]
    assert resource["uri"] == "sandbox://environments"
    [template] = plain.request("resources/templates/list")["result"]["resourceTemplates"]
    assert template["uriTemplate"] == "sandbox://session/{session}/{+path}"


def test_unknown_resource(plain):
    assert plain.request("resources/read", {"uri": "sandbox://other"})["error"]["code"] == -32002
    assert plain.request("resources/read", {})["error"]["code"] == -32602


def test_unknown_method(plain):
    assert plain.request("no/such")["error"]["code"] == -32601


def test_unknown_tool(plain):
    reply = plain.request("tools/call", {"name": "no_such", "arguments": {"code": "1"}})
    assert reply["error"]["code"] == -32602
    assert "no_such" in reply["error"]["message"]


@pytest.mark.parametrize("params", [None, {}, {"name": 1}, {"name": "run_python_code", "arguments": []},
                                    {"name": "run_python_code", "arguments": "print(1)"}])
def test_malformed_call(plain, params):
    assert plain.request("tools/call", params)["error"]["code"] == -32602


@pytest.mark.parametrize("arguments, words", [
    ({}, '"code" is missing'),
    ({"code": None}, '"code"'),
    ({"code": 1}, "must be a string"),
    ({"code": ["print(1)"]}, "must be a string"),
    ({"code": ""}, "is empty"),
    ({"code": " \n\t\r\n"}, "is empty"),
    ({"code": "print(1)\0"}, "NUL"),
    ({"code": "\0"}, "NUL"),
    ({"code": "x" * (16 * 1024 * 1024 + 1)}, "the limit is 16777216"),
    ({"code": "print(1)", "language": "python"}, 'no argument "language"'),
])
def test_bad_argument_is_a_result_that_the_model_can_act_on(plain, arguments, words):
    result = plain.request("tools/call", {"name": "run_python_code", "arguments": arguments})["result"]
    assert_refused(result, words)
    assert plain.engine.commands("run") == []


# Messages that are none.


@pytest.mark.parametrize("line, code", [
    ("this is not JSON", -32700),
    ('{"jsonrpc": "2.0", "id": 1, "method": "ping"', -32700),
    ('{"jsonrpc": "2.0", "id": 1, "method": "ping"} x', -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "p\xff\xfe"}', -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "\xed\xa0\x80"}', -32700),
    ('{"jsonrpc": "2.0", "id": 1, "method": "a\tb"}', -32700),
    ("[" * 100000 + "]" * 100000, -32700),
    ('{"a":' * 100000, -32700),
    ("[]", -32600),
    ('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
    ("1", -32600),
    ('"ping"', -32600),
    ("null", -32600),
    ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
    ('{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
    ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
    ('{"jsonrpc": "2.0", "id": [1], "method": "ping"}', -32600),
    ('{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
], ids=lambda value: repr(value)[:40])
def test_unreadable_message(plain, line, code):
    plain.send_line(line)
    assert error_without_id(plain) == code
    assert_still_works(plain)


@pytest.mark.parametrize("message, code", [
    ({"id": 7, "method": "ping"}, -32600),
    ({"jsonrpc": "1.0", "id": 7, "method": "ping"}, -32600),
    ({"jsonrpc": 2.0, "id": 7, "method": "ping"}, -32600),
    ({"jsonrpc": "2.0", "id": 7}, -32600),
    ({"jsonrpc": "2.0", "id": 7, "method": 1}, -32600),
    ({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": []}, -32602),
    ({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": "x"}, -32602),
], ids=repr)
def test_malformed_request_keeps_its_id(plain, message, code):
    plain.send_line(json.dumps(message))
    assert plain.wait(7)["error"]["code"] == code
    assert_still_works(plain)


@pytest.mark.parametrize("ident", [0, -1, 9007199254740993, 18446744073709551615, "", "a b", "ü\n\"\\", "x" * 5000],
                         ids=lambda value: repr(value)[:20])
def test_id_comes_back_as_it_was(plain, ident):
    plain.start("ping", ident=ident)
    assert plain.wait(ident) == {"jsonrpc": "2.0", "id": ident, "result": {}}


@pytest.mark.parametrize("line", [
    '{"jsonrpc": "2.0", "method": "no/such"}',
    '{"jsonrpc": "2.0", "method": "ping"}',
    '{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "run_python_code", "arguments": {"code": "print(1)"}}}',
    '{"jsonrpc": "2.0", "method": "ping", "params": []}',
    '{"jsonrpc": "1.0", "method": "ping"}',
    '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}}',
    '{"jsonrpc": "2.0", "id": 99, "result": {}}',
    '{"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "x"}}',
    "", "\r", "   ",
])
def test_what_is_no_request_is_not_answered(plain, line):
    before = len(plain.lines)
    plain.send_line(line)
    assert_still_works(plain)
    unanswered = line.strip() == "" and line.strip("\r") != ""
    assert len(plain.lines) - before == (2 if unanswered else 1)
    assert plain.engine.commands("run") == []


# Lines.


def test_line_that_is_too_long(plain):
    """100 MB, of which no more is kept than a line may have, and that not for long."""
    before = plain.memory("VmRSS")
    plain.forget_peak()
    block = b"x" * 1_000_000
    for _ in range(100):
        plain.send_bytes(block)
    plain.send_bytes(b"\n")
    assert error_without_id(plain) == -32600
    assert plain.memory("VmHWM") - before < 40 * 1024 + FLAT
    assert plain.memory("VmRSS") - before < FLAT
    assert_still_works(plain)


def test_line_just_short_enough(plain):
    padding = " " * (39 * 1024 * 1024)
    plain.send_line('{"jsonrpc": "2.0", "id": "long",' + padding + '"method": "ping"}')
    assert plain.wait("long")["result"] == {}


def test_fifteen_megabytes_of_code(plain):
    code = "#" * (15 * 1024 * 1024) + "\nprint('end')"
    assert_success(plain.call(code), "end")


def test_half_a_line_then_a_pause(plain):
    plain.send_bytes(b'{"jsonrpc": "2.0", "id": "ha')
    assert plain.lines_within(0.3) == 0
    plain.send_bytes(b'lf", "method": "ping"}\n')
    assert plain.wait("half")["result"] == {}


def test_byte_by_byte(plain):
    for byte in b'{"jsonrpc": "2.0", "id": "drip", "method": "ping"}\n':
        plain.send_bytes(bytes([byte]))
    assert plain.wait("drip")["result"] == {}


def test_many_messages_in_one_write(plain):
    plain.send_bytes(b"".join(b'{"jsonrpc":"2.0","id":"n%d","method":"ping"}\n' % n for n in range(1000)))
    for number in range(1000):
        assert plain.wait(f"n{number}")["result"] == {}


def test_crlf(plain):
    plain.send_bytes(b'{"jsonrpc": "2.0", "id": "crlf", "method": "ping"}\r\n')
    assert plain.wait("crlf")["result"] == {}


def test_last_line_without_a_newline(fake, serve):
    server = serve(fake())
    server.send_bytes(b'{"jsonrpc": "2.0", "id": "last", "method": "ping"}')
    server.close()
    assert server.wait("last")["result"] == {}


def test_answers_are_one_line_each(plain):
    """Even when the text has every kind of line end in it."""
    before = len(plain.lines)
    plain.call("print('a\\r\\nb\\u2028c\\x85d')")
    assert len(plain.lines) == before + 1


# Ends of the pipe.


def test_stdin_from_a_file(fake, tmp_path):
    messages = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": NEWEST}},
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    path = tmp_path / "requests"
    path.write_text("".join(json.dumps(message) + "\n" for message in messages))
    with path.open() as stdin, Server(fake(), revision=None, stdin=stdin) as server:
        assert server.wait(1)["result"]["protocolVersion"] == NEWEST
        assert len(server.wait(2)["result"]["tools"]) == 3
        server.wait_exit()
        server.assert_clean()


def test_calls_that_the_end_of_stdin_overtakes_are_answered(fake, serve):
    server = serve(fake())
    ident = server.start_busy()
    server.close_stdin()
    server.wait_exit()
    assert_refused(server.result(ident), "shutting down")
    server.assert_clean()


def test_client_that_does_not_read_for_a_while(fake, serve):
    """More than the server is ready to hold: it stops reading, and goes on."""
    server = serve(fake())
    size = len(json.dumps(server.request("tools/list")))
    count = 140 * 1024 * 1024 // size
    lines = b"".join(b'{"jsonrpc":"2.0","id":"u%d","method":"tools/list"}\n' % n for n in range(count))
    server.recording.said(lines)

    def write():
        server.process.stdin.write(lines)
        server.process.stdin.flush()

    writer = threading.Thread(target=write, daemon=True)
    with server.arrived:  # the reader stands still while we hold this
        writer.start()
        writer.join(3)
        assert writer.is_alive(), "it went on reading"
    for number in range(count):
        assert len(server.wait(f"u{number}")["result"]["tools"]) == 3
    writer.join()


def test_end_of_stdin_of_a_client_that_does_not_read(fake, serve):
    """It waits for the end of the server, which waits no longer for it to read."""
    server = serve(fake())
    count = 68 * 1024 * 1024 // len(json.dumps(server.request("tools/list")))
    lines = b"".join(b'{"jsonrpc":"2.0","id":"u%d","method":"tools/list"}\n' % n for n in range(count))
    server.recording.stop()
    with server.arrived:  # the reader stands still while we hold this
        server.process.stdin.write(lines)
        server.process.stdin.close()
        assert server.process.wait(PATIENCE) == 0, server.stderr
    server.wait_exit()


def test_answers_that_are_never_read(fake, serve):
    """Of calls that it took before: there is an end to what it keeps for their
    client, and it says so."""
    server = serve(fake(), "--max-output", "16m", "--max-parallel", "4")
    code = "import sys; sys.stdout.write('\\x01' * (8 << 20))"  # six bytes each in JSON, and twice
    server.recording.stop()
    with server.arrived:
        for number in range(5):
            server.process.stdin.write(json.dumps({
                "jsonrpc": "2.0", "id": f"u{number}", "method": "tools/call",
                "params": {"name": "run_python_code", "arguments": {"code": code}}}).encode() + b"\n")
        server.process.stdin.flush()
        assert server.process.wait(2 * PATIENCE) == 1
    server.wait_exit()
    until(lambda: "the client is let go: it does not read its answers" in server.stderr, what=lambda: server.stderr)
    assert b"shutting down" not in server.lines[-1], "it is in the middle of another message"
    server.wait_no_containers()


def test_one_answer_of_any_size(fake, serve):
    """A client that reads it is not let go, whatever else waits behind it."""
    server = serve(fake(), "--max-output", "64m")
    server.recording.stop()
    with server.arrived:  # it reads no further than the first answer
        server.start("ping")
        large = server.start_call("import sys; sys.stdout.write('\\x01' * (24 << 20))")
        until(lambda: server.memory("VmRSS") > 256 << 10, 2 * PATIENCE, "the large answer")
        last = server.start("ping")
    result = server.result(large, 2 * PATIENCE)
    assert len(server.lines[-2]) > 256 << 20
    assert result["structuredContent"]["stdout"] == "\x01" * (24 << 20)
    assert server.result(last) == {}


# Batches: in one revision, and only there.


def test_batch(fake, serve):
    server = serve(fake(), revision="2025-03-26")
    server.send_line(json.dumps([
        {"jsonrpc": "2.0", "id": "a", "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "b", "method": "tools/call",
         "params": {"name": "run_python_code", "arguments": {"code": "print(1)"}}},
        {"jsonrpc": "2.0", "id": "c", "method": "no/such"}, 5]))
    answers = {reply.get("id"): reply for reply in server.wait_batch()}
    assert set(answers) == {"a", "b", "c", None}
    assert text_of(answers["b"]["result"]) == "1"
    assert answers["c"]["error"]["code"] == -32601 and answers[None]["error"]["code"] == -32600


def test_batch_of_notifications_is_not_answered(fake, serve):
    server = serve(fake(), revision="2025-03-26")
    server.send_line('[{"jsonrpc": "2.0", "method": "notifications/initialized"}]')
    assert_still_works(server)
    assert server.batches == []


def test_batch_with_a_request_that_looks_like_a_response(fake, serve):
    """Neither fish nor fowl: whatever it is taken for, it must do no harm."""
    server = serve(fake(), revision="2025-03-26")
    call = {"jsonrpc": "2.0", "id": "odd", "method": "tools/call", "result": 1,
            "params": {"name": "run_python_code", "arguments": {"code": "print(1)"}}}
    server.send_line(json.dumps([call, {"jsonrpc": "2.0", "id": "even", "method": "ping"}]))
    assert "even" in [reply.get("id") for reply in server.wait_batch()]
    assert_success_text(server.call("print('sound')"), "sound")


def assert_success_text(result, text):
    assert result["isError"] is False and text_of(result) == text


# The stateless revision.


def test_discover(fake, serve):
    server = serve(fake(), revision=None)
    result = server.request("server/discover", modern())["result"]
    assert result["resultType"] == "complete"
    assert MODERN in result["supportedVersions"]
    assert set(result["capabilities"]) >= {"tools", "resources"}
    assert result["ttlMs"] >= 0 and result["cacheScope"] in ("public", "private")
    assert result["_meta"][f"{META}serverInfo"]["name"] == "code-sandbox"


def test_modern_call_needs_no_initialize(fake, serve):
    server = serve(fake(), revision=None)
    ident = server.start("tools/call", modern({"name": "run_python_code", "arguments": {"code": "print(1)"}}))
    result = server.result(ident)
    assert result["resultType"] == "complete"
    assert facts_of(result)["stdout"] == "1\n"


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list"])
def test_modern_list(plain, method):
    result = plain.request(method, modern())["result"]
    assert result["resultType"] == "complete"
    assert result["ttlMs"] >= 0 and result["cacheScope"] in ("public", "private")


@pytest.mark.parametrize("method", ["initialize", "ping"])
def test_legacy_method_by_a_modern_client(plain, method):
    assert plain.request(method, modern({"protocolVersion": NEWEST}))["error"]["code"] == -32601


def test_unsupported_modern_version(plain):
    error = plain.request("tools/list", modern(version="2099-01-01"))["error"]
    assert error["code"] == -32022
    assert MODERN in error["data"]["supported"] and error["data"]["requested"] == "2099-01-01"


def test_modern_request_without_capabilities(plain):
    reply = plain.request("tools/list", {"_meta": {f"{META}protocolVersion": MODERN}})
    assert reply["error"]["code"] == -32602


def test_discover_without_meta(plain):
    assert "error" in plain.request("server/discover")


def test_modern_unknown_resource(plain):
    assert plain.request("resources/read", modern({"uri": "sandbox://x"}))["error"]["code"] == -32602


def test_modern_calls_have_no_state_without_a_handle(podman, serve):
    """Requests stand alone; whoever has the handle has the session."""
    server = serve(podman, revision=None)

    def call(tool="run_python_code", **arguments):
        return server.result(server.start("tools/call", modern({"name": tool, "arguments": arguments})))

    handle = call(code="x = 41", session="new")["structuredContent"]["session"]
    assert facts_of(call(code="print('x' in globals())"))["stdout"] == "False\n"
    assert facts_of(call(code="x", session="new"))["exit_code"] == 1
    assert facts_of(call(code="x + 1", session=handle))["value"] == "42"
    call("end_session", session=handle)
    assert call(code="x", session=handle)["isError"] is True


def test_eras_side_by_side(plain):
    """Each request by its own word, on one connection."""
    assert "resultType" in plain.request("tools/list", modern())["result"]
    assert "resultType" not in plain.request("tools/list")["result"]


def test_long_call_becomes_a_task(fake, serve):
    server = serve(fake(), revision=None)
    extension = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
    code = "import time; time.sleep(11); print('at last')"
    ident = server.start("tools/call", modern({"name": "run_python_code", "arguments": {"code": code}}, extension))
    result = server.result(ident)
    assert result["resultType"] == "task"
    task = result["taskId"]

    def status():
        return server.request("tasks/get", modern({"taskId": task}, extension))["result"]

    assert status()["status"] == "working"
    until(lambda: status()["status"] != "working", 20, "the task is over")
    final = status()
    assert final["status"] == "completed"
    assert text_of(final["result"]) == "at last"
    assert final["result"]["resultType"] == "complete", "as if it had been answered at once"
