"""code-sandbox-mcp run: what goes in and out besides the program's own words."""

import base64
import os
import pty
import re
import subprocess
import threading

import pytest
from command import Run
from harness import PATIENCE

PNG = b"\x89PNG\r\n\x1a\n"
PLOT = """
import matplotlib.pyplot as plt
plt.plot([1, 2, 3])
plt.show()
"""
COPY = "import sys; print(sys.argv[1:], sys.stdin.read())"


class OnTerminal(Run):
    """The same, with a terminal for its output."""

    def __init__(self, engine, *words, env=None, **named):
        self.master, slave = pty.openpty()
        super().__init__(engine, *words, env={"TERM": "xterm-256color", **(env or {})},
                         **{"stdout": slave, "stderr": slave, **named})
        os.close(slave)
        self.pieces = []
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        while True:
            try:
                piece = os.read(self.master, 65536)
            except OSError:  # nobody has the other end any more
                return
            if not piece:
                return
            self.pieces.append(piece)

    def finish_on_terminal(self):
        """Its exit status, and every byte that the terminal got."""
        status = self.finish()[0]
        self.reader.join(PATIENCE)
        os.close(self.master)
        return status, b"".join(self.pieces)


def visible(data):
    """The lines that a person sees in the end."""
    lines = []
    for line in data.decode().split("\n"):
        shown = ""
        for part in re.split(r"(\r|\033\[K)", line.removesuffix("\r")):
            shown = "" if part in ("\r", "\033[K") else shown + part
        lines.append(shown)
    return lines


# --- what goes in ----------------------------------------------------------------


READ = """
import sys
print(sys.argv[1:], sys.stdin.read())
print(open('data.csv').read(), open('in/other').read(), open('b=c', 'rb').read() == bytes(range(256)))
"""


def test_files_arguments_and_stdin(engine, program, place):
    (place / "data.csv").write_bytes(b"1,2\n")
    (place / "b=c").write_bytes(bytes(range(256)))
    words = ["a b", "--verbose", "", "ä'\"\n$x", "--"]
    run = Run(engine, "--file", place / "data.csv", "--file", f"{place / 'data.csv'}=in/other",
              "--file", place / "b=c", "--stdin", place / "data.csv", program(READ), *words)
    status, out, err = run.finish()
    assert (status, out) == (0, f"{words} 1,2\n\n1,2\n 1,2\n True\n"), err
    assert "left in the sandbox" not in err


def test_arguments_behind_dashes(podman, program):
    status, out, err = Run(podman, program("import sys; print(sys.argv[1:])"), "--", "--flag").finish()
    assert (status, out) == (0, "['--flag']\n"), err


def test_arguments_of_a_program_from_stdin(podman):
    run = Run(podman, "--language", "javascript", "-", "a", "-b", stdin=subprocess.PIPE)
    status, out, err = run.finish("console.log(process.argv.slice(2))")
    assert (status, out) == (0, "[ 'a', '-b' ]\n"), err


def test_stdin_from_ours(podman, program):
    run = Run(podman, "--stdin", "-", program(COPY), "x", stdin=subprocess.PIPE)
    status, out, err = run.finish("typed")
    assert (status, out) == (0, "['x'] typed\n"), err


def test_stdin_for_a_program_from_stdin(podman, place):
    (place / "data").write_text("data")
    run = Run(podman, "--language", "python", "--stdin", place / "data", stdin=subprocess.PIPE)
    status, out, err = run.finish(COPY)
    assert (status, out) == (0, "[] data\n"), err


# --- what comes out --------------------------------------------------------------

WRITE = """
import os
os.makedirs("sub")
for name in ("a.csv", "b.csv", "c.txt", "sub/d.csv", ".hidden.csv"):
    open(name, "w").write(name)
"""


def test_output_and_figures(engine, program, place):
    run = Run(engine, "--output", "*.csv", "--output", "sub/d.csv", "--output-dir", place, program(WRITE + PLOT + PLOT))
    status, out, err = run.finish()
    assert (status, out) == (0, ""), err
    assert (place / "a.csv").read_text() == "a.csv"
    assert (place / "b.csv").read_text() == "b.csv"
    assert (place / "sub/d.csv").read_text() == "sub/d.csv"
    assert not (place / "c.txt").exists()
    assert not (place / ".hidden.csv").exists()
    assert "left in the sandbox" in err and "c.txt (5 B)" in err and "a.csv" not in err
    assert "figure-1.png to figure-2.png" in err
    for name in ("figure-1.png", "figure-2.png"):
        assert (place / name).read_bytes().startswith(PNG)


def test_output_in_the_current_directory(podman, program, place):
    status, _, err = Run(podman, "--output", "a.csv", program("open('a.csv', 'w').write('x')"), cwd=place).finish()
    assert (status, err) == (0, "")
    assert (place / "a.csv").read_text() == "x"


