#include "engine/engine_argv.h"
#include "settings/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "helpers.h"
#include "scripts.h"
#include "suites.h"

#define NONCE "0123456789abcdef0123456789abcdef"

/*
 * The security boundary, word by word.  A change here is a change of what
 * programs may do: the manual's SANDBOX section must say the same.
 */
#define HARDENING \
	"--cap-drop=ALL\n" \
	"--security-opt=no-new-privileges\n" \
	"--user=65534:65534\n" \
	"--tmpfs=/tmp:rw,nosuid,nodev,noexec,size=64m,mode=1777\n" \
	"--shm-size=64m\n" \
	"--ipc=private\n" \
	"--cgroupns=private\n" \
	"--hostname=sandbox\n" \
	"--log-driver=none\n" \
	"--stop-signal=SIGKILL\n" \
	"--stop-timeout=1\n" \
	"--no-healthcheck\n" \
	"--restart=no\n" \
	"--oom-score-adj=500\n" \
	"--workdir=/sandbox\n" \
	"--env=HOME=/home/sandbox\n"
#define SECCOMP "--security-opt=seccomp=/s.json\n"
#define ULIMITS(nofile, nproc, fsize) \
	"--ulimit=nofile=" nofile ":" nofile "\n" \
	"--ulimit=nproc=" nproc ":" nproc "\n" \
	"--ulimit=core=0:0\n" \
	"--ulimit=fsize=" fsize ":" fsize "\n"
#define MEMORY "--memory=1g\n--memory-swap=1g\n"
#define LIMITS(nofile, nproc) \
	MEMORY \
	"--cpus=1\n--pids-limit=256\n" ULIMITS(nofile, nproc, "268435456")
#define READ_ONLY \
	"--read-only\n" \
	"--tmpfs=/sandbox:rw,nosuid,nodev,exec,size=256m,mode=1777\n" \
	"--tmpfs=/home/sandbox:rw,nosuid,nodev,exec,size=256m,mode=1777\n" \
	"--tmpfs=/run:rw,nosuid,nodev,noexec,size=1m,mode=755\n" \
	"--tmpfs=/run/" \
	"sandbox-runner:rw,nosuid,nodev,noexec,size=1m,mode=1777\n" \
	"--tmpfs=/var/tmp:rw,nosuid,nodev,noexec,size=1m,mode=1777\n"
#define IDENTITY \
	"--interactive\n" \
	"--name=box-1\n" \
	"--label=code-sandbox-mcp.owner=m:b:1:2:3\n" \
	"--pull=never\n"
#define PODMAN_ONLY "--http-proxy=false\n--image-volume=ignore\n"
#define DOCKER_ONLY \
	"--env=HTTP_PROXY\n--env=http_proxy\n" \
	"--env=HTTPS_PROXY\n--env=https_proxy\n" \
	"--env=FTP_PROXY\n--env=ftp_proxy\n" \
	"--env=ALL_PROXY\n--env=all_proxy\n" \
	"--env=NO_PROXY\n--env=no_proxy\n"
#define RUNNER "-c\n(the runner)\nrunner\n" NONCE "\n"
/* An installer is one word, of a line for each of its own. */
#define PYTHON \
	"code.py\nnumpy,json\nenv\nPYTHONSAFEPATH=1\npython3\n-" \
	"m\npip\ninstall\n" \
	"--user\n" \
	"--no-input\n--no-cache-dir\n--progress-bar=off\n" \
	"--retries=1\n--timeout=15\n" \
	"--no-warn-script-location\n\n" \
	"PYTHONPATH\n/run/sandbox-runner\n:\n" \
	"sitecustomize.py\n(boot.py)\n" \
	"--\npython3\n-u\ncode.py\n"
#define JAVASCRIPT(hook) \
	"code.js\n\nnpm\ninstall\n--no-save\n--no-package-lock\n" \
	"--no-audit\n--no-fund\n--no-update-notifier\n" \
	"--fetch-retries=1\n--fetch-retry-mintimeout=1000\n" \
	"--fetch-timeout=15000\n\n" hook "--\nnode\ncode.js\n"
