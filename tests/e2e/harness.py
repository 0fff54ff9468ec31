"""The program under test, from the outside: engines, and a server on stdio.

Nothing here waits without a deadline, and nothing sleeps blindly: until()
polls a condition, Server.wait() waits for one message.
"""

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
import urllib.parse
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("CSM_BINARY", ROOT / "build/release/code-sandbox-mcp")).resolve()
ENGINES = Path(os.environ.get("CSM_ENGINES", ROOT / "build/engines"))
SANITIZED = b"__asan_init" in BINARY.read_bytes() if BINARY.exists() else False
SANITIZER_STATUS = 99
SANITIZER_ENV = {
    "ASAN_OPTIONS": f"exitcode={SANITIZER_STATUS}:detect_leaks=1:quarantine_size_mb=32",
    "LSAN_OPTIONS": f"exitcode={SANITIZER_STATUS}",
    "UBSAN_OPTIONS": f"exitcode={SANITIZER_STATUS}:print_stacktrace=1:halt_on_error=1",
}
SANITIZER_WORDS = ("AddressSanitizer", "LeakSanitizer", "runtime error:", "UndefinedBehavior")
# Kilobytes that a server may grow by; freed memory of a sanitized one stays in
# quarantine.
FLAT = 300_000 if SANITIZED else 6_000
# A machine under four tests at once is slow; a hang is longer than this.
PATIENCE = 40
NEWEST = "2025-11-25"
MARK = "CONTAINER_TEST_MARK"
CLOCK_FILE = "clock-that-a-test-sets"


def write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def until(condition, seconds=PATIENCE, what=""):
    """Polls until the condition holds, and returns what it returned."""
    deadline = time.monotonic() + seconds
    pause = 0.01
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)


# --- processes ---------------------------------------------------------------


