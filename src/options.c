#include "options.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "engine_argv.h"
#include "log.h"
#include "option_languages.h"
#include "option_values.h"

#define FIELD(name) offsetof(struct settings, name)

static const struct option options[] = {
    {
        .name = "--engine",
        .argument = "NAME",
        .environment = {"CONTAINER_ENGINE", "BACKEND"},
        .parse = option_engine,
        .field = FIELD(engine),
        .help = "docker or podman, by name or path",
    },
    {
        .name = "--python-image",
        .argument = "IMAGE",
        .parse = option_image,
        .field = FIELD(images[LANGUAGE_PYTHON]),
        .help = "image for Python; else philschmi/code-sandbox-python:latest",
    },
    {
        .name = "--js-image",
        .argument = "IMAGE",
        .parse = option_image,
        .field = FIELD(images[LANGUAGE_JAVASCRIPT]),
        .help = "image for JavaScript; else philschmi/code-sandbox-js:latest",
    },
    {
        .name = "--image",
        .argument = "LANGUAGE=IMAGE",
        .parse = option_list,
        .field = FIELD(image_list),
        .help = "image for any language; more with commas, or once more",
    },
    {
        .name = "--languages",
        .argument = "A,B",
        .parse = option_text,
        .field = FIELD(languages_list),
        .help = "what is offered, or all; else python, javascript and those "
                "of --language-file",
    },
    {
        .name = "--language-file",
        .argument = "FILE",
        .parse = option_text,
        .field = FIELD(language_file),
        .help = "languages of your own, in JSON; see the manual",
    },
    {
        .name = "--pass-through-env",
        .argument = "A,B",
        .environment = {"PASSTHROUGH_ENV"},
        .parse = option_text,
        .field = FIELD(pass_env_list),
        .help = "environment variables that the code gets to see",
    },
    {
        .name = "--timeout",
        .argument = "SECONDS",
        .parse = option_number,
        .field = FIELD(timeout_seconds),
        .minimum = 1,
        .maximum = 86400,
        .initial = "30",
        .help = "time for a program when the call names none",
    },
    {
        .name = "--max-timeout",
        .argument = "SECONDS",
        .parse = option_number,
        .field = FIELD(max_timeout_seconds),
        .minimum = 1,
        .maximum = 86400,
        .initial = "600",
        .help = "the most that a call may ask for",
    },
    {
        .name = "--max-output",
        .argument = "BYTES",
        .parse = option_size,
        .field = FIELD(max_output),
        .minimum = 1024,
        .maximum = 1LL << 28,
        .initial = "256k",
        .help = "kept of stdout and of stderr, head and tail",
    },
    {
        .name = "--max-parallel",
        .argument = "N",
        .parse = option_number,
        .field = FIELD(max_parallel),
        .minimum = 1,
        .maximum = 1024,
        .initial = "8",
        .help = "programs that run at once; further calls wait",
    },
    {
        .name = "--pool",
        .argument = "N",
        .parse = option_number,
        .field = FIELD(pool),
        .minimum = 0,
        .maximum = 64,
        .initial = "1",
        .help = "containers kept ready for each language in use; 0: none",
    },
    {
        .name = "--interpreter",
        .argument = "HOW",
        .parse = option_interpreter,
        .field = FIELD(warm_interpreter),
        .initial = "warm",
        .help = "warm: started ahead of the code; plain: started with it",
    },
    {
        .name = "--session-ttl",
        .argument = "SECONDS",
        .parse = option_number,
        .field = FIELD(session_ttl),
        .minimum = 1,
        .maximum = 86400,
        .initial = "900",
        .help = "how long a session is kept when nobody uses it",
    },
    {
        .name = "--max-sessions",
        .argument = "N",
        .parse = option_number,
        .field = FIELD(max_sessions),
        .minimum = 0,
        .maximum = 1000,
        .initial = "8",
        .help = "sessions that there may be at once",
    },
    {
        .name = "--preload",
        .argument = "A,B",
        .parse = option_preload,
        .field = FIELD(preload),
        .initial = "",
        .help = "Python modules that a warm interpreter has imported already",
    },
    {
        .name = "--memory",
        .argument = "BYTES",
        .parse = option_memory,
        .field = FIELD(memory),
        .minimum = 16LL << 20,
        .maximum = 1LL << 45,
        .initial = "1g",
        .help = "memory of a program, its files included",
    },
    {
        .name = "--cpus",
        .argument = "N",
        .parse = option_cpus,
        .field = FIELD(cpus),
        .initial = "1",
        .help = "processors of a program, such as 0.5 or 2",
    },
    {
        .name = "--pids",
        .argument = "N",
        .parse = option_number,
        .field = FIELD(pids),
        .minimum = 8,
        .maximum = 65536,
        .initial = "256",
        .help = "processes and threads of a program",
    },
    {
        .name = "--network",
        .argument = "NAME",
        .parse = option_word,
        .field = FIELD(network),
        .help = "none, or a network of the engine; else the engine's own",
    },
    {
        .name = "--seccomp",
        .argument = "FILE",
        .parse = option_seccomp,
        .field = FIELD(seccomp),
        .help = "another profile of system calls; engine: the engine's own",
    },
    {
        .name = "--loosen",
        .argument = "A,B",
        .parse = option_text,
        .field = FIELD(loosen_list),
        .help = "parts of the sandbox to leave out; see the manual",
    },
    {
        .name = "--runtime",
        .argument = "NAME",
        .parse = option_word,
        .field = FIELD(runtime),
        .help = "OCI runtime, such as runsc or kata; else the engine's own",
    },
    {
        .name = "--redact",
        .parse = option_switch,
        .field = FIELD(redact),
        .help = "take the values of passed variables out of the output",
    },
    {
        .name = "--verbose",
        .environment = {"VERBOSE"},
        .parse = option_switch,
        .field = FIELD(verbose),
        .help = "say on stderr what is being done",
    },
    {
        .name = "--transport",
        .argument = "HOW",
        .parse = option_transport,
        .field = FIELD(transport),
        .initial = "stdio",
        .help = "stdio or streamable-http",
    },
    {
        .name = "--host",
        .argument = "ADDRESS",
        .parse = option_word,
        .field = FIELD(host),
        .initial = "127.0.0.1",
        .help = "where to listen; off this machine it wants a token",
        .http = true,
    },
    {
        .name = "--port",
        .argument = "N",
        .parse = option_number,
        .field = FIELD(port),
        .minimum = 0,
        .maximum = 65535,
        .initial = "8000",
        .help = "port; 0: any free one",
        .http = true,
    },
    {
        .name = "--path",
        .argument = "PATH",
        .parse = option_path,
        .field = FIELD(path),
        .initial = "/mcp",
        .help = "path of the endpoint",
        .http = true,
    },
    {
        .name = "--listen",
        .argument = "unix:PATH",
        .parse = option_listen,
        .field = FIELD(listen),
        .help = "a unix socket (mode 0600) instead of host and port",
        .http = true,
    },
    {
        .name = "--allow-host",
        .argument = "A,B",
        .parse = option_text,
        .field = FIELD(allow_host),
        .help = "further names this server may be called by",
        .http = true,
    },
    {
        .name = "--allow-origin",
        .argument = "A,B",
        .parse = option_text,
        .field = FIELD(allow_origin),
        .help = "web pages that may use this server",
        .http = true,
    },
    {
        .name = "--token-file",
        .argument = "FILE",
        .parse = option_text,
        .field = FIELD(token_file),
        .help = "bearer token that clients must send",
        .http = true,
    },
    {
        .name = "--language",
        .argument = "NAME",
        .parse = option_text,
        .field = FIELD(language_name),
        .help = "with run: any that is known; else from the file name",
        .run = true,
    },
    {
        .name = "--file",
        .argument = "PATH[=NAME]",
        .parse = option_items,
        .field = FIELD(files),
        .help = "with run: a file that the program gets; may be repeated",
        .run = true,
    },
    {
        .name = "--stdin",
        .argument = "FILE|-",
        .parse = option_text,
        .field = FIELD(input),
        .help = "with run: what the program reads; -: our own input",
        .run = true,
    },
    {
        .name = "--package",
        .argument = "SPEC",
        .parse = option_package,
        .field = FIELD(packages),
        .help = "with run: a package to install first; may be repeated",
        .run = true,
    },
    {
        .name = "--output",
        .argument = "PATTERN",
        .parse = option_pattern,
        .field = FIELD(outputs),
        .help = "with run: files of the program to save; may be repeated",
        .run = true,
    },
    {
        .name = "--output-dir",
        .argument = "DIR",
        .parse = option_text,
        .field = FIELD(output_dir),
        .help = "with run: where to save files; else the current directory",
        .run = true,
    },
    {
        .name = "--force",
        .parse = option_switch,
        .field = FIELD(force),
        .help = "with run: saved files replace what is there",
        .run = true,
    },
    {
        .name = "--help",
        .help = "this text",
    },
    {
        .name = "--version",
        .help = "the version",
    },
};
#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

