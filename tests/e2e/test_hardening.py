"""What a program finds itself in. Asked from the inside, on every engine."""

import json

import pytest
from harness import Sleeper, assert_failure, assert_success, facts_of, until


def said(server, code, **arguments):
    result = server.call(code, **arguments)
    assert facts_of(result)["exit_code"] == 0, result
    return facts_of(result)["stdout"].rstrip("\n")


def status_field(server, name):
    return said(server, f"print(next(l.split()[1] for l in open('/proc/self/status') if l.startswith('{name}:')))")


def test_runs_as_nobody(shared):
    assert said(shared, "import os; print(os.getresuid(), os.getresgid(), os.getgroups())") in (
        "(65534, 65534, 65534) (65534, 65534, 65534) []",
        "(65534, 65534, 65534) (65534, 65534, 65534) [65534]")


def test_has_no_capabilities(shared):
    code = "print([l.split() for l in open('/proc/self/status') if l.startswith('Cap')])"
    none = "0" * 16
    assert said(shared, code) == str([[f"Cap{which}:", none] for which in ("Inh", "Prm", "Eff", "Bnd", "Amb")])


def test_gains_no_privileges(shared):
    assert status_field(shared, "NoNewPrivs") == "1"


def test_seccomp_filters(shared):
    assert status_field(shared, "Seccomp") == "2"


def test_nothing_of_the_image_can_be_written(shared):
    code = """
written = []
for path in ('/', '/usr/bin', '/etc', '/root', '/var', '/opt', '/proc/sys/kernel', '/run', '/dev'):
    try:
        open(path + '/x', 'w')
        written.append(path)
    except OSError:
        pass
print(written)"""
    assert said(shared, code) == "[]"


def test_root_is_mounted_read_only(shared):
    code = "print(next(l.split()[3].split(',')[0] for l in open('/proc/mounts') if l.split()[1] == '/'))"
    assert said(shared, code) == "ro"


def test_nothing_is_executed_from_temporary_directories(shared):
    code = """
import os, subprocess
for path in ('/tmp/x', '/var/tmp/x', '/dev/shm/x'):
    open(path, 'w').write('#!/bin/sh\\necho ran\\n')
    os.chmod(path, 0o755)
    try:
        subprocess.run([path])
    except OSError as e:
        print(type(e).__name__)"""
    assert said(shared, code).split() == 3 * ["PermissionError"]


def test_mount_options_of_the_writable_places(shared):
    code = """
import json
print(json.dumps({l.split()[1]: l.split()[3].split(',') for l in open('/proc/mounts')}))"""
    mounts = json.loads(said(shared, code))
    for place in ("/tmp", "/var/tmp", "/run", "/sandbox"):
        assert {"rw", "nosuid", "nodev"} <= set(mounts[place]), place
        assert any(option.startswith("size=") for option in mounts[place]), place
    for place in ("/tmp", "/var/tmp", "/run"):
        assert "noexec" in mounts[place], place


def test_working_directory_can_be_written(shared):
    assert said(shared, "open('f', 'w').write('x'); import os; print(sorted(os.listdir('.')))") == "['code.py', 'f']"


def test_tmp_is_of_limited_size(shared):
    code = """
import errno
try:
    with open('/tmp/big', 'wb') as f:
        for i in range(1024): f.write(bytes(1 << 20))
except OSError as e:
    print(errno.errorcode[e.errno])
import os; print(os.path.getsize('/tmp/big') >> 20)"""
    assert said(shared, code).split()[0] in ("ENOSPC", "EFBIG")


def test_file_size_is_limited(shared):
    code = """
import errno, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    open('sparse', 'wb').truncate(1 << 40)
except OSError as e:
    print(errno.errorcode[e.errno])"""
    assert said(shared, code) == "EFBIG"


def test_no_network(shared):
    code = """
import os, socket
print([n for n in os.listdir('/sys/class/net') if n != 'lo' and open(f'/sys/class/net/{n}/operstate').read() == 'up\\n'])
s = socket.socket(); s.settimeout(5)
try:
    s.connect(('192.0.2.1', 80)); print('connected')
except OSError as e:
    print('unreachable' if e.errno == 101 else e)"""
    assert said(shared, code) == "[]\nunreachable"


def test_own_process_table(shared):
    """Nothing of the host, nothing of other containers."""
    code = "import os; print([int(p) for p in os.listdir('/proc') if p.isdigit()])"
    pids = json.loads(said(shared, code))
    assert len(pids) <= 6 and max(pids) < 100


def test_hostname_says_nothing(shared):
    assert said(shared, "import socket; print(socket.gethostname())") == "sandbox"


def test_no_engine_socket_inside(shared):
    code = """
import os
print([p for p in ('/var/run/docker.sock', '/run/docker.sock', '/run/podman/podman.sock', '/run/containerd') if os.path.exists(p)])"""
    assert said(shared, code) == "[]"