def processes():
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def read_proc(pid, name):
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def link_of(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def command_line(pid):
    return read_proc(pid, "cmdline").decode(errors="replace").split("\0")[:-1]


def is_alive(pid):
    state = read_proc(pid, "stat").rpartition(b")")[2].split()
    return bool(state) and state[0] not in (b"Z", b"X")


def is_first_process(pid):
    """Process 1 of a container."""
    numbers = read_proc(pid, "status").partition(b"\nNSpid:")[2].partition(b"\n")[0].split()
    return len(numbers) > 1 and numbers[-1] == b"1"


def children_of(pid):
    return [int(child) for child in read_proc(pid, f"task/{pid}/children").split()]


def find_program(pid, program):
    """The process that runs the program: pid itself or below it."""
    if link_of(f"/proc/{pid}/exe") == str(program):
        return pid
    for child in children_of(pid):
        found = find_program(child, program)
        if found:
            return found
    return None


def marked_processes(mark):
    """What a server has started, however deep: the mark is in its environment.

    A rootless podman leaves one process behind, on purpose, that holds its
    namespace for the next one.
    """
    wanted = f"{MARK}={mark}".encode()
    found = []
    for pid in processes():
        words = command_line(pid)
        if wanted in read_proc(pid, "environ").split(b"\0") and is_alive(pid):
            if words and not words[0].endswith("catatonit") and "pause" not in words[0]:
                found.append((pid, words))
    return found


# --- engines -----------------------------------------------------------------


class Sleeper:
    """A Python program that the host can see from the outside while it runs."""

    def __init__(self):
        self.name = f"sleeper-{uuid.uuid4().hex}"
        self.code = f"import os; print('up', flush=True); os.execvp('sleep', ['{self.name}', '300'])"

    def is_up(self):
        return any(self.name in command_line(pid) for pid in processes())


class Engine:
    """An engine that tests/engines has brought up, as its JSON file tells."""

    sleeper = Sleeper

    def __init__(self, facts):
        self.name = facts["name"]
        self.cli = facts["cli"]
        self.env = facts["env"]
        self.prefix = facts["prefix"]
        self.cli_options = ["--runtime", facts["runtime"]] if facts.get("runtime") else []
        self.network = facts["network"]
        self.limits = facts["limits"]
        self.bin_dir = Path(facts["bin_dir"])
        self.python_image = facts["python_image"]
        self.js_image = facts["js_image"]
        self.noshell_image = facts.get("noshell_image", "localhost/code-sandbox-test-noshell:latest")
        self.path = os.environ["PATH"]

    @classmethod
    def load(cls, name):
        return cls(json.loads((ENGINES / f"{name}.json").read_text()))

    def environment(self, more=None):
        """Of the server: what the engine needs, and as little else as can be."""
        env = {"PATH": self.path, "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}
        return {**env, **self.env, **SANITIZER_ENV, **(more or {})}

    def binary(self):
        """A path at which the user of this engine can execute the program."""
        if not self.prefix:
            return BINARY
        stat = BINARY.stat()
        copy = self.bin_dir / f"csm-{stat.st_mtime_ns}-{stat.st_size}"
        if not copy.exists():
            fresh = copy.with_suffix(f".{os.getpid()}")
            shutil.copy2(BINARY, fresh)
            fresh.chmod(0o755)
            fresh.replace(copy)
        return copy

    def command(self, *options, network="none", pool=0):
        """How to start the program on this engine. Without spare containers,
        unless asked for: then what is there belongs to a call."""
        chosen = ["--engine", self.cli, "--pool", str(pool)] + (["--network", network] if network else [])
        return [*self.prefix, str(self.binary()), *chosen, *options]

    def run(self, *words, check=True, env=None):
        """The engine's own CLI, as the user whose engine it is."""
        return subprocess.run([*self.prefix, self.cli, *self.cli_options, *words], env=self.environment(env), check=check,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)

    def containers(self, name="code-sandbox-mcp-"):
        """Names of all containers, running or not, whose name begins so."""
        listed = self.run("ps", "--all", "--filter", f"name={name}", "--format", "{{.Names}}").stdout
        return [line for line in listed.split() if line.startswith(name)]

    def waits_for_code(self, pid):
        """A warm interpreter, blocked in read(3, ...): numbers of x86-64 and arm64."""
        return read_proc(pid, "syscall").split()[:2] in ([b"0", b"0x3"], [b"63", b"0x3"])

    def running(self, name):
        listed = self.run("ps", "--filter", f"name={name}", "--format", "{{.Names}}").stdout
        return [line for line in listed.split() if line.startswith(name)]


# --- a server ----------------------------------------------------------------


class Recording:
    """What client and server said, for tests/protocol to hold against the
    schemas; in a file of $CSM_RECORDINGS, if that is set."""

    LONG = 1 << 16  # of what a client says in a line, only the head is kept
    LONGEST = 1 << 26

    def __init__(self, possible):
        self.directory = os.environ.get("CSM_RECORDINGS") if possible else None
        self.lines = []
        self.unfinished = b""

    def heard(self, line):
        self._add("server", line)

    def said(self, data):
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._add("client", self.head_of(self.unfinished + line))
            self.unfinished = b""
        self.unfinished = (self.unfinished + rest)[:self.LONGEST]

    def head_of(self, line):
        try:
            message = json.loads(line) if len(line) > self.LONG else None
        except (ValueError, RecursionError):
            message = {}
        if not isinstance(message, dict):
            return line
        return json.dumps({name: message[name] for name in ("id", "method") if name in message}).encode()

    def _add(self, speaker, line):
        if self.directory:
            self.lines.append({"from": speaker, "line": line.decode(errors="replace")})

    def stop(self):
        """Nothing of it is kept: the server will be cut off in the middle of a
        message."""
        self.directory, self.lines = None, []

    def save(self):
        if self.lines:
            (Path(self.directory) / uuid.uuid4().hex).write_text("\n".join(map(json.dumps, self.lines)))
        self.lines = []


class Server:
    """One server process and its client."""

    def __init__(self, engine, *options, env=None, network="none", pool=0, command=None,
                 hostname=None, revision=NEWEST, stdin=subprocess.PIPE):
        self.engine = engine
        self.pool = pool
        self.mark = uuid.uuid4().hex
        self.last_id = 0
        self.messages = {}
        self.notifications = []
        self.batches = []
        self.busy = {}
        self.unexpected = []
        self.lines = []
        self.recording = Recording(stdin == subprocess.PIPE)
        self.arrived = threading.Condition()
        command = command or engine.command(*options, network=network, pool=pool)
        if hostname:
            # Another machine, as far as the server can tell.
            command = ["unshare", "--uts", "sh", "-c", f'hostname {hostname} && exec "$@"', "sh", *command]
        self.process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=engine.environment({MARK: self.mark, **(env or {})}))
        self.stderr_bytes = b""
        self.ended = False
        self.readers = [threading.Thread(target=reader, daemon=True)
                        for reader in (self._read_stdout, self._read_stderr)]
        for reader in self.readers:
            reader.start()
        self.pid = None
        self.baseline = None
        if revision:
            self.initialize(revision)

    # What the client hears.

    def _read_stdout(self):
        for line in self.process.stdout:
            with self.arrived:
                self._take(line)
                self.arrived.notify_all()
        with self.arrived:
            self.ended = True
            self.arrived.notify_all()

    def _take(self, line):
        self.lines.append(line)
        self.recording.heard(line)
        try:
            message = json.loads(line)
            assert line.endswith(b"\n")
            if isinstance(message, list):
                self.batches.append(message)
                return
            assert message["jsonrpc"] == "2.0"
        except (ValueError, TypeError, KeyError, AssertionError):
            self.unexpected.append(line)
            return
        if "method" in message:
            self.notifications.append(message)
            return
        self.messages.setdefault(message.get("id"), []).append(message)

    def _read_stderr(self):
        for line in self.process.stderr:
            self.stderr_bytes += line

    @property
    def stderr(self):
        return self.stderr_bytes.decode(errors="replace")

    def stop_reading(self):
        """Closes our end of its stdout, as a client does that has crashed.

        The reader thread blocks in a read, which keeps the pipe open until one
        more message has come; after that it finds another one, at its end.
        """
        empty, unused = os.pipe()
        os.close(unused)
        os.dup2(empty, self.process.stdout.fileno())
        os.close(empty)
        self.request("ping")
        self.readers[0].join(PATIENCE)

    # What the client says.

    def send_bytes(self, data):
        with self.arrived:
            self.recording.said(data)
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send_line(self, text):
        self.send_bytes((text if isinstance(text, bytes) else text.encode()) + b"\n")

    def send(self, message):
        self.send_line(json.dumps({"jsonrpc": "2.0", **message}))

    def notify(self, method, params=None):
        self.send({"method": method, **({"params": params} if params is not None else {})})

    def start(self, method, params=None, ident=None):
        """Sends a request and returns its id."""
        if ident is None:
            self.last_id += 1
            ident = self.last_id
        self.send({"id": ident, "method": method, **({"params": params} if params is not None else {})})
        return ident

    def replies(self, ident):
        with self.arrived:
            return list(self.messages.get(ident, []))

    def wait(self, ident, seconds=PATIENCE):
        """The reply to this id; each reply is handed out once."""
        with self.arrived:
            self.arrived.wait_for(lambda: self.messages.get(ident) or self.ended, seconds)
            waiting = self.messages.get(ident)
            assert waiting, (f"no reply to {ident!r} within {seconds} s"
                             f"{', the server ended' if self.ended else ''}; stderr: {self.stderr}")
            return waiting.pop(0)

    def wait_notification(self, accept=lambda message: True, seconds=PATIENCE):
        with self.arrived:
            def found():
                return next((message for message in self.notifications if accept(message)), None)

            assert self.arrived.wait_for(lambda: found() or self.ended, seconds), "no such notification came"
            assert found(), f"the server ended without it; stderr: {self.stderr}"
            return found()

    def wait_batch(self, seconds=PATIENCE):
        with self.arrived:
            assert self.arrived.wait_for(lambda: self.batches or self.ended, seconds) and self.batches, self.stderr
            return self.batches.pop(0)

    def lines_within(self, seconds):
        """How many lines come in this time: to show that none does."""
        with self.arrived:
            before = len(self.lines)
            self.arrived.wait_for(lambda: len(self.lines) > before, seconds)
            return len(self.lines) - before

    def request(self, method, params=None, seconds=PATIENCE):
        return self.wait(self.start(method, params), seconds)

    def initialize(self, revision=NEWEST):
        reply = self.request("initialize", {"protocolVersion": revision, "capabilities": {},
                                            "clientInfo": {"name": "test", "version": "1"}})
        self.notify("notifications/initialized")
        self.pid = until(lambda: find_program(self.process.pid, self.engine.binary()), what="the server's process")
        self.baseline = self.baseline or self.fds()
        return reply

    # Calls.

    def start_call(self, code, tool="run_python_code", meta=None, ident=None, **arguments):
        params = {"name": tool, "arguments": {"code": code, **arguments}}
        if meta is not None:
            params["_meta"] = meta
        return self.start("tools/call", params, ident)

    def result(self, ident, seconds=PATIENCE):
        reply = self.wait(ident, seconds)
        assert "result" in reply, reply
        return reply["result"]

    def call(self, code, tool="run_python_code", seconds=PATIENCE, **arguments):
        return self.result(self.start_call(code, tool, **arguments), seconds)

    def start_busy(self, **arguments):
        """A call whose program is known to be up: it prints "up" and sleeps."""
        program = self.engine.sleeper()
        ident = self.start_call(program.code, **arguments)
        until(program.is_up, what="the program is up")
        self.busy[ident] = program
        return ident

    def wait_stopped(self, ident, seconds=10):
        """The program of such a call, and its container, are no more."""
        until(lambda: not self.busy[ident].is_up(), seconds, "the program is gone")
        self.wait_no_containers(seconds)

    # What it has around it.

    @property
    def prefix(self):
        """How the names of its containers begin."""
        return f"code-sandbox-mcp-{self.pid}-"

    def end_lost(self):
        """What podman leaves, and knows nothing of, when it is killed while it
        starts a container."""
        self.wait_no_containers()
        for pid in processes():
            words = read_proc(pid, "cmdline").decode(errors="replace").split("\0")
            if words[0].endswith("conmon") and any(word.startswith(self.prefix) for word in words):
                for lost in (*read_proc(pid, f"task/{pid}/children").split(), pid):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(lost), signal.SIGKILL)

    def containers(self):
        return self.engine.containers(self.prefix)

    def wait_no_containers(self, seconds=10):
        until(lambda: not self.containers(), seconds, lambda: f"gone: {self.containers()}")

    def fds(self):
        """How many descriptors it has and keeps: not the seccomp profile, which
        it has from the first call on, nor a clock that a test sets, which it
        reads again and again, nor what was closed while we looked."""
        directory = Path(f"/proc/{self.pid}/fd")
        targets = [link_of(directory / fd) for fd in os.listdir(directory)]
        return len([target for target in targets
                    if target and "seccomp" not in target and CLOCK_FILE not in target])

    def memory(self, field):
        """Kilobytes: VmRSS now, VmHWM the most since forget_peak()."""
        status = read_proc(self.pid, "status").decode()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(f"{field}:"))

    def forget_peak(self):
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def clis(self):
        """Process ids of the attached engine CLIs of running calls."""
        def attached(words):
            return self.engine.cli in words[:2] and ("run" in words[:4] or "start" in words[:4])

        return [pid for pid in children_of(self.pid) if attached(command_line(pid))]

    def wait_for_spares(self, count):
        """Until so many wait for their code. Wants --pass-through-env with the
        mark: by that the interpreters inside are known."""
        def waiting():
            return [pid for pid, _ in marked_processes(self.mark) if self.engine.waits_for_code(pid)]

        until(lambda: len(waiting()) == count, what=lambda: f"{count} spare containers, not {len(waiting())}")
        self.wait_idle()

    def wait_idle(self, seconds=PATIENCE):
        """All calls are over and cleared away: no child and no descriptor but
        for spare containers, which are a CLI with three pipes each."""
        def is_idle():
            spares = self.clis() if self.pool else []
            return children_of(self.pid) == spares and self.fds() == self.baseline + 3 * len(spares)

        until(is_idle, seconds, lambda: (
            f"{self.fds()} descriptors, {self.baseline} at the start; children: "
            f"{[command_line(pid)[:3] for pid in children_of(self.pid)]}"))

    # The end.

    def signal(self, number):
        os.kill(self.pid, number)

    def close_stdin(self):
        with self.arrived:
            self.recording.said(b"\n")
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    def wait_exit(self, seconds=25):
        status = self.process.wait(seconds)
        for reader in self.readers:
            reader.join(5)
        return status

    def assert_clean(self, status=0):
        """After its end: how it went, what it said, and what is left of it."""
        self.assert_quiet()
        assert self.process.returncode == status, f"exit status; stderr: {self.stderr}"
        until(lambda: not marked_processes(self.mark), 10,
              lambda: f"no process of it: {marked_processes(self.mark)}")
        if self.pid is not None:
            self.wait_no_containers()

    def assert_quiet(self):
        assert not self.unexpected, f"not JSON-RPC on stdout: {self.unexpected[:3]}"
        assert not [word for word in SANITIZER_WORDS if word in self.stderr], self.stderr

    def close(self, idle=True):
        """The orderly end, with all that must hold then."""
        if idle and self.pid is not None:
            self.wait_idle()
        self.close_stdin()
        self.wait_exit()
        self.assert_clean()

    def discard(self):
        """Whatever state it is in: end it, so that a failed test leaves nothing."""
        self.recording.save()
        if self.process.poll() is None:
            self.close_stdin()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                if self.pid:
                    self.signal(signal.SIGKILL)
                self.process.kill()
                self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream and not stream.closed:
                try:
                    stream.close()
                except (OSError, RuntimeError):
                    pass

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        """Used with `with`: closed in good order, unless the test failed already."""
        try:
            if kind is None and self.process.poll() is None:
                self.close()
        finally:
            self.discard()


