#include "options/options.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NONE ((const char *const[]){NULL})

static int
parse(struct settings *settings, const char *const *env,
    const char *const *words, struct err *err)
{
	static const char *const nothing[] = {NULL};
	struct strlist argv = {0};
	int status;

	strlist_add(&argv, "code-sandbox-mcp");
	strlist_add_all(&argv, words);
	environment_set(env);
	*err = (struct err){0};
	status = options_parse(settings, (int)argv.count, argv.items, err);
	/* Not longer than env lasts. */
	environment_set(nothing);
	strlist_release(&argv);
	return status;
}

static void
describe_list(struct text *text, const char *name, const struct strlist *list)
{
	text_addf(text, "%s=", name);
	for (size_t i = 0; i < list->count; i++)
		text_addf(text, "%s,", list->items[i]);
	text_addf(text, "\n");
}

/* The settings as text, one "name=value" a line, for comparison. */
static char *
describe(const struct settings *settings)
{
	static const char *const actions[] = {
	    "serve", "run", "help", "version"};
	struct text text = {0};

	text_addf(&text, "action=%s\n", actions[settings->action]);
	text_addf(&text, "engine=%s\n",
	    settings->engine != NULL ? settings->engine : "");
	text_addf(&text, "python=%s\n", settings->images[LANGUAGE_PYTHON]);
	text_addf(&text, "js=%s\n", settings->images[LANGUAGE_JAVASCRIPT]);
	text_addf(&text, "languages=");
	for (size_t i = 0; i < settings->languages.count; i++)
		if (settings->languages.on[i])
			text_addf(
			    &text, "%s,", settings->languages.rows[i]->name);
	text_addf(&text, "\nruby=%s\n", settings->images[LANGUAGE_RUBY]);
	text_addf(&text, "pass=");
	for (size_t i = 0; i < settings->pass_env.count; i++)
		text_addf(&text, "%s,", settings->pass_env.items[i]);
	text_addf(&text, "\ntimeout=%d\n", settings->timeout_seconds);
	text_addf(&text, "max-timeout=%d\n", settings->max_timeout_seconds);
	text_addf(&text, "max-output=%zu\n", settings->max_output);
	text_addf(&text, "max-parallel=%d\n", settings->max_parallel);
	text_addf(&text, "pool=%d\n", settings->pool);
	text_addf(&text, "warm=%d\n", settings->warm_interpreter);
	text_addf(&text, "preload=%s\n", settings->preload);
	text_addf(&text, "memory=%s\n", settings->memory);
	text_addf(&text, "cpus=%s\n", settings->cpus);
	text_addf(&text, "pids=%d\n", settings->pids);
	text_addf(&text, "network=%s\n",
	    settings->network != NULL ? settings->network : "");
	text_addf(&text, "offline=%d\n", settings->offline);
	text_addf(&text, "runtime=%s\n",
	    settings->runtime != NULL ? settings->runtime : "");
	text_addf(&text, "loosened=");
	for (size_t i = 0; i < settings->loosened.count; i++)
		text_addf(&text, "%s,", settings->loosened.items[i]);
	text_addf(&text, "\nsecrets=%zu\n", settings->secrets.values.count);
	text_addf(&text, "verbose=%d\n", settings->verbose);
	text_addf(&text, "transport=%s\n",
	    settings->transport == TRANSPORT_HTTP ? "http" : "stdio");
	text_addf(&text, "host=%s\n", settings->host);
	text_addf(&text, "port=%d\n", settings->port);
	text_addf(&text, "path=%s\n", settings->path);
	text_addf(&text, "listen=%s\n",
	    settings->listen != NULL ? settings->listen : "");
	text_addf(&text, "allow-host=%s\n",
	    settings->allow_host != NULL ? settings->allow_host : "");
	text_addf(&text, "allow-origin=%s\n",
	    settings->allow_origin != NULL ? settings->allow_origin : "");
	text_addf(&text, "token-file=%s\n",
	    settings->token_file != NULL ? settings->token_file : "");
	text_addf(&text, "token=%s\n",
	    settings->token != NULL ? settings->token : "");
	text_addf(&text, "language=%s\n",
	    settings->language != NULL ? settings->language->name : "");
	text_addf(
	    &text, "file=%s\n", settings->file != NULL ? settings->file : "");
	describe_list(&text, "arguments", &settings->arguments);
	describe_list(&text, "files", &settings->files);
	describe_list(&text, "packages", &settings->packages);
	describe_list(&text, "outputs", &settings->outputs);
	text_addf(&text, "stdin=%s\n",
	    settings->input != NULL ? settings->input : "");
	text_addf(&text, "output-dir=%s\n",
	    settings->output_dir != NULL ? settings->output_dir : "");
	text_addf(&text, "force=%d\n", settings->force);
	return text.data;
}

static const char defaults[] = "action=serve\n"
                               "engine=\n"
                               "python=philschmi/code-sandbox-python:latest\n"
                               "js=philschmi/code-sandbox-js:latest\n"
                               "languages=python,javascript,\n"
                               "ruby=code-sandbox-ruby:latest\n"
                               "pass=\n"
                               "timeout=30\n"
                               "max-timeout=600\n"
                               "max-output=262144\n"
                               "max-parallel=8\n"
                               "pool=1\n"
                               "warm=1\n"
                               "preload=\n"
                               "memory=1g\n"
                               "cpus=1\n"
                               "pids=256\n"
                               "network=\n"
                               "offline=0\n"
                               "runtime=\n"
                               "loosened=\n"
                               "secrets=0\n"
                               "verbose=0\n"
                               "transport=stdio\n"
                               "host=127.0.0.1\n"
                               "port=8000\n"
                               "path=/mcp\n"
                               "listen=\n"
                               "allow-host=\n"
                               "allow-origin=\n"
                               "token-file=\n"
                               "token=\n"
                               "language=\n"
                               "file=\n"
                               "arguments=\n"
                               "files=\n"
                               "packages=\n"
                               "outputs=\n"
                               "stdin=\n"
                               "output-dir=\n"
                               "force=0\n";

