"""What comes back from a program: what an engine has a part in, on every engine."""

import json
import pathlib

import pytest
from harness import assert_failure, assert_success, facts_of, text_of

JS = "run_js_code"


def test_hello_python(shared):
    assert_success(shared.call("print('Hello, World!')"), "Hello, World!")


def test_hello_javascript(shared):
    assert_success(shared.call("console.log('Hello, World!')", JS), "Hello, World!")


def test_original_name_of_the_javascript_tool(podman_shared):
    assert_success(podman_shared.call("console.log(6 * 7)", "run_javascript_code"), "42")


def test_unicode_goes_in_and_out(podman_shared):
    text = "Grüße, 世界 🐍 \u2028 \U0010ffff"
    assert_success(podman_shared.call(f"print({text!r})"), text)


def test_unicode_javascript(podman_shared):
    assert_success(podman_shared.call("console.log('日本語 ✓')", JS), "日本語 ✓")


def test_stderr_follows_stdout(shared):
    result = shared.call("import sys; print('out'); print('err', file=sys.stderr)")
    assert_success(result, "out\n\n[stderr]\nerr", "out\n", "err\n")


def test_stderr_alone(podman_shared):
    result = podman_shared.call("console.error('careful')", JS)
    assert_success(result, "[stderr]\ncareful", "", "careful\n")


def test_text_is_stripped_and_facts_are_not(podman_shared):
    assert_success(podman_shared.call("print('\\n  a \\n b\\t\\n')"), "a \n b", "\n  a \n b\t\n\n")


@pytest.mark.parametrize("tool, code, hint", [
    ("run_python_code", "x = 1", "print()"),
    (JS, "let x = 1", "console.log()"),
])
def test_no_output_is_said(podman_shared, tool, code, hint):
    text = f"The program ended without an error and printed nothing. Forgot {hint}?"
    assert_success(podman_shared.call(code, tool), text, "")


@pytest.mark.parametrize("status", [1, 3, 139, 255])
def test_exit_code(podman_shared, status):
    """Those above 128 are not taken for signals."""
    result = podman_shared.call(f"import sys; print('before'); sys.exit({status})")
    assert_failure(result, stdout="before\n", exit_code=status)


@pytest.mark.parametrize("status", [125, 137])
def test_exit_code_that_engines_use(shared, status):
    assert_failure(shared.call(f"import sys; sys.exit({status})"), exit_code=status)


def test_exit_code_zero_by_hand(podman_shared):
    assert_success(podman_shared.call("import os; print('x', flush=True); os._exit(0)"), "x")


def test_exit_code_javascript(shared):
    assert_failure(shared.call("console.error('no'); process.exit(7)", JS), stderr="no\n", exit_code=7)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGPIPE", "SIGABRT"])
def test_signal(podman_shared, name):
    code = (f"import os, signal; print('before', flush=True); signal.signal(signal.{name}, signal.SIG_DFL);"
            f" os.kill(os.getpid(), signal.{name})")
    assert_failure(podman_shared.call(code), stdout="before\n", signal=name, note=f"ended by {name}")


@pytest.mark.parametrize("tool, code, word", [
    ("run_python_code", "import non_existent_module", "ModuleNotFoundError"),
    ("run_python_code", "print(undefined_variable)", "NameError"),
    (JS, "require('non-existent-module')", "MODULE_NOT_FOUND"),
    (JS, "console.log(undefinedVariable)", "ReferenceError"),
])
def test_mistake_of_the_original_tests(podman_shared, tool, code, word):
    result = podman_shared.call(code, tool)
    assert result["isError"] is False
    assert "error" in text_of(result).lower()
    assert word in facts_of(result)["stderr"]
    assert facts_of(result)["exit_code"] == 1
    assert json.loads(text_of(result))["exit_code"] == 1


def test_traceback_is_that_of_the_plain_command(podman_shared):
    result = podman_shared.call("def f():\n    raise ValueError('x')\nf()")
    where = 'Traceback (most recent call last):\n  File "/sandbox/code.py", line 3, in <module>\n'
    assert facts_of(result)["stderr"].startswith(where)


def test_program_is_main(shared):
    code = "import sys, os; print(__name__, os.path.basename(__file__), len(sys.argv), os.getcwd())"
    assert_success(shared.call(code), "__main__ code.py 1 /sandbox")


@pytest.mark.parametrize("code", ["import doctest; print(doctest.testmod().failed)",
                                  "import pdb, code; print(int(code.__file__.startswith('/sandbox')))"])
def test_standard_module_of_the_same_name(podman_shared, begin, code):
    """The program is code.py, and so is a module that others import."""
    assert_success(podman_shared.call(code), "0")
    assert begin(podman_shared).prints(code) == "0\n"


def test_stdin_is_empty(shared):
    assert_success(shared.call("import sys; print(repr(sys.stdin.read()))"), "''")


def test_input_meets_the_end(podman_shared):
    result = podman_shared.call("input()")
    assert facts_of(result)["exit_code"] == 1
    assert facts_of(result)["stderr"].endswith("EOFError: EOF when reading a line\n")


def test_descriptors_of_the_runner_are_closed(shared):
    """Nothing but stdin, stdout and stderr, and the one that lists them."""
    assert_success(shared.call("import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))"), "[0, 1, 2, 3]")


def test_duration_is_measured(podman_shared):
    result = podman_shared.call("import time; time.sleep(1); print('slept')")
    assert_success(result, "slept")
    # From when we hear that it has started, which is a moment later.
    assert 800 <= result["structuredContent"]["duration_ms"] < 20000


def test_nul_is_no_white_space(podman_shared):
    assert_success(podman_shared.call("import os; os.write(1, b'\\0a\\0')"), "\0a\0", "\0a\0")


def test_es_module_syntax(podman_shared):
    result = podman_shared.call("import fs from 'node:fs'; console.log(typeof fs.readFileSync)", JS)
    assert_success(result, "function")


LOAD = (pathlib.Path(__file__).parents[2] / "src/guest/load.cjs").read_text()
MODULE = "import os from 'os'; console.log(typeof require, typeof fs, typeof process, typeof console, typeof os.cpus)"


def test_es_module_in_an_image_without_a_shell(podman_shared):
    """It finds no globals but its own, though "node -e" has others."""
    code = (f"const load = {json.dumps(LOAD)}, input = 'code {len(MODULE)}\\n' + {json.dumps(MODULE)};\n"
            "const { spawnSync } = require('child_process');\n"
            "const { stdout } = spawnSync('node', ['-e', load, 'N', '/tmp/a.mjs'], { input });\n"
            "console.log(stdout.toString().split('\\n')[2])")
    assert_success(podman_shared.call(code, JS), "undefined undefined object object function")