class Session:
    """An interpreter that a server keeps for its client."""

    def __init__(self, server, tool="run_python_code", code=None, **arguments):
        self.server = server
        self.tool = tool
        self.first = server.call(code or {"run_python_code": "None"}.get(tool, "undefined"), tool, session="new",
                                 **arguments)
        assert self.first["isError"] is False, self.first
        assert self.first["structuredContent"]["session_ended"] is False, self.first
        self.handle = self.first["structuredContent"]["session"]

    def start(self, code, **arguments):
        return self.server.start_call(code, self.tool, session=self.handle, **arguments)

    def call(self, code, seconds=PATIENCE, **arguments):
        return self.server.result(self.start(code, **arguments), seconds)

    def prints(self, code, **arguments):
        """What a snippet that succeeds says on stdout."""
        result = self.call(code, **arguments)
        assert result["isError"] is False, result
        told = result["structuredContent"]
        assert (told["exit_code"], told["stderr"], told["session_ended"]) == (0, "", False), result
        return told["stdout"]

    def value(self, code, **arguments):
        """Of the last expression, of a snippet that succeeds and prints nothing."""
        result = self.call(code, **arguments)
        assert result["isError"] is False, result
        told = result["structuredContent"]
        assert (told["exit_code"], told["stdout"], told["stderr"], told["session_ended"]) == (0, "", "", False), result
        return told.get("value")

    def uri(self, path, handle=None):
        return f"sandbox://session/{handle or self.handle}/{urllib.parse.quote(path)}"

    def read(self, path, handle=None):
        """The reply to the request for one of its files."""
        return self.server.request("resources/read", {"uri": self.uri(path, handle)})

    def end(self):
        return self.server.result(self.server.start("tools/call", {"name": "end_session",
                                                                   "arguments": {"session": self.handle}}))