/* Asserts that the settings are the defaults but for these lines. */
static void
assert_differs(const char *name, const struct settings *settings,
    const char *const *expected)
{
	char *text = describe(settings), *line, *rest = text;

	while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
		size_t key = strcspn(line, "=") + 1;
		const char *wanted = NULL, *normal = strstr(defaults, line);

		for (const char *const *row = expected; *row != NULL; row++)
			if (strncmp(*row, line, key) == 0)
				wanted = *row;
		if (wanted != NULL)
			ck_assert_msg(strcmp(line, wanted) == 0,
			    "%s: %s and not %s", name, line, wanted);
		else
			ck_assert_msg(
			    normal != NULL && normal[strlen(line)] == '\n',
			    "%s: %s, which nobody asked for", name, line);
	}
	free(text);
}

static const struct {
	const char *name;
	const char *const *env;
	const char *const *words;
	const char *const *expected;
} good[] = {
    {"no words", NONE, NONE, NONE},
    {"--engine", NONE, WORDS("--engine", "docker"), WORDS("engine=docker")},
    {"--engine=", NONE, WORDS("--engine=docker"), WORDS("engine=docker")},
    {"--engine with a path", NONE, WORDS("--engine=/opt/bin/podman"),
        WORDS("engine=/opt/bin/podman")},
    {"--python-image", NONE, WORDS("--python-image", "py:1"),
        WORDS("python=py:1")},
    {"--python-image=", NONE, WORDS("--python-image=py:1"),
        WORDS("python=py:1")},
    {"--js-image", NONE, WORDS("--js-image", "js:1"), WORDS("js=js:1")},
    {"--js-image=", NONE, WORDS("--js-image=js:1"), WORDS("js=js:1")},
    {"--image", NONE, WORDS("--image", "ruby=rb:1"), WORDS("ruby=rb:1")},
    {"--image of a port and a digest", NONE,
        WORDS("--image=ruby=host:5/rb@sha256:1"),
        WORDS("ruby=host:5/rb@sha256:1")},
    {"--image of two", NONE, WORDS("--image= ruby=rb:1 , python=py:1"),
        WORDS("ruby=rb:1", "python=py:1")},
    {"--image twice", NONE,
        WORDS("--image=ruby=rb:1", "--image", "javascript=js:1"),
        WORDS("ruby=rb:1", "js=js:1")},
    {"--image, the last of one", NONE,
        WORDS("--image=ruby=rb:1", "--image=ruby=rb:2"), WORDS("ruby=rb:2")},
    {"--image before --python-image", NONE,
        WORDS("--image=python=py:1", "--python-image=py:2"),
        WORDS("python=py:1")},
    {"--languages", NONE, WORDS("--languages", "bash"),
        WORDS("languages=bash,")},
    {"--languages in any order", NONE, WORDS("--languages=r, c ,python,c"),
        WORDS("languages=python,c,r,")},
    {"--languages all", NONE, WORDS("--languages=all"),
        WORDS("languages=python,javascript,typescript,bash,ruby,go,c,cpp,"
              "java,r,")},
    {"--timeout", NONE, WORDS("--timeout", "5"), WORDS("timeout=5")},
    {"--timeout=", NONE, WORDS("--timeout=5"), WORDS("timeout=5")},
    {"--timeout, lowest", NONE, WORDS("--timeout=1"), WORDS("timeout=1")},
    {"--timeout, highest", NONE, WORDS("--timeout=86400"),
        WORDS("timeout=86400", "max-timeout=86400")},
    {"--max-timeout", NONE, WORDS("--max-timeout", "60"),
        WORDS("max-timeout=60")},
    {"--max-timeout=", NONE, WORDS("--max-timeout=60"),
        WORDS("max-timeout=60")},
    {"--max-timeout is at least --timeout", NONE,
        WORDS("--max-timeout=10", "--timeout=20"),
        WORDS("timeout=20", "max-timeout=20")},
    {"--max-output", NONE, WORDS("--max-output", "2048"),
        WORDS("max-output=2048")},
    {"--max-output=", NONE, WORDS("--max-output=2048"),
        WORDS("max-output=2048")},
    {"--max-output, lowest", NONE, WORDS("--max-output=1k"),
        WORDS("max-output=1024")},
    {"--max-output, highest", NONE, WORDS("--max-output=256m"),
        WORDS("max-output=268435456")},
    {"--max-output in b", NONE, WORDS("--max-output=4096b"),
        WORDS("max-output=4096")},
    {"--max-output in capitals", NONE, WORDS("--max-output=3M"),
        WORDS("max-output=3145728")},
    {"--max-parallel", NONE, WORDS("--max-parallel", "1"),
        WORDS("max-parallel=1")},
    {"--max-parallel=", NONE, WORDS("--max-parallel=1024"),
        WORDS("max-parallel=1024")},
    {"--pool", NONE, WORDS("--pool", "0"), WORDS("pool=0")},
    {"--pool=", NONE, WORDS("--pool=64"), WORDS("pool=64")},
    {"--interpreter", NONE, WORDS("--interpreter", "plain"), WORDS("warm=0")},
    {"--interpreter=", NONE, WORDS("--interpreter=warm"), NONE},
    {"--preload", NONE, WORDS("--preload", "numpy"), WORDS("preload=numpy")},
    {"--preload=", NONE, WORDS("--preload= numpy , a.b_c,,json "),
        WORDS("preload=numpy,a.b_c,json")},
    {"--preload of nothing", NONE, WORDS("--preload="), NONE},
    {"--memory", NONE, WORDS("--memory", "512m"), WORDS("memory=512m")},
    {"--memory=", NONE, WORDS("--memory=2G"), WORDS("memory=2G")},
    {"--memory, lowest", NONE, WORDS("--memory=16m"), WORDS("memory=16m")},
    {"--memory in bytes", NONE, WORDS("--memory=16777216"),
        WORDS("memory=16777216")},
    {"--cpus", NONE, WORDS("--cpus", "0.5"), WORDS("cpus=0.5")},
    {"--cpus=", NONE, WORDS("--cpus=2"), WORDS("cpus=2")},
    {"--pids", NONE, WORDS("--pids", "8"), WORDS("pids=8")},
    {"--pids=", NONE, WORDS("--pids=65536"), WORDS("pids=65536")},
    {"--network", NONE, WORDS("--network", "none"),
        WORDS("network=none", "offline=1")},
    {"--runtime", NONE, WORDS("--runtime", "runsc"), WORDS("runtime=runsc")},
    {"--loosen", NONE, WORDS("--loosen", "user, read-only"),
        WORDS("loosened=user,read-only,")},
    {"--redact", WORDS("A=secret", "B=short"),
        WORDS("--redact", "--pass-through-env=A,B"),
        WORDS("pass=A,B,", "secrets=1")},
    {"no --redact", WORDS("A=secret"), WORDS("--pass-through-env=A"),
        WORDS("pass=A,")},
    {"--network=", NONE, WORDS("--network=my-net"), WORDS("network=my-net")},
    {"--verbose", NONE, WORDS("--verbose"), WORDS("verbose=1")},
    {"--transport stdio", NONE, WORDS("--transport", "stdio"), NONE},
    {"--transport http", NONE, WORDS("--transport=http"),
        WORDS("transport=http")},
    {"--transport streamable-http", NONE, WORDS("--transport=streamable-http"),
        WORDS("transport=http")},
    {"--host", NONE, WORDS("--transport=http", "--host", "::1"),
        WORDS("transport=http", "host=::1")},
    {"--host=", NONE, WORDS("--transport=http", "--host=0.0.0.0"),
        WORDS("transport=http", "host=0.0.0.0")},
    {"--port", NONE, WORDS("--transport=http", "--port", "0"),
        WORDS("transport=http", "port=0")},
    {"--port=", NONE, WORDS("--transport=http", "--port=65535"),
        WORDS("transport=http", "port=65535")},
    {"--path", NONE, WORDS("--transport=http", "--path", "/"),
        WORDS("transport=http", "path=/")},
    {"--path=", NONE, WORDS("--transport=http", "--path=/a/b"),
        WORDS("transport=http", "path=/a/b")},
    {"--listen", NONE, WORDS("--transport=http", "--listen", "unix:/run/x"),
        WORDS("transport=http", "listen=unix:/run/x")},
    {"--listen=", NONE, WORDS("--transport=http", "--listen=unix:x"),
        WORDS("transport=http", "listen=unix:x")},
    {"--allow-host", NONE, WORDS("--transport=http", "--allow-host", "a,b"),
        WORDS("transport=http", "allow-host=a,b")},
    {"--allow-origin=", NONE,
        WORDS("--transport=http", "--allow-origin=https://a"),
        WORDS("transport=http", "allow-origin=https://a")},
    {"--token-file", NONE, WORDS("--transport=http", "--token-file", "/t"),
        WORDS("transport=http", "token-file=/t")},
    {"CODE_SANDBOX_TOKEN", WORDS("CODE_SANDBOX_TOKEN=secret"), NONE,
        WORDS("token=secret")},
    {"an empty CODE_SANDBOX_TOKEN", WORDS("CODE_SANDBOX_TOKEN="), NONE, NONE},
    {"--help", NONE, WORDS("--help"), WORDS("action=help")},
    {"-h", NONE, WORDS("-h"), WORDS("action=help")},
    {"--version", NONE, WORDS("--version"), WORDS("action=version")},
    {"the last of two counts", NONE, WORDS("--timeout=5", "--timeout=6"),
        WORDS("timeout=6")},
    {"nothing behind --help is looked at", NONE,
        WORDS("--help", "--bogus", "x"), WORDS("action=help")},
    {"nothing behind --version is looked at", NONE,
        WORDS("--version", "--bogus"), WORDS("action=version")},
    /* run */
    /* ... has no next call that a container could wait for. */
    {"run --pool", NONE, WORDS("run", "--pool=5"),
        WORDS("action=run", "pool=0")},
    {"run", NONE, WORDS("run"), WORDS("action=run", "pool=0")},
    {"run FILE", NONE, WORDS("run", "a.py"),
        WORDS("action=run", "pool=0", "file=a.py")},
    {"run -", NONE, WORDS("run", "-"), WORDS("action=run", "pool=0", "file=-")},
    {"run --language", NONE, WORDS("run", "--language", "python"),
        WORDS("action=run", "pool=0", "language=python")},
    {"run --language=", NONE, WORDS("run", "--language=javascript", "x"),
        WORDS("action=run", "pool=0", "language=javascript", "file=x")},
    {"run --language that is off", NONE, WORDS("run", "--language=go"),
        WORDS("action=run", "pool=0", "language=go")},
    {"options on both sides of run", NONE,
        WORDS("--timeout=5", "run", "--pids", "9", "--verbose", "a.py"),
        WORDS("action=run", "pool=0", "file=a.py", "timeout=5", "pids=9",
            "verbose=1")},
    {"all behind the file is the program's", NONE,
        WORDS("run", "a.py", "--verbose", "--help", "b", "--", "-h", ""),
        WORDS("action=run", "pool=0", "file=a.py",
            "arguments=--verbose,--help,b,--,-h,,")},
    {"the first -- behind the file is not", NONE,
        WORDS("run", "a.py", "--", "--flag", "--"),
        WORDS("action=run", "pool=0", "file=a.py", "arguments=--flag,--,")},
    {"unless there was one before it", NONE,
        WORDS("run", "--", "a.py", "--", "x"),
        WORDS("action=run", "pool=0", "file=a.py", "arguments=--,x,")},
    {"arguments of a program from stdin", NONE,
        WORDS("run", "--language=python", "-", "a", "b"),
        WORDS("action=run", "pool=0", "language=python", "file=-",
            "arguments=a,b,")},
    {"run --file", NONE, WORDS("run", "--file", "a", "--file=b=c", "x"),
        WORDS("action=run", "pool=0", "file=x", "files=a,b=c,")},
    {"run --package", NONE,
        WORDS("run", "--package=numpy>=1.0", "--package", "a[b] @ c", "x"),
        WORDS(
            "action=run", "pool=0", "file=x", "packages=numpy>=1.0,a[b] @ c,")},
    {"run --output", NONE,
        WORDS("run", "--output=*.csv", "--output", "a/b", "--output-dir=o",
            "--force", "x"),
        WORDS("action=run", "pool=0", "file=x", "outputs=*.csv,a/b,",
            "output-dir=o", "force=1")},
    {"run --output, before run", NONE, WORDS("--output=*", "run", "x"),
        WORDS("action=run", "pool=0", "file=x", "outputs=*,")},
    {"run --stdin", NONE, WORDS("run", "--stdin", "data", "x"),
        WORDS("action=run", "pool=0", "file=x", "stdin=data")},
    {"run --stdin -", NONE, WORDS("run", "--stdin", "-", "x"),
        WORDS("action=run", "pool=0", "file=x", "stdin=-")},
    {"run --stdin of a file, the program from stdin", NONE,
        WORDS("run", "--language=python", "--stdin=data", "-"),
        WORDS(
            "action=run", "pool=0", "language=python", "file=-", "stdin=data")},
    {"a file behind --", NONE, WORDS("run", "--", "--help"),
        WORDS("action=run", "pool=0", "file=--help")},
    {"a file named run", NONE, WORDS("run", "run"),
        WORDS("action=run", "pool=0", "file=run")},
    {"run --help", NONE, WORDS("run", "--help"), WORDS("action=help")},
    /* the environment */
    {"CONTAINER_ENGINE", WORDS("CONTAINER_ENGINE=docker"), NONE,
        WORDS("engine=docker")},
    {"BACKEND", WORDS("BACKEND=podman"), NONE, WORDS("engine=podman")},
    {"CONTAINER_ENGINE before BACKEND",
        WORDS("BACKEND=podman", "CONTAINER_ENGINE=docker"), NONE,
        WORDS("engine=docker")},
    {"BACKEND when CONTAINER_ENGINE is empty",
        WORDS("BACKEND=podman", "CONTAINER_ENGINE="), NONE,
        WORDS("engine=podman")},
    {"an empty BACKEND is none", WORDS("BACKEND="), NONE, NONE},
    {"--engine before the environment", WORDS("CONTAINER_ENGINE=docker"),
        WORDS("--engine=podman"), WORDS("engine=podman")},
    {"--engine before a bad environment",
        WORDS("BACKEND=kubernetes", "VERBOSE=1"), WORDS("--engine=podman"),
        WORDS("engine=podman", "verbose=1")},
    {"VERBOSE=true", WORDS("VERBOSE=true"), NONE, WORDS("verbose=1")},
    {"VERBOSE=TRUE", WORDS("VERBOSE=TRUE"), NONE, WORDS("verbose=1")},
    {"VERBOSE=1", WORDS("VERBOSE=1"), NONE, WORDS("verbose=1")},
    {"VERBOSE=yes", WORDS("VERBOSE=yes"), NONE, WORDS("verbose=1")},
    {"VERBOSE=false", WORDS("VERBOSE=false"), NONE, NONE},
    {"VERBOSE=0", WORDS("VERBOSE=0"), NONE, NONE},
    {"VERBOSE empty", WORDS("VERBOSE="), NONE, NONE},
    {"--verbose before VERBOSE=false", WORDS("VERBOSE=false"),
        WORDS("--verbose"), WORDS("verbose=1")},
    {"CONTAINER_IMAGE and CONTAINER_LANGUAGE",
        WORDS("CONTAINER_IMAGE=my:1", "CONTAINER_LANGUAGE=python"), NONE,
        WORDS("python=my:1", "js=my:1", "ruby=my:1")},
    {"the same for javascript",
        WORDS("CONTAINER_IMAGE=my:1", "CONTAINER_LANGUAGE=javascript"), NONE,
        WORDS("python=my:1", "js=my:1", "ruby=my:1")},
    {"both empty", WORDS("CONTAINER_IMAGE=", "CONTAINER_LANGUAGE="), NONE,
        NONE},
    {"--python-image before CONTAINER_IMAGE",
        WORDS("CONTAINER_IMAGE=my:1", "CONTAINER_LANGUAGE=python"),
        WORDS("--python-image=py:2"),
        WORDS("python=py:2", "js=my:1", "ruby=my:1")},
    {"--js-image before CONTAINER_IMAGE",
        WORDS("CONTAINER_IMAGE=my:1", "CONTAINER_LANGUAGE=python"),
        WORDS("--js-image=js:2"), WORDS("python=my:1", "js=js:2", "ruby=my:1")},
    {"variables that look like ours",
        WORDS("ENGINE=x", "TIMEOUT=x", "CONTAINER_IMAGES=x"), NONE, NONE},
    {"--help in spite of a bad BACKEND", WORDS("BACKEND=kubernetes"),
        WORDS("--help"), WORDS("action=help")},
    {"--version in spite of a bad BACKEND", WORDS("BACKEND=kubernetes"),
        WORDS("--version"), WORDS("action=version")},
    {"--help in spite of half of CONTAINER_IMAGE", WORDS("CONTAINER_IMAGE=x"),
        WORDS("--help"), WORDS("action=help")},
    /* pass-through */
    {"--pass-through-env", WORDS("A=1", "B=2"),
        WORDS("--pass-through-env", "A,B"), WORDS("pass=A,B,")},
    {"--pass-through-env=", WORDS("A=1", "B=2"), WORDS("--pass-through-env=B"),
        WORDS("pass=B,")},
    {"names are trimmed", WORDS("A=1", "B=2"),
        WORDS("--pass-through-env", " A ,\tB,, "), WORDS("pass=A,B,")},
    {"a name twice", WORDS("A=1"), WORDS("--pass-through-env=A,A"),
        WORDS("pass=A,")},
    {"an empty value is a value", WORDS("A="), WORDS("--pass-through-env=A"),
        WORDS("pass=A,")},
    {"a name that is not set is left out", WORDS("A=1"),
        WORDS("--pass-through-env=NOT_SET,A"), WORDS("pass=A,")},
    {"PASSTHROUGH_ENV", WORDS("A=1", "PASSTHROUGH_ENV=A"), NONE,
        WORDS("pass=A,")},
    {"the flag before PASSTHROUGH_ENV",
        WORDS("A=1", "B=2", "PASSTHROUGH_ENV=A"), WORDS("--pass-through-env=B"),
        WORDS("pass=B,")},
    {"an empty PASSTHROUGH_ENV", WORDS("PASSTHROUGH_ENV="), NONE, NONE},
};

