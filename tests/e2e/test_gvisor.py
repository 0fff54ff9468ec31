"""Everyday programs under gVisor: another kernel, in which other things are
slow, missing or different. The hostile ones are in tests/attacks."""

import pytest
from fixtures import one_for_many
from harness import assert_failure, assert_success, facts_of


@pytest.fixture(scope="module")
def gvisor(podman, runsc):
    yield from one_for_many(podman, "--runtime", runsc, pool=1)


def test_another_kernel_under_gvisor(gvisor):
    assert_success(gvisor.call("import os; print(os.uname().release)"), "4.4.0")


@pytest.mark.parametrize("tool, code", [("run_python_code", "print(6 * 7)"), ("run_js_code", "console.log(6 * 7)")])
def test_hello_under_gvisor(gvisor, tool, code):
    for _ in range(2):  # the second by a spare
        assert_success(gvisor.call(code, tool), "42")


def test_error_under_gvisor(gvisor):
    result = gvisor.call("print('before'); 1 / 0")
    said = facts_of(result)["stderr"]
    assert said.endswith("ZeroDivisionError: division by zero\n")
    assert_failure(result, stdout="before\n", stderr=said, exit_code=1)


def test_exit_code_under_gvisor(gvisor):
    assert_failure(gvisor.call("import os; os._exit(42)"), exit_code=42)


def test_signal_under_gvisor(gvisor):
    assert_failure(gvisor.call("import os; os.kill(os.getpid(), 11)"), signal="SIGSEGV", note="ended by SIGSEGV")


def test_time_limit_under_gvisor(gvisor):
    code = "import time; print('up', flush=True); time.sleep(300)"
    assert_failure(gvisor.call(code, timeout_seconds=2), stdout="up\n", signal="SIGKILL", timed_out=True,
                   note="stopped after 2.")


def test_big_output_under_gvisor(gvisor):
    """In lines, because it may cut short a write of more than 4 KiB; see
    code-sandbox-mcp-security(7)."""
    line = "x" * 999
    assert_success(gvisor.call(f"for _ in range(250): print('{line}')"), "\n".join(250 * [line]))


def test_hardening_under_gvisor(gvisor):
    code = """
import os, socket
def attempt(action):
    try:
        return action()
    except OSError as error:
        return os.strerror(error.errno)
status = dict(line.split(':\\t') for line in open('/proc/self/status').read().splitlines() if ':\\t' in line)
print(os.getresuid(), status['CapEff'], status['CapBnd'])
print(next(line.split()[3].split(',')[0] for line in open('/proc/self/mounts') if line.split()[1] == '/'))
print(attempt(lambda: open('/new', 'w')))
print(attempt(lambda: os.setuid(0)))
print(attempt(lambda: socket.create_connection(('198.51.100.1', 80), 5)))
"""
    assert_success(gvisor.call(code), "(65534, 65534, 65534) 0000000000000000 0000000000000000\n"
                   "ro\nPermission denied\nOperation not permitted\nNo route to host")
