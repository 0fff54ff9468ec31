"""The same for every language, on every engine."""

import json
import subprocess
from dataclasses import dataclass

import pytest
from fixtures import one_for_many
from harness import PATIENCE, assert_success, facts_of, text_of

TEXT = "Grüße, 世界 🐍"
SECONDS = PATIENCE * 2  # a compiler is slow beside three others


@dataclass(frozen=True)
class Language:
    """Programs that do the same in each language."""

    name: str
    tool: str
    hello: str  # prints TEXT
    exit: str  # prints "before" to stderr, and ends with status 7
    mistake: str  # cannot be run
    word: str  # of what is said about that
    status: int
    read: str  # prints what stands on stdin, in brackets
    echo: str  # prints its first two arguments, each in brackets
    sleep: str  # prints "up" at once, and then goes on for minutes
    seconds: int = 3  # until it is certainly up


LANGUAGES = [
    Language(
        "python", "run_python_code",
        hello=f"print('{TEXT}')",
        exit="import sys; print('before', file=sys.stderr); sys.exit(7)",
        mistake="print(", word="SyntaxError", status=1,
        read="import sys; print(f'[{sys.stdin.read()}]')",
        echo="import sys; print(''.join(f'[{word}]' for word in sys.argv[1:]))",
        sleep="import time; print('up'); time.sleep(300)",
    ),
    Language(
        "javascript", "run_js_code",
        hello=f"console.log('{TEXT}')",
        exit="console.error('before'); process.exit(7)",
        mistake="console.log(", word="SyntaxError", status=1,
        read="console.log(`[${require('fs').readFileSync(0, 'utf8')}]`)",
        echo="console.log(process.argv.slice(2).map((word) => `[${word}]`).join(''))",
        sleep="console.log('up'); setTimeout(() => {}, 300000)",
    ),
    Language(
        "typescript", "run_typescript_code",
        hello=f"const text: string = '{TEXT}'; console.log(text)",
        exit="const a: { n: number } = { n: 7 }; console.error('before'); process.exit(a.n)",
        mistake="const x: = 1", word="SyntaxError", status=1,
        read="import fs from 'node:fs'; const text: string = fs.readFileSync(0, 'utf8'); console.log(`[${text}]`)",
        echo="console.log(process.argv.slice(2).map((word: string): string => `[${word}]`).join(''))",
        sleep="console.log('up' as string); setTimeout(() => {}, 300000)",
    ),
    Language(
        "bash", "run_bash_code",
        hello=f"words=('{TEXT}'); echo \"${{words[0]}}\"",
        exit="echo before >&2; exit 7",
        mistake="if true; then", word="syntax error", status=2,
        read='echo "[$(cat)]"',
        echo="printf '[%s][%s]\\n' \"$@\"",
        sleep="echo up; sleep 300",
    ),
    Language(
        "ruby", "run_ruby_code",
        hello=f"puts '{TEXT}'",
        exit="warn 'before'; exit 7",
        mistake="def", word="SyntaxError", status=1,
        read='puts "[#{$stdin.read}]"',
        echo='puts ARGV.map { |word| "[#{word}]" }.join',
        sleep="puts 'up'; $stdout.flush; sleep 300",
    ),
    Language(
        "go", "run_go_code",
        hello=f'package main\nimport "fmt"\nfunc main() {{ fmt.Println("{TEXT}") }}\n',
        exit='package main\nimport ("fmt"; "os")\nfunc main() { fmt.Fprintln(os.Stderr, "before"); os.Exit(7) }\n',
        mistake="package main\nfunc main() { x }\n", word="undefined: x", status=1,
        read='package main\nimport ("fmt"; "io"; "os")\n'
             'func main() { text, _ := io.ReadAll(os.Stdin); fmt.Printf("[%s]\\n", text) }\n',
        echo='package main\nimport ("fmt"; "os")\n'
             'func main() { fmt.Printf("[%s][%s]\\n", os.Args[1], os.Args[2]) }\n',
        sleep='package main\nimport ("fmt"; "time")\nfunc main() { fmt.Println("up"); time.Sleep(5 * time.Minute) }\n',
        seconds=12,
    ),
    Language(
        "c", "run_c_code",
        hello=f'#include <stdio.h>\nint main(void) {{ puts("{TEXT}"); }}\n',
        exit='#include <stdio.h>\nint main(void) { fputs("before\\n", stderr); return 7; }\n',
        mistake="int main(void) { return x; }\n", word="undeclared", status=1,
        read='#include <stdio.h>\nint main(void) { int c; putchar(\'[\');'
             ' while ((c = getchar()) != EOF) putchar(c); puts("]"); }\n',
        echo='#include <stdio.h>\nint main(int count, char **words) { printf("[%s][%s]\\n", words[1], words[2]); }\n',
        sleep='#include <stdio.h>\n#include <unistd.h>\n'
              'int main(void) { puts("up"); fflush(stdout); sleep(300); }\n',
        seconds=6,
    ),
    Language(
        "cpp", "run_cpp_code",
        hello=f'#include <iostream>\nint main() {{ std::cout << "{TEXT}" << std::endl; }}\n',
        exit='#include <iostream>\nint main() { std::cerr << "before\\n"; return 7; }\n',
        mistake="int main() { return x; }\n", word="not declared", status=1,
        read='#include <iostream>\n#include <sstream>\n'
             'int main() { std::stringstream s; s << std::cin.rdbuf(); std::cout << "[" << s.str() << "]\\n"; }\n',
        echo='#include <iostream>\nint main(int count, char **words)'
             ' { std::cout << "[" << words[1] << "][" << words[2] << "]\\n"; }\n',
        sleep='#include <iostream>\n#include <chrono>\n#include <thread>\n'
              'int main() { std::cout << "up" << std::endl; std::this_thread::sleep_for(std::chrono::minutes(5)); }\n',
        seconds=12,
    ),
    Language(
        "java", "run_java_code",
        hello=f'class Hello {{ public static void main(String[] args) {{ System.out.println("{TEXT}"); }} }}\n',
        exit='class Exit { public static void main(String[] args)'
             ' { System.err.println("before"); System.exit(7); } }\n',
        mistake="class Main { public static void main(String[] args) { x(); } }\n", word="cannot find symbol", status=1,
        read='class Read { public static void main(String[] args) throws Exception'
             ' { System.out.println("[" + new String(System.in.readAllBytes(), "UTF-8") + "]"); } }\n',
        echo='class Echo { public static void main(String[] args)'
             ' { System.out.println("[" + args[0] + "][" + args[1] + "]"); } }\n',
        sleep='class Main { public static void main(String[] args) throws Exception'
              ' { System.out.println("up"); Thread.sleep(300000); } }\n',
        seconds=12,
    ),
    Language(
        "r", "run_r_code",
        hello=f"cat('{TEXT}\\n')",
        exit="message('before'); quit(status = 7)",
        mistake="print(", word="unexpected end of input", status=1,
        read='cat("[", paste(readLines(file("stdin"), warn = FALSE), collapse = "\\n"), "]\\n", sep = "")',
        echo='cat(sprintf("[%s]", commandArgs(trailingOnly = TRUE)), "\\n", sep = "")',
        sleep="cat('up\\n'); Sys.sleep(300)",
        seconds=6,
    ),
]


