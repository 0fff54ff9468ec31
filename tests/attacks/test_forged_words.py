"""A program that has found out the nonce speaks as the runner does. It can end
its own call early, and it cannot put off its end."""

from arena import node, program, prints
from harness import Session, until

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


def test_end_that_is_put_off(arena):
    """It says that it has ended and left a file, and never sends that file."""
    code = FORGE + STOP + "say('entry 1 1 x|./f'); say('stays'); say('exit 0', 1, 2)\n" + FLOOD
    call = arena.server.start_call(code, timeout_seconds=3)
    assert_serves(arena)
    assert arena.server.result(call, 60)["structuredContent"]["exit_code"] == 0
    arena.settle()


def test_time_limit_of_a_session(arena):
    """It does not heed the interrupt, and answers for the runner."""
    session = Session(arena.server)
    code = FORGE + "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" + FLOOD.replace("absent", "answered")
    told = arena.server.result(session.start(code, timeout_seconds=2), 60)["structuredContent"]
    assert (told["timed_out"], told["session_ended"]) == (True, True)
    assert_serves(arena)
    arena.settle()


def test_cancelled_call(arena):
    """Closing its stdin is not enough then."""
    code = FORGE + STOP + "print('up', flush=True)\n" + FLOOD
    server = arena.server
    call = server.start_call(code, meta={"progressToken": "t"})
    until(lambda: any("up" in note["params"].get("message", "") for note in server.notifications), what="its output")
    server.notify("notifications/cancelled", {"requestId": call})
    server.wait_no_containers()
    assert_serves(arena)
    arena.settle()