# --- results -----------------------------------------------------------------


def text_of(result):
    """Files that the program left behind are left to the tests of files."""
    if "files" in result.get("structuredContent", ()):
        return result["content"][0]["text"].partition("\n\n[files]\n")[0]
    assert [item["type"] for item in result["content"]] == ["text"], result
    return result["content"][0]["text"]


def facts_of(result):
    """structuredContent without files and the one value that differs each time."""
    facts = {key: value for key, value in result["structuredContent"].items() if not key.startswith("files")}
    duration = facts.pop("duration_ms")
    assert isinstance(duration, int) and duration >= 0
    return facts


def facts(stdout="", stderr="", exit_code=0, signal=None, timed_out=False, truncated=False):
    return {"exit_code": exit_code, "signal": signal, "stdout": stdout, "stderr": stderr,
            "timed_out": timed_out, "truncated": truncated}


def assert_success(result, text, stdout=None, stderr=""):
    assert result["isError"] is False, result
    assert facts_of(result) == facts(stdout if stdout is not None else text + "\n", stderr)
    assert text_of(result) == text


def assert_failure(result, stdout="", stderr="", exit_code=None, signal=None, note=None, timed_out=False):
    """A program that ran and failed: the facts, and the original's JSON as text."""
    assert result["isError"] is False, result
    assert facts_of(result) == facts(stdout, stderr, exit_code, signal, timed_out)
    said = json.loads(text_of(result))
    assert list(said)[:3] == ["exit_code", "stderr", "stdout"]
    expected = {"exit_code": exit_code, "stderr": stderr, "stdout": stdout}
    if signal:
        expected["signal"] = signal
    if timed_out:
        expected["timed_out"] = True
    assert {key: value for key, value in said.items() if key not in ("note", "files")} == expected
    assert (note or "") in said.get("note", ""), said
    assert ("note" in said) == (note is not None)