#define JAVASCRIPT_HOOK \
	"NODE_OPTIONS\n--no-force-async-hooks-checks " \
	"--require=/run/sandbox-runner/boot.cjs\n \n" \
	"boot.cjs\n(boot.cjs)\n"

#define UNLIMITED \
	.hard_nofile = RLIM_INFINITY, .hard_nproc = RLIM_INFINITY, \
	.hard_fsize = RLIM_INFINITY, .hard_data = RLIM_INFINITY

static const struct engine_traits podman = {
    .kind = ENGINE_PODMAN, .path = "/usr/bin/podman", UNLIMITED};
static const struct engine_traits podman_runc = {.kind = ENGINE_PODMAN,
    .path = "/usr/bin/podman",
    .runtime = "runc",
    .seccomp = "/s.json",
    .hard_nofile = 1 << 20,
    .hard_nproc = 1 << 20,
    .hard_fsize = 1 << 30,
    .hard_data = 1 << 30};
static const struct engine_traits podman_rootless = {.kind = ENGINE_PODMAN,
    .path = "/usr/bin/podman",
    .lacks = {true, true, true},
    UNLIMITED};
/* What systemd delegates to a user by default. */
static const struct engine_traits podman_delegated = {.kind = ENGINE_PODMAN,
    .path = "/usr/bin/podman",
    .lacks = {[CONTROLLER_CPU] = true},
    UNLIMITED};
static const struct engine_traits docker = {.kind = ENGINE_DOCKER,
    .path = "/usr/bin/docker",
    .hard_nofile = 1024,
    .hard_nproc = 4096,
    .hard_fsize = 268435456,
    .hard_data = 1 << 30};
static const struct engine_traits docker_runsc = {.kind = ENGINE_DOCKER,
    .path = "/usr/bin/docker",
    .runtime = "runsc",
    .seccomp = "/s.json",
    UNLIMITED};
/* As on a machine whose kernel was started without it. */
static const struct engine_traits docker_no_memory = {.kind = ENGINE_DOCKER,
    .path = "/usr/bin/docker",
    .lacks = {[CONTROLLER_MEMORY] = true},
    UNLIMITED};
static const struct engine_traits podman_low = {.kind = ENGINE_PODMAN,
    .path = "/usr/bin/podman",
    .hard_nofile = 512,
    .hard_nproc = 100,
    .hard_fsize = 1000,
    .hard_data = 1000};
static const struct engine_traits podman_rootless_low = {.kind = ENGINE_PODMAN,
    .path = "/usr/bin/podman",
    .hard_nofile = 512,
    .hard_nproc = 100,
    .hard_fsize = 1000,
    .hard_data = 1073741823,
    .lacks = {true, true, true}};
static const struct engine_traits docker_low = {.kind = ENGINE_DOCKER,
    .path = "/usr/bin/docker",
    .hard_nofile = 1023,
    .hard_nproc = 4095,
    .hard_fsize = 268435455,
    .hard_data = RLIM_INFINITY};

static struct strlist no_env, nothing_loosened;

static struct container_spec
plain_spec(void)
{
	return (struct container_spec){.name = "box-1",
	    .owner = "m:b:1:2:3",
	    .image = "example.org/py:1",
	    .nonce = NONCE,
	    .language = &languages[LANGUAGE_PYTHON],
	    .mode = CONTAINER_WARM,
	    .preload = "numpy,json",
	    .pass_env = &no_env,
	    .loosened = &nothing_loosened,
	    .limits = {.memory = "1g",
	        .memory_bytes = 1L << 30,
	        .cpus = "1",
	        .pids = 256}};
}

/* The words, each on a line, with stand-ins for scripts of many lines. */
static char *
words_of(struct strlist *argv)
{
	static const struct {
		const char *script, *name;
	} scripts[] = {
	    {script_runner_sh, "(the runner)"},
	    {script_boot_py, "(boot.py)"},
	    {script_boot_cjs, "(boot.cjs)"},
	    {script_load_py, "(load.py)"},
	    {script_load_cjs, "(load.cjs)"},
	};
	char *text;

	for (size_t i = 0; i < argv->count; i++)
		for (size_t j = 0; j < COUNT(scripts); j++)
			if (strcmp(argv->items[i], scripts[j].script) == 0) {
				free(argv->items[i]);
				argv->items[i] = xstrdup(scripts[j].name);
			}
	text = strlist_text(argv);
	strlist_release(argv);
	return text;
}