static int
set_option(struct settings *settings, const struct option *option,
    const char *value, struct err *err)
{
	return option->parse(
	    option, (char *)settings + option->field, value, err);
}

static int
set_initial(struct settings *settings, struct err *err)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (options[i].initial != NULL &&
		    set_option(
		        settings, &options[i], options[i].initial, err) != 0)
			return -1;
	language_table_init(&settings->languages);
	for (size_t i = 0; i < LANGUAGE_BUILT_IN; i++)
		settings->images[i] = xstrdup(languages[i].image);
	return 0;
}

/* An empty variable is as good as none. */
static const char *
environment_value(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

/* The original's pair: one image for everything that is built in. */
static int
apply_container_image(struct settings *settings, struct err *err)
{
	const char *image = environment_value("CONTAINER_IMAGE");
	const char *language = environment_value("CONTAINER_LANGUAGE");

	if (image == NULL && language == NULL)
		return 0;
	if (image == NULL || language == NULL)
		return err_set(err, ERR_ARGUMENT,
		    "CONTAINER_IMAGE and CONTAINER_LANGUAGE go together, and "
		    "only %s is set: set both or neither",
		    image != NULL ? "CONTAINER_IMAGE" : "CONTAINER_LANGUAGE");
	if (option_language(settings, "CONTAINER_LANGUAGE", language, err) ==
	    NULL)
		return -1;
	if (engine_argv_check_image(image, err) != 0)
		return -1;
	for (size_t i = 0; i < LANGUAGE_BUILT_IN; i++) {
		free(settings->images[i]);
		settings->images[i] = xstrdup(image);
	}
	return 0;
}

static int
apply_environment(struct settings *settings, struct err *err)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const char *const *name = options[i].environment;

		while (*name != NULL && environment_value(*name) == NULL)
			name++;
		if (*name != NULL &&
		    set_option(settings, &options[i], getenv(*name), err) != 0)
			return -1;
	}
	return apply_container_image(settings, err);
}

