"""Sessions: what stays between calls, what ends them, and what is left then."""

import re
import signal
import uuid

import pytest
from clock import Clock
from harness import (Server, Session, assert_refused, assert_success, facts_of, listed_of, resource_bytes, returned_of,
                     said_of, until)

PYTHON, NODE = "run_python_code", "run_js_code"
OVER = "The session is over"


def told(result):
    return result["structuredContent"]


def assert_over(server, session, *words):
    """Its handle is good for nothing any more, and its container is gone."""
    assert_refused(session.call("1"), f"There is no session {session.handle}", *words)
    assert_refused(session.end(), "There is no session of that handle")
    server.wait_no_containers()


# --- what stays --------------------------------------------------------------


def test_python_keeps_everything(shared, begin):
    session = begin(shared, code="import math\nx = 41\ndef f(): return x + 1\nclass C: pass\n"
                                 "open('a.txt', 'w').write('a')")
    assert returned_of(session.first) == {"a.txt": b"a"}
    assert said_of(session.first).endswith(f"[session]\n{session.handle}")
    assert session.prints("x += 1; print(f(), math.pi, open('a.txt').read(), C().__class__.__name__)") == (
        "43 3.141592653589793 a C\n")
    assert session.value("f()") == "43"
    assert session.value("_ + 1") == "44"
    assert session.value("from __future__ import annotations\ndef g(a: undefined): pass") is None
    assert session.value("def h(a: undefined): pass\ng, h = 1, 2\ng, h") == "(1, 2)"
    assert session.value("import asyncio\nasync def later(v): await asyncio.sleep(0.01); return v") is None
    assert session.value("r = await later(7)\nr") == "7"
    assert session.value("[await later(i) for i in range(3)]") == "[0, 1, 2]"


def test_await_as_in_a_notebook(podman_shared, begin):
    """Wherever in a snippet it stands, there is a loop for all of it."""
    session = begin(podman_shared, code="import asyncio\nasync def later(v): await asyncio.sleep(0.01); return v")
    assert session.value("tasks = [asyncio.create_task(later(n)) for n in range(3)]\n"
                         "await asyncio.gather(*tasks)") == "[0, 1, 2]"
    assert session.value("v = await later(7)\nasyncio.get_running_loop().is_running()") == "True"
    assert session.value("asyncio.run(later(8))") == "8"
    assert session.value("await later(9)") == "9"


def test_context_of_a_snippet_that_awaits(podman_shared, begin):
    """It is that of the session, also if the snippet fails, or is stopped."""
    session = begin(podman_shared, code="import asyncio, contextvars, decimal; v = contextvars.ContextVar('v')")
    session.call("await asyncio.sleep(0)\ndecimal.getcontext().prec = 5; v.set(7);")
    assert session.value("v.get(), decimal.Decimal(1) / 3") == "(7, Decimal('0.33333'))"
    session.call("v.set(8); await asyncio.sleep(0); 1 / 0")
    assert session.value("v.get()") == "8"
    session.call("v.set(9); await asyncio.sleep(300)", timeout_seconds=1)
    assert session.value("v.get()") == "9"


def test_javascript_keeps_everything(shared, begin):
    session = begin(shared, NODE, "const fs = require('fs'), k = 1; let x = 41; var y = 1;\n"
                                  "function f() { return x + y; }\nclass C {}\nfs.writeFileSync('a.txt', 'a');")
    assert returned_of(session.first) == {"a.txt": b"a"}
    assert session.prints("x++; console.log(f(), fs.readFileSync('a.txt', 'utf8'), new C())") == "43 a C {}\n"
    assert session.value("const k = 5, fs = require('fs'); let x = 2; class C {}; k + x") == "7"
    assert session.value("const v = await new Promise((r) => setTimeout(r, 10, 7)); v") == "7"
    assert session.value("v") == "7"
    assert session.value("import { sep, join as glue } from 'path'; import os, * as all from 'node:os';\n"
                         "[sep, glue('a', 'b'), typeof os.cpus, all.default === os]") == (
        "[ '/', 'a/b', 'function', true ]")
    assert session.value("const { basename } = await import('path'); basename('/a/b')") == "'b'"
    assert session.value("glue('c', basename('d'))") == "'c/d'"
    assert session.value("import {\n  dirname, // it's the (directory)\n  /* and; */ extname as end\n} from 'path';\n"
                         "[dirname('/a/b'), end('c.d')]") == "[ '/a', '.d' ]"
    assert session.value("({ a: [1, { b: 2n }], s: 'x', f() {}, d: new Date(0), m: new Map([[1, 2]]) })") == (
        "{\n  a: [ 1, { b: 2n } ],\n  s: 'x',\n  f: [Function: f],\n  d: 1970-01-01T00:00:00.000Z,\n"
        "  m: Map(1) { 1 => 2 }\n}")