static void
assert_words(struct strlist *argv, const char *expected)
{
	char *words = words_of(argv);

	ck_assert_str_eq(words, expected);
	free(words);
}

typedef void container_fn(struct strlist *argv,
    const struct engine_traits *traits, const struct container_spec *spec);

static const struct {
	const char *name;
	container_fn *function;
	const struct engine_traits *traits;
	const char *expected;
} containers[] = {
    {"podman run", engine_argv_run, &podman,
        "/usr/bin/podman\nrun\n--rm\n" IDENTITY PODMAN_ONLY HARDENING LIMITS(
            "1024", "4096") READ_ONLY
        "--entrypoint=sh\n--\nexample.org/py:1\n" RUNNER PYTHON},
    {"podman run with a runtime and a profile", engine_argv_run, &podman_runc,
        "/usr/bin/podman\n--runtime=runc\nrun\n--rm\n" IDENTITY PODMAN_ONLY
            HARDENING SECCOMP LIMITS("1024", "4096") READ_ONLY
        "--entrypoint=sh\n--\nexample.org/py:1\n" RUNNER PYTHON},
    {"podman run with low hard limits", engine_argv_run, &podman_low,
        "/usr/bin/podman\nrun\n--rm\n" IDENTITY PODMAN_ONLY HARDENING MEMORY
        "--cpus=1\n--pids-limit=256\n" ULIMITS("512", "100", "1000") READ_ONLY
        "--entrypoint=sh\n--\nexample.org/py:1\n" RUNNER PYTHON},
    {"podman run without controllers", engine_argv_run, &podman_rootless,
        "/usr/bin/podman\nrun\n--rm\n" IDENTITY PODMAN_ONLY HARDENING
        "--ulimit=data=1073741824:1073741824\n" ULIMITS(
            "1024", "256", "268435456") READ_ONLY
        "--entrypoint=sh\n--\nexample.org/py:1\n" RUNNER PYTHON},
    {"podman run without controllers and with low hard limits", engine_argv_run,
        &podman_rootless_low,
        "/usr/bin/podman\nrun\n--rm\n" IDENTITY PODMAN_ONLY HARDENING
        "--ulimit=data=1073741823:1073741823\n" ULIMITS("512", "100", "1000")
            READ_ONLY "--entrypoint=sh\n--\nexample.org/py:1\n" RUNNER PYTHON},
    {"podman run without a cpu controller", engine_argv_run, &podman_delegated,
        "/usr/bin/podman\nrun\n--rm\n" IDENTITY PODMAN_ONLY HARDENING MEMORY
        "--pids-limit=256\n" ULIMITS("1024", "4096", "268435456") READ_ONLY
        "--entrypoint=sh\n--\nexample.org/py:1\n" RUNNER PYTHON},
    {"docker run", engine_argv_run, &docker,
        "/usr/bin/docker\nrun\n--rm\n" IDENTITY DOCKER_ONLY HARDENING LIMITS(
            "1024", "4096") READ_ONLY
        "--entrypoint=sh\n--\nexample.org/py:1\n" RUNNER PYTHON},
    {"docker run with a runtime and a profile", engine_argv_run, &docker_runsc,
        "/usr/bin/docker\nrun\n--rm\n" IDENTITY
        "--runtime=runsc\n" DOCKER_ONLY HARDENING SECCOMP LIMITS("1024", "4096")
            READ_ONLY "--entrypoint=sh\n--\nexample.org/py:1\n" RUNNER PYTHON},
    {"docker run without a memory controller", engine_argv_run,
        &docker_no_memory,
        "/usr/bin/docker\nrun\n--rm\n" IDENTITY DOCKER_ONLY HARDENING
        "--ulimit=data=1073741824:1073741824\n--cpus=1\n--pids-limit="
        "256\n" ULIMITS("1024", "4096", "268435456") READ_ONLY
        "--entrypoint=sh\n--\nexample.org/py:1\n" RUNNER PYTHON},
    {"docker run with low hard limits", engine_argv_run, &docker_low,
        "/usr/bin/docker\nrun\n--rm\n" IDENTITY DOCKER_ONLY HARDENING MEMORY
        "--cpus=1\n--pids-limit=256\n" ULIMITS("1023", "4095", "268435455")
            READ_ONLY "--entrypoint=sh\n--\nexample.org/py:1\n" RUNNER PYTHON},
    {"podman create", engine_argv_create, &podman,
        "/usr/bin/podman\ncreate\n--rm\n" IDENTITY PODMAN_ONLY HARDENING LIMITS(
            "1024", "4096") "--entrypoint=python3\n--\nexample."
                            "org/py:1\n-u\n"
                            "code.py\n"},
    {"podman create with a runtime", engine_argv_create, &podman_runc,
        "/usr/bin/podman\n--runtime=runc\ncreate\n--rm\n" IDENTITY PODMAN_ONLY
            HARDENING SECCOMP LIMITS(
                "1024", "4096") "--entrypoint=python3\n--\nexample."
                                "org/py:1\n-u\n"
                                "code.py\n"},
    {"docker create", engine_argv_create, &docker,
        "/usr/bin/docker\ncreate\n--rm\n" IDENTITY DOCKER_ONLY HARDENING LIMITS(
            "1024", "4096") "--entrypoint=python3\n--\nexample.org/"
                            "py:1\n-u\ncode.py\n"},
    {"docker create with a runtime", engine_argv_create, &docker_runsc,
        "/usr/bin/docker\ncreate\n--rm\n" IDENTITY
        "--runtime=runsc\n" DOCKER_ONLY HARDENING SECCOMP LIMITS(
            "1024", "4096") "--entrypoint=python3\n--\nexample.org/"
                            "py:1\n-u\ncode.py\n"},
};