static const struct option *
find_option(const char *word, size_t length)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (strlen(options[i].name) == length &&
		    strncmp(options[i].name, word, length) == 0)
			return &options[i];
	return NULL;
}

static int
parse_flag(struct settings *settings, char ***words, struct err *err)
{
	const char *word = *(*words)++;
	size_t length = strcspn(word, "=");
	const char *value = word[length] == '=' ? word + length + 1 : NULL;
	const struct option *option = strcmp(word, "-h") == 0
	    ? find_option("--help", 6)
	    : find_option(word, length);

	if (option == NULL)
		return err_set(err, ERR_ARGUMENT,
		    "unknown option %s: --help lists them", word);
	if (option->argument == NULL && value != NULL)
		return err_set(
		    err, ERR_ARGUMENT, "%s takes no value", option->name);
	if (option->parse == NULL) {
		settings->action = strcmp(option->name, "--help") == 0
		    ? ACTION_HELP
		    : ACTION_VERSION;
		return 0;
	}
	if (option->http)
		settings->http_option = option->name;
	if (option->run)
		settings->run_option = option->name;
	if (option->argument == NULL)
		value = "true";
	else if (value == NULL)
		value = *(*words)++;
	if (value == NULL)
		return err_set(err, ERR_ARGUMENT, "%s wants a value: %s",
		    option->name, option->argument);
	return set_option(settings, option, value, err);
}

static int
parse_word_argument(
    struct settings *settings, const char *word, struct err *err)
{
	if (settings->action == ACTION_SERVE && strcmp(word, "run") == 0) {
		settings->action = ACTION_RUN;
		return 0;
	}
	if (settings->action == ACTION_RUN) {
		settings->file = xstrdup(word);
		return 0;
	}
	return err_set(err, ERR_ARGUMENT,
	    "unexpected argument \"%s\": --help shows the usage", word);
}

