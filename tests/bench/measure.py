"""What is measured, and the bar for each ("What it must reach" in the design)."""

import math
import os
import shlex
import statistics
import subprocess
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field

import client
from client import Broken, Server
from engine import CALLS

TITLES = {"python": "Python", "javascript": "JavaScript"}
HOST = {"python": ["/usr/bin/python3", "-u"], "javascript": ["node"]}
SUFFIX = {"python": "py", "javascript": "js"}
HOST_BAR = {"python": 0.8, "javascript": 0.6}
PLAIN_BAR = 1.3

SETTLE = 0.3  # seconds of quiet before each measurement
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
PLOT_HOME = "/usr/share/code-sandbox/home"  # in the image, with matplotlib's font cache
PEER_SETTLE = 2  # for what it may do after a call
PLOT_SETTLE = 3  # the imports go on after the engine calls the container running

FLOOD = "import os; block = b'x' * 65535 + b'\\n'\nfor _ in range({count}): os.write(1, block)"
FLAT_MB = 1.0


@dataclass
class Row:
    engine: str
    group: str
    name: str
    value: float
    unit: str = "ms"
    p95: float = None
    reference: str = ""
    ratio: float = None
    bar: str = ""
    passed: bool = None
    samples: list = field(default_factory=list)


@dataclass
class Subject:
    """Something that can be timed again and again."""
    engine: str
    group: str
    name: str
    take: callable  # seconds
    reference: str = ""
    at_most: float = None  # times the reference
    samples: list = field(default_factory=list)


def interleave(subjects, rounds, say):
    """A B C, B C A, C A B ...: what disturbs the machine hits all alike. The
    first round fills caches and pools, and does not count."""
    for number in range(rounds + 1):
        say(f"round {number} of {rounds}")
        for place in range(len(subjects)):
            subject = subjects[(place + number) % len(subjects)]
            time.sleep(SETTLE)
            seconds = subject.take()
            if number > 0:
                subject.samples.append(seconds * 1000)


def percentile(samples, percent):
    return sorted(samples)[math.ceil(len(samples) * percent / 100) - 1]


def rows(subjects):
    medians = {(s.engine, s.group, s.name): statistics.median(s.samples) for s in subjects}
    for s in subjects:
        value = medians[s.engine, s.group, s.name]
        ratio = value / medians[s.engine, s.group, s.reference] if s.reference else None
        yield Row(s.engine, s.group, s.name, value, p95=percentile(s.samples, 95), reference=s.reference, ratio=ratio,
                  bar=f"≤ {s.at_most} ×" if s.at_most else "", samples=s.samples,
                  passed=ratio <= s.at_most if s.at_most else None)


