"""What may happen to one container of a healthy engine: somebody kills a part
of it, freezes it, or takes it away."""

import os
import signal

import pytest
from harness import MARK, Session, assert_failure, assert_success, is_first_process, marked_processes, read_proc, until

MARKED = ("--pass-through-env", MARK)
# The engine says no more than 137.
KILLED = "The program was killed, most likely because it ran out of memory"
AWAY = "The container went away while the program ran"


@pytest.fixture
def warm(engine, serve):
    """A server that has served a call and has a spare."""
    server = serve(engine, *MARKED, pool=1)
    assert_success(server.call("print('first')"), "first")
    server.wait_for_spares(1)
    return server


@pytest.fixture
def busy(engine, serve):
    """A server with one running call, which is busy.ident."""
    server = serve(engine, *MARKED)
    server.ident = server.start_busy(timeout_seconds=4)
    return server


def first_process(server):
    """Process 1 of its only container."""
    [pid] = [pid for pid, _ in marked_processes(server.mark) if is_first_process(pid)]
    return pid


def monitor(server):
    """conmon, or containerd's shim: the parent of process 1."""
    return int(read_proc(first_process(server), "stat").rpartition(b")")[2].split()[1])


def assert_works(server):
    assert_success(server.call("print('again')"), "again")
    if server.pool:
        server.wait_for_spares(1)
        # The engine may have to be asked again to remove the other one.
        until(lambda: len(server.containers()) == 1, what=lambda: f"one container: {server.stderr}")
    else:
        server.wait_stopped(server.ident)
    server.close()


# A spare.


def test_spare_whose_first_process_was_killed(warm):
    """As the kernel does when the machine's memory runs out."""
    pid = first_process(warm)
    os.kill(pid, signal.SIGKILL)
    # Until it is dead the interpreter is not, and might still take the code.
    until(lambda: read_proc(pid, "stat").rpartition(b") ")[2][:1] in (b"", b"Z"), what="death of process 1")
    assert_works(warm)


def test_spare_whose_monitor_was_killed(warm):
    os.kill(monitor(warm), signal.SIGKILL)
    assert_works(warm)


# A running call.


def test_monitor_killed(busy):
    """podman's CLI goes on waiting, so that the time limit is the end of it."""
    os.kill(monitor(busy), signal.SIGKILL)
    late = busy.engine.name != "docker"
    assert_failure(busy.result(busy.ident), stdout="up\n", signal="SIGKILL", timed_out=late,
                   note="stopped after 4." if late else KILLED)
    assert_works(busy)


def test_cli_killed(busy):
    [cli] = busy.clis()
    os.kill(cli, signal.SIGKILL)
    assert_failure(busy.result(busy.ident), stdout="up\n", signal="SIGKILL", note=AWAY)
    assert_works(busy)


def test_cli_frozen(busy):
    """Nothing goes in or out, and yet the time limit is one."""
    [cli] = busy.clis()
    os.kill(cli, signal.SIGSTOP)
    assert_failure(busy.result(busy.ident), stdout="up\n", signal="SIGKILL", timed_out=True, note="stopped after 4.")
    assert_works(busy)


def test_container_removed_by_hand(busy):
    busy.engine.run("rm", "--force", *busy.containers())
    assert_failure(busy.result(busy.ident), stdout="up\n", signal="SIGKILL", note=KILLED)
    assert_works(busy)


def test_cli_killed_while_a_file_is_read(engine, serve):
    """What is asked for is on its way to a CLI that does not move, and then it is gone."""
    server = serve(engine, *MARKED)
    session = Session(server, code="open('f', 'w').write('x')")
    [cli] = server.clis()
    os.kill(cli, signal.SIGSTOP)
    ident = server.start("resources/read", {"uri": session.uri("f")})
    server.request("ping")
    os.kill(cli, signal.SIGKILL)
    assert "session is over" in server.wait(ident)["error"]["message"]
    assert_success(server.call("print('again')"), "again")
    server.wait_no_containers()
