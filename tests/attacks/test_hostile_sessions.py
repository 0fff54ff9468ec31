"""Sessions in hostile hands: what one does to itself, to the server and to
others."""

import pytest
from arena import OPTIONS, OUTPUT, node, program, prints
from harness import FLAT, Session, assert_refused, listed_of, returned_of, until

FORGE = program("forge.py").code


def told(result):
    return result["structuredContent"]


def settle(arena, *sessions, peak=0):
    """They are ended, if they have not been by then, and all is as before."""
    for session in sessions:
        session.end()
    arena.settle(peak)


def prints_next(arena):
    """Another call, which takes its time, is not held up."""
    prints("next\n").check(arena.call(node("setTimeout(() => console.log('next'), 1000)")))


def test_prints_for_ever_between_calls(arena):
    """The server keeps the newest only, and no more than a little."""
    session = Session(arena.server, code="import os, threading\ndef flood():\n"
                                         "  while True: os.write(1, b'x' * 4000); os.write(2, b'y' * 4000)\n"
                                         "go = threading.Thread(target=flood, daemon=True)")
    assert told(session.call("go.start()"))["session_ended"] is False
    before = arena.server.memory("VmRSS")
    prints_next(arena)
    result = session.call("print('mine')")
    assert len(told(result)["stdout"]) < 2 * OUTPUT and told(result)["truncated"] is True
    assert arena.server.memory("VmHWM") - before < FLAT
    other = Session(arena.server)
    assert other.value("1") == "1"
    settle(arena, session, other)


# What is left without its servant goes on to its end, which nobody can answer
# for; what has only lost its files does not notice.
KILLERS = {
    "kills all it can": ("import os; os.kill(-1, 9)", 0, True),
    "stops all it can": ("import os; os.kill(-1, 19)", 0, True),
    "closes the servant's pipes": (
        "import os\nfor fd in range(3, 100):\n  try: os.close(fd)\n  except OSError: pass", 1, True),
    "fills the disks": (
        "for d in ('/run/sandbox-runner', '/tmp', '/home/sandbox'):\n  try:\n"
        "    with open(d + '/full', 'wb') as f:\n      while True: f.write(bytes(1 << 20))\n  except OSError: pass",
        0, False),
    "removes the runner's files": (
        "import shutil; shutil.rmtree('/run/sandbox-runner', ignore_errors=True)", 0, False),
}


def test_sessions_without_a_servant(timed_arena):
    """They go on or they are over, each as it must; the end is said, and nobody is
    left in doubt."""
    server = timed_arena.server
    sessions = [Session(server, code="x = 42") for _ in KILLERS]
    calls = [session.start(row[0], timeout_seconds=200) for session, row in zip(sessions, KILLERS.values())]
    until(lambda: all(server.replies(call) for call in calls[2:]), what="the answers that come at once")
    # Those of the others wait for what a servant would say of files.
    assert not any(server.replies(call) for call in calls[:2])
    clock = timed_arena.clock
    until(lambda: clock.pass_by(server, 5) or all(server.replies(call) for call in calls[:2]), what="an end")
    ends = {}
    for name, session, call in zip(KILLERS, sessions, calls):
        end = told(server.result(call, 60))
        assert (end["signal"], end["timed_out"], end["truncated"], end["stdout"]) == (None, False, False, ""), name
        ends[name] = (end["exit_code"], end["session_ended"])
    assert ends == {name: row[1:] for name, row in KILLERS.items()}
    for session, (_, _, ended) in zip(sessions, KILLERS.values()):
        if ended:
            assert_refused(session.call("x"), f"There is no session {session.handle}")
        else:
            for _ in range(2):
                assert session.value("x") == "42"
    settle(timed_arena, *sessions)


STREAMS = {
    "one": "require('fs').closeSync(1)",
    "both": "const { closeSync } = require('fs'); closeSync(1); closeSync(2)",
    "file in the place": "const fs = require('fs'); fs.closeSync(2); fs.openSync('mine', 'w')",
}


@pytest.mark.parametrize("code", STREAMS.values(), ids=STREAMS)
def test_streams_that_node_has_closed(podman_arena, code):
    """It has no others to speak on: the session is over, and that is said at once."""
    session = Session(podman_arena.server, "run_js_code")
    end = told(session.call(f"console.log('last'); {code}", timeout_seconds=200))
    assert (end["exit_code"], end["stdout"], end["timed_out"], end["session_ended"]) == (1, "last\n", False, True)
    assert_refused(session.call("1"), f"There is no session {session.handle}")
    settle(podman_arena)


def test_streams_that_python_has_closed(podman_arena):
    """It has its own to speak on."""
    session = Session(podman_arena.server)
    end = told(session.call("import os; print('last'); os.close(1); os.close(2)"))
    assert (end["exit_code"], end["stdout"], end["session_ended"]) == (0, "last\n", False)
    assert session.value("1") == "1"
    settle(podman_arena, session)


