#include "fuzz.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "engine/engine_argv.h"
#include "engine/environment.h"
#include "options/options.h"

/*
 * Input: a word of the command line on each line; or, behind "$", a variable
 * of the environment.  A mistake is one line of text; settings are within
 * their bounds, whatever they were made from, and no word of them can be taken
 * by the engine for a flag of its own.
 */

static void
expect_explained(const struct err *err)
{
	EXPECT(err->code == ERR_ARGUMENT || err->code == ERR_SYSTEM);
	EXPECT(*err->message != '\0');
	EXPECT(is_utf8(err->message, strlen(err->message)));
	for (const char *byte = err->message; *byte != '\0'; byte++)
		EXPECT(!iscntrl((unsigned char)*byte));
}

static void
expect_plain(const char *word)
{
	EXPECT(*word != '\0' && *word != '-');
	for (; *word != '\0'; word++)
		EXPECT(isgraph((unsigned char)*word));
}

static bool
within(long long value, long long minimum, long long maximum)
{
	return value >= minimum && value <= maximum;
}

static void
expect_in_bounds(const struct settings *settings)
{
	EXPECT(within(settings->timeout_seconds, 1, 86400));
	EXPECT(within(
	    settings->max_timeout_seconds, settings->timeout_seconds, 86400));
	EXPECT(within((long long)settings->max_output, 1024, 1LL << 28));
	EXPECT(within(settings->max_parallel, 1, 1024));
	EXPECT(within(settings->pool, 0, 64));
	EXPECT(within(settings->memory_bytes, 16LL << 20, 1LL << 45));
	EXPECT(within(settings->pids, 8, 65536));
	EXPECT(within(settings->port, 0, 65535));
	EXPECT(settings->action == ACTION_RUN || settings->file == NULL);
	EXPECT(settings->action == ACTION_RUN || settings->run_option == NULL);
	EXPECT(settings->file != NULL || settings->arguments.count == 0);
	for (size_t i = 0; i < settings->packages.count; i++)
		EXPECT(*settings->packages.items[i] != '-');
	EXPECT(settings->http_option == NULL ||
	    settings->transport == TRANSPORT_HTTP);
	EXPECT(*settings->path == '/');
	for (const char *byte = settings->preload; *byte != '\0'; byte++)
		EXPECT(isalnum((unsigned char)*byte) ||
		    strchr("_.,", *byte) != NULL);
	expect_plain(settings->host);
	if (settings->engine != NULL)
		expect_plain(settings->engine);
	if (settings->listen != NULL)
		EXPECT(strncmp(settings->listen, "unix:", 5) == 0);
}

/* The words up to the image are flags that we wrote; values are behind "=". */
static void
expect_safe_command(const struct settings *settings, enum engine_kind kind)
{
	const struct engine_traits traits = {
	    .kind = kind, .path = "/engine", .seccomp = settings->seccomp};
	const struct container_spec spec = {.name = "name",
	    .owner = "owner",
	    .image = settings->images[LANGUAGE_PYTHON],
	    .nonce = "nonce",
	    .language = &languages[LANGUAGE_PYTHON],
	    .preload = settings->preload,
	    .pass_env = &settings->pass_env,
	    .loosened = &settings->loosened,
	    .limits = {.memory = settings->memory,
	        .memory_bytes = settings->memory_bytes,
	        .cpus = settings->cpus,
	        .pids = settings->pids,
	        .network = settings->network}};
	struct strlist argv = {0};
	size_t i = 2;

	engine_argv_run(&argv, &traits, &spec);
	while (i < argv.count && strcmp(argv.items[i], "--") != 0)
		EXPECT(strncmp(argv.items[i++], "--", 2) == 0);
	EXPECT(i + 1 < argv.count);
	EXPECT(strcmp(argv.items[i + 1], spec.image) == 0);
	expect_plain(spec.image);
	strlist_release(&argv);
}

/* The engine's CLI gets the names that were asked for, and its own. */
static void
expect_passed(const struct settings *settings)
{
	struct strlist env = {0};

	environment_for_engine(&env, &settings->pass_env);
	for (size_t i = 0; i < settings->pass_env.count; i++) {
		const char *name = settings->pass_env.items[i];
		char *variable = xasprintf("%s=%s", name, getenv(name));

		EXPECT(strlist_contains(&env, variable));
		free(variable);
	}
	EXPECT(!strlist_contains(&env, "SECRET=hidden") ||
	    strlist_contains(&settings->pass_env, "SECRET"));
	strlist_release(&env);
}

static void
expect_options(struct strlist *argv)
{
	struct settings settings;
	struct err err = {0};

	if (options_parse(&settings, (int)argv->count, argv->items, &err) !=
	    0) {
		expect_explained(&err);
	} else if (settings.action == ACTION_SERVE ||
	    settings.action == ACTION_RUN) {
		expect_in_bounds(&settings);
		expect_safe_command(&settings, ENGINE_PODMAN);
		expect_safe_command(&settings, ENGINE_DOCKER);
		expect_passed(&settings);
	}
	settings_release(&settings);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_begin(data, size), line;
	struct strlist argv = {0}, env = {0};
	char **saved = environ;

	strlist_add(&argv, "code-sandbox-mcp");
	strlist_add(&env, "SECRET=hidden");
	while (input_line(&input, &line)) {
		bool variable = input_skip(&line, "$");
		char *word = xstrndup(line.data, line.length);

		strlist_add(variable ? &env : &argv, word);
		free(word);
	}
	environ = env.items;
	expect_options(&argv);
	environ = saved;
	strlist_release(&argv);
	strlist_release(&env);
	return 0;
}
