#include "settings/language.h"

#include "scripts.h"

#define STRINGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_STRINGS ((const char *const[]){NULL})

static const struct hook_file python_hook[] = {
    {"sitecustomize.py", script_boot_py},
    {"hook.py", script_hook_py},
    {"session.py", script_session_py},
    {"figures.py", script_figures_py},
    {"pictures.py", script_pictures_py},
    {NULL, NULL},
};

static const struct hook_file node_hook[] = {
    {"boot.cjs", script_boot_cjs},
    {"hook.cjs", script_hook_cjs},
    {"session.cjs", script_session_cjs},
    {NULL, NULL},
};

/*
 * Whatever Node runs: its modules are those of JavaScript.  Without the checks
 * it outlives a callback that a session is made to leave in the middle.
 */
#define NODE \
	.image = "philschmi/code-sandbox-js:latest", \
	.libraries = STRINGS("@google/genai"), \
	.install = STRINGS("npm", "install", "--no-save", "--no-package-lock", \
	    "--no-audit", "--no-fund", "--no-update-notifier", \
	    "--fetch-retries=1", "--fetch-retry-mintimeout=1000", \
	    "--fetch-timeout=15000"), \
	.packages = "npm, such as \"lodash\" or \"left-pad@1.3.0\"", \
	.reserved_bytes = 3L << 30, .print = "console.log()", \
	.hook = node_hook, .hook_variable = "NODE_OPTIONS", \
	.hook_value = "--no-force-async-hooks-checks " \
	              "--require=" RUNNER_DIRECTORY "/boot.cjs", \
	.hook_separator = " ", \
	.loader = STRINGS("node", "-e", script_load_cjs)

/*
 * What compiles a program and then becomes it, with the arguments that follow.
 * Everything but the program's source is kept in the home directory, which is
 * executable: files in the working directory are the program's own.
 */
#define PROGRAM "\"$HOME/.program\""
#define COMPILE(how) \
	STRINGS("sh", "-c", how " && exec " PROGRAM " \"$@\"", "sh")

const struct language languages[LANGUAGE_BUILT_IN] = {
    {
        .id = LANGUAGE_PYTHON,
        .name = "python",
        .title = "Python",
        .tool = "run_python_code",
        .image = "philschmi/code-sandbox-python:latest",
        .file = "code.py",
        .command = STRINGS("python3", "-u", "code.py"),
        .suffixes = STRINGS(".py"),
        .libraries = STRINGS("numpy", "pandas", "matplotlib", "scikit-learn",
            "requests", "google-genai"),
        /* A file of the call is no module of the installer's. */
        .install = STRINGS("env", "PYTHONSAFEPATH=1", "python3", "-m", "pip",
            "install", "--user", "--no-input", "--no-cache-dir",
            "--progress-bar=off", "--retries=1", "--timeout=15",
            "--no-warn-script-location"),
        .packages = "PyPI, such as \"polars\" or \"requests==2.32.3\"",
        .print = "print()",
        .hook = python_hook,
        .hook_variable = "PYTHONPATH",
        .hook_value = RUNNER_DIRECTORY,
        .hook_separator = ":",
        .loader = STRINGS("python3", "-I", "-S", "-c", script_load_py),
    },
    {
        .id = LANGUAGE_JAVASCRIPT,
        .name = "javascript",
        .title = "JavaScript",
        .tool = "run_js_code",
        .tool_alias = "run_javascript_code",
        .file = "code.js",
        .command = STRINGS("node", "code.js"),
        .suffixes = STRINGS(".js", ".mjs", ".cjs"),
        NODE,
    },
    {
        .id = LANGUAGE_TYPESCRIPT,
        .name = "typescript",
        .title = "TypeScript",
        .tool = "run_typescript_code",
        .file = "code.ts",
        .command = STRINGS("node", "code.ts"),
        .suffixes = STRINGS(".ts", ".mts", ".cts"),
        NODE,
    },
    {
        .id = LANGUAGE_BASH,
        .name = "bash",
        .title = "Bash",
        .tool = "run_bash_code",
        .image = "code-sandbox-bash:latest",
        .file = "code.sh",
        .command = STRINGS("bash", "code.sh"),
        .suffixes = STRINGS(".sh", ".bash"),
        .libraries = STRINGS("curl", "jq"),
        .print = "echo",
    },
    {
        .id = LANGUAGE_RUBY,
        .name = "ruby",
        .title = "Ruby",
        .tool = "run_ruby_code",
        .image = "code-sandbox-ruby:latest",
        .file = "code.rb",
        .command = STRINGS("ruby", "code.rb"),
        .suffixes = STRINGS(".rb"),
        .libraries = NO_STRINGS,
        .print = "puts",
    },
    {
        .id = LANGUAGE_GO,
        .name = "go",
        .title = "Go",
        .tool = "run_go_code",
        .image = "code-sandbox-go:latest",
        .file = "code.go",
        /* The standard library is taken as it was compiled into the image,
         * for which Go wants to be asked. */
        .command = COMPILE("GODEBUG=installgoroot=all GOTMPDIR=\"$HOME\" "
                           "go build -p 4 -o " PROGRAM " code.go"),
        .suffixes = STRINGS(".go"),
        .libraries = NO_STRINGS,
        .print = "fmt.Println()",
    },
    {
        .id = LANGUAGE_C,
        .name = "c",
        .title = "C",
        .tool = "run_c_code",
        .image = "code-sandbox-c:latest",
        .file = "code.c",
        .command = COMPILE("cc -O2 -o " PROGRAM " code.c -lm"),
        .suffixes = STRINGS(".c"),
        .libraries = NO_STRINGS,
        .print = "printf()",
    },
    {
        .id = LANGUAGE_CPP,
        .name = "cpp",
        .title = "C++",
        .tool = "run_cpp_code",
        .image = "code-sandbox-cpp:latest",
        .file = "code.cpp",
        .command = COMPILE("c++ -O2 -o " PROGRAM " code.cpp"),
        .suffixes = STRINGS(".cpp", ".cc", ".cxx"),
        .libraries = NO_STRINGS,
        .print = "std::cout",
    },
    {
        .id = LANGUAGE_JAVA,
        .name = "java",
        .title = "Java",
        .tool = "run_java_code",
        .image = "code-sandbox-java:latest",
        .file = "Main.java",
        /* The archive, if the image has it, makes for a quick start. */
        .command = STRINGS("java",
            "-XX:SharedArchiveFile=/usr/share/code-sandbox/java.jsa",
            "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xms32m",
            "-XX:MaxRAMPercentage=60", "-XX:ErrorFile=/tmp/java-%p.log",
            "-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8", "Main.java"),
        .suffixes = STRINGS(".java"),
        .libraries = NO_STRINGS,
        .print = "System.out.println()",
    },
    {
        .id = LANGUAGE_R,
        .name = "r",
        .title = "R",
        .tool = "run_r_code",
        .image = "code-sandbox-r:latest",
        .file = "code.R",
        .command = STRINGS("Rscript", "code.R"),
        .suffixes = STRINGS(".R", ".r"),
        .libraries = NO_STRINGS,
        .print = "print()",
    },
};
