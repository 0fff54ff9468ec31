"""Files that are not what they seem, and programs that speak as the runner
does: each harms its own call at most."""

import pytest
from arena import Held, facts_of, node, prints, program, python
from harness import SANITIZED, assert_refused, listed_of, returned_of, said_of

# What 24 MB of files cost on their way: as they are, in base64, in JSON.
FETCHED = 400_000 if SANITIZED else 160_000
FORGE = program("forge.py").code


def forged(code):
    return python(FORGE + code)


NOT_FILES = """
import os, socket
for name, target in (("p", "/etc/passwd"), ("e", "/proc/1/environ"), ("d", "/etc"), ("l", "l"),
                     ("x.png", "/proc/1/mem"), ("z", "/dev/zero"), ("c", "code.py")):
    os.symlink(target, name)
os.mkfifo("fifo")
os.mkdir("sub")
os.mkfifo("sub/fifo.txt")
socket.socket(socket.AF_UNIX).bind("socket")
os.link("code.py", "hard")
open("secret", "w").write("x")
os.chmod("secret", 0)
os.mkdir("closed")
open("closed/x", "w").write("x")
os.chmod("closed", 0)
open("ok", "w").write("ok")
"""
ODD_NAMES = r"""
import os
for name in (b"new\nline", b"entry\n1 1 1|x", b"tab\t", b"\x1b[31m", b"\x7f", b"\xff\xfe", b"n" * 255, b"-rf", b"...",
             b"..x", b"a|b", b" ", b"|", b"\\036", b"x\r", "\u202egnp.exe".encode(), b"'; kill -9 1; '",
             b"$(reboot)", b"&amp;", b"%2e%2e"):
    with open(name, "wb") as file:
        file.write(b"x")
for depth in range(8):
    os.mkdir(b"d" * 250)
    os.chdir(b"d" * 250)
with open("deep", "w") as file:
    file.write("deep")
"""


def test_what_is_no_file_does_not_come(engine, enter):
    arena = enter(engine)
    result = arena.call(python(NOT_FILES), outputs=["*"])
    assert facts_of(result)["exit_code"] == 0
    assert set(listed_of(result)) == {"ok", "hard", "secret"}
    assert returned_of(result) == {"hard": NOT_FILES.encode(), "ok": b"ok"}
    arena.settle()


def test_odd_names(engine, enter):
    arena = enter(engine)
    result = arena.call(python(ODD_NAMES), outputs=["*"])
    assert facts_of(result)["exit_code"] == 0, result
    expected = {"n" * 255, "-rf", "a|b", " ", "|", "\\036", "\u202egnp.exe", "'; kill -9 1; '", "$(reboot)", "&amp;",
                "%2e%2e"}
    assert set(listed_of(result)) == expected
    assert returned_of(result) == {name: b"x" for name in sorted(expected, key=str.encode)}
    # Those with control characters, not in UTF-8, and of too long a path.
    assert result["structuredContent"]["files_left_out"] == 8
    arena.settle()


MASSES = [
    # Sparse files of 200 MB: none comes, though all are asked for.
    ("for n in range(40): open(f's{n:02}', 'wb').truncate(200 << 20)", 40, 0),
    # Of these only as many as fit.
    ("for n in range(40): open(f's{n:02}', 'wb').truncate(10 << 20)", 40, 2),
    ("for n in range(5000): open(f'{n:04}', 'w')", 200, 200),
    ("import os\nfor n in range(300): os.makedirs(f'd{n}/' + 'e/' * 50); open(f'd{n}/f', 'w')", 200, 200),
    # Named an image, and of more than comes unasked.
    ("open('huge.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + bytes(30 << 20))", 1, 0),
]


@pytest.mark.parametrize("code, listed, returned", MASSES, ids=["sparse", "large", "thousands", "deep", "huge image"])
def test_masses(podman, enter, code, listed, returned):
    arena = enter(podman)
    result = arena.call(python(code), outputs=["*"])
    assert (len(listed_of(result)), len(returned_of(result))) == (listed, returned), said_of(result)[-200:]
    arena.settle(FETCHED)


# A process that the program leaves behind would have its turn while files are
# fetched: it is gone by then.
SWAP = """
import os, time
for name in ("grows", "fifo", "gone"):
    open(name, "wb").write(b"x" * 30_000)
if os.fork() == 0:
    os.setsid()
    while True:
        with open("grows", "ab") as file: file.write(b"y" * 1000)
        try:
            os.remove("fifo")
            os.mkfifo("fifo")
        except OSError:
            pass
        os.system("rm -f gone")
while os.path.exists("gone"):
    time.sleep(0.01)
"""


def test_files_that_change_while_they_are_fetched(podman, enter):
    arena = enter(podman)
    result = arena.call(python(SWAP), outputs=["*"])
    assert set(listed_of(result)) == {"grows"}
    [data] = returned_of(result).values()
    assert len(data) == listed_of(result)["grows"]
    arena.settle(FETCHED)