ATTEMPTS = [
    "os.mknod('dev', 0o020600, os.makedev(1, 8))",
    "os.chroot('.')",
    "os.setuid(0)",
    "socket.sethostname('x')",
    "open('/proc/sys/kernel/hostname', 'w').write('x')",
    "open('/proc/sysrq-trigger', 'w').write('h')",
    "open('/proc/kcore', 'rb').read(1)[0]",
    "libc('mount', b'none', b'/tmp', b'tmpfs', 0, None)",
    "libc('unshare', 0x00020000)",
    "libc('setns', os.open('/proc/1/ns/mnt', os.O_RDONLY), 0)",
    "os.nice(-5)",
]


def test_privileged_attempts_fail(shared):
    code = f"""
import ctypes, os, socket
def libc(name, *arguments):
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), 'refused')
done = []
for attempt in {ATTEMPTS}:
    try:
        eval(attempt)
        done.append(attempt)
    except (OSError, IndexError) as e:
        pass
print(done)"""
    assert said(shared, code) == "[]"


def test_secrets_of_process_one(shared):
    """Its environment is that of the container: nothing of the server's."""
    assert "CONTAINER_TEST_MARK" not in said(shared, "print(open('/proc/1/environ').read())")


def test_core_dumps_are_off(shared):
    assert said(shared, "import resource; print(resource.getrlimit(resource.RLIMIT_CORE))") == "(0, 0)"


# Limits, on the engines that enforce them.


def test_fork_bomb_is_bounded(limited_engine, serve):
    server = serve(limited_engine, "--pids", "32")
    code = """
import os, time
count = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        count += 1
except OSError as e:
    print(count, type(e).__name__, flush=True)
    os._exit(0)"""
    count, why = said(server, code).split()
    assert 10 <= int(count) < 32 and why == "BlockingIOError"
    server.wait_no_containers()


def test_fork_bomb_that_never_stops_ends_at_the_timeout(limited_engine, serve):
    server = serve(limited_engine, "--pids", "32")
    code = "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass"
    assert_failure(server.call(code, timeout_seconds=2), signal="SIGKILL", timed_out=True, note="stopped after")
    server.wait_no_containers()
    assert_success(server.call("print('next')"), "next")


def test_thread_bomb_is_bounded(limited_engine, serve):
    server = serve(limited_engine, "--pids", "32")
    code = """
import os, threading
count = 0
try:
    while True:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        count += 1
except RuntimeError:
    print(count, flush=True)
    os._exit(0)"""
    assert 5 <= int(said(server, code)) < 32


@pytest.mark.parametrize("tool, code", [
    ("run_python_code", "print('up', flush=True)\nx = []\nwhile True: x.append(bytearray(b'x' * (1 << 20)))"),
    ("run_js_code", "console.log('up'); const x = []; for (;;) x.push(Buffer.alloc(1 << 20, 1));"),
])
def test_memory_bomb_is_killed_and_explained(limited_engine, serve, tool, code):
    server = serve(limited_engine, "--memory", "128m")
    result = server.call(code, tool)
    assert_failure(result, stdout="up\n", signal="SIGKILL", note="memory (limit: 128m)")


def test_memory_bomb_in_a_child_leaves_the_parent(limited_engine, serve):
    server = serve(limited_engine, "--memory", "128m")
    code = """
import os
pid = os.fork()
if pid == 0:
    x = []
    while True: x.append(bytearray(b'x' * (1 << 20)))
print(os.WTERMSIG(os.waitpid(pid, 0)[1]))"""
    assert said(server, code) == "9"


def test_processors_are_limited(limited_engine, serve):
    server = serve(limited_engine, "--cpus", "0.5")
    code = """
import glob
v1 = glob.glob('/sys/fs/cgroup/cpu*/cpu.cfs_quota_us')
if v1:
    quota, period = (int(open(p).read()) for p in (v1[0], v1[0].replace('quota', 'period')))
else:
    quota, period = map(int, open('/sys/fs/cgroup/cpu.max').read().split())
print(quota / period)"""
    assert said(server, code) == "0.5"


def test_default_network_is_the_engine_s(podman, serve):
    """Only that there is an interface; no test needs the world."""
    server = serve(podman, network=None)
    code = "import os; print(any(name.startswith('eth') for name in os.listdir('/sys/class/net')))"
    assert said(server, code) == "True"


def test_program_that_freezes_the_runner(engine, serve):
    """Process 1 cannot be stopped from inside, and the timeout holds."""
    server = serve(engine)
    program = Sleeper()
    code = f"import os\nfor p in (1, os.getppid()):\n  try: os.kill(p, 19)\n  except OSError: pass\n{program.code}"
    result = server.call(code, timeout_seconds=2)
    assert facts_of(result)["timed_out"] is True
    until(lambda: not program.is_up(), 10, "the program is gone")
    server.wait_no_containers()
