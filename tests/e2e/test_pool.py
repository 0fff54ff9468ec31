"""Spare containers: each serves one call, and none outlives the server."""

import os
import signal
import uuid

import pytest
from harness import MARK, Server, assert_success, until


MARKED = ("--pass-through-env", MARK)


def test_listing_tools_starts_nothing(podman, serve):
    server = serve(podman, pool=2)
    server.request("tools/list")
    server.wait_idle()
    assert server.clis() == server.containers() == []


def test_each_call_has_a_fresh_container(engine, serve):
    server = serve(engine, *MARKED, pool=1)
    seen = set()
    for number in range(2):
        before = set(server.containers())
        assert_success(server.call(f"import os; print(sorted(os.listdir('.'))); open('left', 'w').write('{number}')"),
                       "['code.py']")
        server.wait_for_spares(1)
        after = set(server.containers())
        assert not before & after
        seen |= after
    assert len(seen) == 2


@pytest.mark.parametrize("tool, code", [("run_python_code", "print(1)"), ("run_js_code", "console.log(1)")])
def test_interpreter_of_a_spare_waits(engine, serve, tool, code):
    """It is up and reads, so that the code need not wait for it."""
    server = serve(engine, *MARKED, pool=1)
    assert_success(server.call(code, tool), "1")
    server.wait_for_spares(1)


def test_spares_are_as_many_as_asked_for(podman, serve):
    server = serve(podman, *MARKED, pool=3)
    server.call("print(1)")
    server.wait_for_spares(3)


@pytest.mark.parametrize("how", ["stdin", "SIGTERM", "SIGKILL"])
def test_spares_go_with_the_server(engine, how):
    server = Server(engine, *MARKED, pool=1, hostname=f"h{uuid.uuid4().hex[:12]}")
    try:
        assert_success(server.call("print(1)"), "1")
        server.wait_for_spares(1)
        server.close_stdin() if how == "stdin" else server.signal(getattr(signal, how))
        status = server.wait_exit()
        assert how == "SIGKILL" or status == 0
        server.wait_no_containers()
        server.assert_quiet()
    finally:
        server.discard()


def test_spare_that_was_removed_is_replaced(engine, serve):
    """Somebody cleared up by hand: the next call works all the same."""
    server = serve(engine, *MARKED, pool=1)
    server.call("print(1)")
    server.wait_for_spares(1)
    engine.run("rm", "--force", *server.containers())
    assert_success(server.call("print('as if nothing had happened')"), "as if nothing had happened")


def test_spare_whose_cli_was_killed_is_replaced(engine, serve):
    server = serve(engine, *MARKED, pool=1)
    server.call("print(1)")
    server.wait_for_spares(1)
    [cli] = server.clis()
    os.kill(cli, signal.SIGKILL)
    until(lambda: server.clis() and cli not in server.clis(), what="another one")
    server.wait_for_spares(1)
    assert_success(server.call("print('still here')"), "still here")


def test_container_whose_cli_is_killed_as_it_starts_is_replaced(engine, serve):
    server = serve(engine, pool=0)
    server.call("print(1)")
    server.wait_idle()
    ident = server.start_call("print('second try')")
    [cli] = until(server.clis)
    os.kill(cli, signal.SIGKILL)
    assert_success(server.result(ident), "second try")
    server.end_lost()


@pytest.mark.parametrize("tool, code", [("run_python_code", "print(6 * 7)"), ("run_js_code", "console.log(6 * 7)")])
def test_plain_interpreter(podman, serve, tool, code):
    server = serve(podman, "--interpreter", "plain", pool=1)
    for _ in range(2):
        assert_success(server.call(code, tool), "42")


def test_preloaded_module_is_there_and_not_in_the_way(podman, serve):
    server = serve(podman, "--preload", "json,no_such_module,decimal", pool=1)
    code = "import sys; print('decimal' in sys.modules, 'json' in dir(), __name__)"
    assert_success(server.call(code), "True False __main__")


def test_cancelled_call_gives_its_place_back(podman, serve):
    server = serve(podman, "--max-parallel", "1", *MARKED, pool=1)
    for _ in range(2):
        ident = server.start_busy()
        server.notify("notifications/cancelled", {"requestId": ident})
    assert_success(server.call("print('served')"), "served")
    server.wait_for_spares(1)
