"""Real clients: the libraries that applications are built with, and our examples."""

import fcntl
import json
import os
import re
import shutil
import subprocess
import uuid
from pathlib import Path

import pytest
from fixtures import load_engine
from harness import MARK, ROOT, assert_failure, assert_refused, assert_success, marked_processes, resource_bytes, until
from languages import LANGUAGES, TEXT

HERE = Path(__file__).resolve().parent
RECORDER = ROOT / "tests/protocol/record-stdio"
PLACE = ROOT / "build/clients"
FILES = ("package.json", "package-lock.json", ".npmrc", "session.mjs", "tasks.mjs")
SCRIPTS = ROOT / "scripts/examples"
INSIDE = SCRIPTS / "call_gemini_from_sandbox.py"
# It asks a model, through libraries that Debian does not have.
NOT_RUN = SCRIPTS / "gemini_sdk.py"
EXAMPLES = sorted(path for path in SCRIPTS.iterdir()
                  if path.suffix in (".py", ".mjs") and path not in (INSIDE, NOT_RUN))


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


def recorded(command):
    """With somebody in between who writes down what is said, if it is wanted."""
    directory = os.environ.get("CSM_RECORDINGS")
    recorder = ["/usr/bin/python3", str(RECORDER), f"{directory}/{uuid.uuid4().hex}"]
    return [*recorder, *command] if directory else command


def run(engine, *words, options=(), network="none", env=None):
    """Runs a client on a server of this engine; nothing is left of either."""
    mark = uuid.uuid4().hex
    env = {**os.environ, **engine.environment({MARK: mark, **(env or {})})}
    command = [*map(str, words), *recorded(engine.command(*options, network=network, pool=1))]
    result = subprocess.run(command, env=env, stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stderr
    until(lambda: not marked_processes(mark), 15, lambda: f"no process: {marked_processes(mark)}")
    return result


def test_lock_file_names_no_registry():
    """It must install wherever the machine gets its packages from."""
    lock = json.loads((HERE / "package-lock.json").read_text())
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []
    assert all("integrity" in package for name, package in lock["packages"].items() if name)


def assert_extras(report, library):
    """Files, packages, a figure, and a session."""
    assert [item["type"] for item in report["files"]["content"]] == ["text", "resource"]
    assert report["files"]["content"][1]["resource"]["text"] == "abc"
    [item] = report["binary"]["content"][1:]
    assert resource_bytes(item["resource"]) == b"\x00\xff\xfe" * 100_000
    if library == "sdk":
        assert_success(report["package"], "42")
        assert_success(report["module"], "42")
    assert [item["type"] for item in report["plot"]["content"]] == ["text", "image"]
    assert report["plot"]["content"][1]["mimeType"] == "image/png"
    assert report["value"]["structuredContent"]["value"] == "42"
    assert report["linked"] == 100000
    assert not report["ended"].get("isError")
    assert_refused(report["gone"], "no session")


@pytest.mark.parametrize("library", ["sdk", "client-legacy", "client-auto"])
@pytest.mark.parametrize("name", ["podman", "docker"])
def test_library(libraries, index, library, name):
    said = run(load_engine(name), "node", libraries / "session.mjs", library,
               options=("--pass-through-env", ",".join(index)), network="host", env=index).stdout
    report = json.loads(said)
    assert report["tools"] == ["run_python_code", "run_js_code", "end_session"]
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
    assert_extras(report, library)


SLOW = "import time\nfor n in range(140): print('line', n); time.sleep(0.1)"


@pytest.mark.parametrize("name", ["podman", "docker"])
def test_languages_and_a_task(libraries, name):
    """A program in each language; meanwhile one that becomes a task, and is
    polled for what it prints."""
    calls = [("slow", "run_python_code", {"code": SLOW, "timeout_seconds": 60})]
    calls += [(language.name, language.tool, {"code": language.hello, "timeout_seconds": 60}) for language in LANGUAGES]
    said = run(load_engine(name), "node", libraries / "tasks.mjs", json.dumps(calls), options=("--languages", "all"))
    report = json.loads(said.stdout)
    for language in LANGUAGES:
        assert_success(report[language.name]["result"], TEXT)
    assert_success(report["slow"]["result"], "\n".join(f"line {number}" for number in range(140)))
    messages = report["slow"]["said"]
    lines = [message for message in messages if message != "Nothing has been printed yet."]
    assert lines and all("line" in message for message in lines), messages
    # The last line may be there in part.
    newest = [max(map(int, re.findall(r"line (\d+)", message)), default=-1) for message in lines]
    assert newest == sorted(newest), "the newest each time"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example(podman, example):
    interpreter = {".py": "/usr/bin/python3", ".mjs": "node"}[example.suffix]
    assert "Hello" in run(podman, interpreter, example).stdout


STUB = """\
class Client:
    def __init__(self, api_key):
        self.api_key = api_key
        self.models = self

    def generate_content(self, model, contents):
        self.text = f"{model} hears {contents!r} with {self.api_key}"
        return self
"""


def test_example_that_calls_gemini(fake, tmp_path):
    """But for Gemini itself: in its place, a module that answers."""
    (tmp_path / "google").mkdir()
    (tmp_path / "google/__init__.py").touch()
    (tmp_path / "google/genai.py").write_text(STUB)
    engine = fake()
    (engine.bin / "python3").unlink()
    (engine.bin / "python3").write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec /usr/bin/python3 "$@"\n')
    (engine.bin / "python3").chmod(0o755)
    said = run(engine, "/usr/bin/python3", INSIDE, env={"GEMINI_API_KEY": "a-key"}).stdout
    assert said == "gemini-2.5-flash hears 'Say hello in five languages.' with a-key\n"
