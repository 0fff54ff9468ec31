"""Packages that a call asks for, from an index of the test's own."""

import json
import socket
import time

import pytest
from command import Run
from harness import assert_refused, assert_success, facts_of, listed_of, until
from index import SLOW, variables

PYTHON, NODE = "run_python_code", "run_js_code"
USE = {PYTHON: "import answer; print(answer.value)", NODE: "console.log(require('answer').value)"}


@pytest.fixture
def serve_packages(serve, index):
    """A server whose programs know where packages are. With the network of the
    host: the bridges of engines stall while containers come and go."""
    def start(engine, *options, env=index):
        return serve(engine, "--pass-through-env", ",".join(env), *options, env=env, network="host")

    return start


def test_install(podman, serve_packages, begin):
    """In a session; what is installed is no file of the program, and is not
    there for anybody else."""
    server = serve_packages(podman)
    for tool, use in USE.items():
        session = begin(server, tool)
        result = session.call(use, packages=["answer"])
        assert facts_of(result)["stdout"] == "42\n", result
        assert listed_of(result) == {}
        assert session.prints(use) == "42\n"
        without = server.call(use, tool)
        assert facts_of(without)["exit_code"] == 1 and "answer" in facts_of(without)["stderr"]


def test_install_with_the_rest(podman, serve_packages):
    """Versions, files, stdin and arguments; also without a warm interpreter."""
    for options in ((), ("--interpreter", "plain")):
        server = serve_packages(podman, *options)
        code = "import answer, sys; print(answer.value, sys.argv[1:], sys.stdin.read(), open('f').read())"
        result = server.call(code, packages=["answer==1.0"], files=[{"path": "f", "text": "f"}], stdin="in", args=["a"])
        assert_success(result, "42 ['a'] in f")
        assert_success(server.call(USE[NODE], NODE, packages=["answer@1.0.0"]), "42")


def test_install_of_what_is_preloaded(podman, serve_packages, begin):
    """The program gets the version it asked for, not the image's."""
    server = serve_packages(podman, "--preload", "cycler")
    code = "import cycler; print(getattr(cycler, 'value', 'of the image'))"
    assert_success(server.call(code), "of the image")
    ask = {"packages": ["cycler==1.0"], "args": ["x"], "stdin": "in"}
    assert_success(server.call(code + "\nimport sys; print(sys.argv[1:], sys.stdin.read())", **ask), "42\n['x'] in")
    assert begin(server, code=code, packages=["cycler==1.0"]).value("cycler.value + 1") == "43"


def test_what_a_package_wants_done_at_the_start(podman, serve_packages, begin):
    server = serve_packages(podman)
    code = "import sys; print(sys.early)"
    assert_success(server.call(code, packages=["early"]), "done at the start")
    assert begin(server).prints(code, packages=["early"]) == "done at the start\n"


def test_time_of_the_install(podman, serve_packages):
    """Is told as progress, and is not the program's."""
    server = serve_packages(podman)
    ident = server.start_call("import slow; print(slow.value)", packages=["slow"], timeout_seconds=2,
                              meta={"progressToken": 1})
    result = server.result(ident)
    assert_success(result, "42")
    assert result["structuredContent"]["duration_ms"] < SLOW * 1000
    assert any("slow" in message["params"].get("message", "") for message in server.notifications)


def test_run_command(podman, index, program):
    """As a flag, from the terminal."""
    command = Run(podman, "--network", "host", "--pass-through-env", ",".join(index), "--package", "answer",
                  program(USE[PYTHON]), env=index)
    assert command.finish()[:2] == (0, "42\n")


POISON = """
import glob, os, pathlib, subprocess, sys
subprocess.run([sys.executable, "-c", ""], check=True)
home = pathlib.Path.home()
for name in (".config/pip/pip.conf", ".pip/pip.conf", ".npmrc", ".npm/_cacache/x", ".local/bin/node", "poison"):
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_text("[global]\\nindex-url = http://127.0.0.1:1/\\n")
for path in glob.glob(str(home / ".local/lib/*/site-packages")):
    for name in ("answer.py", "usercustomize.py", "x.pth"):
        pathlib.Path(path, name).write_text("import sys; sys.exit('poisoned')\\n")
os.makedirs("node_modules/answer", exist_ok=True)
open("node_modules/answer/index.js", "w").write("exports.value = 'poisoned'")
"""
CLEAN = {
    PYTHON: "import answer, glob, os; print(answer.value, glob.glob(os.path.expanduser('~/.n*')),"
            " [p for p in ('/tmp/poison', os.path.expanduser('~/poison')) if os.path.exists(p)])",
    NODE: "const fs = require('fs'); console.log(require('answer').value, fs.existsSync('/tmp/poison'),"
          " fs.existsSync(process.env.HOME + '/.npmrc'))",
}