/* What is said on stderr on the way is no part of the test. */
static int
silence(void)
{
	int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);

	fflush(stderr);
	dup2(null, STDERR_FILENO);
	close(null);
	return saved;
}

static void
unsilence(int saved)
{
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
}

START_TEST(taken)
{
	struct settings settings;
	struct err err;
	int saved = silence();
	int status = parse(&settings, good[_i].env, good[_i].words, &err);

	unsilence(saved);
	ck_assert_msg(status == 0, "%s: %s", good[_i].name, err.message);
	ck_assert_msg(err.code == ERR_NONE, "%s: err is written on success",
	    good[_i].name);
	assert_differs(good[_i].name, &settings, good[_i].expected);
	settings_release(&settings);
}
END_TEST

static const struct {
	const char *name;
	const char *const *env;
	const char *const *words;
	const char *mention; /* must be in the message */
} bad[] = {
    {"unknown option", NONE, WORDS("--bogus"), "--bogus"},
    {"unknown option with a value", NONE, WORDS("--bogus=1"), "--bogus"},
    {"unknown short option", NONE, WORDS("-x"), "-x"},
    {"HTTP option over stdio", NONE, WORDS("--port=1"), "--port"},
    {"HTTP option over stdio, by name", NONE,
        WORDS("--transport=stdio", "--token-file=/t"), "--token-file"},
    {"half of an option", NONE, WORDS("--time=1"), "--time"},
    {"an option with more behind it", NONE, WORDS("--timeouts=1"),
        "--timeouts"},
    {"unknown before --help", NONE, WORDS("--bogus", "--help"), "--bogus"},
    {"unexpected word", NONE, WORDS("serve"), "serve"},
    {"an empty word", NONE, WORDS(""), "unexpected"},
    {"a value for --verbose", NONE, WORDS("--verbose=true"), "--verbose"},
    {"a value for --help", NONE, WORDS("--help=1"), "--help"},
    {"no value: --engine", NONE, WORDS("--engine"), "--engine"},
    {"no value: --python-image", NONE, WORDS("--python-image"),
        "--python-image"},
    {"no value: --js-image", NONE, WORDS("--js-image"), "--js-image"},
    {"no value: --pass-through-env", NONE, WORDS("--pass-through-env"),
        "--pass-through-env"},
    {"no value: --timeout", NONE, WORDS("--timeout"), "--timeout"},
    {"no value: --max-timeout", NONE, WORDS("--max-timeout"), "--max-timeout"},
    {"no value: --max-output", NONE, WORDS("--max-output"), "--max-output"},
    {"no value: --max-parallel", NONE, WORDS("--max-parallel"),
        "--max-parallel"},
    {"no value: --memory", NONE, WORDS("--memory"), "--memory"},
    {"no value: --cpus", NONE, WORDS("--cpus"), "--cpus"},
    {"no value: --pids", NONE, WORDS("--pids"), "--pids"},
    {"no value: --network", NONE, WORDS("--network"), "--network"},
    {"no value: --language", NONE, WORDS("run", "--language"), "--language"},
    {"empty: --engine", NONE, WORDS("--engine="), "--engine"},
    {"empty: --python-image", NONE, WORDS("--python-image="), "--python-image"},
    {"empty: --js-image", NONE, WORDS("--js-image", ""), "--js-image"},
    {"empty: --pass-through-env", NONE, WORDS("--pass-through-env="),
        "--pass-through-env"},
    {"empty: --timeout", NONE, WORDS("--timeout="), "--timeout"},
    {"empty: --max-output", NONE, WORDS("--max-output="), "--max-output"},
    {"empty: --memory", NONE, WORDS("--memory="), "--memory"},
    {"empty: --cpus", NONE, WORDS("--cpus="), "--cpus"},
    {"empty: --network", NONE, WORDS("--network="), "--network"},
    {"empty: --language", NONE, WORDS("run", "--language="), "--language"},
    {"--engine that is a flag", NONE, WORDS("--engine", "--verbose"),
        "--engine"},
    {"--engine with a blank", NONE, WORDS("--engine=a b"), "--engine"},
    {"--engine kubernetes", NONE, WORDS("--engine=kubernetes"), "kubernetes"},
    {"--python-image that is a flag", NONE,
        WORDS("--python-image=--privileged"), "--python-image"},
    {"--python-image with a blank", NONE, WORDS("--python-image=a b"),
        "--python-image"},
    {"--js-image that is a flag", NONE, WORDS("--js-image", "-v/:/x"),
        "--js-image"},
    {"--timeout 0", NONE, WORDS("--timeout=0"), "--timeout"},
    {"--timeout -1", NONE, WORDS("--timeout=-1"), "--timeout"},
    {"--timeout over a day", NONE, WORDS("--timeout=86401"), "--timeout"},
    {"--timeout 1.5", NONE, WORDS("--timeout=1.5"), "--timeout"},
    {"--timeout ten", NONE, WORDS("--timeout=ten"), "--timeout"},
    {"--timeout 10s", NONE, WORDS("--timeout=10s"), "--timeout"},
    {"--timeout past all types", NONE,
        WORDS("--timeout=99999999999999999999999"), "--timeout"},
    {"--max-timeout 0", NONE, WORDS("--max-timeout=0"), "--max-timeout"},
    {"--max-timeout over a day", NONE, WORDS("--max-timeout=86401"),
        "--max-timeout"},
    {"run over HTTP", NONE, WORDS("run", "--transport", "http", "a.py"),
        "--transport is for the server"},
    {"--max-output too small", NONE, WORDS("--max-output=1023"),
        "--max-output: \"1023\" is not a number of bytes from 1024 to "
        "268435456"},
    {"--max-output too big", NONE, WORDS("--max-output=257m"), "--max-output"},
    {"--max-output with an unknown unit", NONE, WORDS("--max-output=1t"),
        "--max-output"},
    {"--max-output with more behind the unit", NONE, WORDS("--max-output=1mb"),
        "--max-output"},
    {"--max-output without a number", NONE, WORDS("--max-output=m"),
        "--max-output"},
    {"--max-output below 0", NONE, WORDS("--max-output=-1m"), "--max-output"},
    {"--max-output with a fraction", NONE, WORDS("--max-output=1.5m"),
        "--max-output"},
    {"--max-output with twenty digits", NONE,
        WORDS("--max-output=00000000000000001024"), "--max-output"},
    {"--max-parallel 0", NONE, WORDS("--max-parallel=0"), "--max-parallel"},
    {"--max-parallel 1025", NONE, WORDS("--max-parallel=1025"),
        "--max-parallel"},
    {"--transport sse", NONE, WORDS("--transport=sse"), "--transport"},
    {"empty: --host", NONE, WORDS("--host="), "--host"},
    {"--host that is a flag", NONE, WORDS("--host=-x"), "--host"},
    {"--port -1", NONE, WORDS("--port=-1"), "--port"},
    {"--port 65536", NONE, WORDS("--port=65536"), "--port"},
    {"--port http", NONE, WORDS("--port=http"), "--port"},
    {"--path without a slash", NONE, WORDS("--path=mcp"), "--path"},
    {"empty: --path", NONE, WORDS("--path="), "--path"},
    {"--path with a query", NONE, WORDS("--path=/a?b"), "--path"},
    {"--path with a blank", NONE, WORDS("--path=/a b"), "--path"},
    {"--listen and --port", NONE,
        WORDS("--transport=http", "--listen=unix:x", "--port=1"),
        "--port does not go with --listen"},
    {"--host and --listen", NONE,
        WORDS("--transport=http", "--host=::1", "--listen=unix:x"),
        "--host does not go with --listen"},
    {"--listen of a port", NONE, WORDS("--listen=8000"), "--listen"},
    {"--listen of nothing", NONE, WORDS("--listen=unix:"), "--listen"},
    {"empty: --allow-host", NONE, WORDS("--allow-host="), "--allow-host"},
    {"empty: --token-file", NONE, WORDS("--token-file="), "--token-file"},
    {"--pool -1", NONE, WORDS("--pool=-1"), "--pool"},
    {"--pool 65", NONE, WORDS("--pool=65"), "--pool"},
    {"--interpreter hot", NONE, WORDS("--interpreter=hot"), "--interpreter"},
    {"empty: --interpreter", NONE, WORDS("--interpreter="), "--interpreter"},
    {"--preload with a blank in a name", NONE, WORDS("--preload=a b"),
        "--preload"},
    {"--preload with a flag", NONE, WORDS("--preload", "--verbose"),
        "--preload"},
    {"--preload with a semicolon", NONE, WORDS("--preload=os;os"), "--preload"},
    {"--preload with a tab", NONE, WORDS("--preload=os\tos"), "--preload"},
    {"--memory too small", NONE, WORDS("--memory=15m"), "--memory"},
    {"--memory too big", NONE, WORDS("--memory=32769g"), "--memory"},
    {"--memory with a word", NONE, WORDS("--memory=much"), "--memory"},
    {"--memory with a flag", NONE, WORDS("--memory=--privileged"), "--memory"},
    {"--cpus 0", NONE, WORDS("--cpus=0"), "--cpus"},
    {"--cpus with two points", NONE, WORDS("--cpus=1.2.3"), "--cpus"},
    {"--cpus with a point only", NONE, WORDS("--cpus=."), "--cpus"},
    {"--cpus below 0", NONE, WORDS("--cpus=-1"), "--cpus"},
    {"--cpus too many", NONE, WORDS("--cpus=1025"), "--cpus"},
    {"--cpus nan", NONE, WORDS("--cpus=nan"), "--cpus"},
    {"--cpus inf", NONE, WORDS("--cpus=inf"), "--cpus"},
    {"--cpus 1e2", NONE, WORDS("--cpus=1e2"), "--cpus"},
    {"--pids 7", NONE, WORDS("--pids=7"), "--pids"},
    {"--pids 65537", NONE, WORDS("--pids=65537"), "--pids"},
    {"--network that is a flag", NONE, WORDS("--network=-x"), "--network"},
    {"--network with a blank", NONE, WORDS("--network=a b"), "--network"},
    {"--runtime that is a flag", NONE, WORDS("--runtime=--x"), "--runtime"},
    {"--loosen what is not there", NONE, WORDS("--loosen=user,all"), "\"all\""},
    {"--language cobol", NONE, WORDS("run", "--language=cobol"),
        "the known ones are python, javascript, "},
    {"--languages cobol", NONE, WORDS("--languages=python,cobol"),
        "--languages: there is no language \"cobol\"; the known ones are "
        "python, javascript, typescript, bash, ruby, go, c, cpp, java, r"},
    {"--languages of nothing", NONE, WORDS("--languages= , "), "--languages"},
    {"empty: --languages", NONE, WORDS("--languages="), "--languages"},
    {"--languages in capitals", NONE, WORDS("--languages=Python"), "Python"},
    {"no value: --image", NONE, WORDS("--image"), "--image"},
    {"empty: --image", NONE, WORDS("--image="), "--image"},
    {"--image without a language", NONE, WORDS("--image=py:1"), "--image"},
    {"--image without an image", NONE, WORDS("--image=ruby"), "ruby=IMAGE"},
    {"--image of nothing", NONE, WORDS("--image=ruby="), "--image"},
    {"--image that is a flag", NONE, WORDS("--image=ruby=--privileged"),
        "--image"},
    {"--image with a blank", NONE, WORDS("--image=ruby=a b"), "--image"},
    {"--image for cobol", NONE, WORDS("--image=cobol=x"), "known ones"},
    {"empty: --language-file", NONE, WORDS("--language-file="),
        "--language-file"},
    {"--language-file that is not there", NONE,
        WORDS("--language-file=/nonexistent/x"), "No such file"},
    {"--language-file of a directory", NONE, WORDS("--language-file=/"),
        "not a regular file"},
    {"--language-file of a device", NONE, WORDS("--language-file=/dev/zero"),
        "not a regular file"},
    {"--language without run", NONE, WORDS("--language=python"), "--language"},
    {"--file without run", NONE, WORDS("--file=a"), "--file"},
    {"--stdin without run", NONE, WORDS("--stdin=a"), "--stdin"},
    {"--package without run", NONE, WORDS("--package=a"), "--package"},
    {"--output without run", NONE, WORDS("--output=a"), "--output"},
    {"--output-dir without run", NONE, WORDS("--output-dir=a"), "--output-dir"},
    {"--force without run", NONE, WORDS("--force"), "--force"},
    {"no value: --file", NONE, WORDS("run", "--file"), "--file"},
    {"empty: --file", NONE, WORDS("run", "--file="), "--file"},
    {"empty: --stdin", NONE, WORDS("run", "--stdin="), "--stdin"},
    {"empty: --package", NONE, WORDS("run", "--package="), "--package"},
    {"empty: --output", NONE, WORDS("run", "--output="), "--output"},
    {"empty: --output-dir", NONE, WORDS("run", "--output-dir="),
        "--output-dir"},
    {"a value for --force", NONE, WORDS("run", "--force=1"), "--force"},
    {"--package that is a flag", NONE, WORDS("run", "--package=-r x", "x"),
        "--package"},
    {"--package with a newline", NONE, WORDS("run", "--package=a\nb", "x"),
        "--package"},
    {"--output of an absolute path", NONE, WORDS("run", "--output=/a", "x"),
        "--output"},
    {"--stdin - and the program from stdin", NONE,
        WORDS("run", "--language=python", "--stdin=-"), "--stdin -"},
    {"--stdin - and the program from -", NONE,
        WORDS("run", "--language=python", "--stdin=-", "-"), "--stdin -"},
    {"--pass-through-env with a value in it", WORDS("A=1"),
        WORDS("--pass-through-env=A=1"), "--pass-through-env"},
    {"--pass-through-env with a star", WORDS("A=1"),
        WORDS("--pass-through-env=A*"), "--pass-through-env"},
    {"--pass-through-env with a flag", NONE,
        WORDS("--pass-through-env", "--verbose"), "--pass-through-env"},
    {"a bad name in PASSTHROUGH_ENV", WORDS("PASSTHROUGH_ENV=A-B"), NONE,
        "A-B"},
    {"BACKEND=kubernetes", WORDS("BACKEND=kubernetes"), NONE,
        "BACKEND: kubernetes"},
    {"a bad CONTAINER_ENGINE", WORDS("CONTAINER_ENGINE=-x"), NONE, "-x"},
    {"CONTAINER_IMAGE alone", WORDS("CONTAINER_IMAGE=x"), NONE,
        "only CONTAINER_IMAGE is set"},
    {"CONTAINER_IMAGE with an empty CONTAINER_LANGUAGE",
        WORDS("CONTAINER_IMAGE=x", "CONTAINER_LANGUAGE="), NONE,
        "only CONTAINER_IMAGE is set"},
    {"CONTAINER_LANGUAGE alone", WORDS("CONTAINER_LANGUAGE=python"), NONE,
        "only CONTAINER_LANGUAGE is set"},
    {"CONTAINER_LANGUAGE=cobol",
        WORDS("CONTAINER_IMAGE=x", "CONTAINER_LANGUAGE=cobol"), NONE,
        "CONTAINER_LANGUAGE"},
    {"a bad CONTAINER_IMAGE",
        WORDS("CONTAINER_IMAGE=-x", "CONTAINER_LANGUAGE=python"), NONE, "-x"},
};

