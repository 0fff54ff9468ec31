"""What the environment asks for. What is wrong is said before anything starts."""

import math
import os
import shlex
from dataclasses import dataclass

from client import Broken, find
from engine import CALLS

ENGINES = ["podman", "docker"]
TOGETHER = ["hello", "peer", "plot"]  # all engines take turns
EACH = ["start", "cancel", "shutdown", "sustained", "many_calls", "output"]  # one engine after the other


@dataclass
class Peer:
    argv: list
    tool: str
    argument: str
    language: str
    engine: str


class Settings:
    def __init__(self):
        full = os.environ.get("BENCH_FULL") == "1"
        self.engines = some("BENCH_ENGINES", ENGINES)
        self.peer = peer(self.engines)
        measures = [name for name in TOGETHER + EACH if name != "peer" or self.peer]
        self.only = some("BENCH_ONLY", measures)
        self.rounds = number("BENCH_ROUNDS", 20)
        self.seconds = number("BENCH_SECONDS", 10, float)
        self.megabytes = number("BENCH_MEGABYTES", 1024)
        self.calls = number("BENCH_CALLS", 10000 if full else 200)
        self.strict = os.environ.get("BENCH_STRICT") == "1"


def peer(engines):
    """None if none is asked for."""
    try:
        words = shlex.split(os.environ.get("BENCH_PEER", ""))
    except ValueError as error:
        raise Broken(f"BENCH_PEER: {error}") from error
    if not words:
        return None
    if not os.environ.get("BENCH_PEER_TOOL"):
        raise Broken("BENCH_PEER wants BENCH_PEER_TOOL: the name of its tool that runs code")
    return Peer([find(words[0]), *words[1:]], os.environ["BENCH_PEER_TOOL"], os.environ.get("BENCH_PEER_ARG", "code"),
                one("BENCH_PEER_LANGUAGE", list(CALLS)), one("BENCH_PEER_ENGINE", engines))


def some(name, offered):
    """A list with commas; all that are offered if there is none."""
    words = os.environ.get(name, ",".join(offered)).split(",")
    for word in words:
        must_be_among(name, word, offered)
    return words


def one(name, offered):
    value = os.environ.get(name, offered[0])
    must_be_among(name, value, offered)
    return value


def must_be_among(name, value, offered):
    if value not in offered:
        raise Broken(f"{name}: {value} is not among: {', '.join(offered)}")


def number(name, default, kind=int):
    try:
        value = kind(os.environ.get(name, default))
    except ValueError:
        value = 0
    if not 0 < value < math.inf:
        raise Broken(f"{name} must be a number above 0")
    return value
