"""What a call brings besides code, and the files that come back."""

import base64
import hashlib
import json
import random

import pytest
from fixtures import one_for_many
from harness import assert_refused, assert_success, facts, facts_of, listed_of, returned_of, said_of

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=")
BINARY = bytes(range(256)) * 3
READ_ALL = """
import os
for where, _, names in sorted(os.walk(".")):
    for name in sorted(names):
        if name != "code.py":
            with open(os.path.join(where, name), "rb") as file:
                print(os.path.join(where, name)[2:], file.read())
"""
READ_ALL_JS = """
const fs = require("fs"), path = require("path");
for (const entry of fs.readdirSync(".", { recursive: true }).sort())
  if (entry !== "code.js" && fs.statSync(entry).isFile())
    console.log(JSON.stringify([entry, fs.readFileSync(entry).toString("hex")]));
"""
ODD_NAMES = ["with space.txt", "-rf", "--help", "ünï/çødé 漢字.txt", "a'b\"c$d`e;f&g|h*?[x]\\", "~", "x" * 255, "#",
             "a=b", "deep/er/and/deep.er/x", "...", ".hidden", "%41"]


def blob(data):
    return base64.b64encode(data).decode()


@pytest.fixture(scope="module")
def plain_interpreter(podman):
    yield from one_for_many(podman, "--interpreter", "plain", pool=1)


# --- in ----------------------------------------------------------------------


def test_files_in(shared):
    files = [{"path": "a.txt", "text": "ä\r\nb"}, {"path": "sub/dir/b.bin", "base64": blob(BINARY)},
             {"path": "empty", "text": ""}, {"path": "nul", "text": "a\0b"}]
    expected = {"a.txt": "ä\r\nb".encode(), "empty": b"", "nul": b"a\0b", "sub/dir/b.bin": BINARY}
    result = shared.call(READ_ALL, files=files)
    assert_success(result, "\n".join(f"{path} {data}" for path, data in expected.items()))
    result = shared.call(READ_ALL_JS, "run_js_code", files=files)
    assert_success(result, "\n".join(f'["{path}","{data.hex()}"]' for path, data in expected.items()))


def test_odd_names(podman_shared):
    """As they are, whatever a shell or a tool would make of them."""
    result = podman_shared.call(READ_ALL, files=[{"path": name, "text": name} for name in ODD_NAMES])
    expected = [f"{name} {name.encode()}" for name in ODD_NAMES]
    assert sorted(facts_of(result)["stdout"].splitlines()) == sorted(expected)
    assert listed_of(result) == {}