def test_nothing_is_overwritten(podman, program, place):
    (place / "a.csv").write_text("old")
    words = ["--output", "*.csv", "--output-dir", place, program("open('a.csv', 'w').write('new')")]
    status, _, err = Run(podman, *words).finish()
    assert status == 125 and "--force" in err
    assert (place / "a.csv").read_text() == "old"
    status, _, err = Run(podman, "--force", *words).finish()
    assert (status, err) == (0, "")
    assert (place / "a.csv").read_text() == "new"


def test_nothing_is_written_through_a_link(podman, program, place):
    (place / "out").mkdir()
    (place / "out/sub").symlink_to(place)
    (place / "out/a.csv").symlink_to(place / "a.csv")
    run = Run(podman, "--output", "*.csv", "--output", "sub/*.csv", "--output-dir", place / "out", program(WRITE))
    status, _, err = run.finish()
    assert status == 125 and "sub/d.csv is not saved" in err and "a.csv is not saved" in err
    assert sorted(path.name for path in place.iterdir()) == ["out"]
    assert (place / "out/b.csv").read_text() == "b.csv"


def test_output_of_a_program_that_fails(podman, program, place):
    run = Run(podman, "--output", "a", "--output-dir", place, program("open('a', 'w').write('x'); raise SystemExit(3)"))
    assert run.finish()[0] == 3
    assert (place / "a").read_text() == "x"


def test_output_that_was_never_written(podman, program, place):
    """Whoever goes by the status counts on the file."""
    status, out, err = Run(podman, "--output", "a.csv", "--output-dir", place, program("print(1)")).finish()
    assert (status, out) == (125, "1\n") and "left no a.csv" in err


def test_files_that_were_not_asked_for(podman, program):
    status, _, err = Run(podman, program("open('a.csv', 'w').write('x' * 1234)")).finish()
    assert status == 0
    assert err == "code-sandbox-mcp: left in the sandbox: a.csv (1.2 kB); --output saves it\n"


# --- figures ---------------------------------------------------------------------


def test_figures_are_shown(podman, program, place):
    run = OnTerminal(podman, "--output-dir", place, program("print('before')" + PLOT), env={"KITTY_WINDOW_ID": "1"})
    status, data = run.finish_on_terminal()
    assert status == 0, data
    assert data.index(b"before") < data.index(b"\033_G")
    chunks = re.findall(rb"\033_G([^;]*);([^\033]*)\033\\", data)
    assert chunks[0][0] == b"a=T,f=100,q=2,m=" + (b"1" if len(chunks) > 1 else b"0")
    assert [keys for keys, _ in chunks[1:]] == [b"m=1"] * (len(chunks) - 2) + [b"m=0"] * (len(chunks) > 1)
    assert all(len(text) == 4096 for _, text in chunks[:-1])
    assert base64.b64decode(b"".join(text for _, text in chunks), validate=True).startswith(PNG)
    assert list(place.iterdir()) == []


def test_figures_are_saved_when_stdout_is_no_terminal(podman, program, place):
    run = Run(podman, "--output-dir", place, program(PLOT), env={"KITTY_WINDOW_ID": "1", "TERM": "xterm-kitty"})
    status, out, err = run.finish()
    assert (status, out) == (0, ""), err
    assert (place / "figure-1.png").read_bytes().startswith(PNG)


# --- while one waits -------------------------------------------------------------


def test_spinner(fake, program):
    """It is there while the image comes, and nothing of it is left."""
    status, data = OnTerminal(fake("image-missing pull-slow"), program("print('hello')")).finish_on_terminal()
    assert status == 0, data
    frames = re.findall(rb"\r\033\[K([|/\\-]) ([^\r\n]*) \((\d+) s\)", data)
    assert any(b"Copying blob" in text for _, text, _ in frames), data
    assert len({wheel for wheel, _, _ in frames}) == 4
    missing, pulled, *rest = visible(data)
    assert re.fullmatch("code-sandbox-mcp: image .* is missing: pulling it", missing)
    assert re.fullmatch("code-sandbox-mcp: image .*: pulled", pulled)
    assert rest == ["hello", ""]


@pytest.mark.parametrize(("env", "words"), [({"NO_COLOR": "1"}, []), ({"TERM": "dumb"}, []), ({"TERM": ""}, []),
                                            ({}, ["--verbose"])])
def test_no_spinner(fake, program, env, words):
    run = OnTerminal(fake("image-missing pull-slow"), *words, program("print('hello')"), env=env)
    status, data = run.finish_on_terminal()
    assert status == 0, data
    assert b"\033" not in data


def test_no_spinner_without_a_terminal(fake, program):
    """Though stdout is one."""
    run = OnTerminal(fake("image-missing pull-slow"), program("print('hello')"), stderr=subprocess.PIPE)
    _, _, err = run.finish()
    run.reader.join(PATIENCE)
    os.close(run.master)
    assert "\033" not in err
    assert b"".join(run.pieces) == b"hello\r\n"


def test_spinner_goes_when_it_fails(fake, program):
    status, data = OnTerminal(fake("image-missing pull-slow pull-fails"), program("print(1)")).finish_on_terminal()
    assert status == 125
    assert b"Copying blob" in data
    assert not [line for line in visible(data) if line.endswith(" s)")], visible(data)
    assert "503 Service Unavailable" in data.decode()