def test_one_call_does_not_poison_the_next(engine, serve_packages):
    """Neither by the script of a package, nor by what it leaves for installers."""
    server = serve_packages(engine)
    for tool, code in ((PYTHON, POISON + "print(os.path.exists('/tmp/poison'))"),
                       (NODE, "console.log(require('fs').existsSync('/tmp/poison') ? 'True' : 'False')")):
        assert facts_of(server.call(code, tool, packages=["hostile"]))["stdout"] == "True\n", "it did its worst"
    assert_success(server.call(CLEAN[PYTHON], packages=["answer"]), "42 [] []")
    assert_success(server.call(CLEAN[NODE], NODE, packages=["answer"]), "42 false false")


@pytest.mark.parametrize("tool", USE)
def test_unknown_package(podman, serve_packages, tool):
    server = serve_packages(podman)
    began = time.monotonic()
    result = server.call("import os; print('it ran')" if tool == PYTHON else "console.log('it ran')", tool,
                         packages=["not-there"])
    assert time.monotonic() - began < 30
    assert_refused(result, "could not be installed, and the program was not run", "not-there")
    assert "it ran" not in json.dumps(result)


@pytest.mark.parametrize("tool", USE)
def test_failed_install_leaves_a_session(podman, serve_packages, begin, tool):
    session = begin(serve_packages(podman), tool, "var x = 41" if tool == NODE else "x = 41")
    assert_refused(session.call("x = 0", packages=["not-there"]), "was not run", "not-there")
    assert session.value("x + 1") == "42"
    assert session.prints(USE[tool], packages=["answer"]) == "42\n"


@pytest.mark.parametrize("tool", USE)
def test_failed_install_in_the_first_call(podman, serve_packages, begin, tool):
    """There is no session then, and its place is free."""
    server = serve_packages(podman, "--max-sessions", "1")
    assert_refused(server.call("1", tool, session="new", packages=["not-there"]), "was not run", "not-there")
    assert begin(server, tool).value("1") == "1"


@pytest.mark.parametrize("tool", USE)
def test_cancel_of_an_install_leaves_a_session(podman, serve_packages, begin, tool):
    server = serve_packages(podman)
    session = begin(server, tool, "var x = 41" if tool == NODE else "x = 41")
    ident = session.start("x = 0", packages=["slow"], args=["stale"], meta={"progressToken": 1})
    if tool == PYTHON:
        until(lambda: server.notifications, what="it installs")
    server.notify("notifications/cancelled", {"requestId": ident})
    arguments = "sys.argv" if tool == PYTHON else "process.argv"
    assert session.value("import sys; x + 1" if tool == PYTHON else "x + 1") == "42"
    assert "stale" not in session.value(arguments)
    assert server.replies(ident) == []


def test_place_that_was_not_there(podman, serve_packages, index):
    """Where packages go, in an image that is not ours; ahead of its own."""
    server = serve_packages(podman, env={**index, "PYTHONUSERBASE": "/home/sandbox/new"})
    code = ("import answer, sys; print(answer.value); places = [p for p in sys.path if p.endswith('-packages')]\n"
            "print(places[0].startswith('/home/sandbox/new/'), len(places) > 1)")
    assert_success(server.call(code, packages=["answer"]), "42\nTrue True")


def test_files_are_no_modules_of_the_installer(podman, serve_packages):
    result = serve_packages(podman).call("import answer; print(answer.value)", packages=["answer"],
                                         files=[{"path": "pip.py", "text": "raise SystemExit('the wrong one')"},
                                                {"path": "typing.py", "text": "raise SystemExit('the wrong one')"}])
    assert_success(result, "42")


@pytest.mark.parametrize("tool", USE)
def test_index_that_does_not_answer(podman, serve_packages, tool):
    """It comes back soon, and says what is wrong."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        env = variables(*closed.getsockname())
        server = serve_packages(podman, env=env)
        result = server.result(server.start_call(USE[tool], tool, packages=["answer"]), 60)
    assert_refused(result, "could not be installed", "answer" if tool == PYTHON else "ECONNREFUSED")


def test_cancel_of_an_install(podman, serve_packages):
    server = serve_packages(podman)
    ident = server.start_call("print(1)", packages=["slow"], meta={"progressToken": 1})
    until(lambda: server.notifications, what="it installs")
    server.notify("notifications/cancelled", {"requestId": ident})
    server.wait_no_containers()
    assert server.replies(ident) == []


NAMES = ["", "-e", "--index-url=http://x", "../x", "/tmp/x", "git+https://x/y", "http://x/y.whl", "a b", "a\nb", "a;b",
         "a@file:x", "user/name", "@/x", "x" * 201, "a\0b", "$(id)", "`id`"]


def test_refused(plain, podman, serve_packages):
    assert_refused(plain.call("1", packages="answer"), '"packages" must be an array of strings')
    assert_refused(plain.call("1", packages=["answer"]), "this server gives programs none")
    server = serve_packages(podman)
    assert_refused(server.call("1", packages=["answer"], network=False), "Packages need the network", '"packages"')
    for name in NAMES:
        assert_refused(server.call("1", packages=[name]), "has 201 bytes" if len(name) > 200 else "is not the name of")