def test_files_of_the_most_bytes_that_may_be(podman_shared):
    data = b"0123456789abcdef" * (16 * 1024 * 1024 // 64)
    files = [{"path": f"{number}", "text": data.decode()} for number in range(4)]
    code = "import hashlib\nfor n in '0123': print(hashlib.md5(open(n, 'rb').read()).hexdigest())"
    assert_success(podman_shared.call(code, files=files), "\n".join(4 * [hashlib.md5(data).hexdigest()]))


def test_files_do_not_stay(podman_shared):
    podman_shared.call("open('new', 'w').write('x')", files=[{"path": "given", "text": "x"}], stdin="x", args=["x"])
    assert_success(podman_shared.call("import os, sys; print(os.listdir(), sys.argv, [*sys.stdin])"),
                   "['code.py'] ['code.py'] []")


STDIN = ["", "one line\n", "no newline", "ä漢😀\r\n\0x\n\n", "%s\\n$(id)\n"]


@pytest.mark.parametrize("tool, code", [
    ("run_python_code", "import sys; sys.stdout.write(sys.stdin.buffer.read().hex())"),
    ("run_js_code", "process.stdout.write(require('fs').readFileSync(0).toString('hex'))"),
], ids=["Python", "JavaScript"])
def test_stdin(podman_shared, tool, code):
    for text in STDIN:
        assert facts_of(podman_shared.call(code, tool, stdin=text)) == facts(text.encode().hex())


def test_stdin_by_lines(podman_shared):
    code = "import sys; print(input('? '), [*sys.stdin])"
    assert_success(podman_shared.call(code, stdin="a\nb\nc"), "? a ['b\\n', 'c']")
    code = "process.stdin.on('data', (d) => console.log(String(d))).on('end', () => console.log('end'))"
    assert_success(podman_shared.call(code, "run_js_code", stdin="a\nb"), "a\nb\nend")


def test_stdin_of_5_mb(shared):
    text = "ä234567890\n" * (5_000_000 // 12)
    digest = hashlib.md5(text.encode()).hexdigest()
    assert_success(shared.call("import sys, hashlib; print(hashlib.md5(sys.stdin.buffer.read()).hexdigest())",
                               stdin=text), digest)
    code = ("const h = require('crypto').createHash('md5');"
            "process.stdin.on('data', (d) => h.update(d)).on('end', () => console.log(h.digest('hex')))")
    assert_success(shared.call(code, "run_js_code", stdin=text), digest)


ARGS = ["", "a b", "-c", "--help", "ä漢😀", "line\nline\n", "\n", "$HOME `id` $(id)", "'\"\\", "*", "\x7f\x01", "."]


def test_args(podman_shared):
    expected = json.dumps(ARGS)
    assert_success(podman_shared.call("import sys, json; print(json.dumps(sys.argv[1:]))", args=ARGS), expected)
    result = podman_shared.call("console.log(JSON.stringify(process.argv.slice(2)))", "run_js_code", args=ARGS)
    assert json.loads(facts_of(result)["stdout"]) == ARGS


def test_many_args(podman_shared):
    code = "import sys; print(len(sys.argv), {len(word) for word in sys.argv[1:]})"
    assert_success(podman_shared.call(code, args=100 * ["x" * 655]), "101 {655}")


def test_plain_interpreter(plain_interpreter):
    """The same where the runner itself takes in the call."""
    server = plain_interpreter
    result = server.call(READ_ALL, files=[{"path": "sub/b", "base64": blob(BINARY)}, {"path": "-a b", "text": "ä"}])
    assert_success(result, f"-a b {'ä'.encode()}\nsub/b {BINARY}")
    code = "import sys, json; print(json.dumps([sys.argv[1:], sys.stdin.read()])); open('o.txt', 'w').write('out')"
    result = server.call(code, args=ARGS, stdin="ä\n\nx")
    assert json.loads(facts_of(result)["stdout"]) == [ARGS, "ä\n\nx"]
    assert returned_of(result) == {"o.txt": b"out"}
    code = ("const fs = require('fs'); fs.writeFileSync('o.txt', 'out');"
            "console.log(JSON.stringify([process.argv.slice(2), fs.readFileSync(0, 'utf8')])); process.exit(3)")
    result = server.call(code, "run_js_code", args=ARGS, stdin="ä\n\nx")
    assert json.loads(facts_of(result)["stdout"]) == [ARGS, "ä\n\nx"]
    assert facts_of(result)["exit_code"] == 3
    assert returned_of(result) == {"o.txt": b"out"}


# --- out ---------------------------------------------------------------------

WRITE = """
import base64, os
os.makedirs("sub/dir")
def write(name, data):
    with open(name, "wb") as file:
        file.write(data)
write("a.csv", "x,ä\\n".encode())
write("sub/dir/b.bin", bytes(range(256)))
write("c.png", base64.b64decode("%s"))
write("no.png", b"text")
write("empty", b"")
write("large.txt", b"x" * 70000)
""" % blob(PNG)


def test_files_out(shared):
    result = shared.call(WRITE)
    assert result["isError"] is False
    assert listed_of(result) == {"a.csv": 5, "c.png": len(PNG), "empty": 0, "large.txt": 70000, "no.png": 4,
                                 "sub/dir/b.bin": 256}
    assert returned_of(result) == {"a.csv": "x,ä\n".encode(), "c.png": PNG, "empty": b"", "no.png": b"text",
                                   "sub/dir/b.bin": bytes(range(256))}
    assert [item["type"] for item in result["content"]] == ["text", "resource", "image", *3 * ["resource"]]
    text, image, empty, no_image, binary = result["content"][1:]
    assert text["resource"] == {"uri": "sandbox://files/a.csv", "mimeType": "text/csv", "text": "x,ä\n"}
    assert image["mimeType"] == "image/png"
    assert empty["resource"]["text"] == ""
    assert no_image["resource"]["mimeType"] == "text/plain"
    assert binary["resource"]["mimeType"] == "application/octet-stream" and "blob" in binary["resource"]
    files = said_of(result).partition("[files]\n")[2].splitlines()
    assert files[0] == "a.csv (text/csv, 5 bytes)"
    assert "large.txt (text/plain, 70000 bytes, not returned)" in files
    assert "outputs" in files[-1]


def test_outputs_bring_large_files(shared):
    code = "import os, random; random.seed(7)\nos.mkdir('out')\n" \
           "for name in ('out/a.bin', 'out/b.bin', 'c.bin'): open(name, 'wb').write(random.randbytes(3_000_001))"
    result = shared.call(code, outputs=["out/*.bin", "nothing"])
    random.seed(7)
    expected = {"out/a.bin": random.randbytes(3_000_001), "out/b.bin": random.randbytes(3_000_001)}
    assert listed_of(result) == {"c.bin": 3_000_001, "out/a.bin": 3_000_001, "out/b.bin": 3_000_001}
    assert returned_of(result) == expected
    code = "require('fs').writeFileSync('l.txt', 'ä'.repeat(1500000))"
    result = shared.call(code, "run_js_code", outputs=["l.txt"])
    assert returned_of(result) == {"l.txt": 1_500_000 * "ä".encode()}


def test_outputs_are_limited(podman_shared):
    """One of more than 16 MB does not come, nor more than 24 MB together."""
    code = "for n, m in (('a', 17), ('b', 15), ('c', 15), ('d', 1)): open(n, 'wb').write(b'x' * (m << 20))"
    result = podman_shared.call(code, outputs=["*"])
    assert listed_of(result) == {"a": 17 << 20, "b": 15 << 20, "c": 15 << 20, "d": 1 << 20}
    assert {name: len(data) for name, data in returned_of(result).items()} == {"b": 15 << 20, "d": 1 << 20}


def test_only_what_the_program_wrote_is_listed(podman_shared):
    """Of the files that came with the call, those that were changed."""
    files = [{"path": f"{name}.txt", "text": "given"} for name in ("same", "changed", "read", "removed", "sub/same")]
    code = ("import os; open('read.txt').read(); os.remove('removed.txt')\n"
            "open('changed.txt', 'w').write('other'); open('new.txt', 'w').write('new')")
    result = podman_shared.call(code, files=files)
    assert returned_of(result) == {"changed.txt": b"other", "new.txt": b"new"}
    assert list(listed_of(result)) == ["changed.txt", "new.txt"]


def test_given_files_under_new_names(podman_shared):
    """They are the program's work, although their date and content are not."""
    files = [{"path": name, "text": name} for name in ("a", "b", "c")]
    result = podman_shared.call("import os, shutil; os.rename('a', 'moved'); shutil.copy2('b', 'copied')", files=files)
    assert returned_of(result) == {"copied": b"b", "moved": b"a"}


def test_given_files_in_another_time_zone(podman, serve):
    server = serve(podman, "--pass-through-env", "TZ", env={"TZ": "Asia/Tokyo"})
    code = "import time; print(time.tzname[0], open('a').read())"
    assert_success(server.call(code, files=[{"path": "a", "text": "given"}]), "JST given")


def test_patterns(podman_shared):
    """Two stars stand for any directory, and for none."""
    code = "import os; os.makedirs('d/e')\nfor n in ('a.x', 'd/a.x', 'd/e/a.x'): open(n, 'wb').write(bytes(70_000))"
    for pattern, names in (("**/*.x", ["a.x", "d/a.x", "d/e/a.x"]), ("d/**/*.x", ["d/a.x", "d/e/a.x"]),
                           ("**/e/*", ["d/e/a.x"]), ("a.x", ["a.x"])):
        assert list(returned_of(podman_shared.call(code, outputs=[pattern]))) == names


def test_a_plain_call_lists_nothing(podman_shared):
    """Neither the program itself, nor caches, hidden files, and what is
    elsewhere."""
    code = ("import os, tempfile\nos.makedirs('__pycache__'); os.mkdir('.cache'); os.mkdir('node_modules')\n"
            "for name in ('__pycache__/x', '.cache/x', 'node_modules/x', '.x', '/tmp/x', os.environ['HOME'] + '/x'):\n"
            "  open(name, 'w').write('x')\nprint('done')")
    assert_success(podman_shared.call("print('done')"), "done")
    assert_success(podman_shared.call(code), "done")
    assert_success(podman_shared.call("console.log('done')", "run_js_code"), "done")


def test_nothing_printed_but_a_file(podman_shared):
    assert said_of(podman_shared.call("open('x', 'w').write('x')")) == (
        "The program ended without an error and printed nothing.\n\n[files]\nx (text/plain, 1 bytes)")


@pytest.mark.parametrize("end, exit_code, signal", [
    ("raise ValueError('no')", 1, None), ("import sys; sys.exit(7)", 7, None),
    ("import os; os.kill(os.getpid(), 9)", None, "SIGKILL"), ("import ctypes; ctypes.string_at(0)", None, "SIGSEGV"),
], ids=["exception", "exit", "killed", "segfault"])
def test_files_of_a_program_that_fails(podman_shared, end, exit_code, signal):
    result = podman_shared.call(f"print('x')\nwith open('part.txt', 'w') as f: f.write('half')\n{end}")
    assert (facts_of(result)["exit_code"], facts_of(result)["signal"]) == (exit_code, signal)
    assert returned_of(result) == {"part.txt": b"half"}
    told = json.loads(said_of(result))
    assert told["exit_code"] == exit_code
    assert [(file["path"], file["size"], file["returned"]) for file in told["files"]] == [("part.txt", 4, True)]


def test_many_files(podman_shared):
    """The ten first come, 200 are listed, the others are counted."""
    code = "for n in range(250): open(f'{n:03}.txt', 'w').write(str(n))"
    result = podman_shared.call(code)
    assert list(listed_of(result)) == [f"{number:03}.txt" for number in range(200)]
    assert returned_of(result) == {f"{number:03}.txt": str(number).encode() for number in range(10)}
    assert result["structuredContent"]["files_left_out"] == 50
    assert "50 more left out" in said_of(result)


def test_more_files_than_are_looked_at(podman_shared, begin):
    """Those that are left out are the oldest, and are counted."""
    old = "import os\nfor n in range(2500): open(f'{n:04}', 'w').close(); os.utime(f'{n:04}', (n + 1, n + 1))\n"
    result = podman_shared.call(old + "open('new', 'w').write('new')", outputs=["new"])
    assert returned_of(result)["new"] == b"new"
    assert len(listed_of(result)) + result["structuredContent"]["files_left_out"] == 2501
    session = begin(podman_shared, code=old)
    result = session.call("open('new', 'w').write('new')")
    assert returned_of(result) == {"new": b"new"}
    assert "files_left_out" not in result["structuredContent"], "they have been counted"


def test_odd_names_come_back(podman_shared):
    code = f"import os; os.mkdir('ünï'); os.makedirs('deep/er/and/deep.er')\n" \
           f"for name in {[name for name in ODD_NAMES if name[0] != '.']!r}: open(name, 'w').write(name)"
    result = podman_shared.call(code, outputs=["*"])
    expected = sorted((name for name in ODD_NAMES if name[0] != "."), key=str.encode)
    assert list(listed_of(result)) == expected
    assert returned_of(result) == {name: name.encode() for name in expected}


def test_old_revisions_get_the_files_too(podman, serve):
    """Without facts, links and sounds, which they do not know."""
    server = serve(podman, revision="2024-11-05")
    result = server.call(WRITE + "write('s.wav', b'RIFF')")
    assert set(result) == {"content", "isError"}
    assert [item["type"] for item in result["content"]] == ["text", "resource", "image", *4 * ["resource"]]


# --- what cannot be put in place ---


def unplaced(result, name):
    assert_refused(result, "was not run", "could not be put in place")
    assert said_of(result).splitlines()[-1] == name


def test_a_directory_is_in_the_way(podman_shared):
    """What should have been the file is not taken for anything else."""
    code = "code 14\nconsole.log(1)"
    result = podman_shared.call("console.log(0)", "run_js_code", files=[{"path": "node_modules", "text": code}])
    unplaced(result, "node_modules")


def test_the_session_stays(podman_shared, begin):
    """... as it was, and what was meant for one call is not there for the next."""
    session = begin(podman_shared, code="import os, sys; open('file', 'w').write('x'); os.mkdir('dir'); os.mkfifo('fifo')\n"
                                 "open('closed', 'w').write('x'); os.chmod('closed', 0)")
    for path in ("dir", "file/x.csv"):
        files = [{"path": path, "text": "code 8\nprint(1)"}, {"path": "fine", "text": "fine"}]
        unplaced(session.call("print(0)", files=files, args=["stale"], stdin="stale"), path)
        assert session.value("sys.argv[1:], sys.stdin.read()") == "([], '')"
    files = [{"path": path, "text": "new"} for path in ("closed", "fifo")]
    assert session.value("open('closed').read(), open('fifo').read()", files=files) == "('new', 'new')"


# --- refused -----------------------------------------------------------------

REFUSED = [
    ({"files": "x"}, '"files" must be an array'),
    ({"files": ["x"]}, 'must be an object with "path"'),
    ({"files": [{"text": "x"}]}, 'must have a "path"'),
    ({"files": [{"path": 1, "text": "x"}]}, 'must have a "path"'),
    ({"files": [{"path": "x"}]}, 'either "text" or "base64"'),
    ({"files": [{"path": "x", "text": "x", "base64": ""}]}, 'either "text" or "base64"'),
    ({"files": [{"path": "x", "text": 1}]}, 'either "text" or "base64"'),
    ({"files": [{"path": "x", "base64": "eA="}]}, "is not base64"),
    ({"files": [{"path": "x", "base64": "e A=="}]}, "is not base64"),
    ({"files": [{"path": "x", "content": "x"}]}, 'has "content"; it takes "path"'),
    ({"files": [{"path": "", "text": "x"}]}, "A path is empty"),
    ({"files": [{"path": "../x", "text": "x"}]}, 'must not have "." or ".."'),
    ({"files": [{"path": "a/../../x", "text": "x"}]}, 'must not have "." or ".."'),
    ({"files": [{"path": "a/..", "text": "x"}]}, 'must not have "." or ".."'),
    ({"files": [{"path": "./x", "text": "x"}]}, 'must not have "." or ".."'),
    ({"files": [{"path": "/etc/x", "text": "x"}]}, "is absolute"),
    ({"files": [{"path": "a//x", "text": "x"}]}, "has an empty part"),
    ({"files": [{"path": "a/", "text": "x"}]}, "has an empty part"),
    ({"files": [{"path": "a\nfile 1 x", "text": "x"}]}, "control characters"),
    ({"files": [{"path": "a\0b", "text": "x"}]}, "control characters"),
    ({"files": [{"path": "x" * 256, "text": "x"}]}, "a name of 256 bytes"),
    ({"files": [{"path": "/".join(["x" * 200] * 6), "text": "x"}]}, "the limit is 1024"),
    ({"files": [{"path": "code.py", "text": "x"}]}, "is taken: the program itself"),
    ({"files": [{"path": "code.py/x", "text": "x"}]}, "is taken: the program itself"),
    ({"files": 2 * [{"path": "x", "text": "x"}]}, "cannot both be"),
    ({"files": [{"path": "x", "text": "x"}, {"path": "x/y", "text": "x"}]}, "cannot both be"),
    ({"files": 101 * [{"path": "x", "text": "x"}]}, "has 101 items; the limit is 100"),
    ({"files": [{"path": "x", "text": "x" * 16_000_000}, {"path": "y", "text": "x" * 1_000_000}]},
     "17000000 bytes together"),
    ({"stdin": 1}, '"stdin" must be a string'),
    ({"stdin": ["x"]}, '"stdin" must be a string'),
    ({"stdin": "x" * (16 * 1024 * 1024 + 1)}, "the limit is 16777216"),
    ({"args": "x"}, '"args" must be an array of strings'),
    ({"args": ["x", 1]}, '"args" must be an array of strings'),
    ({"args": ["a\0b"]}, "contains a NUL"),
    ({"args": 101 * ["x"]}, "has 101 items; the limit is 100"),
    ({"args": ["x" * 65537]}, "the limit is 65536"),
    ({"outputs": "*"}, '"outputs" must be an array of strings'),
    ({"outputs": ["../x"]}, 'must not have "." or ".."'),
    ({"outputs": ["/etc/*"]}, "is absolute"),
    ({"outputs": ["a\nb"]}, "control characters"),
    ({"outputs": ["x" * 201]}, "has 201 bytes; the limit is 200"),
    ({"outputs": 21 * ["x"]}, "has 21 items; the limit is 20"),
    ({"file": []}, 'no argument "file"; this tool takes: code'),
]


def test_refused_arguments(plain):
    for arguments, words in REFUSED:
        assert_refused(plain.call("print(1)", **arguments), words)
    assert_refused(plain.call("1", "run_js_code", files=[{"path": "code.js", "text": ""}]), "is taken: the program")


def test_null_is_none(podman_shared):
    assert_success(podman_shared.call("import sys; print(sys.argv, [*sys.stdin])", files=None, stdin=None, args=None,
                               outputs=None), "['code.py'] []")
    assert_success(podman_shared.call("print(1)", files=[], stdin="", args=[], outputs=[]), "1")


def test_no_shell_in_the_image(noshell):
    """Nothing but code can be brought in there, and no file comes back; that is said."""
    for arguments in ({"files": [{"path": "x", "text": "x"}]}, {"stdin": "x"}, {"args": ["x"]}, {"outputs": ["*"]}):
        assert_refused(noshell.call("print(1)", **arguments), "has no shell", "leave out files, outputs")
    assert_success(noshell.call("print(1)", outputs=[]), "1")
