"""What the protocol library can do, and the shipped program has no use for.

On the fixture server: the conformance suite asks for these, but it always
answers, and never goes away.
"""

import pytest
from harness import until
from wire import TASKS

TASK_TOOLS = {**TASKS, "elicitation": {}}


@pytest.fixture
def library(fake, serve_http, fixture_server):
    return serve_http(fake(), program=fixture_server)


def ask(session):
    """A call that waits for us, and the request that we have got."""
    call = session.request("tools/call", {"name": "test_sampling", "arguments": {"prompt": "well?"}})
    question = call.next()
    assert question["method"] == "sampling/createMessage"
    assert question["params"]["messages"][0]["content"]["text"] == "well?"
    return call, question


def answer(session, question, text="fine"):
    result = {"role": "assistant", "content": {"type": "text", "text": text}, "model": "m"}
    return session.send({"jsonrpc": "2.0", "id": question["id"], "result": result}).finish().status


def test_answer_goes_to_its_call(library):
    session = library.session()
    calls = [ask(session) for _ in range(3)]
    for number, (call, question) in reversed(list(enumerate(calls))):
        assert answer(session, question, f"answer {number}") == 202
        assert call.result()["content"][0]["text"] == f"LLM response: answer {number}"


def test_client_that_cannot_answer(library):
    session = library.session()
    call, question = ask(session)
    session.send({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -32601, "message": "what?"}}).finish()
    assert call.result()["isError"] is True


def test_answer_of_somebody_else(library):
    session, other = library.session(), library.session()
    call, question = ask(session)
    assert answer(other, question, "not yours") == 202
    assert answer(session, {"id": "unheard of"}) == 202
    assert answer(session, question, "mine") == 202
    assert call.result()["content"][0]["text"] == "LLM response: mine"
    assert answer(session, question, "again") == 202


def test_client_that_goes_away_while_it_is_asked(library):
    session = library.session()
    call, question = ask(session)
    call.hang_up()
    assert session.request("ping").result() == {}
    assert answer(session, question) == 202
    assert session.request("ping").result() == {}


def test_session_that_ends_while_it_is_asked(library):
    session = library.session()
    call, _ = ask(session)
    assert session.end().status == 204
    assert call.next() is None


def test_end_while_a_client_is_asked(library):
    call, _ = ask(library.session())
    library.close()
    call.hang_up()


def test_tasks_that_are_left_at_the_end(library):
    client = library.modern(capabilities=TASK_TOOLS)
    for tool in ("slow_compute", "confirm_delete"):
        params = {"name": tool, "arguments": {"seconds": 60}}
        assert client.request("tools/call", params).result()["resultType"] == "task"
    library.close()


@pytest.mark.parametrize("tool", ["failing_job", "protocol_error_job", "confirm_delete", "multi_input"])
def test_client_that_knows_no_tasks(library, tool):
    refused = library.modern().request("tools/call", {"name": tool, "arguments": {}})
    assert (refused.finish().status, refused.code()) == (400, -32021)


def test_task_that_is_asked_again(library):
    """Only what was asked counts, and an answer that is none changes nothing."""
    client = library.modern(capabilities=TASK_TOOLS)
    task = client.request("tools/call", {"name": "multi_input", "arguments": {}}).result()["taskId"]
    accept = {"action": "accept", "content": {}}
    for responses, left in (({}, {"who", "sure"}), ({"else": accept}, {"who", "sure"}), ({"sure": accept}, {"who"}),
                            ({"sure": accept}, {"who"})):
        update = client.request("tasks/update", {"taskId": task, "inputResponses": responses}).result()
        assert "status" not in update
        state = client.request("tasks/get", {"taskId": task}).result()
        assert (state["status"], set(state["inputRequests"])) == ("input_required", left)
    client.request("tasks/update", {"taskId": task, "inputResponses": {"who": accept}}).finish()
    assert client.request("tasks/get", {"taskId": task}).result()["status"] == "completed"


def test_task_that_fails(library):
    client = library.modern(capabilities=TASK_TOOLS)
    task = client.request("tools/call", {"name": "protocol_error_job", "arguments": {}}).result()["taskId"]

    def ended():
        state = client.request("tasks/get", {"taskId": task}).result()
        return state["status"] != "working" and state

    state = until(ended, what="the task is over")
    assert (state["status"], state["error"]["code"]) == ("failed", -32603)
    assert "result" not in state


@pytest.mark.parametrize("values, status", [(["west"], 200), (["east"], 400), ([], 400), (["west", "west"], 400)])
def test_argument_in_a_header(library, values, status):
    client = library.modern()
    params = {"name": "test_mirrored_argument", "arguments": {"region": "west"}}
    # Two that say the same: who knows what a proxy makes of two that do not.
    names = ("Mcp-Param-Region", "mcp-param-region")
    call = client.request("tools/call", params, headers=dict(zip(names, values)))
    assert call.finish().status == status


def test_argument_that_is_left_out(library):
    client = library.modern()
    params = {"name": "test_mirrored_argument", "arguments": {}}
    assert client.request("tools/call", params).finish().status == 200
    refused = client.request("tools/call", params, headers={"Mcp-Param-Region": "west"})
    assert (refused.finish().status, refused.code()) == (400, -32020)
