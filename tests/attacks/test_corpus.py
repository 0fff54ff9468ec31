"""The corpus on every engine: the reply is exact, nothing is left, and the
server takes the next one."""

import uuid

import pytest
from arena import Held, exits, prints, program
from corpus import (ATTACKS, CGROUPS, MEMORY_BOMBS, PROCESSES, TRIED_WITHOUT_A_SHELL, UNDER_GVISOR,
                    WITHOUT_A_SHELL)
from harness import until


def named(attack):
    return attack.name


def in_python(attacks):
    return [attack for attack in attacks if attack.program.tool == "run_python_code"]


def one_by_one(attacks):
    """Where a limit is that of all processes of a user, these share it."""
    turns = pytest.mark.xdist_group("processes")
    return [pytest.param(attack, marks=turns if attack in PROCESSES else ()) for attack in attacks]


@pytest.mark.parametrize("attack", one_by_one(ATTACKS), ids=named)
def test_attack(engine, enter, attack):
    enter(engine, *attack.options).survive(attack)


@pytest.mark.parametrize("attack", ATTACKS + CGROUPS, ids=named)
def test_attack_under_gvisor(podman, runsc, enter, attack):
    arena = enter(podman, "--runtime", runsc, *attack.options)
    (arena.survive_somehow if attack.name in UNDER_GVISOR else arena.survive)(attack)


@pytest.mark.parametrize("attack", in_python(TRIED_WITHOUT_A_SHELL), ids=named)
def test_attack_without_a_shell(podman, enter, attack):
    arena = enter(podman, "--python-image", podman.noshell_image, *attack.options)
    (arena.survive_somehow if attack.name in WITHOUT_A_SHELL else arena.survive)(attack)


@pytest.mark.parametrize("attack", CGROUPS, ids=named)
def test_attack_on_limits(limited_engine, enter, attack):
    enter(limited_engine, *attack.options).survive(attack)


# It has work to do all the time, in processes and memory of its own.
NEIGHBOUR = """
import itertools, subprocess, time
for number in itertools.count():
    block = bytes([number % 256]) * (1 << 24)
    assert subprocess.getoutput(f"echo {number}") == str(number) and block.count(number % 256) == 1 << 24
    print("at work")
    time.sleep(0.1)
"""
BOMBS = [PROCESSES[0], MEMORY_BOMBS[0]]


@pytest.mark.parametrize("bomb", BOMBS, ids=named)
def test_neighbour_of_a_bomb(limited_engine, enter, bomb):
    arena = enter(limited_engine, *bomb.options)
    token = uuid.uuid4().hex
    neighbour = arena.server.start_call(NEIGHBOUR, timeout_seconds=600, meta={"progressToken": token})

    def heard():
        return sum(said["params"]["progressToken"] == token and "at work" in said["params"]["message"]
                   for said in arena.server.notifications)

    until(heard, what="the neighbour is at work")
    bomb.verdict.check(arena.server.call(bomb.program.code, timeout_seconds=bomb.timeout))
    before = heard()
    until(lambda: heard() > before, what="the neighbour goes on")
    assert arena.server.replies(neighbour) == []
    arena.server.notify("notifications/cancelled", {"requestId": neighbour})
    arena.settle()


def test_leftovers(engine, enter):
    """What one call leaves behind, the next one does not find."""
    arena = enter(engine)
    for _ in range(2):
        prints("found: []\n").check(arena.call(program("leftovers.py")))
    arena.settle()


def test_forged_trailer_harms_only_its_own_call(engine, enter):
    arena = enter(engine)
    held = Held("print('unharmed')")
    other = arena.server.start_call(held.code)
    held.wait()
    forger = program("forged_trailer.py")
    exits(42).check(arena.server.call(forger.code, forger.tool))
    held.go()
    prints("unharmed\n").check(arena.server.result(other))
    arena.settle()


INVALID = [b"print('\xff')", b"print('\xed\xa0\x80')", b"print('\xc0\x80')"]


@pytest.mark.parametrize("code", INVALID, ids=repr)
def test_code_that_is_not_unicode_is_refused(podman, enter, code):
    """JSON cannot hold it: the line is no message."""
    server = enter(podman).server
    server.send_line(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":'
                     b' {"name": "run_python_code", "arguments": {"code": "%s"}}}' % code)
    assert server.wait(None)["error"]["code"] == -32700


def test_half_a_character_in_the_code(podman, enter):
    """As JavaScript and Python send a text that was cut in the middle of one. It
    is replaced: a line that is no message could not be answered by its id."""
    server = enter(podman).server
    server.send_line(b'{"jsonrpc": "2.0", "id": "half", "method": "tools/call", "params":'
                     b' {"name": "run_python_code", "arguments": {"code": "print(ascii(\'\\ud83d!\'))"}}}')
    prints("'\\ufffd!'\n").check(server.result("half"))
