"""Calls in time: limits, cancelling, several at once. On every engine."""

import pytest
from harness import assert_failure, assert_refused, assert_success, command_line, until

SLEEP = "import time; print('up', flush=True); time.sleep(300)"


def test_timeout_keeps_what_was_printed(engine, serve):
    server = serve(engine)
    result = server.call(SLEEP, timeout_seconds=2)
    assert_failure(result, stdout="up\n", signal="SIGKILL", timed_out=True, note="stopped after 2.")
    assert 2000 <= result["structuredContent"]["duration_ms"] < 15000
    server.wait_no_containers()


def test_default_timeout_is_that_of_the_option(fake, serve):
    server = serve(fake(), "--timeout", "2")
    assert_failure(server.call(SLEEP), stdout="up\n", signal="SIGKILL", timed_out=True, note="stopped after 2.")


@pytest.mark.parametrize("value", [0, -1, 0.5, 601, 1e300, "5", True, [1], {}])
def test_timeout_out_of_bounds(fake, serve, value):
    result = serve(fake()).call("print(1)", timeout_seconds=value)
    assert_refused(result, '"timeout_seconds" must be a number from 1 to 600')


def test_timeout_null_is_none(fake, serve):
    assert_success(serve(fake()).call("print(1)", timeout_seconds=None), "1")


def test_cancelled_call_is_never_answered(engine, serve):
    server = serve(engine)
    doomed = server.start_busy()
    other = server.start_call("import time; time.sleep(1); print('undisturbed')")
    server.notify("notifications/cancelled", {"requestId": doomed, "reason": "enough"})
    assert_success(server.result(other), "undisturbed")
    server.wait_stopped(doomed)
    server.close()
    assert server.replies(doomed) == []


def test_cancel_while_the_container_starts(engine, serve):
    server = serve(engine)
    server.call("print('the engine is known from here on')")
    doomed = server.start_call("print('never')")
    until(server.clis, what="the engine's CLI")
    server.notify("notifications/cancelled", {"requestId": doomed})
    server.close()
    assert server.replies(doomed) == []


def test_cancel_of_a_waiting_call(fake, serve):
    server = serve(fake(), "--max-parallel", "1")
    first = server.start_busy()
    second = server.start_call("print('never')")
    third = server.start_call("print('third')")
    for doomed in (second, first):
        server.notify("notifications/cancelled", {"requestId": doomed})
    assert_success(server.result(third), "third")
    server.close()
    assert server.replies(first) == server.replies(second) == []


def test_cancel_of_what_is_over_or_never_was(fake, serve):
    server = serve(fake())
    over = server.start_call("print(1)")
    server.result(over)
    for ident in (over, 4711, "unknown", None, 1.5, {}):
        server.notify("notifications/cancelled", {"requestId": ident})
    server.notify("notifications/cancelled")
    assert_success(server.call("print(2)"), "2")
    assert server.replies(over) == []


def test_string_id_is_cancelled_by_the_string_only(fake, serve):
    server = serve(fake())
    ident = server.start_call("import time; time.sleep(1); print('x')", ident="7")
    server.notify("notifications/cancelled", {"requestId": 7})
    assert_success(server.result(ident), "x")


def test_calls_overlap(engine, serve):
    """The second, short one is answered while the first still runs."""
    server = serve(engine)
    slow = server.start_busy()
    assert_success(server.call("print('quick')"), "quick")
    assert server.replies(slow) == []
    assert server.busy[slow].is_up()
    server.notify("notifications/cancelled", {"requestId": slow})


def test_other_requests_are_answered_while_code_runs(fake, serve):
    server = serve(fake())
    slow = server.start_busy()
    assert server.request("ping", seconds=5)["result"] == {}
    assert len(server.request("tools/list", seconds=5)["result"]["tools"]) == 3
    assert server.replies(slow) == []
    server.notify("notifications/cancelled", {"requestId": slow})


def test_twenty_calls_four_at_a_time(podman, serve):
    """None of the others begins before one of the four is over."""
    server = serve(podman, "--max-parallel", "4")
    busy = [server.start_busy() for _ in range(4)]
    calls = [server.start_call(f"print({number})") for number in range(16)]
    assert server.request("ping")["result"] == {}
    assert len(podman.running(server.prefix)) == 4
    assert not any(server.replies(call) for call in calls)
    for ident in busy:
        server.notify("notifications/cancelled", {"requestId": ident})
    for number, call in enumerate(calls):
        assert_success(server.result(call), str(number))


def test_duplicate_id_is_refused_and_the_first_goes_on(fake, serve):
    server = serve(fake())
    ident = server.start_call("import time; time.sleep(1); print('first')")
    server.start_call("print('second')", ident=ident)
    assert server.wait(ident)["error"]["code"] == -32600
    assert_success(server.result(ident), "first")


def test_code_is_not_on_any_command_line(fake, serve):
    server = serve(fake())
    ident = server.start_busy()
    [cli] = server.clis()
    assert server.busy[ident].name not in " ".join(command_line(cli))
    server.notify("notifications/cancelled", {"requestId": ident})
