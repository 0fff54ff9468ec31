"""Programs and MCP servers, started with posix_spawn and timed from outside."""

import json
import os
import select
import shutil
import signal
import time

PATIENCE = 180  # seconds without an answer: something is broken
PROTOCOL = "2025-06-18"


class Broken(Exception):
    """Something did not work: not a slow number, but no number."""


def find(program):
    path = shutil.which(program)
    if path is None:
        raise Broken(f"{program} is not installed: see scripts/setup")
    return path


def spawn(argv, env, stdin, stdout, log):
    # Python ignores SIGPIPE and SIGXFSZ; what it starts should not.
    actions = [(os.POSIX_SPAWN_DUP2, fd, place) for place, fd in enumerate((stdin, stdout, log))]
    return os.posix_spawn(argv[0], argv, env, file_actions=actions, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])


def run(argv, env, log, expect=None):
    """Seconds from the start of a program until it has exited. With expect its
    output is read and must be that; without, it goes to /dev/null."""
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    reader, writer = os.pipe() if expect is not None else (None, null)
    output = b""
    try:
        start = time.perf_counter()
        pid = spawn(argv, env, null, writer, log)
        if reader is not None:
            os.close(writer)
            while piece := os.read(reader, 65536):
                output += piece
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        seconds = time.perf_counter() - start
    finally:
        os.close(null)
        if reader is not None:
            os.close(reader)
    if status != 0 or (expect is not None and output.decode().strip() != expect):
        raise Broken(f"{os.path.basename(argv[0])} ended with {status} and printed {output[:200]!r}")
    return seconds


class Server:
    """An MCP server on stdio. As a context manager it is ended in good order."""

    def __init__(self, argv, env, log):
        self.name = os.path.basename(argv[0])
        self.unread = b""
        self.next_id = 0
        stdin, self.to = os.pipe()
        self.source, stdout = os.pipe()
        start = time.perf_counter()
        self.pid = spawn(argv, env, stdin, stdout, log)
        os.close(stdin)
        os.close(stdout)
        try:
            hello = self.request("initialize", protocolVersion=PROTOCOL, capabilities={},
                                 clientInfo={"name": "bench", "version": "1"})
        except BaseException:
            self.__exit__()
            raise
        self.start_seconds = time.perf_counter() - start
        self.title = hello.get("serverInfo", {}).get("name", self.name)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close_stdin()
        deadline = time.monotonic() + 30
        while os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(0.01)
        os.close(self.source)

    def close_stdin(self):
        if self.to is not None:
            os.close(self.to)
            self.to = None

    def send(self, message):
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(self.to, data):]

    def receive(self):
        while b"\n" not in self.unread:
            if not select.select([self.source], [], [], PATIENCE)[0]:
                raise Broken(f"{self.name} gave no answer in {PATIENCE} s")
            piece = os.read(self.source, 1 << 20)
            if not piece:
                raise Broken(f"{self.name} went away")
            self.unread += piece
        line, _, self.unread = self.unread.partition(b"\n")
        try:
            return json.loads(line)
        except ValueError as error:
            raise Broken(f"{self.name} said {line[:200]!r}") from error

    def post(self, method, **params):
        self.next_id += 1
        self.send({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params})
        return self.next_id

    def reply(self):
        """The next answer to a request; what else the server says is passed over."""
        while "result" not in (message := self.receive()):
            if "error" in message:
                raise Broken(f"{self.name} answered {message['error']}")
        return message

    def request(self, method, **params):
        number = self.post(method, **params)
        while (message := self.reply())["id"] != number:
            pass
        return message["result"]

    def call(self, tool, arguments, expect):
        """Seconds from the request line written to the reply line read."""
        start = time.perf_counter()
        result = self.request("tools/call", name=tool, arguments=arguments)
        seconds = time.perf_counter() - start
        check(self.name, result, expect)
        return seconds

    def start_calls(self, tool, arguments, expect, count):
        """So many calls that do not end; their ids, when each has said so."""
        first = self.next_id + 1
        ids = [self.post("tools/call", name=tool, arguments=arguments, _meta={"progressToken": number})
               for number in range(first, first + count)]
        silent = set(ids)
        while silent:
            message = self.receive()
            if "id" in message:
                raise Broken(f"{self.name} answered {json.dumps(message)[:300]}")
            if expect in message["params"].get("message", ""):
                silent.discard(message["params"]["progressToken"])
        return ids

    def cancel(self, number):
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

    def rate(self, tool, arguments, expect, in_flight, enough):
        """Keeps so many calls under way until enough(); the times of the answers."""
        ends = []
        for _ in range(in_flight):
            self.post("tools/call", name=tool, arguments=arguments)
        waiting = in_flight
        while waiting:
            message = self.reply()
            ends.append(time.perf_counter())
            check(self.name, message["result"], expect)
            if enough(len(ends) + waiting - 1):
                waiting -= 1
            else:
                self.post("tools/call", name=tool, arguments=arguments)
        return ends


def check(name, result, expect):
    if result.get("isError") or expect not in json.dumps(result.get("content")):
        raise Broken(f"{name} answered {json.dumps(result)[:300]}")


# --- what the kernel says about a process -------------------------------------


def read_proc(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def stolen_seconds():
    """Since it started, what the host of this (virtual) machine has kept its
    processors from doing; of one processor, on average."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = int(file.readline().split()[8])
    return ticks / os.sysconf("SC_CLK_TCK") / os.cpu_count()


def status(pid):
    return dict(line.split(":\t", 1) for line in read_proc(pid, "status").splitlines() if ":\t" in line)


def megabytes(pid, field="VmRSS"):
    return int(status(pid)[field].split()[0]) / 1024


def children(pid):
    return [int(child) for child in read_proc(pid, f"task/{pid}/children").split()]


def zombies(pid):
    return sum(status(child).get("State", "").startswith("Z") for child in children(pid))


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def wake_ups(pid):
    facts = status(pid)
    return int(facts["voluntary_ctxt_switches"]) + int(facts["nonvoluntary_ctxt_switches"])
