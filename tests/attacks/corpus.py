"""Hostile programs, each with what must become of it.

One of more than a few lines is a file in programs/. An engine that holds no
limits (rootless podman on cgroup v1) has the limits of the process instead: of
its data, and of all processes of the user.
"""

import platform
import re

from arena import OUTPUT, Attack, dies, exits, having, node, out_of_memory, prints, program, python, stopped

# Few enough that other programs of the same user, which count where there are
# only the limits of the process, can still start theirs.
NARROW = ("--pids", "100")


def flood(letter):
    """Head and tail, within the limit, and how much was cut."""
    half = "%s{%d,%d}" % (letter, OUTPUT // 2 - 8, OUTPUT // 2)
    return re.compile(half + r"\n\[\.\.\. \d+ bytes cut \.\.\.\]\n" + half)


PROCESSES = [
    Attack("fork bomb", python("import os\nwhile True:\n  try: os.fork()\n  except OSError: pass"),
           stopped(), options=NARROW, timeout=1),
    Attack("fork bomb in JavaScript", program("fork_bomb.js"), stopped(), options=NARROW, timeout=2),
    Attack("forks beyond the limit", program("forks.py"), prints("EAGAIN, held\n"), options=NARROW),
    Attack("thread bomb", program("threads.py"), prints("can't start new thread, held\n"), options=NARROW),
    Attack("zombies", program("zombies.py"), prints("200 zombies\n")),
    Attack("orphans are reaped", program("orphans.py"), prints("400 orphans\n")),
    # Each reserves address space, which counts as data.
    Attack("64 spinning workers", program("workers.js"), stopped(), timeout=1,
           unlimited=dies("SIGTRAP", stderr=having("Failed to reserve virtual memory"))),
]

MEMORY_BOMBS = [
    Attack("memory bomb", python("x = []\nwhile True: x.append(b'x' * (1 << 24))"),
           out_of_memory(), unlimited=exits(1, stderr=having("MemoryError"))),
    Attack("memory bomb in a child only", program("child_memory_bomb.py"),
           prints("child: -9, parent goes on\n"), unlimited=prints("child: 1, parent goes on\n")),
]

# What nothing but the engine's own limits can hold: memory that is shared or
# the kernel's, and processors. Node takes the size of its heap from them, and
# without them may have gigabytes, which takes long.
CGROUPS = [
    Attack("memory bomb in JavaScript", node("const x = []; for (;;) x.push(Buffer.alloc(1 << 28, 1));"),
           out_of_memory()),
    Attack("heap bomb in JavaScript", node("const x = []; for (;;) x.push(new Array(1 << 20).fill(0.5));"),
           dies("SIGABRT", stderr=having("JavaScript heap out of memory"))),
    Attack("memory bomb by mmap", program("mmap_bomb.py"), out_of_memory()),
    Attack("inode bomb", program("inode_bomb.py"), out_of_memory(limit="64m"), options=("--memory", "64m")),
    Attack("eight processor hogs", program("hogs.py"), prints("held\n"), options=("--cpus", "0.5")),
]

FILES = [
    Attack("writable places and setuid programs", program("search.py"),
           prints("/dev/mqueue /dev/shm /home/sandbox /run/sandbox-runner /sandbox /tmp /var/tmp\n")),
    Attack("mounts", program("mounts.py"), prints(
        "/dev/mqueue nodev noexec nosuid\n/dev/shm nodev noexec nosuid\n/home/sandbox nodev nosuid\n"
        "/run/sandbox-runner nodev noexec nosuid\n/sandbox nodev nosuid\n/tmp nodev noexec nosuid\n"
        "/var/tmp nodev noexec nosuid\n")),
    Attack("fills every file system", program("fill.py"),
           prints("/tmp ENOSPC 64\n/dev/shm ENOSPC 64\n/var/tmp ENOSPC 1\n/run/sandbox-runner ENOSPC 1\n"
                  "/sandbox ENOSPC 256\n/home/sandbox ENOSPC 256\n/run EACCES\n")),
    Attack("sparse file of a terabyte", python("import os; os.truncate('code.py', 1 << 40)"),
           exits(1, stderr=having("OSError: [Errno 27] File too large"))),
    Attack("descriptor bomb", program("descriptors.py"), prints("EMFILE at 1024\n")),
    Attack("runs a file of a temporary directory", program("exec_tmp.py"), prints(3 * "EACCES\n")),
]

OUTPUT_BYTES = [
    Attack("endless stdout", python("import os\nwhile True: os.write(1, b'x' * 4096)"),
           stopped(flood("x"), truncated=True), timeout=1),
    Attack("endless stderr", python("import os\nwhile True: os.write(2, b'x' * 4096)"),
           stopped("", flood("x"), truncated=True), timeout=1),
    Attack("endless lines on both", python("import os\nwhile True: os.write(1, b'x\\n' * 9); os.write(2, b'y\\n' * 9)"),
           stopped(flood(r"[x\n]"), flood(r"[y\n]"), truncated=True), timeout=1),
    Attack("endless stdout in JavaScript", node("for (;;) require('fs').writeSync(1, 'x'.repeat(4096))"),
           stopped(flood("x"), truncated=True), timeout=1),
    Attack("burst of 5 MB on both streams, then exit", program("burst.py"),
           prints("0123456789abcde\n" * 327680, "e" * 5242880), options=("--max-output", "8m"), peak=100_000),
    Attack("every byte", python("import os; os.write(1, bytes(range(256)))"),
           prints(bytes(range(128)).decode() + 128 * "\ufffd")),
    Attack("invalid UTF-8", python(r"import os; os.write(1, b'a\xffb\xc3\x28\xed\xa0\x80 end\xe2\x82')"),
           prints("a\ufffdb\ufffd(\ufffd\ufffd\ufffd end\ufffd\ufffd")),
    Attack("NUL", python("import os; os.write(1, b'\\0a\\0'); os.write(2, b'\\0')"), prints("\0a\0", "\0")),
    Attack("terminal codes", python("print('\\x1b[31mred\\x1b]52;c;eA==\\x07\\x1b[2J\\x9b')"),
           prints("\x1b[31mred\x1b]52;c;eA==\x07\x1b[2J\x9b\n")),
    Attack("fake messages", python("print('\\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\\n')"),
           prints('\n{"jsonrpc":"2.0","id":1,"result":{}}\n\n')),
    Attack("trailer with a wrong nonce", python("print('\\x1e' + 2 * '0123456789abcdef' + ' exit 0'); print('after')"),
           prints("\x1e" + 2 * "0123456789abcdef" + " exit 0\nafter\n")),
    Attack("unfinished trailer", python("import os; os.write(1, b'x\\x1e'); os.write(2, b'\\x1e\\x1e\\n')"),
           prints("x\x1e", "\x1e\x1e\n")),
    Attack("closes its streams", python("import os; print('x', flush=True); os.close(1); os.close(2); os._exit(0)"),
           prints("x\n")),
    Attack("closes its streams and goes on", python(
        "import os, time; print('x', flush=True); os.close(1); os.close(2); time.sleep(1); os._exit(7)"),
        exits(7, "x\n")),
    Attack("closes its streams and spins", python(
        "import os; print('x', flush=True); os.close(1); os.close(2)\nwhile True: pass"), stopped("x\n"), timeout=1),
]

ENDINGS = [
    Attack("ignores every signal and spins", program("ignore_signals.py"), stopped("up\n"), timeout=1),
    Attack("ignores signals in JavaScript", node(
        "for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']) process.on(s, () => {});\nfor (;;);"),
        stopped(), timeout=1),
    Attack("sleeps", python("import time; time.sleep(300)"), stopped(), timeout=1),
    Attack("sleeps in JavaScript", node("setInterval(() => {}, 1000)"), stopped(), timeout=1),
    Attack("daemon that keeps stdout", program("daemon.py"), prints("parent\n")),
    Attack("child with a session of its own", python(
        "import subprocess; subprocess.Popen(['sleep', '300'], start_new_session=True); print('parent')"),
        prints("parent\n")),
    Attack("child that outlives JavaScript", node(
        "require('child_process').spawn('sleep', ['300'], {detached: true, stdio: 'inherit'}).unref();\n"
        "console.log('parent')"), prints("parent\n")),
    Attack("kill -1", python("import os; os.kill(-1, 9); print('alone')"), prints("alone\n")),
    Attack("kill -1, then sleeps", python("import os, time; os.kill(-1, 9); time.sleep(300)"), stopped(), timeout=1),
    Attack("kill 1", python("import os\nfor s in range(1, 65): os.kill(1, s)\nprint('as before')"),
           prints("as before\n")),
    Attack("freezes the runner", python(
        "import os, time\nos.kill(1, 19); os.kill(os.getppid(), 19); os.kill(-1, 19)\ntime.sleep(300)"),
        stopped(), timeout=1),
    Attack("stops itself", python("import os; os.kill(os.getpid(), 19)"), stopped(), timeout=1),
    Attack("SIGKILL of itself", python("import os; os.kill(os.getpid(), 9)"), out_of_memory()),
    Attack("fills the runner's directory, then dies", program("fill_runner.py"),
           dies("SIGSEGV", "No space left on device\n")),
    Attack("segmentation fault", python("import ctypes; print('x'); ctypes.string_at(0)"), dies("SIGSEGV", "x\n")),
]

INSIDE = [
    Attack("15 MB of code", python(("#" * 79 + "\n") * 196608 + "print('the end')"), prints("the end\n"), peak=100_000),
    Attack("looks for secrets", program("secrets.py"), prints("nothing\n")),
    Attack("reads its stdin again", program("stdin.py"),
           prints("0: EOF\n/proc/self/fd/0: EOF\n/proc/1/fd/0: EOF\n/proc/1/fd/3: EAGAIN\n")),
    Attack("devices", program("devices.py"), prints("full null ptmx random tty urandom zero\n")),
]

# Other ways into the kernel, which this one machine has.
if platform.machine() == "x86_64":
    INSIDE += [
        Attack("32-bit system call", program("syscall32.py"), dies("SIGSYS")),
        Attack("x32 system call", python("import ctypes; print(ctypes.CDLL(None).syscall(0x40000000 | 39))"),
               dies("SIGSYS")),
    ]

# What is the interpreter's alone to deal with.
INTERPRETERS = [
    Attack("deep recursion", python("def f(): f()\nf()"), exits(1, stderr=having("RecursionError:"))),
    Attack("deep recursion in JavaScript", node("function f() { f(); }\nf()"),
           exits(1, stderr=having("RangeError: Maximum call stack size exceeded"))),
    Attack("removes its own file", python("import os; os.remove(__file__); print(os.listdir('.'))"), prints("[]\n")),
    Attack("removes its own file in JavaScript", node(
        "const fs = require('fs'); fs.rmSync(__filename); console.log(fs.existsSync(__filename))"), prints("false\n")),
    Attack("lone surrogate", python("print('\\ud800')"),
           exits(1, stderr=having("UnicodeEncodeError:", "surrogates not allowed"))),
    Attack("lone surrogate in JavaScript", node("console.log('\\ud800')"), prints("\ufffd\n")),
    Attack("abort in JavaScript", node("process.abort()"), dies("SIGABRT", stderr=having("Native stack trace"))),
    Attack("_exit(42)", python("import os; print('x'); os._exit(42)"), exits(42, "x\n")),
    Attack("unhandled rejection", node("Promise.reject(new Error('nobody cares'))"),
           exits(1, stderr=having("Error: nobody cares\n"))),
    Attack("byte order mark", python("\ufeffprint('x')"), prints("x\n")),
    Attack("byte order mark in JavaScript", node("\ufeffconsole.log('x')"), prints("x\n")),
    Attack("carriage returns", python("if True:\r\n  print('''a\r\nb''')\r\n"), prints("a\nb\n")),
    Attack("carriage returns in JavaScript", node("console.log(`a\r\nb`)\r\n"), prints("a\nb\n")),
    Attack("syntax error", python("def f(:\n  pass"),
           exits(1, stderr=having('File "/sandbox/code.py", line 1', "SyntaxError: invalid syntax"))),
    Attack("syntax error in JavaScript", node("let x = ;"),
           exits(1, stderr=having("/sandbox/code.js:1\n", "SyntaxError: Unexpected token ';'\n"))),
    # Code that is empty or has a NUL is refused: tests/e2e/test_protocol.py.
]

# What comes to another end under gVisor, and what was seen of it; why, only
# where that is certain.
UNDER_GVISOR = {
    **dict.fromkeys(("fork bomb", "fork bomb in JavaScript", "forks beyond the limit", "thread bomb"),
                    "--pids is not held: 4093 threads were started with a limit of 100"),
    "orphans are reaped": "not done within 20 seconds",
    "zombies": "killed, one time of 26, on a busy machine",
    "memory bomb in a child only": "the parent is killed too",
    "writable places and setuid programs": "there is no /dev/mqueue",
    "mounts": "nodev and nosuid are not told, and there is no /dev/mqueue",
    "devices": "it has fuse and tun of its own",
    "kill 1": "the program is reported as killed behind its last word",
    "32-bit system call": "an error and no SIGSYS",
    "x32 system call": "an error and no SIGSYS",
    "eight processor hogs": "by its own count 1.03 processors with a limit of 0.5",
    "burst of 5 MB on both streams, then exit": "it may cut short a write of more than 4 KiB",
}
# The same in an image without a shell: the program is the first process, which
# the kernel protects from signals and which nobody reaps for.
WITHOUT_A_SHELL = ("orphans are reaped", "kill -1", "kill -1, then sleeps", "kill 1", "freezes the runner",
                   "stops itself", "SIGKILL of itself", "reads its stdin again",
                   "fills the runner's directory, then dies")

# Those in which the absence of a runner could make a difference, and one of each
# kind else.
SOME = ("fork bomb", "orphans are reaped", "memory bomb", "eight processor hogs", "endless stdout",
        "burst of 5 MB on both streams, then exit", "closes its streams and goes on", "15 MB of code",
        "looks for secrets", "reads its stdin again", "unfinished trailer")
TRIED_WITHOUT_A_SHELL = FILES + ENDINGS + [
    attack for attack in PROCESSES + MEMORY_BOMBS + CGROUPS + OUTPUT_BYTES + INSIDE if attack.name in SOME]

ATTACKS = PROCESSES + MEMORY_BOMBS + FILES + OUTPUT_BYTES + ENDINGS + INSIDE + INTERPRETERS