def test_javascript_as_in_a_module(podman_shared, begin):
    session = begin(podman_shared, NODE)
    assert session.prints("if (require.main === module) console.log(module.filename, module.exports === exports)") == (
        "/sandbox/code.js true\n")
    assert session.value("const { main, url, resolve } = import.meta; [main, url, ...['fs', './a'].map(resolve)]") == (
        "[ true, 'file:///sandbox/code.js', 'node:fs', 'file:///sandbox/a' ]")
    assert session.value("export const q = 1; export async function f() { return q }\nexport default class C {}\n"
                         "export { q as r }; export { sep } from 'path'; export * from 'os';\n"
                         "export default { c: new C(), v: await f() }") == "{ c: C {}, v: 1 }"
    assert session.value("({ export: q, default: /'/ })") == "{ export: 1, default: /'/ }"
    for code, name in (("import { nope } from 'fs'", "nope"), ("import x from './m.mjs'", "default")):
        stderr = told(session.call(code, files=[{"path": "m.mjs", "text": "export let unset;"}]))["stderr"]
        assert f"does not provide an export named '{name}'\n    at" in stderr
    assert session.value("import { unset } from './m.mjs'; unset") is None


# Those that we use ourselves, and that programs like to declare.
GLOBALS = ("Array Atomics Buffer Error JSON Map Number Object Promise Reflect RegExp Set String Symbol SyntaxError URL "
           "console exports global globalThis module process require setImmediate setTimeout").split()


@pytest.mark.parametrize("declare", ["const {} = null;", "function {}() {{ throw 1 }}"], ids=["const", "function"])
def test_names_of_globals(podman_shared, begin, declare):
    session = begin(podman_shared, NODE, "".join(map(declare.format, GLOBALS)))
    assert session.value("({ a: [1] })", args=["x"]) == "{ a: [ 1 ] }"
    assert session.value("import { sep } from 'path'; await sep") == "'/'"
    result = session.call("for (;;);", timeout_seconds=1)
    assert told(result)["timed_out"] is True and told(result)["session_ended"] is False
    assert "nowhere is not defined" in told(session.call("nowhere"))["stderr"]


def test_session_that_cannot_go_on_ends_at_once(podman_shared):
    session = Session(podman_shared, NODE, "Buffer.prototype.toString = null")
    assert_refused(session.call("1", args=["x"]), OVER)


def test_module_that_is_brought_again(podman_shared, begin):
    """Of the same length, and all that is brought has one date."""
    session = begin(podman_shared, code="import importlib, mod, sub.mod; mod.x + sub.mod.x",
                    files=[{"path": path, "text": "x = 1"} for path in ("mod.py", "sub/mod.py")])
    assert told(session.first)["value"] == "2"
    code = "importlib.reload(mod).x + importlib.reload(sub.mod).x"
    assert session.value(code, files=[{"path": path, "text": "x = 2"} for path in ("mod.py", "sub/mod.py")]) == "4"


VALUES = [
    (PYTHON, "'ä'", "'ä'"), (PYTHON, "None", None), (PYTHON, "1;", None), (PYTHON, "x = 1", None), (PYTHON, "", None),
    (PYTHON, "'x' * 200_000", "'" + "x" * 99_999 + "... (100002 more characters)"),
    (PYTHON, "'\\ud800'", "'\\ud800'"), (PYTHON, "1  # one;", "1"), (PYTHON, "(1);  # one", None),
    (PYTHON, "'ä;'", "'ä;'"), (PYTHON, "0\r\n'ä'; # c\r\n", None),
    (PYTHON, "class R:\n  def __repr__(self): return 'a\\nb\\x1e'\nR()", "a\nb\x1e"),
    (NODE, "'ä'", "'ä'"), (NODE, "undefined", None), (NODE, "null", "null"), (NODE, "-0", "-0"), (NODE, "NaN", "NaN"),
    (NODE, "10n", "10n"), (NODE, "Symbol('s')", "Symbol(s)"), (NODE, "let q = 1", None), (NODE, "({})", "{}"),
    (NODE, "Promise.resolve(3)", "3"), (NODE, "new Error('e').message", "'e'"),
    (NODE, "() => 1", "[Function (anonymous)]"),
]


@pytest.mark.parametrize("tool", [PYTHON, NODE])
def test_values(podman_shared, begin, tool):
    session = begin(podman_shared, tool)
    wrong = [(code, value) for known, code, expected in VALUES if known == tool and code
             for value in [session.value(code)] if value != expected]
    assert wrong == []


def test_value_is_said(podman_shared, begin):
    session = begin(podman_shared)
    result = session.call("print('out')\n6 * 7")
    assert said_of(result) == f"out\n\n[value]\n42\n\n[session]\n{session.handle}"
    assert said_of(session.call("x = 1")).startswith("The program ended without an error and printed nothing.\n\n")


def test_stdin_and_args_are_of_one_call(podman_shared, begin):
    session = begin(podman_shared)
    code = "import sys; print(sys.argv[1:], sys.stdin.read())"
    assert session.prints(code, stdin="one", args=["a", "b c"]) == "['a', 'b c'] one\n"
    assert session.prints(code) == "[] \n"
    assert session.prints(code, stdin="two\n") == "[] two\n\n"
    session = begin(podman_shared, NODE)
    code = "console.log(process.argv.slice(2), require('fs').readFileSync(0, 'utf8'))"
    assert session.prints(code, stdin="one", args=["a", "b c"]) == "[ 'a', 'b c' ] one\n"
    assert session.prints(code) == "[] \n"
    code = "let all = ''; for await (const piece of process.stdin) all += piece; console.log(all)"
    assert session.prints(code, stdin="ä\ntwo") == "ä\ntwo\n"
    assert session.prints(code, stdin="three") == "three\n"


