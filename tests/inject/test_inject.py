"""The server when system calls, and memory, fail under it.

inject.c, preloaded, makes the Nth call of a kind fail. Whichever it is, the
client gets an answer, or the server ends with a word about why; nothing is
left over; and where it goes on, the next call is served as if nothing had been.
"""

import errno
import http.client
import json
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


@pytest.mark.parametrize("call, error", [("memfd_create", errno.EMFILE), ("memfd_create", errno.ENOMEM),
                                         ("write", errno.ENOSPC)], ids=name_of)
def test_without_a_profile(fake, serve, plan, call, error):
    """Nothing is run without it; the reason is told, and it is made once it can be."""
    if os.geteuid() != 0:
        pytest.skip("the profile is in memory for root only")
    plan.arm(call, 0, error, times=1000)
    engine = fake()
    server = serve(engine, env=plan.env, revision=None)
    reply = ask(server)
    assert plan.disarm()[1] >= 1
    assert f"the seccomp profile: {os.strerror(error)}" in text_of(reply["result"])
    assert engine.commands("run") == []
    server.initialize()
    assert_served(server)
    assert "--security-opt=seccomp=/proc/" in " ".join(engine.commands("run")[0])


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


def unix_command(engine, path, *options):
    return engine.command("--transport", "streamable-http", "--listen", f"unix:{path}", *options)


def knock(path, text):
    """A client that does not read."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(20)
    client.connect(str(path))
    client.sendall(text.encode())
    return client


def request_of(code):
    """A call that stands for itself, as in the newest revision."""
    prefix = "io.modelcontextprotocol/"
    named = {f"{prefix}protocolVersion": "2026-07-28", f"{prefix}clientCapabilities": {},
             f"{prefix}clientInfo": {"name": "test", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "run_python_code", "arguments": {"code": code}, "_meta": named}})
    head = ["POST /mcp HTTP/1.1", "Host: localhost", "Content-Type: application/json", "Mcp-Method: tools/call",
            "Mcp-Name: run_python_code", "Accept: application/json, text/event-stream",
            "MCP-Protocol-Version: 2026-07-28", f"Content-Length: {len(body)}"]
    return "\r\n".join([*head, "", body])


# More than a socket holds.
LONG_ANSWER = request_of("print('x' * 3_000_000)")


def test_no_connection_is_taken_at_the_end(fake, serve, plan, tmp_path):
    """A listener that has no descriptor for a client tries again in a while. It
    does not do so while the server goes on only to bring out its last answers."""
    engine, path = fake(), tmp_path / "socket"
    server = serve(engine, command=unix_command(engine, path, "--verbose", "--max-output", "4m"), env=plan.env,
                   revision=None)
    until(lambda: is_healthy(path))
    with knock(path, LONG_ANSWER) as slow:
        assert slow.recv(12, socket.MSG_PEEK) == b"HTTP/1.1 200"
        plan.arm("accept4", 0, errno.EMFILE, times=1 << 20)
        with knock(path, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n") as late:
            until(lambda: "cannot take a connection" in server.stderr, what="it has no descriptor")
            server.process.terminate()
            until(lambda: "signal 15: ending" in server.stderr, what="the end")
            assert server.process.poll() is None, "it waits for the slow one to read"
            plan.disarm()
            server.wait_exit()
            try:
                assert late.recv(100) == b"", "it was served"
            except ConnectionResetError:
                pass
    server.assert_clean()


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
