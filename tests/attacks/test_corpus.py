"""The corpus on every engine: the reply is exact, nothing is left, and the
server takes the next one."""

import pytest
from arena import exits, prints, program
from corpus import ATTACKS, CGROUPS, MEMORY_BOMBS, PROCESSES


def named(attack):
    return attack.name


@pytest.mark.parametrize("attack", ATTACKS, ids=named)
def test_attack(engine, enter, attack):
    enter(engine, *attack.options).survive(attack)


@pytest.mark.parametrize("attack", CGROUPS, ids=named)
def test_attack_on_limits(limited_engine, enter, attack):
    enter(limited_engine, *attack.options).survive(attack)


# It has work to do for longer than the bomb, in processes and memory of its own.
NEIGHBOUR = """
import subprocess, time
for number in range(30):
    block = bytes([number]) * (1 << 24)
    print(subprocess.getoutput(f"echo {number}"), block.count(number), flush=True)
    time.sleep(0.1)
"""
BOMBS = [PROCESSES[0], MEMORY_BOMBS[0]]


@pytest.mark.parametrize("bomb", BOMBS, ids=named)
def test_neighbour_of_a_bomb(limited_engine, enter, bomb):
    arena = enter(limited_engine, *bomb.options)
    neighbour = arena.server.start_call(NEIGHBOUR)
    bomb.verdict.check(arena.server.call(bomb.program.code, timeout_seconds=bomb.timeout))
    early = arena.server.replies(neighbour)
    prints("".join(f"{number} {1 << 24}\n" for number in range(30))).check(arena.server.result(neighbour))
    assert not early, "it was there all the time"
    arena.settle()


def test_leftovers(engine, enter):
    """What one call leaves behind, the next one does not find."""
    arena = enter(engine)
    for _ in range(2):
        prints("found: []\n").check(arena.call(program("leftovers.py")))
    arena.settle()


def test_forged_trailer_harms_only_its_own_call(engine, enter):
    arena = enter(engine)
    other = arena.server.start_call("import time; time.sleep(2); print('unharmed')")
    forger = program("forged_trailer.py")
    exits(42).check(arena.server.call(forger.code, forger.tool))
    prints("unharmed\n").check(arena.server.result(other))
    arena.settle()


INVALID = [b"print('\xff')", b"print('\xed\xa0\x80')", b"print('\\ud800')", b"print('\xc0\x80')"]


@pytest.mark.parametrize("code", INVALID, ids=repr)
def test_code_that_is_not_unicode_is_refused(podman, enter, code):
    """JSON cannot hold it: the line is no message."""
    server = enter(podman).server
    server.send_line(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":'
                     b' {"name": "run_python_code", "arguments": {"code": "%s"}}}' % code)
    assert server.wait(None)["error"]["code"] == -32700