STDIN_TAKEN = [
    "import os, sys; print(open(0).read(), end='')",
    "sys.stdin = open(0); print(input())",
    "import io; sys.stdin = io.StringIO('b\\n'); print(input())",
    "os.close(0); f = open('kept', 'w'); print('b')",
    "print(input())",
    "print(f.write('all of it'), f.close())",
    "print(sys.stdin.read(), end='')",
    "os.close(0); print('b')",
    "import subprocess; print(subprocess.run('cat', stdout=subprocess.PIPE, text=True).stdout, end='')",
]


def test_stdin_that_a_snippet_has_taken(podman_shared, begin):
    """And closed, or put a file of its own in the place of; the next has its own."""
    session = begin(podman_shared)
    said = [session.prints(code, stdin="b\n") for code in STDIN_TAKEN]
    assert said == ["b\n"] * 5 + ["9 None\n"] + ["b\n"] * 3
    assert session.value("open('kept').read()") == "'all of it'"


def test_stdin_that_a_snippet_has_taken_in_javascript(podman_shared, begin):
    session = begin(podman_shared, NODE, "const fs = require('fs'); const read = () => { let all = '';"
                    " return new Promise((resolve) => process.stdin.on('data', (d) => { all += d; }).on('end', () => resolve(all))); }")
    assert session.value("fs.closeSync(0); 1") == "1"
    assert session.value("await read()", stdin="b") == "'b'"
    assert session.value("fs.closeSync(0); var f = fs.openSync('kept', 'w'); f") == "0"
    for _ in range(2):
        assert session.value("await read()", stdin="b") == "'b'"
    assert session.value("fs.writeSync(f, 'all of it'); fs.closeSync(f); fs.readFileSync('kept', 'utf8')") == "'all of it'"
    assert session.value("await read()", stdin="b") == "'b'"


def test_long_output_comes_with_its_own_call(shared, begin):
    """All of it, however slowly it is taken, and nothing with the next."""
    for tool, code in ((NODE, "console.log('x'.repeat({0})); console.error('y'.repeat({0}))"),
                       (PYTHON, "import sys; print('x' * {0}); print('y' * {0}, file=sys.stderr)")):
        session = begin(shared, tool)
        for size in (200_000, 5_000_000):
            result = told(session.call(code.format(size)))
            assert (len(result["stdout"]), len(result["stderr"])) == (size + 1, size + 1)
            assert session.value("1") == "1"


def test_output_that_a_snippet_has_taken_over(podman_shared, begin):
    session = begin(podman_shared, NODE)
    assert len(session.prints("let all = ''; console.log('x'.repeat(100000));\n"
                              "process.stdout.write = (text) => { all += text; }; console.log('mine')")) == 100_001
    assert session.value("all") == "'mine\\n'"


def test_files_are_told_once(podman_shared, begin):
    """When they are new, and when they have changed."""
    session = begin(podman_shared, code="for n in 'ab': open(n, 'w').write(n)\nopen('l', 'w').write('x' * 100_000)")
    assert listed_of(session.first) == {"a": 1, "b": 1, "l": 100_000}
    assert listed_of(session.call("1")) == {}
    result = session.call("open('b', 'w').write('changed')", files=[{"path": "given", "text": "x"}])
    assert returned_of(result) == {"b": b"changed"}
    assert returned_of(session.call("open('given', 'a').write('y')")) == {"given": b"xy"}
    result = session.call("1", outputs=["l", "nothing"])
    assert returned_of(result) == {"l": 100_000 * b"x"}, "also if it is old: it was asked for"


def test_no_state_without_a_handle(shared, begin):
    session = begin(shared, code="x = 1; open('/tmp/t', 'w').write('t'); open('f', 'w').write('f')")
    assert_success(shared.call("import os; print('x' in globals(), os.listdir(), os.listdir('/tmp'))"),
                   "False ['code.py'] []")
    other = begin(shared, code="y = 2")
    assert told(other.call("x"))["exit_code"] == 1
    assert other.handle != session.handle
    assert session.value("x") == "1"


# --- errors ------------------------------------------------------------------

FAILURES = [
    ("1 / 0", 1, 'File "<snippet 2>", line 1, in <module>\n    1 / 0'), ("x = (", 1, "SyntaxError"),
    ("import sys; sys.exit(3)", 3, ""), ("exit()", 0, ""), ("import sys; sys.exit('why')", 1, "why\n"),
    ("raise SystemExit", 0, ""), ("raise KeyboardInterrupt", 130, "KeyboardInterrupt"),
    ("raise BaseException('b')", 1, "BaseException: b"),
    ("class R:\n  def __repr__(self): raise ValueError('in repr')\nR()", 1, "ValueError: in repr"),
    ("def f(): f()\nf()", 1, "RecursionError"), ("import sys; sys.stdout = None", 0, ""),
]