def assert_refused(result, *words):
    """The sandbox did not run it, and says why."""
    assert result["isError"] is True, result
    assert "structuredContent" not in result
    for word in words:
        assert word in text_of(result)


def said_of(result):
    """The text item, which comes first."""
    assert result["content"][0]["type"] == "text", result
    return result["content"][0]["text"]


def listed_of(result):
    """Path and size of each file, in the order in which they are told."""
    return {file["path"]: file["size"] for file in result["structuredContent"].get("files", [])}


def returned_of(result):
    """What came with the result, by path: bytes. Images have no path, but are
    in the order of the list."""
    names = [file["path"] for file in result["structuredContent"].get("files", []) if file["returned"]]
    items = [item for item in result["content"][1:] if item["type"] != "resource_link"]
    assert len(names) == len(items), result["structuredContent"]["files"]
    return {name: bytes_of(item, name) for name, item in zip(names, items)}


def bytes_of(item, name):
    if item["type"] != "resource":
        return base64.b64decode(item["data"], validate=True)
    resource = item["resource"]
    assert urllib.parse.unquote(resource["uri"]).endswith("/" + name), (name, resource["uri"])
    return resource_bytes(resource)


def resource_bytes(resource):
    assert ("text" in resource) != ("blob" in resource), list(resource)
    return resource["text"].encode() if "text" in resource else base64.b64decode(resource["blob"], validate=True)