START_TEST(container_words)
{
	struct container_spec spec = plain_spec();
	struct strlist argv = {0};
	char *words;

	containers[_i].function(&argv, containers[_i].traits, &spec);
	words = words_of(&argv);
	ck_assert_msg(strcmp(words, containers[_i].expected) == 0,
	    "%s:\n%s\nand not\n%s", containers[_i].name, words,
	    containers[_i].expected);
	free(words);
}
END_TEST

START_TEST(javascript_run)
{
	struct container_spec spec = plain_spec();
	struct strlist argv = {0};

	spec.language = &languages[LANGUAGE_JAVASCRIPT];
	spec.image = "js";
	spec.preload = "";
	engine_argv_run(&argv, &podman, &spec);
	assert_words(&argv,
	    "/usr/bin/podman\nrun\n--rm\n" IDENTITY PODMAN_ONLY HARDENING
	        LIMITS("1024", "4096") READ_ONLY
	    "--entrypoint=sh\n--\njs\n" RUNNER JAVASCRIPT(JAVASCRIPT_HOOK));
}
END_TEST

/* Empty words in the place of what leads to the hook: the others keep their
 * places. */
START_TEST(plain_run_has_no_hook)
{
	struct container_spec spec = plain_spec();
	struct strlist argv = {0};

	spec.language = &languages[LANGUAGE_JAVASCRIPT];
	spec.image = "js";
	spec.preload = "";
	spec.mode = CONTAINER_PLAIN;
	engine_argv_run(&argv, &docker, &spec);
	assert_words(&argv,
	    "/usr/bin/docker\nrun\n--rm\n" IDENTITY DOCKER_ONLY HARDENING
	        LIMITS("1024", "4096") READ_ONLY
	    "--entrypoint=sh\n--\njs\n" RUNNER JAVASCRIPT("\n\n\n"));
}
END_TEST