def test_errors_leave_a_session_usable(podman_shared, begin):
    session = begin(podman_shared, code="x = 42")
    for code, exit_code, stderr in FAILURES[:3]:
        result = session.call(code)
        assert told(result)["exit_code"] == exit_code and stderr in told(result)["stderr"], (code, result)
        assert told(result)["session_ended"] is False
        assert session.value("x") == "42"
    session = begin(podman_shared, NODE, "let x = 42")
    for code, stderr in (("throw new Error('no')", "Uncaught Error: no\n    at snippet-2.js:1:7"),
                         ("let (", "SyntaxError"), ("await Promise.reject(7)", "Uncaught 7"),
                         ("nowhere", "ReferenceError"),
                         ("const x = 1", "declared (if by an earlier call: only the same keyword")):
        result = session.call(code)
        assert told(result)["exit_code"] == 1 and stderr in told(result)["stderr"], (code, result)
        assert session.value("x") == "42"


def test_every_kind_of_error(podman_shared, begin):
    session = begin(podman_shared, code="x = 42")
    for code, exit_code, stderr in FAILURES:
        result = session.call(code)
        assert told(result)["exit_code"] == exit_code, (code, result)
        assert stderr.partition("File")[0] in told(result)["stderr"], (code, result)
        assert told(session.call("x"))["value"] == "42", code


PYTHON_ODDITIES = [
    ("a hook of its own for errors", "import sys; sys.excepthook = lambda error: None", "1 / 0", "ZeroDivisionError"),
    ("a hook that ends it", "import sys; sys.excepthook = lambda *error: sys.exit(3)", "1 / 0", ""),
    ("stderr closed", "import sys; sys.stderr.close()", "1 / 0", ""),
    ("open() replaced", "import builtins; builtins.open = None", "1 / 0", "ZeroDivisionError"),
    ("arguments of its own", "import sys; sys.argv = ('a', 'b')", "1 / len(sys.argv[1:])", "ZeroDivisionError"),
]


@pytest.mark.parametrize("first, second, said", [row[1:] for row in PYTHON_ODDITIES],
                         ids=[row[0] for row in PYTHON_ODDITIES])
def test_oddities_of_python(podman_shared, begin, first, second, said):
    """The error is told, nothing is run twice, and the session goes on."""
    session = begin(podman_shared, code=first + "\nran = 0")
    result = session.call("ran += 1\n" + second)
    assert said in result["structuredContent"]["stderr"] and result["structuredContent"]["session_ended"] is False
    assert session.value("ran") == "1"


def test_values_that_are_asked_nothing(podman_shared, begin):
    session = begin(podman_shared, code="from unittest.mock import Mock; m = Mock()")
    assert session.value("m.save(1)").startswith("<Mock name='mock.save()'")
    assert session.value("m.mock_calls") == "[call.save(1)]"


def test_thread_that_imports_site(podman_shared, begin):
    session = begin(podman_shared, code="import threading")
    assert session.value("t = threading.Thread(target=lambda: __import__('site'), daemon=True)\n"
                         "t.start(); t.join(5); t.is_alive()") == "False"


def test_byte_order_mark_in_a_session(podman_shared, begin):
    assert begin(podman_shared).value("\ufeff6 * 7") == "42"


def test_fork_says_its_value_once(podman_shared, begin):
    assert begin(podman_shared).value("import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\n'once'") == "'once'"


# What only looks like an import, and imports behind it.
NO_IMPORTS = [
    ("const s = `a ${`b import 'x' ${[1].map((n) => { return n })} import('y')`} import 'z'`; s",
     '"a b import \'x\' 1 import(\'y\') import \'z\'"'),
    ("const quote = /[\"'`/]/; import { sep } from 'path'; sep + quote.test('`')", "'/true'"),
    ("const half = 4 / 2 /* ' */; import { join } from 'path' // \"\njoin('a', `${half}`)", "'a/2'"),
    ("'import x from \\'fs\\'' // import 'x'", '"import x from \'fs\'"'),
]


def test_oddities_of_javascript(podman_shared, begin):
    session = begin(podman_shared, "run_js_code")
    shown = session.call("({[Symbol.for('nodejs.util.inspect.custom')]() { throw new Error('not to be shown') }})")
    assert shown["structuredContent"]["exit_code"] == 1
    assert "not to be shown" in shown["structuredContent"]["stderr"]
    assert session.value("JSON.stringify({import: 1, require: 2})") == """'{"import":1,"require":2}'"""
    assert session.value("class L { import(x) { return x } }; new L().import(7)") == "7"
    for code, value in NO_IMPORTS:
        assert session.value(code) == value
    assert session.value("fs = require('fs'); fs.readFileSync = () => 'mocked'; 1") == "1"
    assert session.value("2") == "2"


