"""A server on HTTP, and clients of it made of sockets."""

import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import uuid

from harness import MARK, PATIENCE, SANITIZER_WORDS, children_of, command_line, marked_processes, read_proc, until
from wire import LEGACY, MODERN, UNSAID, Transcript, meta, named_revision

ACCEPT = "application/json, text/event-stream"


class HttpServer:
    def __init__(self, engine, *options, env=None, pool=0, program=None, listens=True, where=("--port", "0")):
        self.engine = engine
        self.transcript = Transcript()
        self.mark = uuid.uuid4().hex
        command = engine.command("--transport", "streamable-http", *where, *options, pool=pool)
        if program:
            command = [str(program), *command[1:]]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE,
                                        env=engine.environment({MARK: self.mark, **(env or {})}))
        self.stderr_bytes = b""
        self.reader = threading.Thread(target=self._read_stderr, daemon=True)
        self.reader.start()
        self.pid = self.process.pid
        self.url = until(self._address, what=lambda: f"it listens: {self.stderr}") if listens else None
        self.token = None
        if self.url and self.url.startswith("http"):
            self.port = int(re.search(r":(\d+)/", self.url)[1])
            self.path = self.url.partition(f":{self.port}")[2]

    def _read_stderr(self):
        for line in self.process.stderr:
            self.stderr_bytes += line

    @property
    def stderr(self):
        return self.stderr_bytes.decode(errors="replace")

    def _address(self):
        assert self.process.poll() is None, f"it ended: {self.stderr}"
        found = re.search(r"listening on (\S+)\n", self.stderr)
        return found and found[1]

    # Requests.

    def connect(self):
        if self.url.startswith("unix:"):
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(PATIENCE)
            connection.connect(self.url[5:])
        else:
            connection = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        return connection

    def host(self):
        return "localhost" if self.url.startswith("unix:") else f"127.0.0.1:{self.port}"

    def head(self, method="POST", path=None, headers=None):
        """The first lines of a request; a header that is None is left out."""
        every = {"Host": self.host(), **({"Authorization": f"Bearer {self.token}"} if self.token else {}),
                 **(headers or {})}
        lines = [f"{method} {path or self.path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in every.items() if value is not None]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def post_bytes(self, body, headers=None):
        every = {"Content-Type": "application/json", "Accept": ACCEPT, "Content-Length": len(body), **(headers or {})}
        return self.head(headers=every) + body

    def send(self, data, connection=None):
        """Bytes as they are; the answer can be read from what is returned."""
        connection = connection or self.connect()
        connection.sendall(data)
        exchange = Exchange(self, connection)
        if data.startswith(b"POST "):
            exchange.request, exchange.revision = asked_in(data)
        return exchange

    def get(self, path="/healthz", headers=None, method="GET"):
        return self.send(self.head(method, path, headers)).finish()

    def post(self, message, headers=None, revision=UNSAID):
        """A message, or several in a list; its answer is recorded."""
        exchange = self.send(self.post_bytes(json.dumps(message).encode(), headers))
        exchange.request = message
        exchange.revision = MODERN if named_revision(message) else revision
        return exchange

    def modern(self, **named):
        return Modern(self, **named)

    def session(self, revision="2025-11-25", **named):
        return Session(self, revision, **named)

    # What it has around it.

    @property
    def prefix(self):
        return f"code-sandbox-mcp-{self.pid}-"

    def containers(self):
        return self.engine.containers(self.prefix)

    def wait_no_containers(self, seconds=PATIENCE):
        until(lambda: not self.containers(), seconds, lambda: f"gone: {self.containers()}")

    def ticks(self):
        """Of processor time."""
        return sum(map(int, read_proc(self.pid, "stat").rpartition(b")")[2].split()[11:13]))

    def fds(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    # The end.

    def signal(self, number):
        os.kill(self.pid, number)

    def wait_exit(self, seconds=PATIENCE):
        status = self.process.wait(seconds)
        self.reader.join(5)
        return status

    def close(self):
        """The orderly end, with all that must hold then."""
        self.signal(signal.SIGTERM)
        self.wait_exit()
        self.assert_clean()

    def assert_clean(self, status=0):
        assert not [word for word in SANITIZER_WORDS if word in self.stderr], self.stderr
        assert self.process.returncode == status, f"exit status; stderr: {self.stderr}"
        assert self.process.stdout.read() == b""
        until(lambda: not marked_processes(self.mark), 20, lambda: f"left: {marked_processes(self.mark)}")
        self.wait_no_containers()

    def discard(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.reader.join(5)
        self.process.stderr.close()


def asked_in(data):
    """The message in the bytes of a POST, as far as there is one, and its revision."""
    head, _, body = data.partition(b"\r\n\r\n")
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        message = None
    version = re.search(r"(?im)^mcp-protocol-version:\s*(\S+)", head.decode(errors="replace"))
    agreed = version[1] if version and version[1] in LEGACY else UNSAID
    return message, MODERN if named_revision(message) else agreed


class Exchange:
    """A request that has been sent, and what comes back."""

    def __init__(self, server, connection):
        self.server = server
        self.connection = connection
        self.request = self.revision = None
        self.response = None
        self.body = b""
        self.messages = []
        self.finished = False

    def begin(self):
        """Waits for the status and the headers."""
        if self.response is None:
            self.response = http.client.HTTPResponse(self.connection)
            self.response.begin()
        return self

    @property
    def status(self):
        return self.begin().response.status

    def header(self, name):
        return self.begin().response.getheader(name)

    def take(self, message):
        self.messages.append(message)
        if self.revision is None:
            return message
        single = self.request if isinstance(self.request, dict) and "method" in self.request else None
        if single is None and "result" in message:
            return message
        revision = self.revision
        if single and single.get("method") == "initialize" and "result" in message:
            revision = message["result"]["protocolVersion"]
        self.server.transcript.add(revision, single, message)
        return message

    def next(self):
        """The next message of a stream; None at its end."""
        assert self.header("Content-Type") == "text/event-stream", self.header("Content-Type")
        data = b""
        while True:
            line = self.response.readline()
            if line == b"":
                return None
            if line.startswith(b"data: "):
                data += line[6:]
            elif line == b"\n" and data:
                return self.take(json.loads(data))

    def finish(self):
        """Reads to the end and closes."""
        if self.finished:
            return self
        self.finished = True
        kind = self.begin().header("Content-Type") or ""
        if kind == "text/event-stream":
            while self.next() is not None:
                pass
        else:
            self.body = self.response.read()
            if kind == "application/json" and self.revision:
                self.take(json.loads(self.body))
        self.connection.close()
        return self

    def answer(self):
        """The response, which is the last message."""
        self.finish()
        assert self.messages, f"HTTP {self.status}: {self.body!r}"
        return self.messages[-1]

    def result(self):
        answer = self.answer()
        assert "result" in answer, answer
        return answer["result"]

    def code(self):
        return self.answer()["error"]["code"]

    def notifications(self):
        return [message for message in self.messages if "method" in message]

    def hang_up(self, reset=False):
        """As proxies do when they reset a connection: without a word."""
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if self.response:
            self.response.close()
        self.connection.close()


class Client:
    def __init__(self, server):
        self.server = server
        self.last_id = 0

    def fresh_id(self):
        self.last_id += 1
        return self.last_id

    def call(self, code, tool="run_python_code", ident=None, more=None, headers=None, **arguments):
        params = {"name": tool, "arguments": {"code": code, **arguments}, **(more or {})}
        return self.request("tools/call", params, ident=ident, headers=headers)


class Modern(Client):
    """Each request stands for itself."""

    def __init__(self, server, capabilities=None):
        super().__init__(server)
        self.capabilities = capabilities

    def headers(self, method, params):
        name = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name", "tasks/get": "taskId",
                "tasks/update": "taskId", "tasks/cancel": "taskId"}.get(method)
        return {"MCP-Protocol-Version": MODERN, "Mcp-Method": method,
                **({"Mcp-Name": params[name]} if name and name in params else {})}

    def request(self, method, params=None, ident=None, headers=None, **extra):
        params = dict(params or {})
        params["_meta"] = {**meta(self.capabilities), **params.get("_meta", {}), **extra}
        message = {"jsonrpc": "2.0", "id": self.fresh_id() if ident is None else ident, "method": method,
                   "params": params}
        return self.server.post(message, {**self.headers(method, params), **(headers or {})})


class Session(Client):
    """What initialize began and DELETE ends."""

    def __init__(self, server, revision, capabilities=None):
        super().__init__(server)
        opening = server.post({"jsonrpc": "2.0", "id": self.fresh_id(), "method": "initialize", "params": {
            "protocolVersion": revision, "capabilities": capabilities or {},
            "clientInfo": {"name": "test", "version": "1"}}}).finish()
        assert opening.status == 200, opening.body
        self.introduction = opening.result()
        self.revision = self.introduction["protocolVersion"]
        self.ident = opening.header("Mcp-Session-Id")
        assert re.fullmatch(r"[\x21-\x7e]{32,}", self.ident)
        assert self.notify("notifications/initialized").finish().status == 202

    def headers(self):
        return {"Mcp-Session-Id": self.ident, "MCP-Protocol-Version": self.revision}

    def send(self, message, headers=None):
        return self.server.post(message, {**self.headers(), **(headers or {})}, self.revision)

    def request(self, method, params=None, ident=None, headers=None):
        return self.send({"jsonrpc": "2.0", "id": self.fresh_id() if ident is None else ident, "method": method,
                          **({"params": params} if params is not None else {})}, headers)

    def notify(self, method, params=None):
        return self.send({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def end(self):
        return self.server.get(self.server.path, self.headers(), "DELETE")


def clis_of(server):
    """The attached engine CLIs of running calls."""
    return [pid for pid in children_of(server.pid) if server.engine.cli in command_line(pid)[:2]]
