"""The command line: what is refused, in one line, and what is told."""

import re
import subprocess

import pytest
from harness import BINARY, ROOT, SANITIZER_ENV


def run(*words, **env):
    result = subprocess.run([str(BINARY), *words], env={"PATH": "/usr/bin:/bin", **SANITIZER_ENV, **env},
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
    return result.returncode, result.stdout, result.stderr


def options_in_help():
    return re.findall(r"^  (--[a-z-]+)", run("--help")[1], re.MULTILINE)


def assert_refused_in_one_line(outcome, *words):
    status, out, err = outcome
    assert (status, out) == (2, "")
    assert err.startswith("code-sandbox-mcp: ") and err.count("\n") == 1 and err.endswith("\n"), err
    for word in words:
        assert word in err


@pytest.mark.parametrize("words", [
    ["--timeout", "0"], ["--timeout", "86401"], ["--timeout", "x"], ["--timeout", ""], ["--timeout", "1.5"],
    ["--timeout=-1"], ["--timeout", "99999999999999999999"],
    ["--max-timeout", "0"], ["--max-output", "1023"], ["--max-output", "1t"], ["--max-output", "-5"],
    ["--max-output", "1kk"], ["--max-output", ""], ["--max-parallel", "0"], ["--max-parallel", "1025"],
    ["--pool", "-1"], ["--pool", "65"], ["--interpreter", "hot"], ["--preload", "a;b"],
    ["--memory", "15m"], ["--memory", "lots"], ["--memory", "1e9"], ["--cpus", "0"], ["--cpus", "-1"],
    ["--cpus", "1,5"], ["--cpus", "nan"], ["--cpus", "1.2.3"], ["--pids", "7"], ["--pids", "65537"],
    ["--network", ""], ["--network", "a b"], ["--network", "-x"],
    ["--python-image", ""], ["--python-image", "-v"], ["--python-image", "a b"], ["--python-image", "a\nb"],
    ["--js-image", "--privileged"], ["--engine", ""], ["--engine", "kubernetes"], ["--engine", "-x"],
    ["--pass-through-env", "A=B"], ["--pass-through-env", "1A"], ["--pass-through-env", "-e"],
    ["--pass-through-env", ""], ["--language", "perl"],
    ["--languages", "perl"], ["--languages", ","], ["--image", "python"], ["--image", "perl=x"], ["--image", "r=-x"],
    ["--language-file", "/nonexistent"], ["--language-file", "/dev/zero"], ["--language-file", "/"],
], ids=lambda words: " ".join(words) if isinstance(words, list) else words)
def test_bad_value(words):
    assert_refused_in_one_line(run(*words))


@pytest.mark.parametrize("words", [["--nonsense"], ["--timeoutx", "5"], ["-x"], ["--time", "5"]])
def test_unknown_option(words):
    assert_refused_in_one_line(run(*words), words[0], "--help")


@pytest.mark.parametrize("words", [["serve"], ["extra", "words"]])
def test_unexpected_argument(words):
    assert_refused_in_one_line(run(*words), words[0])


@pytest.mark.parametrize("option", options_in_help())
def test_value_that_is_missing_or_too_much(option):
    """An option with a value refuses to have none; a switch refuses one."""
    if option in ("--help", "--version", "--verbose", "--redact"):
        assert_refused_in_one_line(run(f"{option}=1"), option)
    else:
        assert_refused_in_one_line(run(option), option)


def test_bad_language_file(tmp_path):
    """What is wrong is said, and where."""
    path = tmp_path / "languages.json"
    path.write_text('[{"name": "perl"}]')
    assert_refused_in_one_line(run("--language-file", str(path)), str(path), "language 1", '"title" is missing')


def test_language_belongs_to_run():
    assert_refused_in_one_line(run("--language", "python"), "run")


@pytest.mark.parametrize("env", [{"CONTAINER_IMAGE": "x"}, {"CONTAINER_LANGUAGE": "python"},
                                 {"CONTAINER_IMAGE": "x", "CONTAINER_LANGUAGE": "perl"},
                                 {"CONTAINER_IMAGE": "-x", "CONTAINER_LANGUAGE": "python"},
                                 {"BACKEND": "kubernetes"}, {"PASSTHROUGH_ENV": "a-b"}], ids=repr)
def test_bad_environment(env):
    assert_refused_in_one_line(run(**env))


def test_help_and_version_come_whatever_the_environment_says():
    assert run("--version", BACKEND="kubernetes")[0] == 0
    assert run("--help", CONTAINER_IMAGE="x")[0] == 0


def test_version():
    status, out, err = run("--version")
    makefile = (ROOT / "Makefile").read_text()
    version = re.search(r"^VERSION = (.*)$", makefile, re.MULTILINE)[1]
    assert (status, out, err) == (0, f"code-sandbox-mcp {version}\n", "")


def test_help():
    status, out, err = run("--help")
    assert (status, err) == (0, "")
    assert out.startswith("usage: code-sandbox-mcp")
    assert max(map(len, out.splitlines())) <= 120
    table = re.findall(r'^\s*(?:\{|\.name = )"(--[a-z-]+)"', (ROOT / "src/options/option_table.c").read_text(), re.MULTILINE)
    assert options_in_help() == table


@pytest.mark.parametrize("option", options_in_help())
def test_option_is_in_the_manual(option):
    """mdoc writes a long option as Fl -name."""
    manual = (ROOT / "man/code-sandbox-mcp.1").read_text().replace("\\-", "-").replace("\\&", "")
    assert f"Fl {option[1:]}" in manual


def test_last_of_two_counts():
    """As with most programs; nothing is said about it."""
    assert run("--timeout", "5", "--timeout", "6") == (0, "", "")


def test_end_of_stdin_at_once():
    assert run() == (0, "", "")


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_closed_standard_stream(closed):
    """Nothing is opened in its place and written to by mistake."""
    command = f'exec "$0" --verbose {closed}{"<" if closed == 0 else ">"}&-'
    result = subprocess.run(["/bin/sh", "-c", command, str(BINARY)], stdin=subprocess.DEVNULL, capture_output=True,
                            env=SANITIZER_ENV, timeout=20)
    assert result.returncode == 0 and result.stdout == b""