FRAMES = [
    ("Promise.reject(new Error('no'))", "stderr", "Uncaught Error: no\n    at snippet-2.js:1:16\n"),
    ("[new Error('no')]", "value", "[\n  Error: no\n      at snippet-3.js:1:2\n]"),
    ("Object.assign(new Error('no', { cause: new Error('why') }), { a: 1 })", "value",
     "Error: no\n    at snippet-4.js:1:15 {\n  a: 1,\n  [cause]: Error: why\n      at snippet-4.js:1:40\n}"),
    ("function f() { throw new Error('no') }\ntry { [1].map(f) } catch (error) { console.log(error) }", "stdout",
     "Error: no\n    at f (snippet-5.js:1:22)\n    at Array.map (<anonymous>)\n    at snippet-5.js:2:11\n"),
    ("console.trace('here')", "stderr", "Trace: here\n    at snippet-6.js:1:9\n"),
    ("try { Buffer.alloc('') } catch (error) { console.log(error.stack) }", "stdout",
     'TypeError [ERR_INVALID_ARG_TYPE]: The "size" argument must be of type number. Received type string (\'\')\n'
     "    at snippet-7.js:1:14\n"),
    ("import { none } from 'fs'", "stderr",
     "Uncaught SyntaxError: The requested module 'fs' does not provide an export named 'none'\n"
     "    at async snippet-8.js:1:18\n"),
    ("let none = ;", "stderr", "Uncaught SyntaxError: Unexpected token ';'\n    at snippet-9.js:1:12\n"),
    ("Error.prepareStackTrace = (_, [frame]) => frame.getLineNumber(); new Error().stack", "value", "1"),
    ("Error.prepareStackTrace = undefined; new Error('no')", "value", "Error: no\n    at snippet-11.js:1:38"),
]


def test_frames_are_those_of_the_program(podman_shared, begin):
    """Above them there may be Node's; below them is nothing."""
    session = begin(podman_shared, NODE)
    for code, where, text in FRAMES:
        shown = told(session.call(code))[where]
        assert re.sub(r"    at .*\(node:.*\n(?=( +at .*\n)* +at .*snippet-)", "", shown) == text


def test_late_errors_in_javascript(podman_shared, begin):
    """Nobody catches them; they are printed, and the session goes on."""
    session = begin(podman_shared, NODE, "let x = 42")
    first = session.call("setTimeout(() => { throw new Error('late'); }, 1); Promise.reject(new Error('unheard')); 0")
    second = session.call("await new Promise((r) => setTimeout(r, 100)); x")
    assert told(second)["value"] == "42"
    stderr = told(first)["stderr"] + told(second)["stderr"]
    assert "Uncaught Error: late" in stderr and "Uncaught Error: unheard" in stderr


ENDS = [
    (PYTHON, "import os; print('x', flush=True); os._exit(3)", 3, None),
    (PYTHON, "import ctypes; print('x', flush=True); ctypes.string_at(0)", None, "SIGSEGV"),
    (PYTHON, "import os; print('x', flush=True); os.kill(os.getpid(), 9)", None, "SIGKILL"),
    (NODE, "console.log('x'); process.exit(3)", 3, None),
    (NODE, "console.log('x'); process.kill(process.pid, 'SIGSEGV'); await new Promise(() => {})", None, "SIGSEGV"),
]


def assert_ends(server, tool, code, exit_code, name):
    session = Session(server, tool, "1")
    result = session.call(code)
    assert (told(result)["exit_code"], told(result)["signal"]) == (exit_code, name), (code, result)
    assert told(result)["stdout"] == "x\n"
    assert told(result)["session_ended"] is True
    assert OVER in said_of(result)
    assert_refused(session.call("1"), f"There is no session {session.handle}", '"session": "new"')


def test_every_end_of_the_interpreter(podman_shared):
    for row in ENDS:
        assert_ends(podman_shared, *row)


def test_end_of_the_interpreter_ends_the_session(shared):
    assert_ends(shared, *ENDS[0])
    # In the first call it is no other.
    result = shared.call("import os; os._exit(0)", session="new")
    assert told(result)["exit_code"] == 0 and told(result)["session_ended"] is True
    assert OVER in said_of(result)


def test_interpreter_that_dies_over_its_code(limited_engine, serve):
    """It had no memory left for it."""
    server = serve(limited_engine, "--memory", "64m")
    session = Session(server, code="kept = b'x' * (36 << 20)")
    assert_refused(session.call("#" * (15 << 20)), "was killed before it had taken in the code", "it has 64m", OVER)
    assert_over(server, session)


# --- time --------------------------------------------------------------------

BUSY = [
    (PYTHON, "x = 1", "print('up')\nwhile True: pass", "x", "1"),
    (PYTHON, "x = 2", "import time; print('up'); time.sleep(300)", "x", "2"),
    (PYTHON, "x = 3", "import asyncio; print('up'); await asyncio.sleep(300)", "x", "3"),
    (PYTHON, "x = 7", "import os; print('up')\nwhile True: os.system('sleep 300; echo no')", "x", "7"),
    (NODE, "let x = 4", "console.log('up'); for (;;);", "x", "4"),
    (NODE, "let x = 5", "console.log('up'); await new Promise(() => {})", "x", "5"),
    (NODE, "let x = 6", "console.log('up'); await new Promise((r) => setTimeout(r, 300000))", "x", "6"),
    (NODE, "let x = 8", "console.log('up'); setInterval(() => { for (;;); }, 1); await new Promise(() => {})", "x", "8"),
    (NODE, "const { execSync, spawn } = require('child_process'), other = spawn('sleep', ['300']);",
     "console.log('up'); for (;;) execSync('sleep 300; echo no')", "other.exitCode", "null"),
]


