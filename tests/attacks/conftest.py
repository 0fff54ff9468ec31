import sys
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

import pytest  # noqa: E402
from fixtures import *  # noqa: E402, F401, F403

pytest.register_assert_rewrite("arena")

from arena import Arena  # noqa: E402
from clock import Clock  # noqa: E402


@pytest.fixture(scope="session")
def arenas():
    """Arenas by engine and options: one serves all attacks of this worker."""
    opened = {}
    yield opened
    with ExitStack() as stack:
        for arena in opened.values():
            stack.callback(arena.close)


@pytest.fixture
def enter(request, arenas):
    """enter(engine, *options) is an arena. One in which a test failed is not
    used again."""
    entered = []

    def find(engine, *options):
        key = (engine.name, *options)
        if key not in arenas:
            arenas[key] = Arena(engine, *options)
        entered.append(key)
        return arenas[key]

    yield find
    if hasattr(request.node, "has_failed"):
        for key in set(entered):
            arenas.pop(key).discard()


def fresh(arena):
    arena.server.forget_peak()
    return arena


@pytest.fixture
def arena(engine, enter):
    return fresh(enter(engine))


@pytest.fixture
def podman_arena(podman, enter):
    """For what is between the program and the server: no engine has a part in it."""
    return fresh(enter(podman))


@pytest.fixture
def timed_arena(request, podman, tmp_path):
    """One whose server goes by arena.clock: what it waits for takes no time."""
    clock = Clock(tmp_path, monotonic=True)
    arena = Arena(podman, env=clock.env)
    arena.clock = clock
    yield arena
    (arena.discard if hasattr(request.node, "has_failed") else arena.close)()