/* All that stands behind the file is the program's, as with an interpreter. */
static void
take_arguments(struct settings *settings, char **words, bool verbatim)
{
	if (!verbatim && *words != NULL && strcmp(*words, "--") == 0)
		words++;
	while (*words != NULL)
		strlist_add(&settings->arguments, *words++);
}

static int
parse_words(struct settings *settings, char **words, struct err *err)
{
	bool only_words = false;

	while (*words != NULL && settings->file == NULL &&
	    settings->action != ACTION_HELP &&
	    settings->action != ACTION_VERSION) {
		if (!only_words && strcmp(*words, "--") == 0) {
			only_words = true;
			words++;
		} else if (!only_words && **words == '-' &&
		    (*words)[1] != '\0') {
			if (parse_flag(settings, &words, err) != 0)
				return -1;
		} else if (parse_word_argument(settings, *words++, err) != 0) {
			return -1;
		}
	}
	if (settings->file != NULL)
		take_arguments(settings, words, only_words);
	return 0;
}

/* A name that is not set is said and left out, as people pass the same list
 * on every machine. */
static int
resolve_pass_env(struct settings *settings, struct err *err)
{
	struct strlist names = {0};
	struct err why;
	int status = 0;

	if (settings->pass_env_list == NULL)
		return 0;
	strlist_add_split(&names, settings->pass_env_list, ',');
	for (size_t i = 0; i < names.count && status == 0; i++) {
		const char *name = names.items[i];

		if (engine_argv_check_env_name(name, &why) != 0)
			status = err_set(err, ERR_ARGUMENT,
			    "--pass-through-env: %s", why.message);
		if (status != 0 || strlist_contains(&settings->pass_env, name))
			continue;
		if (getenv(name) == NULL)
			log_warn("--pass-through-env: %s is not set in the "
			         "environment of this server; left out",
			    name);
		else
			strlist_add(&settings->pass_env, name);
	}
	strlist_release(&names);
	for (size_t i = 0; settings->redact && i < settings->pass_env.count;
	    i++)
		secrets_add(&settings->secrets, settings->pass_env.items[i],
		    getenv(settings->pass_env.items[i]));
	return status;
}

/* Said once, so that nobody runs a looser sandbox without knowing. */
static int
resolve_loosened(struct settings *settings, struct err *err)
{
	struct strlist *names = &settings->loosened;

	if (settings->loosen_list != NULL)
		strlist_add_split(names, settings->loosen_list, ',');
	for (size_t i = 0; i < names->count; i++)
		if (engine_argv_check_loosened(names->items[i], err) != 0)
			return -1;
	if (names->count > 0)
		log_warn("the sandbox is looser than usual: --loosen %s",
		    settings->loosen_list);
	if (settings->seccomp != NULL)
		log_warn("the sandbox is not the usual one: --seccomp %s",
		    settings->seccomp);
	return 0;
}

/* Options that would have no effect are a mistake of the user's. */
static int
check_scope(const struct settings *settings, struct err *err)
{
	bool from_stdin =
	    settings->file == NULL || strcmp(settings->file, "-") == 0;

	if (settings->http_option != NULL &&
	    settings->transport != TRANSPORT_HTTP)
		return err_set(err, ERR_ARGUMENT,
		    "%s goes with --transport streamable-http",
		    settings->http_option);
	if (settings->transport == TRANSPORT_HTTP &&
	    settings->action == ACTION_RUN)
		return err_set(err, ERR_ARGUMENT,
		    "--transport is for the server, not for the command run");
	if (settings->run_option != NULL && settings->action != ACTION_RUN)
		return err_set(err, ERR_ARGUMENT,
		    "%s belongs to the command run: code-sandbox-mcp run "
		    "[OPTION ...] FILE",
		    settings->run_option);
	if (settings->input != NULL && strcmp(settings->input, "-") == 0 &&
	    from_stdin)
		return err_set(err, ERR_ARGUMENT,
		    "--stdin -: the program itself comes from there; name a "
		    "file for one of them");
	return 0;
}

