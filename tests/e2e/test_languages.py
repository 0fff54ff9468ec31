"""The same for every language, on every engine."""

import json
import subprocess

import pytest
from fixtures import one_for_many
from harness import PATIENCE, assert_success, facts_of, listed_of, text_of
from languages import LANGUAGES, TEXT

SECONDS = PATIENCE * 2  # a compiler is slow beside three others
WORDS = ["-x $HOME 'a", TEXT]  # whatever a shell would make of them


@pytest.fixture(scope="session")
def polyglot(engine):
    yield from one_for_many(engine, "--languages", "all")


@pytest.fixture(scope="session")
def podman_polyglot(podman):
    yield from one_for_many(podman, "--languages", "all", "--max-parallel", str(len(LANGUAGES)))


def run(server, language, code, **arguments):
    return server.call(code, language.tool, seconds=SECONDS, timeout_seconds=60, **arguments)


def assert_works(result, text):
    facts = facts_of(result)
    assert (facts["exit_code"], facts["stdout"], facts["stderr"]) == (7, f"[{text}][{WORDS[0]}][{TEXT}]\n", "before\n")


def assert_mistaken(result, language):
    """A program that cannot be run, or compiled."""
    assert result["isError"] is False
    assert json.loads(text_of(result))["exit_code"] == language.status
    assert language.word in facts_of(result)["stderr"]
    assert facts_of(result)["stdout"] == ""


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_language(polyglot, language):
    """Unicode, stdin, arguments, both streams, the exit code, and an error."""
    text = f"one\n\n{TEXT}"
    assert_works(run(polyglot, language, language.work, args=WORDS, stdin=text), text)
    assert_mistaken(run(polyglot, language, language.mistake), language)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_hello_and_nothing_to_read(podman_polyglot, language):
    """What a compiler leaves behind is not in the program's directory."""
    result = run(podman_polyglot, language, language.hello)
    assert_success(result, TEXT)
    assert listed_of(result) == {}
    assert_works(run(podman_polyglot, language, language.work, args=WORDS), "")


def test_timeout(podman_polyglot):
    """All at once: compilers have to be through by then."""
    calls = [podman_polyglot.start_call(language.sleep, language.tool, timeout_seconds=25) for language in LANGUAGES]
    for language, call in zip(LANGUAGES, calls):
        facts = facts_of(podman_polyglot.result(call, SECONDS))
        assert facts["timed_out"] is True, (language.name, facts)
        assert (facts["exit_code"], facts["signal"], facts["stdout"]) == (None, "SIGKILL", "up\n"), language.name


def test_tools_of_all(fake, serve):
    server = serve(fake(), "--languages", "all")
    tools = server.request("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == [*(language.tool for language in LANGUAGES), "end_session"]


def test_only_what_is_on(fake, serve):
    server = serve(fake(), "--languages", "bash")
    tools = server.request("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["run_bash_code"]
    reply = server.wait(server.start_call("print(1)", "run_python_code"))
    assert "run_python_code" in reply["error"]["message"]


def test_session_in_typescript(podman_polyglot):
    """Types go before V8 sees the program, and lines stay where they are."""
    def call(code, session):
        return facts_of(podman_polyglot.call(code, "run_typescript_code", seconds=SECONDS, session=session))
    first = call("interface Pair { a: number }\nconst pair: Pair = { a: 41 };\npair.a + 1", "new")
    assert (first["exit_code"], first["value"], first["stderr"]) == (0, "42", "")
    then = call("import { type Stats, existsSync } from 'node:fs';\n[pair!.a, existsSync('.')] as unknown[]",
                first["session"])
    assert (then["exit_code"], then["value"]) == (0, "[ 41, true ]")
    thrown = call("let x: string;\nthrow new Error('so' as string)", first["session"])
    assert thrown["exit_code"] == 1
    assert "Error: so\n    at snippet-3.ts:2:7" in thrown["stderr"]
    mistake = call("let y = 1;\nlet z: = 2", first["session"])
    assert mistake["exit_code"] == 1
    assert mistake["stderr"].startswith("snippet-4.ts:2\n")
    assert "SyntaxError" in mistake["stderr"]
    podman_polyglot.request("tools/call", {"name": "end_session", "arguments": {"session": first["session"]}})


def test_no_session(podman_polyglot):
    result = podman_polyglot.call("echo", "run_bash_code", session="new")
    assert result["isError"] is True
    assert "There are no sessions for Bash" in text_of(result)


# A language that the program knows nothing of: every Debian image has perl.
PERL = {"name": "perl", "title": "Perl", "file": "code.pl", "command": ["perl", "code.pl"], "suffixes": [".pl"],
        "print": "print"}


@pytest.fixture
def perl_file(podman, tmp_path):
    path = tmp_path / "perl.json"
    path.write_text(json.dumps({**PERL, "image": podman.python_image}))
    return str(path)


def test_language_of_a_file(podman, serve, perl_file):
    server = serve(podman, "--language-file", perl_file, pool=1)
    tools = server.request("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["run_python_code", "run_js_code", "run_perl_code",
                                                 "end_session"]
    assert_success(server.call(f"print '{TEXT}', qq(\\n);", "run_perl_code"), TEXT)
    assert facts_of(server.call("die 'so'", "run_perl_code"))["exit_code"] == 255
    assert "Forgot print?" in text_of(server.call("1;", "run_perl_code"))
    environments = server.request("resources/read", {"uri": "sandbox://environments"})
    known = json.loads(environments["result"]["contents"][0]["text"])
    assert known["perl"] == {"image": podman.python_image, "libraries": []}


def test_language_of_a_file_from_the_terminal(podman, perl_file, tmp_path):
    (tmp_path / "hello.pl").write_text("print qq(hello\\n); exit 3;")
    words = podman.command("--language-file", perl_file, "run", str(tmp_path / "hello.pl"))
    done = subprocess.run(words, env=podman.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (3, "hello\n", "")
