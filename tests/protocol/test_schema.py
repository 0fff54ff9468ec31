"""Every answer of the server against the official schema of its revision.

One request for each kind of answer, in each revision, over stdio and HTTP.
The fixtures hold what came back against the schemas; here it is asserted that
it was the kind of answer that was meant.
"""

import json
import sys

import pytest
from harness import Server, until
from npm import HERE
from wire import LEGACY, META, MODERN, REVISIONS, TASKS, Transcript, meta

RECORDER = HERE / "record-stdio"
LONG = "import time; print('up', flush=True); time.sleep(300)"

CALL = "tools/call"


def call(code="print(1)", tool="run_python_code", **arguments):
    return {"name": tool, "arguments": {"code": code, **arguments}}


# What is asked, and what sort of answer it must be: a function of the result,
# or the number of an error, for the legacy revisions and for the modern one.
def ok(result):
    return result["content"][0]["text"] == "1"


def failed(result):
    return json.loads(result["content"][0]["text"])["exit_code"] == 3


def timed_out(result):
    return json.loads(result["content"][0]["text"])["timed_out"] is True


def refused(result):
    return result["isError"] is True


QUESTIONS = [
    ("ping", None, lambda result: result == {}, -32601),
    ("server/discover", None, -32601, lambda result: result["supportedVersions"] == list(reversed(REVISIONS))),
    ("tools/list", None, lambda result: len(result["tools"]) == 3, ...),
    ("tools/list", {"cursor": "x"}, -32602, ...),
    ("resources/list", None, lambda result: len(result["resources"]) == 1, ...),
    ("resources/templates/list", None, lambda result: len(result["resourceTemplates"]) == 1, ...),
    ("resources/read", {"uri": "sandbox://environments"}, lambda result: len(result["contents"]) == 1, ...),
    ("resources/read", {"uri": "sandbox://none"}, -32002, -32602),
    ("resources/read", {"uri": "sandbox://session/x/y"}, -32002, -32602),
    ("resources/read", {}, -32602, ...),
    (CALL, call(), ok, ...),
    (CALL, call("console.log(1)", "run_js_code"), ok, ...),
    (CALL, call("print('ü€😀\\x00\\x1b')"), lambda result: result["isError"] is False, ...),
    (CALL, call("import os; os.write(1, b'\\xff\\xfe')"), lambda result: result["isError"] is False, ...),
    (CALL, call("pass"), lambda result: result["isError"] is False, ...),
    (CALL, call("import sys; sys.exit(3)"), failed, ...),
    (CALL, call("import os; os.kill(os.getpid(), 9)"), lambda result: "SIGKILL" in json.dumps(result), ...),
    (CALL, call(LONG, timeout_seconds=1), timed_out, ...),
    (CALL, call("print('x' * 3000000)"), lambda result: "x" in json.dumps(result), ...),
    (CALL, call(""), refused, ...),
    (CALL, call(code=5), refused, ...),
    (CALL, call(no_such_argument=1), refused, ...),
    (CALL, call(timeout_seconds=0), refused, ...),
    (CALL, {"name": "run_python_code"}, refused, ...),
    (CALL, call(args="-v"), refused, ...),
    (CALL, call(files=[{"path": "../x", "text": ""}]), refused, ...),
    (CALL, call(session="no handle"), refused, ...),
    (CALL, {"name": "end_session", "arguments": {"session": "0" * 32}}, refused, ...),
    (CALL, {"name": "end_session"}, refused, ...),
    (CALL, call(tool="no_such_tool"), -32602, ...),
    (CALL, {"name": "run_python_code", "arguments": []}, -32602, ...),
    (CALL, {"arguments": {}}, -32602, ...),
    ("no/such/method", None, -32601, ...),
    ("notifications/initialized", None, -32601, ...),
]


@pytest.mark.parametrize("revision", REVISIONS)
def test_validator_notices(validator, revision):
    """That it would complain, if there were something to complain about."""
    head = {"jsonrpc": "2.0", "id": 1}
    for method, message in [
            ("tools/list", {**head, "result": {"tools": [{"name": "x"}]}}),
            ("tools/list", {**head, "result": {}}),
            ("tools/call", {**head, "result": {"content": [{"type": "text"}]}}),
            ("resources/read", {**head, "result": {"contents": [{"text": "x"}]}}),
            ("no/such", {**head, "result": {}}),
            ("tools/list", {**head, "error": {"code": "x", "message": "x"}}),
            ("tools/list", {"id": 1, "error": {"code": 1, "message": "x"}}),
            (None, {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}),
            (None, {"jsonrpc": "2.0", "method": "notifications/no_such"})]:
        assert validator.complaints(revision, method, message), message


@pytest.mark.parametrize("method, message", [
    ("tools/list", {"id": 1, "result": {"tools": [{"name": "x", "inputSchema": {"type": "object"}, "annotations": {}}]}}),
    ("tools/call", {"id": 1, "result": {"content": [{"type": "audio", "data": "", "mimeType": "audio/wav"}]}}),
    (None, {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1, "message": "x"}}),
    (None, [{"jsonrpc": "2.0", "id": 1, "result": {}}])])