/* Nor has a language without one. */
START_TEST(a_language_without_a_hook)
{
	struct container_spec spec = plain_spec();
	struct strlist argv = {0};

	spec.language = &languages[LANGUAGE_RUBY];
	spec.image = "rb";
	spec.preload = "";
	for (int mode = CONTAINER_WARM; mode <= CONTAINER_PLAIN; mode++) {
		spec.mode = (enum container_mode)mode;
		engine_argv_run(&argv, &docker, &spec);
		assert_words(&argv,
		    "/usr/bin/docker\nrun\n--rm\n" IDENTITY DOCKER_ONLY
		        HARDENING LIMITS("1024", "4096") READ_ONLY
		    "--entrypoint=sh\n--\nrb\n" RUNNER
		    "code.rb\n\n\n\n\n\n--\nruby\ncode.rb\n");
	}
}
END_TEST

/* Without a shell it is held by the same flags. */
START_TEST(loaded_run)
{
	struct container_spec spec = plain_spec();
	struct strlist argv = {0};

	spec.mode = CONTAINER_LOADED;
	engine_argv_run(&argv, &podman, &spec);
	assert_words(&argv,
	    "/usr/bin/podman\nrun\n--rm\n" IDENTITY PODMAN_ONLY HARDENING
	        LIMITS("1024", "4096") READ_ONLY
	    "--entrypoint=python3\n--\nexample.org/py:1\n-I\n-S\n-c\n"
	    "(load.py)\n" NONCE "\ncode.py\npython3\n-u\ncode.py\n");
	spec.language = &languages[LANGUAGE_JAVASCRIPT];
	spec.image = "js";
	engine_argv_run(&argv, &docker, &spec);
	assert_words(&argv,
	    "/usr/bin/docker\nrun\n--rm\n" IDENTITY DOCKER_ONLY HARDENING
	        LIMITS("1024", "4096") READ_ONLY
	    "--entrypoint=node\n--\njs\n-e\n(load.cjs)\n" NONCE
	    "\ncode.js\nnode\ncode.js\n");
}
END_TEST

START_TEST(javascript_create)
{
	struct container_spec spec = plain_spec();
	struct strlist argv = {0};

	spec.language = &languages[LANGUAGE_JAVASCRIPT];
	spec.image = "js";
	engine_argv_create(&argv, &docker, &spec);
	assert_words(&argv,
	    "/usr/bin/docker\ncreate\n--rm\n" IDENTITY DOCKER_ONLY HARDENING
	        LIMITS("1024", "4096") "--entrypoint=node\n--\njs\ncode.js\n");
}
END_TEST

START_TEST(limits_network_and_names)
{
	struct container_spec spec = plain_spec();
	struct strlist argv = {0}, names = {0};

	strlist_add_split(&names, "API_KEY,TOKEN", ',');
	spec.pass_env = &names;
	spec.limits = (struct container_limits){
	    .memory = "64m", .cpus = "0.5", .pids = 8, .network = "none"};
	engine_argv_run(&argv, &docker, &spec);
	assert_words(&argv,
	    "/usr/bin/docker\nrun\n--rm\n" IDENTITY DOCKER_ONLY HARDENING
	    "--memory=64m\n--memory-swap=64m\n--cpus=0.5\n--pids-limit=8\n"
	    "--ulimit=nofile=1024:1024\n--ulimit=nproc=4096:4096\n"
	    "--ulimit=core=0:0\n--ulimit=fsize=268435456:268435456\n"
	    "--network=none\n--env=API_KEY\n--env=TOKEN\n" READ_ONLY
	    "--entrypoint=sh\n--\nexample.org/py:1\n" RUNNER PYTHON);
	strlist_release(&names);
}
END_TEST

static const struct {
	const char *name;
	const char *flag;
} loosenings[] = {
    {"capabilities", "--cap-drop=ALL"},
    {"no-new-privileges", "--security-opt=no-new-privileges"},
    {"user", "--user=65534:65534"},
    {"read-only", "--read-only"},
};

