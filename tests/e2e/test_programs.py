"""What comes back from a program, on every engine."""

import json

import pytest
from harness import Sleeper, assert_failure, assert_success, facts, facts_of, text_of, until

JS = "run_js_code"


def test_hello_python(shared):
    assert_success(shared.call("print('Hello, World!')"), "Hello, World!")


def test_hello_javascript(shared):
    assert_success(shared.call("console.log('Hello, World!')", JS), "Hello, World!")


def test_original_name_of_the_javascript_tool(shared):
    assert_success(shared.call("console.log(6 * 7)", "run_javascript_code"), "42")


def test_unicode_goes_in_and_out(shared):
    text = "Grüße, 世界 🐍 \u2028 \U0010ffff"
    assert_success(shared.call(f"print({text!r})"), text)


def test_unicode_javascript(shared):
    assert_success(shared.call("console.log('日本語 ✓')", JS), "日本語 ✓")


def test_stderr_follows_stdout(shared):
    result = shared.call("import sys; print('out'); print('err', file=sys.stderr)")
    assert_success(result, "out\n\n[stderr]\nerr", "out\n", "err\n")


def test_stderr_alone(shared):
    result = shared.call("console.error('careful')", JS)
    assert_success(result, "[stderr]\ncareful", "", "careful\n")


def test_text_is_stripped_and_facts_are_not(shared):
    assert_success(shared.call("print('\\n  a \\n b\\t\\n')"), "a \n b", "\n  a \n b\t\n\n")


@pytest.mark.parametrize("tool, code, hint", [
    ("run_python_code", "x = 1", "print()"),
    (JS, "let x = 1", "console.log()"),
])
def test_no_output_is_said(shared, tool, code, hint):
    text = f"The program ended without an error and printed nothing. Forgot {hint}?"
    assert_success(shared.call(code, tool), text, "")


@pytest.mark.parametrize("status", [1, 3, 125, 137, 139, 255])
def test_exit_code(shared, status):
    """Those above 128 are not taken for signals."""
    result = shared.call(f"import sys; print('before'); sys.exit({status})")
    assert_failure(result, stdout="before\n", exit_code=status)


def test_exit_code_zero_by_hand(shared):
    assert_success(shared.call("import os; print('x', flush=True); os._exit(0)"), "x")


def test_exit_code_javascript(shared):
    assert_failure(shared.call("console.error('no'); process.exit(7)", JS), stderr="no\n", exit_code=7)


@pytest.mark.parametrize("name, note", [
    ("SIGSEGV", "ended by SIGSEGV"),
    ("SIGKILL", "memory"),
    ("SIGINT", "ended by SIGINT"),
    ("SIGTERM", "ended by SIGTERM"),
    ("SIGPIPE", "ended by SIGPIPE"),
    ("SIGABRT", "ended by SIGABRT"),
])
def test_signal(shared, name, note):
    code = (f"import os, signal; print('before', flush=True); signal.signal(signal.{name}, signal.SIG_DFL)"
            if name not in ("SIGKILL",) else "import os, signal; print('before', flush=True)")
    result = shared.call(f"{code}; os.kill(os.getpid(), signal.{name})")
    assert_failure(result, stdout="before\n", signal=name, note=note)


def test_syntax_error(shared):
    result = shared.call("def f(:\n  pass")
    assert result["isError"] is False
    assert facts_of(result)["exit_code"] == 1
    assert 'File "/sandbox/code.py", line 1' in facts_of(result)["stderr"]
    assert "SyntaxError" in facts_of(result)["stderr"]


@pytest.mark.parametrize("tool, code, word", [
    ("run_python_code", "import non_existent_module", "ModuleNotFoundError"),
    ("run_python_code", "print(undefined_variable)", "NameError"),
    (JS, "require('non-existent-module')", "MODULE_NOT_FOUND"),
    (JS, "console.log(undefinedVariable)", "ReferenceError"),
])
def test_mistake_of_the_original_tests(shared, tool, code, word):
    result = shared.call(code, tool)
    assert result["isError"] is False
    assert "error" in text_of(result).lower()
    assert word in facts_of(result)["stderr"]
    assert facts_of(result)["exit_code"] == 1
    assert json.loads(text_of(result))["exit_code"] == 1


def test_traceback_is_that_of_the_plain_command(shared):
    result = shared.call("def f():\n    raise ValueError('x')\nf()")
    where = 'Traceback (most recent call last):\n  File "/sandbox/code.py", line 3, in <module>\n'
    assert facts_of(result)["stderr"].startswith(where)


def test_program_is_main(shared):
    code = "import sys, os; print(__name__, os.path.basename(__file__), len(sys.argv), os.getcwd())"
    assert_success(shared.call(code), "__main__ code.py 1 /sandbox")


def test_stdin_is_empty(shared):
    assert_success(shared.call("import sys; print(repr(sys.stdin.read()))"), "''")


def test_input_meets_the_end(shared):
    result = shared.call("input()")
    assert facts_of(result)["exit_code"] == 1
    assert facts_of(result)["stderr"].endswith("EOFError: EOF when reading a line\n")


def test_descriptors_of_the_runner_are_closed(shared):
    """Nothing but stdin, stdout and stderr, and the one that lists them."""
    assert_success(shared.call("import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))"), "[0, 1, 2, 3]")