START_TEST(refused)
{
	struct settings settings;
	struct err err;
	int status = parse(&settings, bad[_i].env, bad[_i].words, &err);

	settings_release(&settings);
	ck_assert_msg(status == -1, "%s: taken", bad[_i].name);
	ck_assert_msg(
	    err.code == ERR_ARGUMENT, "%s: code %d", bad[_i].name, err.code);
	ck_assert_msg(strstr(err.message, bad[_i].mention) != NULL,
	    "%s: the message does not name %s: %s", bad[_i].name,
	    bad[_i].mention, err.message);
	ck_assert_msg(strchr(err.message, '\n') == NULL,
	    "%s: more than one line: %s", bad[_i].name, err.message);
}
END_TEST

/* So many that the number of bytes is more than any type holds: what is left
 * of it may look like a good one. */
static const char *const overflows[] = {"--memory=17179869185g",
    "--memory=1125899906842624g", "--max-output=17592186044417m",
    "--max-output=17179869185g"};

START_TEST(a_size_that_overflows_is_refused)
{
	struct settings settings;
	struct err err;
	int status = parse(&settings, NONE, WORDS(overflows[_i]), &err);

	settings_release(&settings);
	ck_assert_msg(status == -1, "%s was taken", overflows[_i]);
}
END_TEST

