"""However the server ends, no program and no container outlives it."""

import os
import signal
import socket
import subprocess
import uuid

import pytest
from fixtures import crowd
from harness import PATIENCE, Server, Sleeper, assert_success, until

CALLS = 20


@pytest.fixture
def busy_server(engine):
    """With running calls; on a machine of its own name, so that no server of
    another test can take it for dead and clear up in its place."""
    server = Server(engine, "--max-parallel", str(CALLS), hostname=f"h{uuid.uuid4().hex[:12]}")
    server.programs = [Sleeper() for _ in range(CALLS)]
    for program in server.programs:
        server.start_call(program.code)
    until(lambda: all(program.is_up() for program in server.programs), 60, "all programs are up")
    yield server
    server.discard()


def assert_nothing_outlives(server):
    until(lambda: not any(program.is_up() for program in server.programs), 10, "all programs are gone")
    server.wait_no_containers()


@crowd
def test_end_of_stdin(busy_server):
    busy_server.close_stdin()
    assert busy_server.wait_exit() == 0
    busy_server.assert_clean()
    assert_nothing_outlives(busy_server)


@crowd
def test_sigterm(busy_server):
    busy_server.signal(signal.SIGTERM)
    assert busy_server.wait_exit() == 0
    busy_server.assert_clean()
    assert_nothing_outlives(busy_server)


@crowd
def test_sigkill(busy_server):
    """Nobody is left to clear up: each container notices by itself."""
    busy_server.signal(signal.SIGKILL)
    busy_server.wait_exit()
    assert_nothing_outlives(busy_server)
    busy_server.assert_quiet()


def test_client_that_stops_reading(podman, serve):
    """EPIPE on stdout is the end of the client, as much as its end of stdin."""
    server = serve(podman)
    ident = server.start_busy()
    server.stop_reading()
    server.send({"id": "nobody reads this", "method": "ping"})
    assert server.wait_exit() == 0
    server.assert_clean()
    server.wait_stopped(ident)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_other_signals(podman, serve, number):
    server = serve(podman)
    ident = server.start_busy()
    server.signal(number)
    assert server.wait_exit() == 0
    server.assert_clean()
    server.wait_stopped(ident)


# Runs what follows as a client would that has touched its own signals.
TOUCHED = ["/usr/bin/python3", "-c", "import os, signal, sys; exec(sys.argv[1]); os.execv(sys.argv[2], sys.argv[2:])"]


def test_signals_that_the_client_has_blocked(fake, serve):
    engine = fake()
    block = "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())"
    server = serve(engine, command=[*TOUCHED, block, *engine.command()])
    assert_success(server.call("print(1)"), "1")
    server.signal(signal.SIGTERM)
    assert server.wait_exit() == 0


def test_nohup(fake, serve):
    engine = fake()
    server = serve(engine, command=[*TOUCHED, "signal.signal(signal.SIGHUP, signal.SIG_IGN)", *engine.command()])
    server.signal(signal.SIGHUP)
    assert_success(server.call("print(1)"), "1")


def test_finished_calls_do_not_delay_the_end(podman, serve):
    server = serve(podman)
    assert_success(server.call("print(1)"), "1")
    server.close(idle=False)


def test_flags_of_a_file_that_is_both_stdin_and_stdout(fake):
    """Others may share it, and are left what they had."""
    engine = fake()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(engine.command(), stdin=theirs, stdout=theirs, env=engine.environment())
        ours.sendall(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        assert b'"id":1' in ours.recv(1000)
        assert not os.get_blocking(theirs.fileno())
        ours.shutdown(socket.SHUT_WR)
        assert process.wait(PATIENCE) == 0
        assert os.get_blocking(theirs.fileno())