FIGURES = "/home/sandbox/.sandbox"
FIGURE_ABUSE = [
    ("import os; os.makedirs(D)\nos.symlink('/etc', D + '/figures')", 0),
    ("import os; os.makedirs(D + '/figures')\nos.symlink('/etc/passwd', D + '/figures/figure-01.png')", 0),
    ("import os; os.makedirs(D + '/figures')\nos.mkfifo(D + '/figures/figure-01.png')", 0),
    ("import os; os.makedirs(D)\nopen(D + '/figures', 'w').write('x')", 0),
    ("import os; os.makedirs(D + '/figures')\n"
     "for n in range(300): open(f'{D}/figures/figure-{n}.png', 'wb').truncate(4 << 20)", 200),
    ("import os; os.makedirs(D + '/figures/sub')\nopen(D + '/figures/sub/../x.png', 'wb').write(b'text')", 1),
    ("import os, matplotlib.pyplot as plt\nos.makedirs(D)\nopen(D + '/figures', 'w').write('x')\nplt.plot([1])", 0),
]


def test_figures_that_are_none(podman, enter):
    arena = enter(podman)
    for code, listed in FIGURE_ABUSE:
        result = arena.call(python(f"D = {FIGURES!r}\n{code}"))
        assert len(listed_of(result)) == listed, (code, result["structuredContent"])
        assert not [item for item in result["content"] if item["type"] == "image"], "bytes that are no image"
    arena.settle(FETCHED)


# --- the runner's own words --------------------------------------------------

FORGED = [
    # Files that are not there.
    ("say('entry 5 1 1|./fake.txt'); say('data ' + base64.b64encode(b'hello').decode()); say('answered')\n"
     "say('stays'); say('exit 0', 1, 2); import time; time.sleep(300)"),
    # Names that would lead elsewhere, and numbers that are none.
    ("for e in ('5 1 1|../x', '5 1 1|/etc/passwd', '5 1 1|./../x', '-1 1 1|./a', '99999999999999999999 1|./b', '|',\n"
     "          'x|y', '5 1 1|./', '5 1 1|./a//b', '5 1 1|/home/sandbox/.sandbox/figures/../../x', '5|./c',\n"
     "          '5 1 1|./\\xff'):\n"
     "    say(b'entry ' + e.encode('latin-1'))\nopen('real', 'w').write('real')"),
    # Far more than is there.
    ("for n in range(100_000): say(f'entry 1000000 1 {\"x\" * 100}|./f{n}')\nopen('real', 'w').write('real')"),
    ("for n in range(3000): say(f'entry 1 1 {\"x\" * 8000}|./f{n}')\nopen('real', 'w').write('real')"),
    ("for n in range(20_000): say('value ' + 'eHh4' * 500)\nsay('value !!!'); say('value')"),
    ("for n in range(20_000): say('note ' + 'x' * 2000); say('failed'); say('answered'); say('data eHh4')"),
    ("for w in ('ready', 'absent', 'started', 'done 0', 'done 99999999999', 'exit', 'exit x', 'signal -1', 'unknown',\n"
     "          ''): say(w)\nprint('end')"),
    ("os.write(1, b'\\036' + NONCE + b' entry ' + b'x' * 5_000_000)"),
]


@pytest.mark.parametrize("code", FORGED, ids=[
    "files", "names", "entries", "long entries", "values", "notes", "all words", "endless line"])
def test_forged_words(podman, enter, code):
    """One valid message comes back, and the server is as it was."""
    arena = enter(podman)
    held = Held("open('own.txt', 'w').write('own'); print('unharmed')")
    other = arena.server.start_call(held.code)
    held.wait()
    arena.server.forget_peak()
    result = arena.server.call(FORGE + code, timeout_seconds=10, outputs=["*"])
    arena.server.assert_quiet()
    assert result["isError"] is False
    assert not [path for path in listed_of(result) if path.startswith(("/", "..")) or "/../" in path]
    assert "value" not in result["structuredContent"], "that is for sessions"
    held.go()
    unharmed = arena.server.result(other)
    assert facts_of(unharmed)["stdout"] == "unharmed\n"
    assert returned_of(unharmed) == {"own.txt": b"own"}
    arena.settle(FETCHED)
    prints("next\n").check(arena.call(node("console.log('next')")))


PATHS = ["../x", "/etc/x", "a/../../x", "x\ny", "x\ncode 5", "..", ".", "/", "", "a\0b", "\x1b", "a//b", "a/"]


def test_paths_out_of_the_directory_are_refused(podman, enter):
    server = enter(podman).server
    for path in PATHS:
        assert_refused(server.call("print(1)", files=[{"path": path, "text": "x"}]))
        assert_refused(server.call("print(1)", outputs=[path]))
