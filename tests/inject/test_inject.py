"""The server when system calls, and memory, fail under it.

inject.c, preloaded, makes the Nth call of a kind fail. Whichever it is, the
client gets an answer, or the server ends with a word about why; nothing is
left over; and where it goes on, the next call is served as if nothing had been.
"""

import errno
import http.client
import mmap
import os
import socket
import struct

import pytest
from harness import BINARY, assert_success, children_of, text_of, until

LIBRARY = BINARY.parent / "inject.so"
HELLO = "print('hello')"
OUT_OF_MEMORY = 71
SAMPLES = 40


class Plan:
    """What is to fail, shared with the server. See struct plan."""

    FORMAT = struct.Struct("48s5i")

    def __init__(self, path):
        path.write_bytes(bytes(self.FORMAT.size))
        with path.open("r+b") as file:
            self.shared = mmap.mmap(file.fileno(), self.FORMAT.size)
        self.env = {"LD_PRELOAD": str(LIBRARY), "INJECT_FILE": str(path)}

    def arm(self, call, skip, error, times=1):
        self.shared[:] = self.FORMAT.pack(call.encode(), skip, times, error, 0, 0)

    def disarm(self):
        """How many calls there were of that kind, and how many failed."""
        seen, failed = self.FORMAT.unpack(self.shared[:])[-2:]
        self.arm("", 0, 0)
        return seen, failed


@pytest.fixture
def plan(tmp_path):
    return Plan(tmp_path / "plan")


def assert_answered(reply):
    """Well, or with a sentence about what went wrong."""
    if "error" in reply:
        assert reply["error"]["message"]
    elif reply["result"]["isError"]:
        assert text_of(reply["result"])
    else:
        said = text_of(reply["result"])
        assert "hello" in said or "went away while the program ran" in said


def assert_ended_with_a_word(server):
    assert server.wait_exit() > 0, f"status {server.process.returncode}; stderr: {server.stderr}"
    # libevent has a word of its own for what it cannot do without.
    assert "code-sandbox-mcp: " in server.stderr or "[err] " in server.stderr
    server.assert_clean(server.process.returncode)


def ask(server):
    """Its answer to a call, or None when it ended instead."""
    try:
        return server.wait(server.start_call(HELLO), 20)
    except BrokenPipeError:
        until(lambda: server.ended)
        return None
    except AssertionError:
        if not server.ended:
            raise
        return None


def settle(server):
    """Until all that comes after the answer has been, which can fail as well."""
    until(lambda: server.ended or not children_of(server.pid), 20, "the call is cleared away")


def assert_served(server):
    """As if nothing had been."""
    assert_success(server.call(HELLO), "hello")
    server.wait_idle()


RUNNING = [
    ("pipe2", errno.EMFILE),
    ("posix_spawn", errno.EAGAIN),
    ("posix_spawn", errno.ENOMEM),
    ("posix_spawn_file_actions_adddup2", errno.ENOMEM),
    ("posix_spawn_file_actions_addclosefrom_np", errno.ENOMEM),
    ("posix_spawn_file_actions_addchdir_np", errno.ENOMEM),
    ("fcntl", errno.EINVAL),
    ("read", errno.EINTR),
    ("read", errno.EIO),
    ("writev", errno.EAGAIN),
    ("writev", errno.EIO),
    ("waitpid", errno.EINTR),
    ("epoll_ctl", errno.ENOSPC),
    ("epoll_wait", errno.EINTR),
]
# Of what is called more often, the first ones: a call, its output, its end.
AT_MOST = 12


def name_of(value):
    return errno.errorcode.get(value, value)


@pytest.mark.parametrize("call, error", RUNNING, ids=name_of)
def test_while_it_runs(fake, serve, plan, call, error):
    """Each in turn, in a server that has served a call before."""
    engine = fake()
    server, injected = None, 0
    for skip in range(AT_MOST):
        if server is None:
            server = serve(engine, env=plan.env)
            assert_served(server)
        plan.arm(call, skip, error)
        reply = ask(server)
        settle(server)
        failed = plan.disarm()[1]
        injected += failed
        if server.ended:
            assert_ended_with_a_word(server)
            server = None
        else:
            assert_answered(reply)
            assert_served(server)
        if not failed:
            break
    assert injected, "there is no such call any more"