KINDS = ["loop", "sleep", "await", "command", "JS loop", "JS promise", "JS timer", "JS callback", "JS command"]


@pytest.mark.parametrize("tool, first, busy, ask, value", BUSY, ids=KINDS)
def test_time_is_up_and_the_session_lives_on(podman_shared, begin, tool, first, busy, ask, value):
    assert_interrupted(begin(podman_shared, tool, first), busy, ask, value)


def test_time_is_up_on_each_engine(shared, begin):
    for tool, first, busy, ask, value in (BUSY[0], BUSY[4]):
        assert_interrupted(begin(shared, tool, first), busy, ask, value)


def assert_interrupted(session, busy, ask, value):
    result = session.call(busy, timeout_seconds=1)
    assert told(result)["timed_out"] is True, result
    assert told(result)["stdout"] == "up\n"
    assert told(result)["session_ended"] is False, result
    assert "stopped after 1." in said_of(result)
    assert session.value(ask) == value


AFTERWARDS = {
    "Python": (PYTHON, "import asyncio\ntry:\n  await asyncio.sleep(1.5)\n  print('went on')\n"
                       "finally:\n  print('cleared up')", "cleared up\n", "await asyncio.sleep(1)\n42"),
    "JS value": (NODE, "await new Promise((r) => setTimeout(r, 1500)); 'late'", "",
                 "await new Promise((r) => setTimeout(r, 1000)); 42"),
    "JS error": (NODE, "await new Promise((_, r) => setTimeout(r, 1500, 'late'))", "",
                 "await new Promise((r) => setTimeout(r, 1000)); 42"),
}


@pytest.mark.parametrize("tool, code, stdout, wait", AFTERWARDS.values(), ids=AFTERWARDS)
def test_what_was_stopped_is_not_heard_of_again(podman_shared, begin, tool, code, stdout, wait):
    session = begin(podman_shared, tool)
    result = session.call(code, timeout_seconds=1)
    assert told(result)["timed_out"] is True and told(result)["stdout"] == stdout, result
    assert session.value(wait) == "42"


STUBBORN = [
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
    "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
]


def test_time_is_up_while_a_value_is_shown(podman_shared, begin):
    """Which is the program's own affair; what is stopped then is not its code."""
    session = begin(podman_shared, NODE, "let x = 42")
    result = session.call("({ [Symbol.for('nodejs.util.inspect.custom')]() { for (;;); } })", timeout_seconds=1)
    assert told(result)["timed_out"] is True and told(result)["session_ended"] is False
    assert told(result)["stderr"] == "Interrupted\n"
    assert session.value("x") == "42"


def test_what_is_left_running_keeps_the_session_busy(podman, serve, tmp_path):
    """Nobody can stop it, so it is the end; which is not the engine's fault."""
    clock = Clock(tmp_path, monotonic=True)
    server = serve(podman, env=clock.env)
    session = Session(server, NODE, "setTimeout(() => { for (;;); }, 0); 1")
    ident = session.start("2")
    clock.pass_by(server, 0)  # it has been sent
    clock.pass_by(server, 65)
    assert_refused(server.result(ident), "The session is over: its interpreter did not take the code within 60 seconds",
                   "left running")
    assert_over(server, session)


def test_program_that_does_not_stop_ends_the_session(engine, serve):
    server = serve(engine)
    sessions = [Session(server) for _ in STUBBORN]
    calls = [session.start(code, timeout_seconds=1) for session, code in zip(sessions, STUBBORN)]
    for result in map(server.result, calls):
        assert told(result)["timed_out"] is True and told(result)["session_ended"] is True, result
        assert OVER in said_of(result) and "stopped after" in said_of(result)
    for session in sessions:
        assert_over(server, session)


@pytest.mark.parametrize("tool, first, busy, ask, value", BUSY[:1] + BUSY[4:6], ids=["loop", "JS loop", "JS promise"])
def test_cancel_leaves_the_session(podman_shared, begin, tool, first, busy, ask, value):
    shared = podman_shared
    session = begin(shared, tool, first)
    ident = session.start(busy, meta={"progressToken": uuid.uuid4().hex})
    until(lambda: any("up" in message["params"].get("message", "") for message in shared.notifications), what="it runs")
    shared.notifications.clear()
    shared.notify("notifications/cancelled", {"requestId": ident})
    assert session.value(ask) == value
    assert shared.replies(ident) == []


def test_cancel_of_a_program_that_does_not_stop(podman, serve):
    """The next call waits for it, and is told that there is no session."""
    server = serve(podman)
    session = Session(server)
    ident = session.start("print('up')\n" + STUBBORN[1], meta={"progressToken": 1})
    server.wait_notification()
    server.notify("notifications/cancelled", {"requestId": ident})
    assert_refused(session.call("1"), OVER, "did not stop")
    assert_over(server, session)
    assert server.replies(ident) == []