/* "On a mistake says so in one line", as options.h has it. */
static const char *const multiline[] = {"--timeout=1\n2", "--engine=a\nb",
    "--python-image=a\nb", "--bogus\nx", "--cpus=1\n", "word\nword"};

START_TEST(message_is_one_line_whatever_the_value)
{
	struct settings settings;
	struct err err;
	int status = parse(&settings, NONE, WORDS(multiline[_i]), &err);

	settings_release(&settings);
	ck_assert_int_eq(status, -1);
	ck_assert_msg(strchr(err.message, '\n') == NULL,
	    "more than one line: %s", err.message);
}
END_TEST

START_TEST(argv_may_be_empty)
{
	struct settings settings;
	struct err err = {0};
	char *argv[] = {NULL};

	ck_assert_int_eq(options_parse(&settings, 0, argv, &err), 0);
	assert_differs("no argv[0]", &settings, NONE);
	settings_release(&settings);
}
END_TEST

START_TEST(an_unset_name_is_said)
{
	char *directory = scratch_new();
	char *path = xasprintf("%s/stderr", directory);
	char said[512] = "";
	struct settings settings;
	struct err err;
	int saved = dup(STDERR_FILENO), status;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	status = parse(&settings, WORDS("A=1"),
	    WORDS("--pass-through-env=NOT_SET,A"), &err);
	unsilence(saved);
	ck_assert_int_eq(status, 0);
	ck_assert_int_gt(pread(fd, said, sizeof(said) - 1, 0), 0);
	close(fd);
	ck_assert_ptr_nonnull(strstr(said, "NOT_SET is not set"));
	settings_release(&settings);
	free(path);
	scratch_free(directory);
}
END_TEST