STARTING = [
    ("pipe2", errno.EMFILE),
    ("posix_spawn", errno.EAGAIN),
    ("open", errno.EMFILE),
    ("fcntl", errno.EINVAL),
    ("memfd_create", errno.EMFILE),
    ("write", errno.ENOSPC),
    ("sigaction", errno.EINVAL),
    ("epoll_create1", errno.EMFILE),
    ("epoll_ctl", errno.ENOSPC),
]


@pytest.mark.parametrize("call, error", STARTING, ids=name_of)
def test_from_the_start(fake, serve, plan, call, error):
    """Each in turn, as the server starts and looks for its engine."""
    injected = 0
    for skip in range(AT_MOST):
        plan.arm(call, skip, error)
        server = serve(fake(), env=plan.env, revision=None)
        reply = ask(server)
        failed = plan.disarm()[1]
        if reply is None:
            assert_ended_with_a_word(server)
        else:
            assert_answered(reply)
            server.initialize()
            assert_success(server.call(HELLO), "hello")
            server.close(idle=False)
        injected += failed
        if not failed:
            break
    assert injected, "there is no such call any more"


@pytest.mark.parametrize("call, error", [("pipe2", errno.EMFILE), ("posix_spawn", errno.EAGAIN)], ids=name_of)
@pytest.mark.parametrize("pool", [0, 1])
def test_for_a_while(fake, serve, plan, call, error, pool):
    """Until it passes, every call is told, and none is stuck."""
    server = serve(fake(), env=plan.env, pool=pool)
    plan.arm(call, 0, error, times=1000)
    for reply in (ask(server), ask(server)):
        assert reply["result"]["isError"]
        assert os.strerror(error) in text_of(reply["result"])
    assert plan.disarm()[1] >= 2
    assert_served(server)


def test_without_memory(fake, serve, plan):
    """Wherever it ends it says so; and where it can do without, it goes on."""
    def run(skip, times):
        plan.arm("malloc", skip, errno.ENOMEM, times)
        server = serve(fake(), env=plan.env, revision=None)
        reply = ask(server)
        seen, failed = plan.disarm()
        if reply is not None:
            assert_answered(reply)
            server.initialize()
            server.close(idle=False)
        else:
            assert_ended_with_a_word(server)
            assert (server.process.returncode, "out of memory" in server.stderr) == (OUT_OF_MEMORY, True)
        return seen, failed

    seen, _ = run(0, 0)
    for part in range(SAMPLES):
        if run(seen * part // SAMPLES, 1)[1] == 0:
            assert part > SAMPLES // 2, "so much less can it not have needed this time"
            break


def is_healthy(path):
    connection = http.client.HTTPConnection("localhost", timeout=20)
    connection.sock = socket.socket(socket.AF_UNIX)
    try:
        connection.sock.connect(str(path))
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    finally:
        connection.close()


def test_over_http(fake, serve, plan, tmp_path):
    """No socket: it says so. No descriptor for a connection: it is taken later."""
    path = tmp_path / "socket"
    command = [str(BINARY), "--transport", "streamable-http", "--listen", f"unix:{path}"]
    plan.arm("socket", 0, errno.EMFILE, times=2)  # libevent tries twice
    assert_ended_with_a_word(serve(fake(), command=command, env=plan.env, revision=None))
    plan.disarm()
    server = serve(fake(), command=command, env=plan.env, revision=None)
    until(lambda: is_healthy(path))
    plan.arm("accept4", 0, errno.EMFILE, times=3)
    assert is_healthy(path)
    assert plan.disarm()[1] == 3
    server.process.terminate()
    server.wait_exit()
    server.assert_clean()