FORGED = {
    "end": "say('done 7', 1, 2); import time; time.sleep(4)",
    "exit": "say('stays'); say('exit 0', 1, 2); import time; time.sleep(300)",
    "failed": "import threading, time\n"
              "def lie():\n  while True: time.sleep(0.002); say('failed'); say('note x'); say('answered')\n"
              "threading.Thread(target=lie, daemon=True).start()",
    "files": "import threading, time\n"
             "def lie():\n  while True: time.sleep(0.001); say('entry 3 1 1|./x'); say('data eHh4'); say('answered')\n"
             "threading.Thread(target=lie, daemon=True).start()",
    "long lists": "for n in range(3000): say(f'entry 1 1 {\"x\" * 8000}|./f{n}')",
    "values": "for n in range(3000): say('value ' + 'eHh4' * 700)",
}


@pytest.mark.parametrize("code", FORGED.values(), ids=FORGED)
def test_forged_words_harm_only_their_session(podman_arena, code):
    arena = podman_arena
    victim = Session(arena.server, code="x = 1")
    session = Session(arena.server)
    arena.server.result(session.start(FORGE + code, timeout_seconds=3), 60)
    for _ in range(3):
        arena.server.result(session.start("print('again')", timeout_seconds=3), 60)
    session.read("x")
    assert victim.value("x") == "1"
    assert returned_of(victim.call("open('own', 'w').write('own')")) == {"own": b"own"}
    arena.server.assert_quiet()
    settle(arena, session, victim, peak=160_000)


SWAP = """
import os, threading
open("swapped", "wb").write(b"x" * 60_000)
open("grows", "wb").write(b"x")
def swap():
    while True:
        for make in (lambda: os.mkfifo("new"), lambda: open("new", "wb").write(b"x" * 60_000),
                     lambda: os.symlink("/dev/zero", "new")):
            make()
            os.rename("new", "swapped")
        with open("grows", "ab") as file:
            file.write(b"x" * 1000)
threading.Thread(target=swap, daemon=True).start()
"""


def test_files_that_change_while_they_are_fetched(podman_arena):
    """What comes is as long as it was listed, whatever the program has put there
    by then, or nothing; a FIFO can hold up the answer for a while, and then the
    session is over."""
    arena = podman_arena
    session = Session(arena.server)
    results = [arena.server.result(session.start(SWAP, outputs=["*"]), 60)]
    for _ in range(5):
        results.append(arena.server.result(session.start("1", outputs=["*"]), 60))
        session.read("swapped")
    for result in results:
        for path, data in returned_of(result).items() if not result["isError"] else ():
            assert len(data) == listed_of(result)[path] and set(data) <= {ord("x"), 0}
    settle(arena, session, peak=160_000)


def test_guessed_handles(podman_arena):
    arena = podman_arena
    session = Session(arena.server, code="x = 1")
    for number in range(200):
        guess = f"{number:032x}"
        assert_refused(arena.server.call("x", session=guess), f"There is no session {guess}")
    assert session.read("code.py", handle="f" * 32)["error"]["code"] == -32002
    assert session.value("x") == "1"
    settle(arena, session)


def test_flood_of_sessions(engine, serve):
    """There are no more than allowed, whoever asks, and room again behind them."""
    server = serve(engine, *OPTIONS, "--max-sessions", "3", "--max-parallel", "6")
    calls = [server.start_call("1", session="new") for _ in range(30)]
    results = [server.result(call, 60) for call in calls]
    handles = [told(result)["session"] for result in results if not result["isError"]]
    assert len(handles) == 3
    until(lambda: len(server.containers()) == 3, what=lambda: f"three containers: {server.containers()}")
    for handle in handles:
        server.result(server.start("tools/call", {"name": "end_session", "arguments": {"session": handle}}))
    server.wait_no_containers()
    session = Session(server, "run_js_code")
    assert session.value("1 + 1") == "2"
    session.end()


def test_fork_of_the_interpreter(podman_arena):
    """The copy ends where the snippet does, and does not take the next one."""
    arena = podman_arena
    session = Session(arena.server)
    result = session.call("import os\npid = os.fork()\nprint('x')")
    assert told(result)["stdout"].count("x\n") >= 1
    # The first may still bring what the copy printed.
    values = [told(session.call("pid > 0"))["value"] for _ in range(3)]
    assert values == 3 * ["True"]
    settle(arena, session)


FILL = """
with open("full", "wb", buffering=0) as file:
    for size in (1 << 20, 4096, 1):
        try:
            while True: file.write(bytes(size))
        except OSError: pass
"""


def test_full_disk(arena):
    """Files that find no room are refused by name, in the middle of them or at
    their beginning, and the session is what it was."""
    session = Session(arena.server, code="import os\nx = 42")
    lines = "code 8\nprint(1)\n" * 60_000
    assert told(session.call(FILL + "os.truncate('full', os.path.getsize('full') - (64 << 10))"))["exit_code"] == 0
    for _ in range(2):
        result = session.call("x", files=[{"path": "big", "text": lines}, {"path": "empty", "text": ""}])
        assert_refused(result, "could not be put in place", "the disk is full", "big")
    assert told(session.call("os.remove('full')"))["exit_code"] == 0
    assert session.value("x, os.path.getsize('big')", files=[{"path": "big", "text": lines}]) == f"(42, {len(lines)})"
    settle(arena, session)