/* Each takes its flag away, and no other. */
START_TEST(loosened)
{
	struct container_spec spec = plain_spec();
	struct strlist strict = {0}, loose = {0}, names = {0};
	struct err err;
	size_t missing = 0;

	strlist_add(&names, loosenings[_i].name);
	ck_assert_int_eq(engine_argv_check_loosened(names.items[0], &err), 0);
	engine_argv_run(&strict, &podman, &spec);
	spec.loosened = &names;
	engine_argv_run(&loose, &podman, &spec);
	ck_assert_uint_eq(loose.count, strict.count - 1);
	for (size_t i = 0; i < loose.count; i++) {
		if (missing == 0 &&
		    strcmp(strict.items[i], loose.items[i]) != 0)
			ck_assert_str_eq(
			    strict.items[i + missing++], loosenings[_i].flag);
		ck_assert_str_eq(strict.items[i + missing], loose.items[i]);
	}
	strlist_release(&strict);
	strlist_release(&loose);
	strlist_release(&names);
}
END_TEST

START_TEST(loosening_that_is_none)
{
	struct err err = {0};

	ck_assert_int_eq(engine_argv_check_loosened("seccomp", &err), -1);
	ck_assert_ptr_nonnull(strstr(err.message, "no-new-privileges"));
}
END_TEST

/* Values stay in the environment of the CLI: a command line can be read by
 * everybody on the machine. */
START_TEST(values_of_variables_are_not_words)
{
	struct container_spec spec = plain_spec();
	struct strlist argv = {0}, names = {0};

	strlist_add(&names, "API_KEY");
	spec.pass_env = &names;
	engine_argv_run(&argv, &podman, &spec);
	ck_assert(strlist_contains(&argv, "--env=API_KEY"));
	for (size_t i = 0; i < argv.count; i++)
		ck_assert_ptr_null(strstr(argv.items[i], "API_KEY="));
	strlist_release(&argv);
	strlist_release(&names);
}
END_TEST

START_TEST(scripts_are_one_word_each)
{
	struct container_spec spec = plain_spec();
	struct strlist argv = {0};
	size_t found = 0, hooks = 0;

	engine_argv_run(&argv, &podman, &spec);
	for (size_t i = 0; i < argv.count; i++) {
		hooks += strcmp(argv.items[i], script_boot_py) == 0;
		if (strcmp(argv.items[i], script_runner_sh) != 0)
			continue;
		found++;
		ck_assert_str_eq(argv.items[i - 1], "-c");
		ck_assert_str_eq(argv.items[i + 1], "runner");
		ck_assert_str_eq(argv.items[i + 2], NONCE);
	}
	ck_assert_uint_eq(found, 1);
	ck_assert_uint_eq(hooks, 1);
	strlist_release(&argv);
}
END_TEST

/* All options stand before "--", the image right behind it. */
START_TEST(nothing_but_the_image_follows_the_dashes)
{
	struct container_spec spec = plain_spec();
	struct strlist argv = {0};
	size_t dashes = 0;

	spec.image = "odd:image";
	containers[_i].function(&argv, containers[_i].traits, &spec);
	while (dashes < argv.count && strcmp(argv.items[dashes], "--") != 0)
		dashes++;
	ck_assert_uint_lt(dashes + 1, argv.count);
	ck_assert_str_eq(argv.items[dashes + 1], "odd:image");
	for (size_t i = 0; i < dashes; i++)
		ck_assert_msg(argv.items[i][0] == '-' || i < 4,
		    "\"%s\" stands among the options", argv.items[i]);
	strlist_release(&argv);
}
END_TEST

typedef void name_fn(
    struct strlist *argv, const struct engine_traits *traits, const char *name);

static const struct {
	const char *name;
	name_fn *function;
	const char *expected; /* behind the engine's own words */
} commands[] = {
    {"copy_in", engine_argv_copy_in, "cp\n-\nNAME:/\n"},
    {"start", engine_argv_start, "start\n--attach\n--interactive\nNAME\n"},
    {"remove", engine_argv_remove, "rm\n--force\n--volumes\nNAME\n"},
    {"image_inspect", engine_argv_image_inspect,
        "image\ninspect\n--format\n{{.Id}}\n--\nNAME\n"},
};