START_TEST(help_names_every_option)
{
	static const char *const names[] = {"--engine NAME",
	    "--python-image IMAGE", "--js-image IMAGE",
	    "--image LANGUAGE=IMAGE", "--languages A,B", "--language-file FILE",
	    "--pass-through-env A,B", "--timeout SECONDS",
	    "--max-timeout SECONDS", "--max-output BYTES", "--max-parallel N",
	    "--pool N", "--interpreter HOW", "--preload A,B", "--memory BYTES",
	    "--cpus N", "--pids N", "--network NAME", "--transport HOW",
	    "--host ADDRESS", "--port N", "--path PATH", "--listen unix:PATH",
	    "--allow-host A,B", "--allow-origin A,B", "--token-file FILE",
	    "--verbose", "--language NAME", "--file PATH[=NAME]",
	    "--stdin FILE|-", "--package SPEC", "--output PATTERN",
	    "--output-dir DIR", "--force", "--help", "--version",
	    "CONTAINER_ENGINE", "BACKEND", "PASSTHROUGH_ENV", "VERBOSE",
	    "CONTAINER_IMAGE", "CONTAINER_LANGUAGE", "run [OPTION ...]"};
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	options_help(stream);
	fclose(stream);
	for (size_t i = 0; i < COUNT(names); i++)
		ck_assert_msg(strstr(text, names[i]) != NULL,
		    "--help does not name %s", names[i]);
	free(text);
}
END_TEST