@pytest.fixture(scope="session")
def polyglot(engine):
    yield from one_for_many(engine, "--languages", "all")


@pytest.fixture(params=LANGUAGES, ids=lambda language: language.name)
def language(request):
    return request.param


def run(server, language, code, **arguments):
    return server.call(code, language.tool, seconds=SECONDS, timeout_seconds=60, **arguments)


def test_hello_in_unicode(polyglot, language):
    assert_success(run(polyglot, language, language.hello), TEXT)


def test_exit_code(polyglot, language):
    facts = facts_of(run(polyglot, language, language.exit))
    assert (facts["exit_code"], facts["stdout"], facts["stderr"]) == (7, "", "before\n")


def test_error(polyglot, language):
    """A program that cannot be run, or compiled."""
    result = run(polyglot, language, language.mistake)
    assert result["isError"] is False
    assert json.loads(text_of(result))["exit_code"] == language.status
    assert language.word in facts_of(result)["stderr"]
    assert facts_of(result)["stdout"] == ""


@pytest.mark.parametrize("arguments, text", [
    ({}, ""),
    ({"stdin": TEXT}, TEXT),
    ({"stdin": "one\n\ntwo"}, "one\n\ntwo"),
], ids=["nothing", "unicode", "lines"])
def test_stdin(polyglot, language, arguments, text):
    assert_success(run(polyglot, language, language.read, **arguments), f"[{text}]")


def test_arguments(polyglot, language):
    """As they are, whatever a shell would make of them."""
    words = ["-x $HOME 'a", TEXT]
    assert_success(run(polyglot, language, language.echo, args=words), f"[{words[0]}][{words[1]}]")


def test_timeout(polyglot, language):
    result = polyglot.call(language.sleep, language.tool, seconds=SECONDS, timeout_seconds=language.seconds)
    facts = facts_of(result)
    assert facts["timed_out"] is True, facts
    assert (facts["exit_code"], facts["signal"], facts["stdout"]) == (None, "SIGKILL", "up\n")


LISTS = {
    "go": 'package main\nimport ("fmt"; "os")\n'
          'func main() { all, _ := os.ReadDir("."); for _, each := range all { fmt.Println(each.Name()) } }\n',
    "c": '#include <stdlib.h>\nint main(void) { return system("ls -A"); }\n',
    "cpp": '#include <cstdlib>\nint main() { return std::system("ls -A"); }\n',
    "java": 'class List { public static void main(String[] args)'
            ' { for (String name : new java.io.File(".").list()) System.out.println(name); } }\n',
    "r": 'cat(list.files(all.files = TRUE, no.. = TRUE), sep = "\\n")',
}


@pytest.mark.parametrize("name, file", [
    ("go", "code.go"), ("c", "code.c"), ("cpp", "code.cpp"), ("java", "Main.java"), ("r", "code.R"),
])
def test_working_directory_is_the_programs_own(polyglot, name, file):
    """What compilers leave behind is elsewhere."""
    result = polyglot.call(LISTS[name], f"run_{name}_code", seconds=SECONDS, timeout_seconds=60)
    assert facts_of(result)["stdout"].split() == [file]


def test_tools_of_all(podman, serve):
    server = serve(podman, "--languages", "all")
    tools = server.request("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == [*(language.tool for language in LANGUAGES), "end_session"]


def test_only_what_is_on(podman, serve):
    server = serve(podman, "--languages", "bash")
    tools = server.request("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["run_bash_code"]
    reply = server.wait(server.start_call("print(1)", "run_python_code"))
    assert "run_python_code" in reply["error"]["message"]


def test_session_in_typescript(polyglot):
    """Types go before V8 sees the program, and lines stay where they are."""
    def call(code, session):
        return facts_of(polyglot.call(code, "run_typescript_code", seconds=SECONDS, session=session))
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
    polyglot.request("tools/call", {"name": "end_session", "arguments": {"session": first["session"]}})


def test_no_session(polyglot):
    result = polyglot.call("echo", "run_bash_code", session="new")
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
