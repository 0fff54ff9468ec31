"""Real clients: the libraries that applications are built with, and our examples."""

import fcntl
import json
import os
import shutil
import subprocess
import uuid
from pathlib import Path

import pytest
from harness import MARK, ROOT, assert_failure, assert_refused, assert_success, marked_processes, until

HERE = Path(__file__).resolve().parent
PLACE = ROOT / "build/clients"
FILES = ("package.json", "package-lock.json", ".npmrc", "session.mjs")
EXAMPLES = sorted(path for path in (ROOT / "scripts/examples").glob("*.*")
                  if path.suffix in (".py", ".mjs") and "GEMINI_API_KEY" not in path.read_text())


def contents(directory):
    return [(directory / name).read_bytes() if (directory / name).exists() else None for name in FILES]


@pytest.fixture(scope="session")
def libraries():
    """npm ci, once for all workers, and again only when the files change."""
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (PLACE / ".installed").exists() or contents(HERE) != contents(PLACE):
            (PLACE / ".installed").unlink(missing_ok=True)
            for name in FILES:
                shutil.copy(HERE / name, PLACE / name)
            subprocess.run(["npm", "ci", "--ignore-scripts", "--silent"], cwd=PLACE, check=True, timeout=110)
            (PLACE / ".installed").touch()
    return PLACE


def run(engine, *words):
    """Runs a client on a server of this engine; nothing is left of either."""
    mark = uuid.uuid4().hex
    env = {**os.environ, **engine.environment({MARK: mark})}
    result = subprocess.run([*map(str, words), *engine.command(pool=1)], env=env, stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stderr
    until(lambda: not marked_processes(mark), 15, lambda: f"no process: {marked_processes(mark)}")
    return result


def test_lock_file_names_no_registry():
    """It must install wherever the machine gets its packages from."""
    lock = json.loads((HERE / "package-lock.json").read_text())
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []
    assert all("integrity" in package for name, package in lock["packages"].items() if name)


@pytest.mark.parametrize("library", ["sdk", "client-legacy", "client-auto"])
def test_library(podman, libraries, library):
    report = json.loads(run(podman, "node", libraries / "session.mjs", library).stdout)
    assert report["tools"] == ["run_python_code", "run_js_code"]
    assert_success(report["python"], "42")
    assert_success(report["javascript"], "42")
    assert_failure(report["failed"], exit_code=3)
    assert_refused(report["refused"], "empty")
    assert_failure(report["late"], stdout="up\n", signal="SIGKILL", timed_out=True, note="stopped after")
    assert report["unknown"] == -32602
    assert_success(report["slow"], "0\n1\n2")
    assert report["progress"] and report["progress"] == sorted(set(report["progress"]))
    assert report["aborted"] == "aborted"
    assert_success(report["after"], "still here")
    assert report["resource"] == "sandbox://environments"


def test_there_are_examples():
    assert {path.suffix for path in EXAMPLES} == {".py", ".mjs"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example(podman, example):
    interpreter = {".py": "/usr/bin/python3", ".mjs": "node"}[example.suffix]
    assert "Hello" in run(podman, interpreter, example).stdout
