"""What is measured, and the bar for each ("What it must reach" in the design)."""

import math
import os
import signal
import statistics
import subprocess
import threading
import time
from contextlib import ExitStack
from functools import partial

import client
from client import Broken, Server, find
from engine import CALLS, environment
from row import SETTLE, Row, Subject, interleave, percentile, promise, rates, rows, take_turns

TITLES = {"python": "Python", "javascript": "JavaScript"}
HOST = {"python": ["/usr/bin/python3", "-u"], "javascript": ["node"]}
SUFFIX = {"python": "py", "javascript": "js"}
HOST_BAR = {"python": 0.8, "javascript": 0.6}
PLAIN_BAR = 1.3

TURNS = 6  # of each side, for a rate
WARM_UP = 3  # seconds until a rate is steady: spare containers are used up by then
GROWTH = 1.1  # what counts as none: an allocator keeps a little

PLOT = """
import os, matplotlib
matplotlib.use("Agg")
import pandas, matplotlib.pyplot as plt
pandas.DataFrame({"x": range(100), "y": [n * n for n in range(100)]}).plot(x="x", y="y")
plt.savefig(os.path.expanduser("~/plot.png"))
print("hello")
"""
FILES = {
    "python": ("run_python_code", "open('out.txt', 'w').write(open('in.txt').read())"),
    "javascript": ("run_js_code", "const fs = require('fs'); fs.copyFileSync('in.txt', 'out.txt')"),
}
PLOT_HOME = "/usr/share/code-sandbox/home"  # in the image, with matplotlib's font cache
PEER_BAR = 30  # times slower than ours
PEER_SETTLE = 30  # seconds, for what it may do after a call; less if its containers are gone
PLOT_SETTLE = 3  # the imports go on after the engine calls the container running

SLEEPER = ("run_python_code", {"code": "import time; print('hello'); time.sleep(600)"}, "hello")
LONG = ("--timeout", "600")  # so that no call ends by itself
BUSY = 20  # calls when the server ends

FLOOD = "import os; block = b'x' * 65535 + b'\\n'\nfor _ in range({count}): os.write(1, block)"
FLAT_MB = 1.0


