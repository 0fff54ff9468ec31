"""Programs that do the same in each language."""

from dataclasses import dataclass

TEXT = "Grüße, 世界 🐍"


@dataclass(frozen=True)
class Language:
    name: str
    tool: str
    hello: str  # prints TEXT
    work: str  # prints stdin and two arguments, each in brackets; "before" to stderr; ends with status 7
    mistake: str  # cannot be run
    word: str  # of what is said about that
    sleep: str  # prints "up" at once, and then goes on for minutes
    status: int = 1  # of the mistake


LANGUAGES = [
    Language(
        "python", "run_python_code",
        hello=f"print('{TEXT}')",
        work="import sys\nprint(f'[{sys.stdin.read()}]' + ''.join(f'[{word}]' for word in sys.argv[1:]))\n"
             "print('before', file=sys.stderr)\nsys.exit(7)",
        mistake="print(", word="SyntaxError",
        sleep="import time; print('up'); time.sleep(300)",
    ),
    Language(
        "javascript", "run_js_code",
        hello=f"console.log('{TEXT}')",
        work="const words = [require('fs').readFileSync(0, 'utf8'), ...process.argv.slice(2)];\n"
             "console.log(words.map((word) => `[${word}]`).join('')); console.error('before'); process.exitCode = 7",
        mistake="console.log(", word="SyntaxError",
        sleep="console.log('up'); setTimeout(() => {}, 300000)",
    ),
    Language(
        "typescript", "run_typescript_code",
        hello=f"const text: string = '{TEXT}'; console.log(text)",
        work="import fs from 'node:fs';\n"
             "const words: string[] = [fs.readFileSync(0, 'utf8'), ...process.argv.slice(2)];\n"
             "console.log(words.map((word: string): string => `[${word}]`).join(''));\n"
             "console.error('before'); process.exitCode = 7 as number",
        mistake="const x: = 1", word="SyntaxError",
        sleep="console.log('up' as string); setTimeout(() => {}, 300000)",
    ),
    Language(
        "bash", "run_bash_code",
        hello=f"words=('{TEXT}'); echo \"${{words[0]}}\"",
        work='printf "[%s][%s][%s]\\n" "$(cat)" "$@"; echo before >&2; exit 7',
        mistake="if true; then", word="syntax error", status=2,
        sleep="echo up; sleep 300",
    ),
    Language(
        "ruby", "run_ruby_code",
        hello=f"puts '{TEXT}'",
        work='puts [$stdin.read, *ARGV].map { |word| "[#{word}]" }.join; warn "before"; exit 7',
        mistake="def", word="SyntaxError",
        sleep="puts 'up'; $stdout.flush; sleep 300",
    ),
    Language(
        "go", "run_go_code",
        hello=f'package main\nimport "fmt"\nfunc main() {{ fmt.Println("{TEXT}") }}\n',
        work='package main\nimport ("fmt"; "io"; "os")\nfunc main() {\n\ttext, _ := io.ReadAll(os.Stdin)\n'
             '\tfmt.Printf("[%s][%s][%s]\\n", text, os.Args[1], os.Args[2])\n'
             '\tfmt.Fprintln(os.Stderr, "before")\n\tos.Exit(7)\n}\n',
        mistake="package main\nfunc main() { x }\n", word="undefined: x",
        sleep='package main\nimport ("fmt"; "time")\nfunc main() { fmt.Println("up"); time.Sleep(5 * time.Minute) }\n',
    ),
    Language(
        "c", "run_c_code",
        hello=f'#include <stdio.h>\nint main(void) {{ puts("{TEXT}"); }}\n',
        work='#include <stdio.h>\nint main(int count, char **words) {\n\tint c;\n\tputchar(\'[\');\n'
             '\twhile ((c = getchar()) != EOF) putchar(c);\n\tprintf("][%s][%s]\\n", words[1], words[2]);\n'
             '\tfputs("before\\n", stderr);\n\treturn 7;\n}\n',
        mistake="int main(void) { return x; }\n", word="undeclared",
        sleep='#include <stdio.h>\n#include <unistd.h>\n'
              'int main(void) { puts("up"); fflush(stdout); sleep(300); }\n',
    ),
    Language(
        "cpp", "run_cpp_code",
        hello=f'#include <iostream>\nint main() {{ std::cout << "{TEXT}" << std::endl; }}\n',
        work='#include <iostream>\n#include <sstream>\nint main(int count, char **words) {\n'
             '\tstd::stringstream text;\n\ttext << std::cin.rdbuf();\n'
             '\tstd::cout << "[" << text.str() << "][" << words[1] << "][" << words[2] << "]\\n";\n'
             '\tstd::cerr << "before\\n";\n\treturn 7;\n}\n',
        mistake="int main() { return x; }\n", word="not declared",
        sleep='#include <iostream>\n#include <unistd.h>\nint main() { std::cout << "up" << std::endl; sleep(300); }\n',
    ),
    Language(
        "java", "run_java_code",
        hello=f'class Hello {{ public static void main(String[] args) {{ System.out.println("{TEXT}"); }} }}\n',
        work='class Work {\n\tpublic static void main(String[] args) throws Exception {\n'
             '\t\tString text = new String(System.in.readAllBytes(), "UTF-8");\n'
             '\t\tSystem.out.println("[" + text + "][" + args[0] + "][" + args[1] + "]");\n'
             '\t\tSystem.err.println("before");\n\t\tSystem.exit(7);\n\t}\n}\n',
        mistake="class Main { public static void main(String[] args) { x(); } }\n", word="cannot find symbol",
        sleep='class Main { public static void main(String[] args) throws Exception'
              ' { System.out.println("up"); Thread.sleep(300000); } }\n',
    ),
    Language(
        "r", "run_r_code",
        hello=f"cat('{TEXT}\\n')",
        work='text <- paste(readLines(file("stdin"), warn = FALSE), collapse = "\\n")\n'
             'cat(sprintf("[%s]", c(text, commandArgs(trailingOnly = TRUE))), "\\n", sep = "")\n'
             'message("before"); quit(status = 7)',
        mistake="print(", word="unexpected end of input",
        sleep="cat('up\\n'); Sys.sleep(300)",
    ),
]
