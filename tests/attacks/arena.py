"""Where attacks take place: a server that takes one after the other, what is
said of each, and what must hold after it."""

import json
import os
import re
import signal
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from harness import (FLAT, MARK, Server, facts, facts_of, marked_processes, processes, read_proc, text_of,
                     until)

MEMORY = "512m"
OUTPUT = 64 * 1024
OPTIONS = ("--memory", MEMORY, "--max-output", str(OUTPUT), "--pass-through-env", MARK)
# In the environment of every server, and passed on by none.
SECRET = "n0t-for-programs"


@dataclass(frozen=True)
class Verdict:
    """What the reply must be. A stream may be a pattern, the note is a part."""

    stdout: str | re.Pattern = ""
    stderr: str | re.Pattern = ""
    exit_code: int | None = 0
    signal: str | None = None
    timed_out: bool = False
    truncated: bool = False
    note: str | None = None

    def check(self, result):
        assert result["isError"] is False, result
        said = facts_of(result)
        expected = facts(self.stdout, self.stderr, self.exit_code, self.signal, self.timed_out, self.truncated)
        for stream in ("stdout", "stderr"):
            if isinstance(expected[stream], re.Pattern) and expected[stream].fullmatch(said[stream]):
                expected[stream] = said[stream]
        assert said == expected
        if self.note:
            assert self.note in json.loads(text_of(result))["note"]


def prints(stdout, stderr=""):
    return Verdict(stdout, stderr)


def exits(code, stdout="", stderr=""):
    return Verdict(stdout, stderr, exit_code=code)


def dies(signal, stdout="", stderr="", note=None):
    return Verdict(stdout, stderr, exit_code=None, signal=signal, note=note or f"ended by {signal}")


def stopped(stdout="", stderr="", truncated=False):
    """It ran until its time was up."""
    return Verdict(stdout, stderr, exit_code=None, signal="SIGKILL", timed_out=True, truncated=truncated,
                   note="reached its time limit")


def out_of_memory(stdout="", limit=MEMORY):
    return dies("SIGKILL", stdout, note=f"it ran out of memory (limit: {limit})")


def having(*words):
    """A pattern for what has these in it, as tracebacks do."""
    return re.compile(".*".join(["", *map(re.escape, words), ""]), re.DOTALL)


class Program(NamedTuple):
    tool: str
    code: str


def python(code):
    return Program("run_python_code", code)


def node(code):
    return Program("run_js_code", code)


def program(name):
    """One that is a file of its own."""
    file = Path(__file__).resolve().parent / "programs" / name
    return {".py": python, ".js": node}[file.suffix](file.read_text())


class Held:
    """A Python program that goes on when it is told to: until then it runs, for
    certain, beside whatever else there is."""

    def __init__(self, code):
        self.name = f"held-{uuid.uuid4().hex[:8]}"  # the kernel keeps 15 letters
        self.code = ("import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
                     f"open('/proc/self/comm', 'w').write('{self.name}')\nsignal.sigwait([signal.SIGUSR1])\n{code}")

    def find(self):
        return next((pid for pid in processes() if read_proc(pid, "comm").strip() == self.name.encode()), None)

    def wait(self):
        """Until it is there."""
        self.pid = until(self.find, what="a program that waits")

    def go(self):
        os.kill(self.pid, signal.SIGUSR1)


@dataclass(frozen=True)
class Attack:
    name: str
    program: Program
    verdict: Verdict
    # On an engine that holds no limits, if it is another one there.
    unlimited: Verdict | None = None
    options: tuple = ()
    timeout: int = 20
    # Kilobytes that the server may have beyond that while it lasts.
    peak: int = 0

    def expected(self, engine):
        return self.verdict if engine.limits or self.unlimited is None else self.unlimited


class Arena:
    def __init__(self, engine, *options, env=None):
        self.engine = engine
        self.server = Server(engine, *OPTIONS, *options,
                             env={"API_TOKEN": SECRET, "CONTAINER_TOKEN": SECRET, **(env or {})})
        self.resident = self.server.memory("VmRSS")

    def call(self, program, timeout=20, **arguments):
        """One call, and one line in reply."""
        self.server.forget_peak()
        lines = len(self.server.lines)
        result = self.server.call(program.code, program.tool, timeout_seconds=timeout, **arguments)
        assert len(self.server.lines) == lines + 1, "more than the reply came"
        self.server.assert_quiet()
        return result

    def survive(self, attack):
        verdict = attack.expected(self.engine)
        result = self.call(attack.program, attack.timeout)
        verdict.check(result)
        self.outlive(attack, verdict, result)

    def survive_somehow(self, attack):
        """Where the program meets something else: whatever comes of it, it
        changes nothing for anybody."""
        result = self.call(attack.program, attack.timeout)
        assert result["isError"] is False, result
        self.outlive(attack, Verdict(), result)

    def outlive(self, attack, verdict, result):
        lasted = result["structuredContent"]["duration_ms"] / 1000
        # The clock starts when the start is heard of, a little late on a busy machine.
        assert not verdict.timed_out or lasted > attack.timeout - 0.2
        assert lasted < attack.timeout + 10
        self.settle(attack.peak)

    def settle(self, peak=0):
        """The container, its processes and what the server held for it are gone."""
        self.server.wait_idle()
        self.server.wait_no_containers()
        until(lambda: not self.strays(), 10, lambda: f"gone: {self.strays()}")
        assert self.server.memory("VmHWM") - self.resident < FLAT + peak, "memory during the call"
        assert self.server.memory("VmRSS") - self.resident < FLAT, "memory after the call"

    def strays(self):
        own = (self.server.process.pid, self.server.pid)
        return [(pid, words) for pid, words in marked_processes(self.server.mark) if pid not in own]

    def close(self):
        """The call after the last attack works too."""
        try:
            prints("next\n").check(self.call(python("print('next')")))
            self.server.close()
        finally:
            self.discard()

    def discard(self):
        self.server.discard()