def test_first_revision_has_less(validator, method, message):
    """Its schema is made of the second one's."""
    message = {"jsonrpc": "2.0", **message} if isinstance(message, dict) else message
    assert validator.complaints("2024-11-05", method, message)
    assert validator.complaints("2025-03-26", method, message) == []


def expectation(question, revision):
    _, _, legacy, modern = question
    return modern if revision == MODERN and modern is not ... else legacy


def assert_as_expected(expected, answer):
    if callable(expected):
        assert "result" in answer, answer
        assert expected(answer["result"]), answer
    else:
        assert answer["error"]["code"] == expected, answer


@pytest.fixture
def recorded(fake, tmp_path, validator):
    """recorded(revision) is a server on stdio, with a record of what is said."""
    started = []

    def start(revision):
        engine = fake()
        path = tmp_path / f"record-{len(started)}"
        server = Server(engine, command=[sys.executable, str(RECORDER), str(path), *engine.command()],
                        revision=None if revision == MODERN else revision)
        started.append((server, path))
        return server

    yield start
    for server, path in started:
        server.close_stdin()
        server.wait_exit()
        server.assert_clean()
        transcript = Transcript()
        transcript.add_stdio(json.loads(line) for line in path.read_text().splitlines())
        assert len(transcript.entries) > 1
        transcript.assert_valid(validator)
        server.discard()


def dressed(revision, params, **more):
    if revision != MODERN and not more:
        return params
    return {**(params or {}), "_meta": {**(meta() if revision == MODERN else {}), **more}}


@pytest.mark.parametrize("revision", REVISIONS)
def test_stdio(recorded, revision):
    server = recorded(revision)
    idents = [server.start(method, dressed(revision, params)) for method, params, *_ in QUESTIONS]
    for question, ident in zip(QUESTIONS, idents):
        assert_as_expected(expectation(question, revision), server.wait(ident))
    for garbage in ("x", "[]", "1", '{"jsonrpc":"2.0","id":{},"method":"ping"}'):
        server.send_line(garbage)
        assert server.wait(None)["error"]["code"] in (-32700, -32600)


@pytest.mark.parametrize("revision", REVISIONS)
def test_http(http, revision):
    client = http.modern() if revision == MODERN else http.session(revision)
    for question in QUESTIONS:
        method, params, *_ = question
        headers = {"Mcp-Name": "x"} if (method, params) == ("resources/read", {}) else None
        expected = expectation(question, revision)
        if revision == MODERN and "Mcp-Name" not in client.headers(method, params or {}) and \
                method in ("resources/read", CALL):
            # Of the two mistakes, the missing header is seen first.
            expected = -32020
        assert_as_expected(expected, client.request(method, params, headers=headers).answer())


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("token", ["text", 7, 0, ""])
def test_progress_on_stdio(recorded, revision, token):
    server = recorded(revision)
    code = "import time\nfor i in range(3): print(i, flush=True); time.sleep(0.8)"
    ident = server.start(CALL, dressed(revision, call(code), progressToken=token))
    assert server.result(ident)["isError"] is False
    values = [message["params"]["progress"] for message in server.notifications
              if message["params"]["progressToken"] == token]
    assert values == sorted(set(values)) and values
    assert type(server.notifications[0]["params"]["progressToken"]) is type(token)


@pytest.mark.parametrize("revision", REVISIONS)
def test_progress_over_http(http, revision):
    client = http.modern() if revision == MODERN else http.session(revision)
    exchange = client.call("import time; time.sleep(2.2)", more={"_meta": {"progressToken": "t"}}).finish()
    assert len(exchange.notifications()) >= 1 and "result" in exchange.messages[-1]


def test_progress_token_in_two_clients(http):
    """Each stream tells of its own call."""
    code = "import time\nfor i in range(4): print('{}', flush=True); time.sleep(0.6)"
    exchanges = {name: http.session().call(code.format(name), more={"_meta": {"progressToken": "t"}})
                 for name in ("mine", "yours")}
    for name, exchange in exchanges.items():
        said = "".join(message["params"]["message"] for message in exchange.finish().notifications())
        assert name in said and not [other for other in exchanges if other != name and other in said]


@pytest.mark.parametrize("token", [None, 1.5, {}, [], True])
def test_progress_token_that_is_none(recorded, token):
    server = recorded("2025-11-25")
    ident = server.start(CALL, {**call("import time; time.sleep(1.5); print(1)"), "_meta": {"progressToken": token}})
    assert ok(server.result(ident))
    assert server.notifications == []