/* podman would ask what a short name means; docker knows. */
static const struct {
	const char *image, *podman, *docker;
} pulled[] = {
    {"python", "docker.io/library/python", "python"},
    {"python:3.13", "docker.io/library/python:3.13", "python:3.13"},
    {"philschmi/x:latest", "docker.io/philschmi/x:latest",
        "philschmi/x:latest"},
    {"localhost/x", "localhost/x", "localhost/x"},
    {"quay.io/a/b", "quay.io/a/b", "quay.io/a/b"},
    {"host:5000/a", "host:5000/a", "host:5000/a"},
};

START_TEST(pull_words)
{
	const struct {
		const struct engine_traits *traits;
		const char *path, *name;
	} cases[] = {
	    {&podman, "/usr/bin/podman", pulled[_i].podman},
	    {&docker, "/usr/bin/docker", pulled[_i].docker},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct strlist argv = {0};
		char *expected = xasprintf(
		    "%s\npull\n--\n%s\n", cases[i].path, cases[i].name);
		char *words;

		engine_argv_pull(&argv, cases[i].traits, pulled[_i].image);
		words = words_of(&argv);
		ck_assert_str_eq(words, expected);
		free(words);
		free(expected);
		strlist_release(&argv);
	}
}
END_TEST

static const struct {
	const struct engine_traits *traits;
	const char *words;
} engines[] = {
    {&podman, "/usr/bin/podman\n"},
    {&podman_runc, "/usr/bin/podman\n--runtime=runc\n"},
    {&docker, "/usr/bin/docker\n"},
    /* docker takes a runtime with run and create only. */
    {&docker_runsc, "/usr/bin/docker\n"},
};

START_TEST(command_words)
{
	for (size_t i = 0; i < COUNT(engines); i++) {
		struct strlist argv = {0};
		char *expected =
		    xasprintf("%s%s", engines[i].words, commands[_i].expected);
		char *words;

		commands[_i].function(&argv, engines[i].traits, "NAME");
		words = words_of(&argv);
		ck_assert_msg(strcmp(words, expected) == 0,
		    "%s:\n%s\nand not\n%s", commands[_i].name, words, expected);
		free(words);
		free(expected);
	}
}
END_TEST

START_TEST(info_words)
{
	static const char *const formats[] = {
	    [ENGINE_PODMAN] =
	        "{{.Host.OCIRuntime.Name}} {{.Host.CgroupsVersion}} "
	        "{{.Host.CgroupControllers}}",
	    [ENGINE_DOCKER] = "{{.DefaultRuntime}} v{{.CgroupVersion}} "
	                      "[{{if .MemoryLimit}}memory{{end}}{{if "
	                      ".PidsLimit}} pids{{end}}{{if "
	                      ".CPUCfsQuota}} cpu{{end}}]",
	};
	struct strlist argv = {0};
	char *expected = xasprintf("%sinfo\n--format\n%s\n", engines[_i].words,
	    formats[engines[_i].traits->kind]);

	engine_argv_info(&argv, engines[_i].traits);
	assert_words(&argv, expected);
	free(expected);
}
END_TEST

START_TEST(list_owned_words)
{
	struct strlist argv = {0};
	char *expected = xasprintf("%sps\n--all\n--quiet\n--no-trunc\n"
	                           "--filter\nlabel=code-sandbox-mcp.owner\n",
	    engines[_i].words);

	engine_argv_list_owned(&argv, engines[_i].traits);
	assert_words(&argv, expected);
	free(expected);
}
END_TEST

START_TEST(inspect_owners_words)
{
	struct strlist argv = {0}, ids = {0};
	char *expected = xasprintf("%scontainer\ninspect\n--format\n"
	                           "{{index .Config.Labels "
	                           "\"code-sandbox-mcp.owner\"}} {{.Id}}\n"
	                           "aaa\nbbb\n",
	    engines[_i].words);

	strlist_add_split(&ids, "aaa,bbb", ',');
	engine_argv_inspect_owners(&argv, engines[_i].traits, &ids);
	assert_words(&argv, expected);
	strlist_release(&ids);
	free(expected);
}
END_TEST

