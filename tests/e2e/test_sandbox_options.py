"""Options that make the sandbox another one, and the server's word about it."""

import json

import pytest
from harness import ROOT, assert_refused, assert_success, facts_of


def said(server, code):
    return facts_of(server.call(code))["stdout"].rstrip("\n")


def test_no_network_for_one_call(podman, serve):
    """Whatever the server gives to others; and each kind has its spares."""
    server = serve(podman, network=None, pool=1)
    code = "import os; print(any(name.startswith('eth') for name in os.listdir('/sys/class/net')))"
    for network, expected in ((False, "False"), (True, "True"), (False, "False"), (None, "True")):
        assert_success(server.call(code, network=network), expected)


LOOSENED = {
    "capabilities": ("print(int(open('/proc/self/status').read().split('CapBnd:')[1].split()[0], 16) != 0)", "True"),
    "no-new-privileges": ("print(open('/proc/self/status').read().split('NoNewPrivs:')[1].split()[0])", "0"),
    "user": ("import os; print(os.getuid())", "0"),
    "read-only": ("import os; print(not os.statvfs('/').f_flag & os.ST_RDONLY)", "True"),
}


@pytest.mark.parametrize("name", LOOSENED)
def test_loosened(podman, serve, name):
    """One by one, and the server says so; otherwise it is as strict as ever."""
    code, expected = LOOSENED[name]
    server = serve(podman, "--loosen", name)
    assert_success(server.call(code), expected)
    for other, (question, answer) in LOOSENED.items():
        if other != name:
            assert said(server, question) != answer, other
    assert server.stderr == f"code-sandbox-mcp: the sandbox is looser than usual: --loosen {name}\n", "once"


# What our own profile allows and refuses, in this order.
SYSTEM_CALLS = """
import os, socket
for attempt in (lambda: os.getpriority(os.PRIO_PROCESS, 0), lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)):
    try:
        attempt()
        print("done")
    except OSError:
        print("refused")
"""


def assert_profile(server, chosen, *outcomes):
    assert_success(server.call(SYSTEM_CALLS), "\n".join(outcomes))
    [line] = [line for line in server.stderr.splitlines() if "cgroup" not in line]
    assert line == f"code-sandbox-mcp: the sandbox is not the usual one: --seccomp {chosen}"


def test_profile_of_a_file(engine, serve, place):
    """Begun from our own, as it is installed."""
    profile = json.loads((ROOT / "src/engine/seccomp.json").read_text())
    for rule in profile["syscalls"]:
        rule["names"] = [name for name in rule["names"] if name != "getpriority"]
    file = place / "profile.json"
    file.write_text(json.dumps(profile))
    file.chmod(0o644)
    assert_profile(serve(engine, "--seccomp", str(file)), file, "refused", "refused")


def test_profile_of_the_engine(engine, serve):
    assert_profile(serve(engine, "--seccomp", "engine"), "engine", "done", "done")


def test_profile_of_our_own(engine, serve):
    assert said(serve(engine), SYSTEM_CALLS) == "done\nrefused"


def test_profile_that_is_none(engine, serve, place):
    file = place / "profile.json"
    file.write_text("{")
    file.chmod(0o644)
    assert_refused(serve(engine, "--seccomp", str(file)).call("print(1)"), "did not take the seccomp profile")


def test_usual_sandbox_is_not_talked_about(engine, serve):
    """But for the limits that the engine cannot hold."""
    server = serve(engine)
    assert_success(server.call("print(1)"), "1")
    assert server.stderr == ("" if engine.limits else (
        f"code-sandbox-mcp: {engine.cli} has no cgroup controller here for "
        "memory (--memory holds each process, not all together), "
        "pids (--pids counts the processes of all sandboxes), cpu (--cpus is not held)\n"))


def test_runtime(podman, serve):
    server = serve(podman, "--runtime", "runc")
    assert_success(server.call("print(1)"), "1")


def test_runtime_that_is_not_there(podman, serve):
    result = serve(podman, "--runtime", "no-such-runtime").call("print(1)")
    assert_refused(result, "no-such-runtime")