static int
check_together(struct settings *settings, struct err *err)
{
	long long memory;

	if (settings->max_timeout_seconds < settings->timeout_seconds)
		settings->max_timeout_seconds = settings->timeout_seconds;
	if (option_bytes(settings->memory, 0, LONG_MAX, &memory) == 0)
		settings->memory_bytes = (long)memory;
	settings->offline =
	    settings->network != NULL && strcmp(settings->network, "none") == 0;
	if (settings->action == ACTION_RUN)
		settings->pool = 0; /* there is no next call */
	if (check_scope(settings, err) != 0)
		return -1;
	if (environment_value("CODE_SANDBOX_TOKEN") != NULL)
		settings->token = xstrdup(getenv("CODE_SANDBOX_TOKEN"));
	if (option_languages_resolve(settings, err) != 0)
		return -1;
	if (resolve_loosened(settings, err) != 0)
		return -1;
	return resolve_pass_env(settings, err);
}

static int
parse_all(struct settings *settings, int argc, char **argv, struct err *err)
{
	struct err environment_err = {0};

	*settings = (struct settings){.action = ACTION_SERVE};
	if (set_initial(settings, err) != 0)
		return -1;
	apply_environment(settings, &environment_err);
	if (parse_words(settings, argv + (argc > 0), err) != 0)
		return -1;
	/* Help is to be had whatever the environment says. */
	if (settings->action == ACTION_HELP ||
	    settings->action == ACTION_VERSION)
		return 0;
	if (environment_err.code != ERR_NONE) {
		*err = environment_err;
		return -1;
	}
	return check_together(settings, err);
}

int
options_parse(struct settings *settings, int argc, char **argv, struct err *err)
{
	int status = parse_all(settings, argc, argv, err);

	/* One line, whatever the value that it quotes. */
	for (char *byte = err->message; status != 0 && *byte != '\0'; byte++)
		if (iscntrl((unsigned char)*byte))
			*byte = '?';
	return status;
}

static void
help_option(FILE *stream, const struct option *option)
{
	const char *separator = " (";

	fprintf(stream, "  %s%s%s\n        %s", option->name,
	    option->argument != NULL ? " " : "",
	    option->argument != NULL ? option->argument : "", option->help);
	if (option->initial != NULL && *option->initial != '\0') {
		fprintf(stream, "%s%s", separator, option->initial);
		separator = "; ";
	}
	for (size_t i = 0; option->environment[i] != NULL; i++) {
		fprintf(stream, "%s%s", separator, option->environment[i]);
		separator = ", ";
	}
	fputs(*separator == ' ' ? "\n" : ")\n", stream);
}

void
options_help(FILE *stream)
{
	fputs("usage: code-sandbox-mcp [OPTION ...]\n"
	      "       code-sandbox-mcp run [OPTION ...] [FILE|- [ARGUMENT "
	      "...]]\n\n"
	      "An MCP server on stdin and stdout that runs snippets of Python, "
	      "JavaScript and\nother languages, each in a fresh container of "
	      "docker or podman. With run: one\nprogram, from a terminal.\n\n",
	    stream);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		help_option(stream, &options[i]);
	fputs(
	    "\nCONTAINER_IMAGE and CONTAINER_LANGUAGE together name one image "
	    "for all\nbuilt-in languages; CODE_SANDBOX_TOKEN is a token "
	    "without a "
	    "file. The manual:\ncode-sandbox-mcp(1).\n",
	    stream);
}

void
settings_release(struct settings *settings)
{
	free(settings->engine);
	language_table_release(&settings->languages);
	free(settings->languages_list);
	free(settings->language_file);
	for (size_t i = 0; i < LANGUAGE_MAX; i++)
		free(settings->images[i]);
	strlist_release(&settings->image_list);
	free(settings->language_name);
	free(settings->pass_env_list);
	strlist_release(&settings->pass_env);
	free(settings->preload);
	free(settings->memory);
	free(settings->cpus);
	free(settings->network);
	free(settings->seccomp);
	free(settings->runtime);
	free(settings->loosen_list);
	strlist_release(&settings->loosened);
	secrets_release(&settings->secrets);
	free(settings->host);
	free(settings->path);
	free(settings->listen);
	free(settings->allow_host);
	free(settings->allow_origin);
	free(settings->token_file);
	free(settings->token);
	free(settings->file);
	strlist_release(&settings->arguments);
	strlist_release(&settings->files);
	strlist_release(&settings->packages);
	strlist_release(&settings->outputs);
	free(settings->input);
	free(settings->output_dir);
	*settings = (struct settings){0};
}
