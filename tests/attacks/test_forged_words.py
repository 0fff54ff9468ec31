"""A program that has found out the nonce speaks as the runner does. It can end
its own call early, and it cannot put off its end."""

import uuid

from arena import Held, node, prints, program
from harness import Session

FORGE = program("forge.py").code
# The servant, which answers, and is to end all when nobody listens any more.
STOP = "os.kill(-1, 19)\n"
# Whatever is being waited for, this says that it has come.
FLOOD = """
import itertools, signal, time
for number in itertools.count():
    for word in ("ready", "started", "note x", "failed", "absent"):
        say(word)
    time.sleep(0.002)
"""


def assert_serves(arena):
    prints("next\n").check(arena.call(node("console.log('next')")))


def test_end_that_is_put_off(timed_arena):
    """It says that it has ended and left a file, and never sends that file. It is
    there while others are served, from before its lie until the answer."""
    arena = timed_arena
    held = Held(FORGE + STOP + "say('entry 1 1 x|./f'); say('stays'); say('exit 0', 1, 2)\n" + FLOOD)
    call = arena.server.start_call(held.code, timeout_seconds=30)
    held.wait()
    assert_serves(arena)
    held.go()
    assert_serves(arena)
    assert held.find(), "it is still at it"
    assert arena.server.replies(call) == [], "and waited for"
    arena.clock.pass_by(arena.server, 21)
    assert arena.server.result(call, 20)["structuredContent"]["exit_code"] == 0
    arena.settle()


def test_time_limit_of_a_session(podman_arena):
    """It does not heed the interrupt, and answers for the runner; others are
    served meanwhile."""
    arena = podman_arena
    session = Session(arena.server)
    code = FORGE + "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" + FLOOD.replace("absent", "answered")
    held = Held(code)
    call = session.start(held.code, timeout_seconds=4)
    held.wait()
    held.go()
    assert_serves(arena)
    assert held.find(), "it is still at it"
    told = arena.server.result(call, 60)["structuredContent"]
    assert (told["timed_out"], told["session_ended"]) == (True, True)
    assert_serves(arena)
    arena.settle()


def test_cancelled_call(arena):
    """Closing its stdin is not enough then."""
    code = FORGE + STOP + "print('up', flush=True)\n" + FLOOD
    server, token = arena.server, uuid.uuid4().hex
    call = server.start_call(code, meta={"progressToken": token})
    server.wait_notification(lambda note: note["params"]["progressToken"] == token and "up" in str(note["params"]))
    server.notify("notifications/cancelled", {"requestId": call})
    server.wait_no_containers()
    assert_serves(arena)
    arena.settle()
