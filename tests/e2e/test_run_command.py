"""code-sandbox-mcp run: one program from a terminal."""

import fcntl
import os
import shutil
import signal
import struct
import subprocess
import termios
import threading
import time

import pytest
from command import Run
from fake import FakeEngine
from harness import BINARY, PATIENCE, Sleeper, read_proc, until

HELLO = "print('hello')\n"


def test_hello(engine, program):
    """And not a word besides, unless there is something to warn of."""
    status, out, err = Run(engine, program(HELLO)).finish()
    assert (status, out) == (0, "hello\n")
    assert err == "" if engine.limits else "--memory" in err


@pytest.mark.parametrize("name", ["a.js", "a.mjs", "a.cjs"])
def test_language_by_file_name(fake_engine, program, name):
    assert Run(fake_engine, program("console.log(typeof process)", name)).finish() == (0, "object\n", "")


@pytest.mark.parametrize("words", [["-"], []])
def test_program_from_stdin(fake_engine, words):
    run = Run(fake_engine, "--language", "python", *words, stdin=subprocess.PIPE)
    assert run.finish(HELLO) == (0, "hello\n", "")


def test_language_is_asked_for(fake_engine, program):
    status, out, err = Run(fake_engine, program(HELLO, "program.txt")).finish()
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and "--language" in err


def test_streams_are_kept_apart(fake_engine, program):
    run = Run(fake_engine, program("import sys; print('o'); print('e', file=sys.stderr)"))
    assert run.finish() == (0, "o\n", "e\n")


@pytest.mark.parametrize("status", [1, 3, 255])
def test_exit_status(fake_engine, program, status):
    assert Run(fake_engine, program(f"raise SystemExit({status})")).finish()[0] == status


def test_signal_is_told(fake_engine, program):
    status, out, err = Run(fake_engine, program("import os; os.kill(os.getpid(), 11)")).finish()
    assert (status, out) == (128 + 11, "")
    assert "signal 11" in err


def test_bytes_go_through_untouched(fake_engine, program):
    run = Run(fake_engine, program("import os; os.write(1, bytes(range(256)) * 1000)"))
    out, _ = run.process.communicate(timeout=PATIENCE)
    assert out == bytes(range(256)) * 1000


def test_output_arrives_while_the_program_runs(engine, program):
    sleeper = Sleeper()
    run = Run(engine, program(sleeper.code))
    assert run.process.stdout.readline() == b"up\n"
    until(sleeper.is_up)
    assert run.process.poll() is None
    os.kill(run.find_pid(), signal.SIGTERM)
    assert run.finish()[0] == 128 + signal.SIGTERM


def test_timeout(engine, program):
    status, out, err = Run(engine, "--timeout", "2", program(Sleeper().code)).finish()
    assert (status, out) == (124, "up\n")
    assert "--timeout" in err


def test_interrupt(engine, program):
    sleeper = Sleeper()
    run = Run(engine, program(sleeper.code))
    pid = run.find_pid()
    until(sleeper.is_up)
    os.kill(pid, signal.SIGINT)
    assert run.finish()[0] == 128 + signal.SIGINT
    until(lambda: not sleeper.is_up(), 10, "the program is gone")
    assert engine.containers(f"code-sandbox-mcp-{pid}-") == []