def test_cancel_of_the_first_call(engine, serve):
    """Nobody was told the handle, so there is no session."""
    server = serve(engine, "--max-sessions", "1")
    for tool, code in ((PYTHON, "print('up')\nwhile True: pass"), (NODE, "console.log('up'); for (;;);")):
        ident = server.start_call(code, tool, session="new", meta={"progressToken": tool})
        server.wait_notification(lambda message: message["params"]["progressToken"] == tool)
        server.notify("notifications/cancelled", {"requestId": ident})
        server.wait_no_containers()
        assert server.replies(ident) == []
    session = Session(server)
    session.end()


def test_two_calls_at_once(podman_shared, begin):
    session = begin(podman_shared)
    first = session.start("import time; time.sleep(1.5); x = 1; print('first')")
    assert_refused(session.call("print('second')"), f"The session {session.handle} is busy", "wait")
    assert "error" in session.read("x")
    assert facts_of(podman_shared.result(first))["stdout"] == "first\n"
    assert session.value("x") == "1"


def test_output_between_calls_comes_with_the_next(podman_shared, begin):
    session = begin(podman_shared, code="import threading, time, sys\ngo, done = threading.Event(), threading.Event()\n"
                                 "def talk():\n  go.wait(); time.sleep(0.3); print('from the thread')\n"
                                 "  print('oops', file=sys.stderr); done.set()\n"
                                 "threading.Thread(target=talk, daemon=True).start()")
    session.call("go.set()")
    session.read("nothing")
    result = session.call("done.wait(10)\nprint('mine')")
    assert told(result)["stdout"] == "from the thread\nmine\n"
    assert told(result)["stderr"] == "oops\n"


# --- whose it is, and how many -----------------------------------------------


def test_unknown_handles(podman_shared, begin):
    session = begin(podman_shared)
    wrong = session.handle[:-1] + ("0" if session.handle[-1] != "0" else "1")
    for handle in (wrong, "0" * 32):
        assert_refused(podman_shared.call("1", session=handle), f"There is no session {handle}")
    for handle in ("", "NEW", session.handle[:-1], session.handle + "0", session.handle.upper() + "x", 5, ["new"], {},
                   session.handle + "\n", "../../etc", True):
        assert_refused(podman_shared.call("1", session=handle), '"session" must be "new"')
    assert_refused(podman_shared.call("1", NODE, session=session.handle), "is one of Python")
    assert session.value("1") == "1"


def test_end_session(engine, serve):
    server = serve(engine)
    session = Session(server)
    assert len(server.containers()) == 1
    assert_success_text(session.end(), "The session is over.")
    assert_over(server, session)


def assert_success_text(result, text):
    assert result["isError"] is False and said_of(result) == text, result


def test_end_session_while_it_runs(engine, serve):
    server = serve(engine)
    session = Session(server)
    program = engine.sleeper()
    ident = session.start(f"import subprocess; subprocess.run(['{program.name}', '300'], executable='sleep')")
    until(program.is_up, what="the program is up")
    assert_success_text(session.end(), "The session is over.")
    assert_refused(server.result(ident), "was ended while its program ran")
    until(lambda: not program.is_up(), what="the program is gone")
    assert_over(server, session)


def test_end_session_arguments(plain):
    for arguments, words in (({}, "session"), ({"session": 1}, "session"), ({"session": "x"}, "session"),
                             ({"session": "0" * 32}, "There is no session of that handle")):
        result = plain.result(plain.start("tools/call", {"name": "end_session", "arguments": arguments}))
        assert_refused(result, words)


def test_no_more_sessions_than_allowed(podman, serve):
    """Also when they are asked for all at once."""
    server = serve(podman, "--max-sessions", "2", "--max-parallel", "8")
    calls = [server.start_call("None", session="new") for _ in range(6)]
    results = [server.result(call) for call in calls]
    begun = [told(result)["session"] for result in results if not result["isError"]]
    for result in results:
        if result["isError"]:
            assert_refused(result, "2 sessions already", "end_session")
    assert len(begun) == 2
    until(lambda: len(server.containers()) == 2, what=lambda: f"two containers: {server.containers()}")
    for handle in begun:
        server.result(server.start("tools/call", {"name": "end_session", "arguments": {"session": handle}}))
    session = Session(server)
    session.end()


def test_session_expires(podman, serve):
    """Not while it is used, and then soon."""
    server = serve(podman, "--session-ttl", "2")
    session = Session(server, code="x = 1")
    assert session.value("import time; time.sleep(2.5); x") == "1"
    assert session.value("x") == "1"
    server.wait_no_containers(15)
    assert_over(server, session, "nobody used it for 2 seconds")


@pytest.fixture
def server_with_sessions(engine):
    server = Server(engine, hostname=f"h{uuid.uuid4().hex[:12]}")
    server.program = engine.sleeper()
    Session(server, code=f"import subprocess; subprocess.Popen(['{server.program.name}', '300'], executable='sleep')")
    Session(server, NODE)
    until(server.program.is_up, what="the program is up")
    yield server
    server.discard()