class Bench:
    def __init__(self, engines, scratch, settings, say):
        self.engines = engines
        self.scratch = scratch
        self.settings = settings
        self.say = say
        self.host_env = {**environment(), "HOME": str(scratch)}

    # --- the ways to run a snippet ----------------------------------------------

    def host(self, language, name, code):
        file = self.scratch / f"{name}.{SUFFIX[language]}"
        file.write_text(code)
        command = [find(HOST[language][0]), *HOST[language][1:], str(file)]
        return lambda: client.run(command, self.host_env, self.engines[0].log, "hello")

    def bare(self, engine, argv):
        return lambda: engine.run(argv, "hello")

    def ours(self, stack, engine, language, code, *options, spare=1, settle=0):
        server = stack.enter_context(engine.serve("--pool", str(spare), *options))

        def take():
            seconds = server.call(CALLS[language][0], {"code": code}, "hello")
            engine.wait_ready(server, spare, settle)
            return seconds
        return take

    def ours_with_files(self, stack, engine, language):
        """One file in, and one out."""
        tool, code = FILES[language]
        server = stack.enter_context(engine.serve("--pool", "1"))
        arguments = {"code": code, "files": [{"path": "in.txt", "text": "hello"}]}

        def take():
            seconds = server.call(tool, arguments, "hello")
            engine.wait_ready(server, 1, 0)
            return seconds
        return take

    def ours_in_session(self, stack, engine, language):
        tool, code = CALLS[language]
        server = stack.enter_context(engine.serve("--pool", "1"))
        first = server.request("tools/call", name=tool, arguments={"code": code, "session": "new"})
        session = first["structuredContent"]["session"]
        return lambda: server.call(tool, {"code": code, "session": session}, "hello")

    # --- measurements -----------------------------------------------------------

    def hello(self):
        with ExitStack() as stack:
            subjects = []
            for engine in self.engines:
                for language in CALLS:
                    def add(name, take, reference="", at_most=None, group=f"hello, {TITLES[language]}", on=engine.name):
                        subjects.append(Subject(on, group, name, take, reference, at_most))
                    code = CALLS[language][1]
                    add("bare host", self.host(language, "code", code))
                    add("ENGINE run --rm", self.bare(engine, engine.bare(language, code)))
                    add("ours, cold", self.ours(stack, engine, language, code, spare=0), "ENGINE run --rm")
                    add("ours, warm container", self.ours(stack, engine, language, code, "--interpreter", "plain"),
                        "bare host", PLAIN_BAR)
                    add("ours, warm interpreter", self.ours(stack, engine, language, code),
                        "bare host", HOST_BAR[language])
                    add("ours, with files", self.ours_with_files(stack, engine, language), "ours, warm interpreter")
                    add("ours, in a session", self.ours_in_session(stack, engine, language), "ours, warm interpreter")
            interleave(subjects, self.settings.rounds, self.say)
        yield from rows(subjects)

    def peer(self):
        """Another MCP server beside ours: if it breaks, no other row is lost."""
        peer = self.settings.peer
        engine = next(engine for engine in self.engines if engine.name == peer.engine)
        code = CALLS[peer.language][1]
        with ExitStack() as stack:
            server = stack.enter_context(Server(peer.argv, {**os.environ, **engine.env}, engine.log))

            before = engine.others()

            def take():
                seconds = server.call(peer.tool, {peer.argument: code}, "hello")
                deadline = time.monotonic() + PEER_SETTLE
                while engine.others() - before and time.monotonic() < deadline:
                    time.sleep(0.1)
                time.sleep(SETTLE)
                return seconds
            add = partial(Subject, engine.name, f"hello, {TITLES[peer.language]}, beside a peer")
            subjects = [add("ours, warm interpreter", self.ours(stack, engine, peer.language, code)),
                        add(f"peer, {server.title}", take, "ours, warm interpreter")]
            interleave(subjects, self.settings.rounds, self.say)
        ours, theirs = rows(subjects)
        theirs.bar, theirs.passed = f"≥ {PEER_BAR} ×", theirs.ratio >= PEER_BAR
        yield from (ours, theirs)

    def plot(self):
        have = subprocess.run(["/usr/bin/python3", "-c", "import pandas, matplotlib"], env=self.host_env,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0
        with ExitStack() as stack:
            subjects = []
            for engine in self.engines:
                def add(name, take, on=engine.name, **more):
                    subjects.append(Subject(on, "pandas + matplotlib plot", name, take, **more))
                if have:
                    add("bare host", self.host("python", "plot", PLOT))
                add("ENGINE run --rm", self.bare(engine, engine.bare("python", PLOT, f"--env=HOME={PLOT_HOME}")))
                add("ours, preloaded", self.ours(stack, engine, "python", PLOT, "--preload",
                                                 "numpy,pandas,matplotlib.pyplot", settle=PLOT_SETTLE),
                    **({"reference": "bare host", "at_most": 0.2} if have else {"reference": "ENGINE run --rm"}))
            interleave(subjects, max(1, self.settings.rounds // 2), self.say)
        for row in rows(subjects):
            if row.name == "ours, preloaded" and not have:
                row.bar = "none: no pandas on the host"
            yield row

    def start(self, engine):
        samples = []
        for _ in range(max(self.settings.rounds, 5) + 1):
            with engine.serve() as server:
                samples.append(server.start_seconds * 1000)
        del samples[0]
        value = statistics.median(samples)
        yield Row(engine.name, "server", "start to first reply", value, p95=percentile(samples, 95), bar="< 5 ms",
                  passed=value < 5, samples=samples)

    def cancel(self, engine):
        samples = []
        with engine.serve("--pool", "0", *LONG) as server:
            for turn in range(self.settings.rounds):
                self.say(f"turn {turn + 1} of {self.settings.rounds}")
                number, = server.start_calls(*SLEEPER, 1)
                samples.append(engine.seconds_until_none(server, lambda: server.cancel(number)) * 1000)
        yield promise(engine, "cancel until the container is gone", samples, 1)

    def shutdown(self, engine):
        ends = {"end of stdin": Server.close_stdin, "SIGTERM": lambda server: os.kill(server.pid, signal.SIGTERM),
                "SIGKILL": lambda server: os.kill(server.pid, signal.SIGKILL)}

        def take(end):
            with engine.serve("--max-parallel", str(BUSY), *LONG) as server:
                server.start_calls(*SLEEPER, BUSY)
                return engine.seconds_until_none(server, lambda: end(server)) * 1000
        samples = take_turns({name: partial(take, end) for name, end in ends.items()},
                             math.ceil(self.settings.rounds / 5), SETTLE, self.say)
        for name in ends:
            yield promise(engine, f"{name} with {BUSY} running calls until no container is left", samples[name], 5)

    def sustained(self, engine):
        """Two sweeps find the number at once that suits the bare engine best; it
        and ours then take turns. It is chosen before it is measured: the best
        of several measurements would be one that was lucky."""
        tool, code = CALLS["python"]
        bare, hardened = engine.bare("python", code), engine.hardened("python", code)
        seconds = self.settings.seconds
        sweeps = take_turns({parallel: partial(bare_rate, engine, bare, parallel, seconds / 3)
                             for parallel in (1, 2, 3, 4, 8)}, 2, 1, self.say)
        best = max(sweeps, key=lambda parallel: sum(sweeps[parallel]))
        with engine.serve() as server:
            def ours():
                window = Window(seconds)
                ends = server.rate(tool, {"code": code}, "hello", 8, lambda _: window.is_over())
                engine.wait_ready(server, 8, settle=1)
                return window.rate(ends)

            samples = take_turns({
                f"ENGINE run --rm, {best} at once": partial(bare_rate, engine, bare, best, seconds),
                f"with the flags of ours, {best} at once": partial(bare_rate, engine, hardened, best, seconds),
                "ours, 8 at once": ours}, TURNS, 1, self.say)
        yield from rates(engine, "sustained", "calls/s", samples, 0.95)

    def many_calls(self, engine):
        tool, code = CALLS["python"]
        count = self.settings.calls
        group = f"{count} calls"
        with engine.serve() as server:
            def calls(number):
                def enough(sent):
                    if sent % 500 == 0 and sent < number:
                        self.say(f"{sent} of {number} calls")
                    return sent >= number
                ends = server.rate(tool, {"code": code}, "hello", 8, enough)
                if len(ends) != number:
                    raise Broken(f"{number} calls, {len(ends)} answers")
                engine.wait_ready(server, 8, settle=1)
                return client.megabytes(server.pid), client.descriptors(server.pid)
            memory, fds = calls(16)
            wake_ups = client.wake_ups(server.pid)
            time.sleep(3)
            wake_ups = client.wake_ups(server.pid) - wake_ups
            memory_after, fds_after = calls(count)
            zombies = client.zombies(server.pid)
        left = len(engine.containers(server))
        yield Row(engine.name, "server", "idle, RSS", memory, "MB", bar="< 5 MB", passed=memory < 5)
        yield Row(engine.name, "server", "idle, wake-ups in 3 s", wake_ups, "", bar="0", passed=wake_ups == 0)
        yield Row(engine.name, "server", f"RSS after {group}", memory_after, "MB", reference="idle, RSS",
                  ratio=memory_after / memory, bar=f"≤ {GROWTH} ×", passed=memory_after <= GROWTH * memory)
        yield Row(engine.name, "server", f"descriptors after {group}", fds_after, "", reference=f"idle ({fds})",
                  ratio=fds_after / fds, bar="no more", passed=fds_after <= fds)
        yield Row(engine.name, "server", f"zombies, containers left after {group}", zombies + left, "", bar="0",
                  passed=zombies + left == 0)

    def output(self, engine):
        """The rate is that of what the large output has beyond the small one:
        so neither the start nor the end of a container counts."""
        small, large = 16, self.settings.megabytes
        group = f"{large} MB of output"

        def rate(take):
            seconds = -take(FLOOD.format(count=small * 16)) + take(FLOOD.format(count=large * 16))
            return (large - small) / max(seconds, 0.001)

        with engine.serve(*LONG) as server:
            def ours(code):
                seconds = server.call(CALLS["python"][0], {"code": code}, "bytes cut")
                engine.wait_ready(server, 1, settle=SETTLE)
                return seconds

            ours(FLOOD.format(count=small * 16))
            small_peak = client.megabytes(server.pid, "VmHWM")
            samples = take_turns({
                "ENGINE run --log-driver none": lambda: rate(
                    lambda code: engine.run(engine.bare("python", code, "--log-driver=none"))),
                "with the flags of ours": lambda: rate(lambda code: engine.run(engine.hardened("python", code))),
                "ours": lambda: rate(ours)}, 3, 0, self.say)
            large_peak = client.megabytes(server.pid, "VmHWM")
        yield from rates(engine, group, "MB/s", samples, 0.5)
        yield Row(engine.name, group, "peak RSS of the server", large_peak, "MB",
                  reference=f"that of {small} MB ({small_peak:.1f} MB)", ratio=large_peak / small_peak,
                  bar=f"≤ {FLAT_MB:g} MB more", passed=large_peak - small_peak <= FLAT_MB)


def sleep_until(moment):
    time.sleep(max(0, moment - time.perf_counter()))


class Window:
    """A stretch of time, behind a warm-up, in which what ends is counted. What
    the host of a virtual machine takes from it meanwhile does not count as time:
    it is not the same for those that are compared."""

    def __init__(self, seconds):
        self.start = time.perf_counter() + WARM_UP
        self.end = self.start + seconds
        self.stolen = 0
        self.clock = threading.Thread(target=self.look)
        self.clock.start()

    def look(self):
        sleep_until(self.start)
        before = client.stolen_seconds()
        sleep_until(self.end)
        self.stolen = client.stolen_seconds() - before

    def is_over(self):
        return time.perf_counter() > self.end

    def rate(self, ends):
        self.clock.join()
        return sum(self.start <= moment < self.end for moment in ends) / (self.end - self.start - self.stolen)


def bare_rate(engine, argv, parallel, seconds):
    window = Window(seconds)
    ends, errors = [], []

    def work():
        try:
            while not window.is_over():
                engine.run(argv, "hello")
                ends.append(time.perf_counter())
        except Broken as error:
            errors.append(error)
    threads = [threading.Thread(target=work) for _ in range(parallel)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return window.rate(ends)