def polls(seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        time.sleep(0.02)
        yield


def test_interrupt_while_nobody_reads(podman, program):
    """As behind a pager: the pipe is full, and Ctrl-C must work all the same."""
    run = Run(podman, program("while True: print('x' * 1000)"))
    pid = run.find_pid()
    until(lambda: pipe_is_full(run.process.stdout), what="a full pipe")
    os.kill(pid, signal.SIGINT)
    assert run.process.wait(15) == 128 + signal.SIGINT
    run.process.stdout.close()
    run.process.stderr.close()
    assert podman.containers(f"code-sandbox-mcp-{pid}-") == []


def bytes_in(stream):
    return struct.unpack("i", fcntl.ioctl(stream, termios.FIONREAD, b"\0" * 4))[0]


def pipe_is_full(stream):
    """Much is in it, and no more comes: pieces of odd sizes leave some room."""
    before = bytes_in(stream)
    return before > 30000 and not any(bytes_in(stream) != before for _ in polls(0.3))


@pytest.mark.parametrize("words", [(), ("--redact", "--pass-through-env", "API_KEY")])
def test_reader_that_goes_away(fake_engine, program, words):
    """As with head: the program ends, and so do we, in good order."""
    run = Run(fake_engine, *words, program("for i in range(10**9): print(i)"), env={"API_KEY": "999999"})
    assert run.process.stdout.readline() == b"0\n"
    pid = run.find_pid()
    run.process.stdout.close()
    run.process.stdout = None
    status, _, err = run.finish()
    assert (status, err) == (128 + signal.SIGPIPE, "")
    assert fake_engine.containers(f"code-sandbox-mcp-{pid}-") == []


def test_output_that_cannot_be_written(fake_engine, program):
    with open("/dev/full", "wb") as full:
        status, _, err = Run(fake_engine, program(HELLO), stdout=full).finish()
    assert (status, err) == (125, "code-sandbox-mcp: the program's output cannot be written: No space left on device\n")


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_help_that_cannot_be_written(words):
    with open("/dev/full", "wb") as full:
        assert subprocess.run([BINARY, *words], stdout=full, check=False).returncode == 1


def test_container_that_goes_away(fake, program):
    """It is not the program's fault, and more memory would not help."""
    status, _, err = Run(fake("killed-half-way"), program(HELLO)).finish()
    assert (status, err.count("\n")) == (125, 1)
    assert "the container went away while the program ran" in err


def test_stdout_that_does_not_block(fake_engine, program):
    """Some parents hand over such a pipe; a slow reader must lose nothing."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    run = Run(fake_engine, program("print('x' * 1000000)"), stdout=writing)
    os.close(writing)
    pieces = []

    def read():
        while piece := os.read(reading, 4096):
            pieces.append(piece)

    reader = threading.Thread(target=read)
    until(lambda: pipe_is_full(reading), what="a full pipe")
    reader.start()
    reader.join(PATIENCE)
    assert run.finish()[0] == 0
    os.close(reading)
    assert len(b"".join(pieces)) == 1000001


def test_empty_program(fake_engine):
    status, out, err = Run(fake_engine, "--language", "python", "-").finish()
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and "empty" in err


def test_file_that_is_not_there(fake_engine):
    status, out, err = Run(fake_engine, "/nowhere/program.py").finish()
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and "/nowhere/program.py" in err


def test_image_that_is_not_there(podman, program):
    status, out, err = Run(podman, "--python-image", "127.0.0.1:1/none", program(HELLO)).finish()
    assert (status, out) == (125, "")
    assert "connection refused" in err


def test_stdin_is_not_the_program_s(fake_engine, program):
    run = Run(fake_engine, program("import sys; print(repr(sys.stdin.read()))"), stdin=subprocess.PIPE)
    assert run.finish("not for the program") == (0, "''\n", "")


@pytest.mark.parametrize("option", ["--file=a", "--stdin=a", "--package=a", "--output=a", "--output-dir=a", "--force"])
def test_option_without_run(fake_engine, option):
    done = subprocess.run(fake_engine.command(option), env=fake_engine.environment(), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and option.split("=")[0] in done.stderr


@pytest.mark.parametrize("words", [["--file", "/nowhere/data"], ["--stdin", "/nowhere/data"],
                                   ["--output-dir", "/nowhere/data"]])
def test_data_that_is_not_there(fake_engine, program, words):
    """Said before anything is started."""
    status, out, err = Run(fake_engine, *words, program(HELLO)).finish()
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and "/nowhere/data" in err
    assert fake_engine.commands() == []


def test_output_that_is_there_already(fake_engine, program):
    path = program(HELLO)
    status, out, err = Run(fake_engine, "--output-dir", path.parent, "--output", path.name, path).finish()
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and "--force" in err
    assert fake_engine.commands() == []


def test_stdin_that_does_not_block(fake_engine):
    """As a parent with an event loop hands over its pipe."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    run = Run(fake_engine, "--language", "python", "-", stdin=reading)
    os.close(reading)
    pid = run.find_pid()
    until(lambda: read_proc(pid, "stat").rpartition(b")")[2].split()[0] == b"S", what="it waits")
    with open(writing, "w") as stream:
        stream.write(HELLO)
    assert run.finish() == (0, "hello\n", "")


def test_directory_that_may_not_be_entered(place):
    """As that of root is for others: only what is saved needs it."""
    engine = FakeEngine(place / "engine")
    for directory in (engine.directory, engine.state):
        directory.chmod(0o777)
    shutil.copy(BINARY, place / "server")
    (place / "a.py").write_text(HELLO)
    (place / "closed").mkdir(mode=0o700)
    engine.prefix = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    engine.binary = lambda: place / "server"
    named = {"cwd": place / "closed", "env": {"XDG_RUNTIME_DIR": str(engine.state)}}
    assert Run(engine, place / "a.py", **named).finish() == (0, "hello\n", "")
    status, out, err = Run(engine, "--output", "x", place / "a.py", **named).finish()
    assert (status, out) == (2, "") and "--output: the current directory: Permission denied" in err
