"""tests/engines: one directory has the engines at a time, and a claim does not
outlive whoever made it."""

import contextlib
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ROOT, until, write_program

SHARED = "csm-test-engines"
BEGINS = "scripts/images failed"  # which is what comes after the engines are taken


class Claims:
    """A machine whose /run is a directory of ours, and whose engines can do nothing."""

    def __init__(self, directory):
        self.directory, self.run, self.bin = directory, directory / "run", directory / "bin"
        self.bin.mkdir()
        (self.run / SHARED).mkdir(parents=True)
        for name in ("podman", "docker", "dockerd"):
            write_program(self.bin / name, "#!/bin/sh\nexit 1\n")

    def state(self, name):
        path = self.directory / name
        (path / "docker").mkdir(parents=True, exist_ok=True)
        return path

    def claim(self, state):
        (self.run / SHARED / "owner").write_text(f"{state}\n")

    def owner(self):
        return (self.run / SHARED / "owner").read_text().strip()

    def start(self, *words):
        inside = 'mount --bind "$1" /run && shift && exec "$@"'
        return subprocess.Popen(["unshare", "--mount", "sh", "-c", inside, "sh", self.run, ROOT / "tests/engines", *words],
                                env={**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"}, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def call(self, *words):
        return finish(self.start(*words))

    def is_waited_for(self):
        """By somebody who wants the lock."""
        waiting = [line for line in Path("/proc/locks").read_text().splitlines() if "-> FLOCK" in line]
        return any(f":{self.run.stat().st_ino} " in line for line in waiting)


def finish(process):
    with process:
        out, err = process.communicate(timeout=100)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.fixture
def claims(tmp_path_factory):
    return Claims(tmp_path_factory.mktemp("c"))


@contextlib.contextmanager
def with_daemon(state):
    """A process that is known by its command line."""
    daemon = subprocess.Popen([sys.executable, "-c", "print(flush=True); input()", f"{state}/docker/sock"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with daemon:
        daemon.stdout.readline()
        (state / "docker/pid").write_text(str(daemon.pid))
        yield
        daemon.stdin.close()


def test_engines_of_somebody_else(claims):
    theirs, ours = claims.state("theirs"), claims.state("ours")
    claims.claim(theirs)
    with with_daemon(theirs):
        done = claims.call("up", ours)
        assert done.returncode == 1 and f"up already, for {theirs}" in done.stderr, done
        assert claims.owner() == str(theirs)
        assert claims.call("where").stdout == f"{theirs}\n"


def test_claim_of_somebody_who_is_gone(claims):
    """Whose process has gone too, and whose number somebody else has by now."""
    theirs, ours = claims.state("theirs"), claims.state("ours")
    claims.claim(theirs)
    (theirs / "docker/pid").write_text(str(os.getpid()))
    assert claims.call("where").stdout == ""
    done = claims.call("up", ours)
    assert BEGINS in done.stderr and f"not taken down for {theirs}" in done.stdout, done
    assert claims.owner() == str(ours)


def test_engines_of_nobody(claims):
    assert claims.call("where").stdout == ""
    ours = claims.state("ours")
    done = claims.call("up", ours)
    assert BEGINS in done.stderr and done.stdout == "", done
    assert claims.owner() == str(ours)


def test_one_at_a_time(claims):
    """What goes up is nobody's to take, though no daemon is there yet."""
    ours = claims.state("ours")
    lock = os.open(claims.run, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    second = claims.start("up", ours)
    until(claims.is_waited_for, what="it waits")
    assert not (claims.run / SHARED / "owner").exists()
    os.close(lock)
    assert BEGINS in finish(second).stderr
    assert claims.owner() == str(ours)
