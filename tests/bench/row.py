"""A row of the table, and how one that is a time comes about."""

import math
import statistics
import time
from dataclasses import dataclass, field

from client import Broken

SETTLE = 0.3  # seconds of quiet before each measurement


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


def take_turns(takes, turns, settle, say):
    """A B C, B C A, C A B ...: what disturbs the machine hits all alike. What
    each has returned, by its key."""
    samples = {key: [] for key in takes}
    order = list(takes)
    for turn in range(turns):
        say(f"turn {turn + 1} of {turns}")
        for key in order:
            time.sleep(settle)
            samples[key].append(takes[key]())
        order.append(order.pop(0))
    return samples


def interleave(subjects, rounds, say):
    """The first round fills caches and pools, and does not count."""
    samples = take_turns({number: subject.take for number, subject in enumerate(subjects)}, rounds + 1, SETTLE, say)
    for number, subject in enumerate(subjects):
        subject.samples = [seconds * 1000 for seconds in samples[number][1:]]


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


def promise(engine, name, samples, seconds):
    """Kept if it is kept each time."""
    return Row(engine.name, "server", name, statistics.median(samples), p95=percentile(samples, 95),
               bar=f"each < {seconds} s", passed=max(samples) < seconds * 1000, samples=samples)


def rates(engine, group, unit, samples, at_least):
    """The bare engine comes first, ours last; all are held against the first."""
    medians = {name: statistics.median(values) for name, values in samples.items()}
    bare, *_, ours = medians
    if not medians[bare]:
        raise Broken("the bare engine did nothing in that time: make BENCH_SECONDS larger")
    for name, value in medians.items():
        row = Row(engine.name, group, name, value, unit, samples=samples[name])
        if name != bare:
            row.reference, row.ratio = bare, value / medians[bare]
        if name == ours:
            row.bar, row.passed = f"≥ {at_least} ×", row.ratio >= at_least
        yield row