def test_duration_is_measured(shared):
    result = shared.call("import time; time.sleep(1); print('slept')")
    assert_success(result, "slept")
    # From when we hear that it has started, which is a moment later.
    assert 800 <= result["structuredContent"]["duration_ms"] < 20000


def test_invalid_utf8_is_repaired(shared):
    code = r"import os; os.write(1, b'a\xffb\xc3\x28\xed\xa0\x80 end\xe2\x82')"
    repaired = "a\ufffdb\ufffd(\ufffd\ufffd\ufffd end\ufffd\ufffd"
    assert_success(shared.call(code), repaired, repaired)


def test_every_byte_value(shared):
    """One valid reply, and ASCII is left as it is."""
    result = shared.call("import os; os.write(1, bytes(range(256)))")
    assert facts_of(result)["stdout"] == bytes(range(128)).decode() + 128 * "\ufffd"


def test_nul_in_output(shared):
    assert_success(shared.call("import os; os.write(1, b'a\\0b')"), "a\0b", "a\0b")


def test_nul_is_no_white_space(shared):
    assert_success(shared.call("import os; os.write(1, b'\\0a\\0')"), "\0a\0", "\0a\0")


def test_terminal_codes_and_json_in_output(shared):
    said = '\x1b[31mred\x1b]52;c;x\x07 {"jsonrpc":"2.0","id":1,"result":{}}'
    assert_success(shared.call(f"print({said!r})"), said)


def test_five_megabytes_of_code(shared):
    filler = "# " + "x" * 78 + "\n"
    code = filler * 65536 + "print('the end', __import__('os').path.getsize(__file__))"
    assert_success(shared.call(code), f"the end {len(code)}")


def test_burst_then_exit_loses_nothing(shared):
    result = shared.call("import os, sys; sys.stdout.write('0123456789abcde\\n' * 327680); sys.stdout.flush(); os._exit(0)")
    assert result["structuredContent"]["stdout"] == "0123456789abcde\n" * 327680
    assert facts_of(result)["truncated"] is False
    assert len(text_of(result)) == 5 * 1024 * 1024 - 1


def test_burst_on_both_streams(shared):
    result = shared.call("import os\nfor i in range(64):\n os.write(1, b'o' * 16384)\n os.write(2, b'e' * 16384)")
    assert facts_of(result) == facts("o" * 1048576, "e" * 1048576)


def test_daemon_that_keeps_stdout_does_not_delay_the_answer(shared):
    daemon = Sleeper()
    code = ("import os, time\nif os.fork() == 0:\n os.setsid()\n"
            f" if os.fork() == 0:\n  os.execvp('sleep', ['{daemon.name}', '300'])\n os._exit(0)\n"
            "os.wait()\nprint('parent')")
    assert_success(shared.call(code, seconds=20), "parent")
    until(lambda: not daemon.is_up(), 10, "the daemon is gone")


def test_program_that_closes_its_streams(shared):
    assert_success(shared.call("import os; print('x', flush=True); os.close(1); os.close(2); os._exit(0)"), "x")


def test_program_that_kills_everything(shared):
    """The runner is process 1, which kill -1 does not reach."""
    result = shared.call("import os, signal; print('x', flush=True); os.kill(-1, signal.SIGKILL)")
    assert facts_of(result)["stdout"] == "x\n"
    assert result["isError"] is False
    assert_success(shared.call("print('next')"), "next")


def test_trailer_with_a_wrong_nonce_is_output(shared):
    line = "\x1e" + "0123456789abcdef" * 2 + " exit 0"
    assert_success(shared.call(f"print({line!r}); print('after')"), f"{line}\nafter")


def test_unfinished_trailer_is_output(shared):
    assert_success(shared.call("import os; os.write(1, b'x\\x1e'); os.write(2, b'\\x1e\\x1e\\n')"),
                   "x\x1e\n\n[stderr]\n\x1e\x1e", "x\x1e", "\x1e\x1e\n")


FAKE_TRAILER = """
import os, time
nonce = open('/proc/1/cmdline').read().split('\\0')
nonce = next(word for word in nonce if len(word) == 32 and not set(word) - set('0123456789abcdef'))
for fd in (1, 2):
    os.write(fd, b'\\x1e' + nonce.encode() + b' exit 42\\n')
"""


def test_forged_trailer_harms_only_its_own_call(shared):
    other = shared.start_call("import time; time.sleep(2); print('unharmed')")
    forger = Sleeper()
    result = shared.call(FAKE_TRAILER + forger.code.replace("print", "len"), seconds=20)
    assert_failure(result, exit_code=42)
    assert_success(shared.result(other), "unharmed")
    until(lambda: not forger.is_up(), 10, "the forger is gone")


def test_nothing_stays_from_an_earlier_call(shared):
    assert_success(shared.call("for d in ('.', '/tmp', '/dev/shm'): open(d + '/left', 'w').write('x')\nprint('wrote')"), "wrote")
    code = "import os; print([d for d in ('.', '/tmp', '/dev/shm') if os.path.exists(d + '/left')])"
    assert_success(shared.call(code), "[]")


def test_es_module_syntax(shared):
    result = shared.call("import fs from 'node:fs'; console.log(typeof fs.readFileSync)", JS)
    assert_success(result, "function")


def test_descriptors_stay_flat(shared):
    """The same number after calls, good and bad, as before the first."""
    calls = [shared.start_call(code) for code in ("print(1)", "syntax error", "print(2)")]
    for call in calls:
        shared.result(call)
    shared.wait_idle()