START_TEST(help_fits_a_terminal)
{
	char *text = NULL, *line, *rest;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	options_help(stream);
	fclose(stream);
	ck_assert(text[length - 1] == '\n');
	rest = text;
	while ((line = strsep(&rest, "\n")) != NULL)
		ck_assert_msg(strlen(line) <= 120, "%s", line);
	free(text);
}
END_TEST

START_TEST(release_leaves_nothing)
{
	struct settings settings, empty = {0};
	struct err err;

	ck_assert_int_eq(parse(&settings, WORDS("A=1"),
	                     WORDS("run", "--engine=e", "--network=n",
	                         "--pass-through-env=A", "--file=f",
	                         "--stdin=s", "--package=p", "--output=o",
	                         "--output-dir=d", "--force", "x", "a"),
	                     &err),
	    0);
	settings_release(&settings);
	ck_assert_mem_eq(&settings, &empty, sizeof(empty));
	settings_release(&settings);
}
END_TEST

Suite *
options_suite(void)
{
	Suite *suite = suite_create("options");
	TCase *tcase = tcase_create("options");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	environment_fixture(tcase);
	tcase_add_loop_test(tcase, taken, 0, COUNT(good));
	tcase_add_loop_test(tcase, refused, 0, COUNT(bad));
	tcase_add_loop_test(
	    tcase, a_size_that_overflows_is_refused, 0, COUNT(overflows));
	tcase_add_loop_test(
	    tcase, message_is_one_line_whatever_the_value, 0, COUNT(multiline));
	tcase_add_test(tcase, argv_may_be_empty);
	tcase_add_test(tcase, an_unset_name_is_said);
	tcase_add_test(tcase, help_names_every_option);
	tcase_add_test(tcase, help_fits_a_terminal);
	tcase_add_test(tcase, release_leaves_nothing);
	suite_add_tcase(suite, tcase);
	return suite;
}