class Bench:
    def __init__(self, engines, scratch, rounds, seconds, full, say):
        self.engines = engines
        self.scratch = scratch
        self.rounds = rounds
        self.seconds = seconds
        self.full = full
        self.say = say
        self.host_env = {**engines[0].env, "HOME": str(scratch)}
        self.host_env.pop("DOCKER_HOST", None)

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

    def peer(self, stack, engine):
        """Any other MCP server."""
        tool, argument = os.environ["BENCH_PEER_TOOL"], os.environ.get("BENCH_PEER_ARG", "code")
        language = os.environ.get("BENCH_PEER_LANGUAGE", "python")
        words = shlex.split(os.environ["BENCH_PEER"])
        server = stack.enter_context(Server([find(words[0]), *words[1:]], {**os.environ, **engine.env}, engine.log))

        def take():
            seconds = server.call(tool, {argument: CALLS[language][1]}, "hello")
            time.sleep(PEER_SETTLE)
            return seconds
        return language, take

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
            peer_engine = None
            if os.environ.get("BENCH_PEER"):
                wanted = os.environ.get("BENCH_PEER_ENGINE", self.engines[0].name)
                peer_engine = next(engine for engine in self.engines if engine.name == wanted)
                language, take = self.peer(stack, peer_engine)
                subjects.append(Subject(peer_engine.name, f"hello, {TITLES[language]}", "peer", take,
                                        "ours, warm interpreter"))
            interleave(subjects, self.rounds, self.say)
        for row in rows(subjects):
            if row.name == "peer":
                row.bar, row.passed = "≥ 30 ×", row.ratio >= 30
            yield row

    def plot(self):
        have = subprocess.run(["/usr/bin/python3", "-c", "import pandas, matplotlib"], env=self.host_env,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0
        reference = "bare host" if have else "ENGINE run --rm"
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
                    reference=reference, at_most=0.2)
            interleave(subjects, max(1, self.rounds // 2), self.say)
        yield from rows(subjects)

    def start(self):
        samples = []
        for _ in range(max(self.rounds, 5) + 1):
            with self.engines[0].serve() as server:
                samples.append(server.start_seconds * 1000)
        del samples[0]
        value = statistics.median(samples)
        yield Row("", "server", "start to first reply", value, p95=percentile(samples, 95), bar="< 5 ms",
                  passed=value < 5, samples=samples)

    def sustained(self):
        for engine in self.engines:
            yield from self.sustained_on(engine)

    def sustained_on(self, engine):
        """Two sweeps find the two numbers at once that suit the engine best;
        these and ours then take turns, and the better one is the reference."""
        tool, code = CALLS["python"]
        argv = engine.hardened("python", code)
        tried = {parallel: [] for parallel in (1, 2, 3, 4, 8)}
        for sweep in range(2):
            self.say(f"{engine.name}: rate of ENGINE run, sweep {sweep + 1} of 2")
            for parallel, rates in tried.items():
                rates.append(bare_rate(engine, argv, parallel, self.seconds / 3))
        tried = {parallel: statistics.mean(rates) for parallel, rates in tried.items()}
        bare = {parallel: [] for parallel in sorted(tried, key=tried.get)[-2:]}
        ours = []
        with engine.serve() as server:
            for turn in range(3):
                self.say(f"{engine.name}: 8 calls in flight against ENGINE run, turn {turn + 1} of 3")
                for parallel, rates in bare.items():
                    rates.append(bare_rate(engine, argv, parallel, self.seconds))
                    time.sleep(1)
                start = time.perf_counter() + WARM_UP
                end = start + self.seconds
                ends = server.rate(tool, {"code": code}, "hello", 8, lambda _: time.perf_counter() > end)
                ours.append(per_second(ends, start, end))
                engine.wait_ready(server, 8, settle=1)
        best = max(bare, key=lambda parallel: statistics.mean(bare[parallel]))
        name = f"ENGINE run --rm, {best} at once"
        value, reference = statistics.mean(ours), statistics.mean(bare[best])
        if not reference:
            raise Broken(f"no ENGINE run ended within {self.seconds:g} s: make BENCH_SECONDS larger")
        rates = ", ".join(f"{parallel}: {rate:.1f}" for parallel, rate in tried.items())
        yield Row(engine.name, "sustained rate", name, reference, "calls/s", samples=bare[best],
                  reference=f"first sweeps: {rates}")
        yield Row(engine.name, "sustained rate", "ours, 8 in flight", value, "calls/s", reference=name,
                  ratio=value / reference, bar="≥ 0.95 ×", passed=value >= 0.95 * reference, samples=ours)

    def many_calls(self):
        for engine in self.engines:
            yield from self.many_calls_on(engine)

    def many_calls_on(self, engine):
        tool, code = CALLS["python"]
        count = 10000 if self.full else 200
        group = f"{count} calls"
        with engine.serve() as server:
            def calls(number):
                ends = server.rate(tool, {"code": code}, "hello", 8, lambda sent: sent >= number)
                if len(ends) != number:
                    raise Broken(f"{number} calls, {len(ends)} answers")
                engine.wait_ready(server, 8, settle=1)
                return client.megabytes(server.pid), client.descriptors(server.pid)
            self.say(f"{engine.name}: {count} calls")
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
        yield Row(engine.name, "server", f"descriptors after {group}", fds_after, "", reference=f"idle: {fds}",
                  ratio=fds_after / fds, bar="no more", passed=fds_after <= fds)
        yield Row(engine.name, "server", f"zombies, containers left after {group}", zombies + left, "", bar="0",
                  passed=zombies + left == 0)

    def output(self):
        for engine in self.engines:
            yield from self.output_on(engine)

    def output_on(self, engine):
        """The rate is that of what the large output has beyond the small one:
        so neither the start nor the end of a container counts."""
        small, large = 16, 1024 if self.full else 256
        tool = CALLS["python"][0]
        rates = {"bare": [], "ours": []}
        with engine.serve("--timeout", "600") as server:
            def ours(size):
                seconds = server.call(tool, {"code": FLOOD.format(count=size * 16)}, "bytes cut")
                engine.wait_ready(server, 1, settle=SETTLE)
                return seconds

            def bare(size):
                return engine.run(engine.hardened("python", FLOOD.format(count=size * 16)))
            ours(small)
            small_peak = client.megabytes(server.pid, "VmHWM")
            for turn in range(3):
                self.say(f"{engine.name}: {large} MB of output, turn {turn + 1} of 3")
                for name, take in (("bare", bare), ("ours", ours)):
                    seconds = -take(small) + take(large)
                    rates[name].append((large - small) / max(seconds, 0.001))
            large_peak = client.megabytes(server.pid, "VmHWM")
        bare_rate_, ours_rate = statistics.median(rates["bare"]), statistics.median(rates["ours"])
        group = f"{large} MB of output"
        yield Row(engine.name, group, "ENGINE run > /dev/null", bare_rate_, "MB/s", samples=rates["bare"])
        yield Row(engine.name, group, "ours", ours_rate, "MB/s", reference="ENGINE run > /dev/null",
                  ratio=ours_rate / bare_rate_, bar="≥ 0.5 ×", passed=ours_rate >= bare_rate_ / 2, samples=rates["ours"])
        yield Row(engine.name, group, "peak RSS of the server", large_peak, "MB",
                  reference=f"{small} MB of output: {small_peak:.1f} MB", ratio=large_peak / small_peak,
                  bar=f"≤ {FLAT_MB:g} MB more", passed=large_peak - small_peak <= FLAT_MB)


def find(program):
    for directory in ["", *os.environ["PATH"].split(":")]:
        path = os.path.join(directory, program)
        if "/" in path and os.access(path, os.X_OK):
            return path
    raise Broken(f"{program} is not installed")


def per_second(ends, start, end):
    return sum(start <= moment < end for moment in ends) / (end - start)


def bare_rate(engine, argv, parallel, seconds):
    start = time.perf_counter() + WARM_UP
    end = start + seconds
    ends, errors = [], []

    def work():
        try:
            while time.perf_counter() < end:
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
    return per_second(ends, start, end)