static const char *const good_images[] = {"a", "python", "python:3.13-slim",
    "docker.io/library/python:latest", "localhost:5000/x/y@sha256:0123abcd",
    "philschmi/code-sandbox-python:latest", "oci-archive:/tmp/x.tar", "A_b.c"};

START_TEST(image_taken)
{
	struct err err = {0};

	ck_assert_msg(names_check_image(good_images[_i], &err) == 0, "%s: %s",
	    good_images[_i], err.message);
	ck_assert_int_eq(err.code, ERR_NONE);
}
END_TEST

static const char *const bad_images[] = {"", "-", "--", "-v/:/host",
    "--privileged", " python", "python ", "a b", "a\tb", "a\nb", "\n", "a\rb",
    "a\033[0m", "a\177", "a\x01", "b\xC3\xA9"};

START_TEST(image_refused)
{
	struct err err = {0};

	ck_assert_msg(names_check_image(bad_images[_i], &err) == -1,
	    "\"%s\" was taken", bad_images[_i]);
	ck_assert_int_eq(err.code, ERR_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(err.message, "is not an image name"));
}
END_TEST

static const char *const good_names[] = {
    "A", "_", "_A1", "API_KEY", "a", "x9", "http_proxy", "lower_Case"};

START_TEST(env_name_taken)
{
	struct err err = {0};

	ck_assert_msg(names_check_variable(good_names[_i], &err) == 0, "%s: %s",
	    good_names[_i], err.message);
	ck_assert_int_eq(err.code, ERR_NONE);
}
END_TEST

/* podman reads a star as "all that begin so". */
static const char *const bad_names[] = {"", "1A", "9", "-A", "--env", "A=b",
    "A-B", "A B", " A", "A ", "A\n", "A\nB", "A*", "*", "A.B", "A,B",
    "\xC3\xA9", "A/B", "$A"};

START_TEST(env_name_refused)
{
	struct err err = {0};

	ck_assert_msg(names_check_variable(bad_names[_i], &err) == -1,
	    "\"%s\" was taken", bad_names[_i]);
	ck_assert_int_eq(err.code, ERR_ARGUMENT);
}
END_TEST

Suite *
engine_argv_suite(void)
{
	Suite *suite = suite_create("engine_argv");
	TCase *tcase = tcase_create("engine_argv");

	tcase_add_loop_test(tcase, container_words, 0, COUNT(containers));
	tcase_add_test(tcase, javascript_run);
	tcase_add_test(tcase, plain_run_has_no_hook);
	tcase_add_test(tcase, loaded_run);
	tcase_add_test(tcase, a_language_without_a_hook);
	tcase_add_test(tcase, javascript_create);
	tcase_add_test(tcase, limits_network_and_names);
	tcase_add_loop_test(tcase, loosened, 0, COUNT(loosenings));
	tcase_add_test(tcase, loosening_that_is_none);
	tcase_add_test(tcase, values_of_variables_are_not_words);
	tcase_add_test(tcase, scripts_are_one_word_each);
	tcase_add_loop_test(tcase, nothing_but_the_image_follows_the_dashes, 0,
	    COUNT(containers));
	tcase_add_loop_test(tcase, command_words, 0, COUNT(commands));
	tcase_add_loop_test(tcase, pull_words, 0, COUNT(pulled));
	tcase_add_loop_test(tcase, info_words, 0, COUNT(engines));
	tcase_add_loop_test(tcase, list_owned_words, 0, COUNT(engines));
	tcase_add_loop_test(tcase, inspect_owners_words, 0, COUNT(engines));
	tcase_add_loop_test(tcase, image_taken, 0, COUNT(good_images));
	tcase_add_loop_test(tcase, image_refused, 0, COUNT(bad_images));
	tcase_add_loop_test(tcase, env_name_taken, 0, COUNT(good_names));
	tcase_add_loop_test(tcase, env_name_refused, 0, COUNT(bad_names));
	suite_add_tcase(suite, tcase);
	return suite;
}