def test_call_becomes_a_task(recorded):
    """After ten seconds, and only for a client that knows tasks."""
    server = recorded(MODERN)
    knows = {"_meta": meta(TASKS)}
    waiting = server.start(CALL, {**call("import time; time.sleep(12); print(1)"), **dressed(MODERN, None)})
    ended = server.start(CALL, {**call("import time; time.sleep(11.5); print(1)"), **knows})
    doomed = server.start(CALL, {**call(LONG, timeout_seconds=300), **knows})
    quick = server.start(CALL, {**call(), **knows})
    assert ok(server.result(quick))
    tasks = [server.result(ident) for ident in (ended, doomed)]
    for task in tasks:
        assert task["resultType"] == "task"
        state = server.request("tasks/get", {"taskId": task["taskId"], **knows})["result"]
        assert state["status"] == "working"
    # What it printed before it became a task.
    assert "up" in state["statusMessage"]
    assert server.request("tasks/cancel", {"taskId": tasks[1]["taskId"], **knows})["result"]["resultType"] == "complete"
    server.request("tasks/update", {"taskId": tasks[0]["taskId"], "inputResponses": {}, **knows})

    def final(task, status):
        state = server.request("tasks/get", {"taskId": task["taskId"], **knows})["result"]
        return state if state["status"] == status else None

    assert ok(until(lambda: final(tasks[0], "completed"))["result"])
    until(lambda: final(tasks[1], "cancelled"))
    assert ok(server.result(waiting))
    for method in ("tasks/get", "tasks/cancel", "tasks/update"):
        assert server.request(method, {"taskId": "x", **knows})["error"]["code"] == -32602
        refusal = server.request(method, {"taskId": tasks[0]["taskId"], "_meta": meta()})["error"]
        assert (refusal["code"], refusal["data"]) == (-32021, {"requiredCapabilities": TASKS})
    for method in ("tasks/list", "tasks/result"):
        assert server.request(method, knows)["error"]["code"] == -32601


def test_subscription_on_stdio(recorded):
    server = recorded(MODERN)
    for ident in ("a", 0):
        server.start("subscriptions/listen", dressed(MODERN, {"notifications": {
            "toolsListChanged": True, "resourceSubscriptions": ["sandbox://environments"]}}), ident)
        acknowledged = server.wait_notification(
            lambda message: message["params"]["_meta"][f"{META}subscriptionId"] == ident)
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    server.notify("notifications/cancelled", {"requestId": "a", "_meta": meta()})
    assert "error" in server.request("subscriptions/listen", dressed(MODERN, {}))
    server.close_stdin()
    # The one that is left is ended in form.
    assert server.wait(0)["result"]["_meta"][f"{META}subscriptionId"] == 0
    assert server.replies("a") == []


def test_versions_that_are_none(recorded):
    server = recorded(MODERN)
    for version in ("2027-01-01", "2025-11-25", ""):
        error = server.request("tools/list", {"_meta": meta(revision=version)})["error"]
        assert error["code"] == -32022 and error["data"]["requested"] == version
    for version in (20260728, None, {}):
        assert server.request("tools/list", {"_meta": meta(revision=version)})["error"]["code"] == -32602
    carried = meta()
    del carried[f"{META}clientCapabilities"]
    assert server.request("tools/list", {"_meta": carried})["error"]["code"] == -32602
    assert server.request("initialize", {"_meta": meta()})["error"]["code"] == -32601


def test_both_eras_on_one_connection(recorded):
    server = recorded("2025-06-18")
    modern = server.request("tools/list", dressed(MODERN, None))["result"]
    legacy = server.request("tools/list")["result"]
    assert "ttlMs" in modern and "ttlMs" not in legacy


def test_batch_on_stdio(recorded):
    server = recorded("2025-03-26")
    server.send_line(json.dumps([{"jsonrpc": "2.0", "id": "a", "method": "ping"},
                                 {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": call()}]))
    [batch] = until(lambda: server.batches)
    assert {answer["id"] for answer in batch} == {"a", "b"}


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", MODERN])
def test_structured_content_conforms_to_the_output_schema(recorded, validator, revision):
    server = recorded(revision)
    schemas = {tool["name"]: tool.get("outputSchema")
               for tool in server.request("tools/list", dressed(revision, None))["result"]["tools"]}
    for code in ("print(1)", "import sys; sys.exit(3)", "import os; os.kill(os.getpid(), 9)", "print('x' * 3000000)"):
        result = server.request(CALL, dressed(revision, call(code)))["result"]
        validator.assert_conforms(schemas["run_python_code"], result["structuredContent"])


@pytest.mark.parametrize("revision", LEGACY)
def test_tools_are_valid_schemas(recorded, validator, revision):
    server = recorded(revision)
    python, javascript, end = [tool["inputSchema"] for tool in server.request("tools/list")["result"]["tools"]]
    for schema in python, javascript:
        validator.assert_conforms(schema, {"code": "x", "timeout_seconds": 5})
        validator.assert_conforms(schema, {
            "code": "x", "stdin": "y", "args": ["-v"], "outputs": ["*.csv"], "session": "new",
            "files": [{"path": "a", "text": "x"}, {"path": "b", "base64": "eA=="}]})
        for wrong in ({"code": 5}, {"code": "x", "other": 1}, {"code": "x", "args": "-v"}, {"code": "x", "stdin": 1},
                      {"code": "x", "files": [{"text": "x"}]}, {"code": "x", "files": [{"path": "a", "content": "x"}]}):
            assert validator.ask(schema=schema, value=wrong), wrong
    validator.assert_conforms(end, {"session": "0" * 32})
    assert validator.ask(schema=end, value={})
