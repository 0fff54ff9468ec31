"""Many calls, many servers: no answer is lost, doubled or mixed up, and nothing
is left.

On an engine that costs next to nothing, so that the server is what is loaded;
and on a real one, with fewer calls unless SOAK=1 is set.
"""

import os
import shutil
from pathlib import Path

import pytest
from fixtures import crowd
from harness import FLAT, SANITIZED, Engine, Server, assert_success

SOAK = os.environ.get("SOAK") == "1"
PARALLEL = ("--max-parallel", "8")
pytestmark = pytest.mark.timeout(3600 if SOAK else 120)


class QuickEngine(Engine):
    def __init__(self, directory):
        self.state = directory / "containers"
        self.state.mkdir()
        cli = directory / "podman"
        shutil.copy(Path(__file__).with_name("quick-engine"), cli)
        super().__init__({"name": "quick", "cli": str(cli), "env": {"CONTAINER_QUICK_DIR": str(directory)},
                          "prefix": [], "network": False, "limits": False, "bin_dir": directory,
                          "python_image": "quick", "js_image": "quick"})

    def containers(self, name=""):
        return sorted(path.name for path in self.state.glob(f"{name}*"))


@pytest.fixture
def quick(tmp_path):
    return QuickEngine(tmp_path)


def start_all(server, count, code):
    """So many calls at once, each with a number: by their ids."""
    return {server.start_call(code.format(number)): str(number) for number in range(count)}


def assert_each_answered_once(server, calls, seconds=60):
    for ident, number in calls.items():
        assert_success(server.result(ident, seconds), number)
    server.wait_idle()
    server.assert_quiet()
    assert [ident for ident in calls if server.replies(ident)] == [], "answered twice"


def test_a_thousand_calls_in_flight(quick, serve, tmp_path):
    """None ends before all of them have come."""
    server = serve(quick, *PARALLEL)
    assert_success(server.call("echo first"), "first")
    server.wait_idle()
    resident = server.memory("VmRSS")
    gate = tmp_path / "gate"
    calls = start_all(server, 1000, f"while [ ! -e {gate} ]; do sleep 0.05; done; echo {{}}")
    assert server.request("ping")["result"] == {}
    assert not any(server.replies(ident) for ident in calls)
    gate.touch()
    assert_each_answered_once(server, calls)
    assert server.memory("VmRSS") - resident < FLAT


def test_thousands_of_calls_in_a_row(quick, serve):
    server = serve(quick, pool=1)
    count = 10_000 if SOAK else 600
    for number in range(count):
        if number == count // 5:
            resident = server.memory("VmRSS")
        assert_success(server.call(f"echo {number}"), str(number))
    server.wait_idle()
    assert server.memory("VmRSS") - resident < (FLAT if SANITIZED else 512)


@crowd
def test_many_calls_in_flight_on_a_real_engine(podman, serve):
    server = serve(podman, *PARALLEL)
    calls = start_all(server, 1000 if SOAK else 16, "print({})")
    assert_each_answered_once(server, calls, 900 if SOAK else 60)
    server.wait_no_containers()


@crowd
def test_twenty_servers_side_by_side(podman):
    """Each sweeps what dead servers left, and none what a living one has."""
    servers = []
    try:
        servers += [Server(podman) for _ in range(20)]
        calls = [start_all(server, 50 if SOAK else 2, f"print('{index} {{}}')") for index, server in enumerate(servers)]
        for index, server in enumerate(servers):
            mine = {ident: f"{index} {number}" for ident, number in calls[index].items()}
            assert_each_answered_once(server, mine, 900 if SOAK else 60)
        for server in servers:
            server.close()
    finally:
        for server in servers:
            server.discard()