@pytest.mark.parametrize("how", ["end of stdin", "SIGTERM", "SIGKILL"])
def test_end_of_the_server(server_with_sessions, how):
    server = server_with_sessions
    if how == "end of stdin":
        server.close_stdin()
    else:
        server.signal(signal.Signals[how])
    server.wait_exit()
    if how != "SIGKILL":
        server.assert_clean()
    until(lambda: not server.program.is_up(), 10, "the program is gone")
    server.wait_no_containers()


def test_network_of_a_session(engine, serve, begin):
    """It is what the first call asks for."""
    server = serve(engine, network=None)
    count = "len([n for n in __import__('os').listdir('/sys/class/net') if n != 'lo'])"
    without, with_one = begin(server, network=False), begin(server)
    assert without.value(count) == "0" and without.value(count, network=False) == "0"
    assert_refused(without.call(count, network=True), "began without network", 'leave out "network"')
    assert with_one.value(count) != "0" and with_one.value(count, network=True) != "0"
    assert_refused(with_one.call(count, network=False), "began with a network", 'leave out "network"')


@pytest.mark.parametrize("option", [("--interpreter", "plain"), ("--max-sessions", "0")], ids=["plain", "none"])
def test_server_without_sessions(podman, serve, option):
    """They are not offered then, and nor is what ends them."""
    server = serve(podman, *option)
    tools = server.request("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == [PYTHON, NODE]
    assert not [tool for tool in tools if "session" in tool["description"]]
    assert not [tool for tool in tools if "session" in tool["inputSchema"]["properties"]]
    assert_refused(server.call("1", session="new"), "There are no sessions for Python here")
    assert_success(server.call("print(1)"), "1")


# --- files of a session as resources -----------------------------------------


def test_resources(shared, begin):
    data = bytes(range(256)) * 20_000
    session = begin(shared, code="import os; os.mkdir('sub'); open('sub/ä b.txt', 'w').write('text')\n"
                                 "open('l.bin', 'wb').write(bytes(range(256)) * 20_000); os.mkfifo('fifo')\n"
                                 "os.symlink('/etc/passwd', 'link'); open('h.bin', 'wb').truncate(17 << 20)")
    links = {item["name"]: item["uri"] for item in session.first["content"] if item["type"] == "resource_link"}
    assert set(links) == {"l.bin"}, "what is too large cannot be read"
    [content] = session.read("sub/ä b.txt")["result"]["contents"]
    assert content == {"uri": f"sandbox://session/{session.handle}/sub/%C3%A4%20b.txt", "mimeType": "text/plain",
                       "text": "text"}
    [content] = shared.request("resources/read", {"uri": links["l.bin"]})["result"]["contents"]
    assert resource_bytes(content) == data
    for path in ("missing", "sub", "fifo", "link", "h.bin", "sub/missing", "../etc/passwd", "/etc/passwd", "a\nb", "",
                 "sub//x"):
        reply = session.read(path)
        assert "error" in reply and reply["error"]["code"] == -32002, (path, reply)
    wrong = "0" * 32
    assert session.read("sub/ä b.txt", handle=wrong)["error"]["code"] == -32002
    assert session.value("os.path.exists('sub')") == "True"
    session.end()
    reply = session.read("sub/ä b.txt")
    assert reply["error"]["code"] == -32002 and "There is no session" in reply["error"]["message"]


CHANGES_OF_PLACE = {
    "run_python_code": ("import os; os.chdir('/tmp'); open('code.py', 'w').write('another')", "1 + 1"),
    "run_js_code": ("process.chdir('/tmp'); require('fs').writeFileSync('code.js', 'another')", "1 + 1"),
}


@pytest.mark.parametrize("tool", CHANGES_OF_PLACE)
def test_snippet_that_goes_elsewhere(podman_shared, begin, tool):
    session = begin(podman_shared, tool)
    first, second = CHANGES_OF_PLACE[tool]
    assert session.call(first)["structuredContent"]["exit_code"] == 0
    assert session.value(second) == "2"


def test_streams_that_do_not_block(podman_shared, begin):
    """All of it comes, and the next snippet too."""
    session = begin(podman_shared)
    said = session.prints("import os, sys, time\nos.set_blocking(1, False)\nleft = b'x' * 3_000_000\n"
                          "while left:\n  try: left = left[os.write(1, left):]\n  except BlockingIOError: time.sleep(0.001)")
    assert set(said.partition("\n")[0]) == {"x"}
    assert session.value("1 + 1") == "2"


DEATHS = {
    "run_python_code": "import threading, os; open('left', 'w').close(); threading.Timer(0.5, os._exit, [3]).start()",
    "run_js_code": "require('fs').writeFileSync('left', ''); setTimeout(() => process.exit(3), 500); undefined",
}


@pytest.mark.parametrize("tool", DEATHS)
def test_interpreter_that_ends_between_calls(podman, serve, tool):
    """Its container would stay, because of the file; it goes, and the next call says so."""
    server = serve(podman)
    session = Session(server, tool, DEATHS[tool])
    server.wait_no_containers(20)
    assert_refused(session.call("1"), f"There is no session {session.handle}")
