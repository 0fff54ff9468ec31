#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "alloc.h"
#include "engine_argv.h"
#include "log.h"

struct option;
typedef int option_parse_fn(const struct option *option, void *field,
    const char *value, struct err *err);

struct option {
	const char *name;
	const char *argument; /* NULL: a switch */
	const char *environment[3];
	option_parse_fn *parse;
	size_t field;
	long long minimum, maximum;
	const char *initial;
	const char *help;
	bool http; /* only with --transport streamable-http */
};

static int
bad_value(const struct option *option, const char *value, const char *wanted,
    struct err *err)
{
	return err_set(err, ERR_ARGUMENT, "%s: \"%s\" is not %s", option->name,
	    value, wanted);
}

static int
parse_text(const struct option *option, void *field, const char *value,
    struct err *err)
{
	char **text = field;

	if (*value == '\0')
		return bad_value(option, value, "a value", err);
	free(*text);
	*text = xstrdup(value);
	return 0;
}

static int
parse_image(const struct option *option, void *field, const char *value,
    struct err *err)
{
	struct err why;

	if (engine_argv_check_image(value, &why) != 0)
		return err_set(
		    err, ERR_ARGUMENT, "%s: %s", option->name, why.message);
	return parse_text(option, field, value, err);
}

/* A word that is handed to the engine as the value of a flag. */
static int
parse_word(const struct option *option, void *field, const char *value,
    struct err *err)
{
	for (const char *byte = value; *byte != '\0'; byte++)
		if (!isgraph((unsigned char)*byte) || *value == '-')
			return bad_value(option, value, "a plain word", err);
	return parse_text(option, field, value, err);
}

static int
parse_number(const struct option *option, void *field, const char *value,
    struct err *err)
{
	const char *problem;
	long long number =
	    strtonum(value, option->minimum, option->maximum, &problem);

	if (problem != NULL)
		return err_set(err, ERR_ARGUMENT,
		    "%s: \"%s\" is not a whole number from %lld to %lld",
		    option->name, value, option->minimum, option->maximum);
	*(int *)field = (int)number;
	return 0;
}

/* A number of bytes, with k, m or g behind it if you like. */
static int
parse_bytes(
    const char *value, long long minimum, long long maximum, long long *bytes)
{
	static const char units[] = "bkmg";
	const char *problem, *unit;
	size_t digits = strspn(value, "0123456789");
	char number[20];

	if (digits == 0 || digits >= sizeof(number))
		return -1;
	memcpy(number, value, digits);
	number[digits] = '\0';
	*bytes = strtonum(number, 0, 1LL << 50, &problem);
	if (problem != NULL)
		return -1;
	if (value[digits] != '\0') {
		unit = strchr(units, tolower((unsigned char)value[digits]));
		if (unit == NULL || value[digits + 1] != '\0')
			return -1;
		if (*bytes > maximum >> (10 * (unit - units)))
			return -1;
		*bytes <<= 10 * (unit - units);
	}
	return *bytes < minimum || *bytes > maximum ? -1 : 0;
}

static int
parse_size(const struct option *option, void *field, const char *value,
    struct err *err)
{
	long long bytes;

	if (parse_bytes(value, option->minimum, option->maximum, &bytes) != 0)
		return bad_value(option, value,
		    "a number of bytes within bounds (k, m and g may follow)",
		    err);
	*(size_t *)field = (size_t)bytes;
	return 0;
}

static int
parse_memory(const struct option *option, void *field, const char *value,
    struct err *err)
{
	long long bytes;

	if (parse_bytes(value, option->minimum, option->maximum, &bytes) != 0)
		return bad_value(option, value,
		    "a number of bytes, 16m or more (k, m and g may follow)",
		    err);
	return parse_text(option, field, value, err);
}

static int
parse_cpus(const struct option *option, void *field, const char *value,
    struct err *err)
{
	size_t length = strspn(value, "0123456789.");
	char *end;

	if (value[length] != '\0' || strtod(value, &end) < 0.01 ||
	    strtod(value, NULL) > 1024 || *end != '\0')
		return bad_value(option, value,
		    "a number of processors such as 0.5 or 2", err);
	return parse_text(option, field, value, err);
}

static int
parse_switch(const struct option *option, void *field, const char *value,
    struct err *err)
{
	(void)option;
	(void)err;
	/* From the environment it is a word, as in VERBOSE=false. */
	*(bool *)field = strcasecmp(value, "true") == 0 ||
	    strcmp(value, "1") == 0 || strcasecmp(value, "yes") == 0;
	return 0;
}

static int
parse_engine(const struct option *option, void *field, const char *value,
    struct err *err)
{
	if (strcmp(value, "kubernetes") == 0)
		return err_set(err, ERR_ARGUMENT,
		    "kubernetes is not supported as an engine: use podman or "
		    "docker, or a path to one of them");
	return parse_word(option, field, value, err);
}

static int
parse_interpreter(const struct option *option, void *field, const char *value,
    struct err *err)
{
	*(bool *)field = strcmp(value, "warm") == 0;
	if (!*(bool *)field && strcmp(value, "plain") != 0)
		return bad_value(option, value, "warm or plain", err);
	return 0;
}

/* Names of modules; kept without blanks, because they travel as one word. */
static int
parse_preload(const struct option *option, void *field, const char *value,
    struct err *err)
{
	struct strlist names = {0};
	char *list = xstrdup(""), **text = field;

	strlist_add_split(&names, value, ',');
	for (size_t i = 0; i < names.count; i++) {
		char *longer =
		    xasprintf("%s%s%s", list, i > 0 ? "," : "", names.items[i]);

		free(list);
		list = longer;
	}
	strlist_release(&names);
	free(*text);
	*text = list;
	for (; *list != '\0'; list++)
		if (!isalnum((unsigned char)*list) &&
		    strchr("_.,", *list) == NULL)
			return bad_value(
			    option, value, "a list of module names", err);
	return 0;
}

static int
parse_transport(const struct option *option, void *field, const char *value,
    struct err *err)
{
	enum transport *transport = field;

	if (strcmp(value, "stdio") == 0)
		*transport = TRANSPORT_STDIO;
	else if (strcmp(value, "streamable-http") == 0 ||
	    strcmp(value, "http") == 0)
		*transport = TRANSPORT_HTTP;
	else
		return bad_value(
		    option, value, "stdio or streamable-http", err);
	return 0;
}

static int
parse_path(const struct option *option, void *field, const char *value,
    struct err *err)
{
	if (*value != '/' || value[strcspn(value, "?# ")] != '\0')
		return bad_value(option, value, "a path such as /mcp", err);
	return parse_text(option, field, value, err);
}

static int
parse_listen(const struct option *option, void *field, const char *value,
    struct err *err)
{
	if (strncmp(value, "unix:", 5) != 0 || value[5] == '\0')
		return bad_value(option, value, "of the form unix:PATH", err);
	return parse_text(option, field, value, err);
}

static int
parse_seccomp(const struct option *option, void *field, const char *value,
    struct err *err)
{
	char *path;

	if (strcmp(value, "engine") == 0)
		return parse_text(option, field, value, err);
	/* The CLI is started from another directory. */
	path = realpath(value, NULL);
	if (path == NULL)
		return err_system(err, errno, "%s: %s", option->name, value);
	free(*(char **)field);
	*(char **)field = path;
	return 0;
}

static int
parse_language(const struct option *option, void *field, const char *value,
    struct err *err)
{
	const struct language *language = language_by_name(value);

	if (language == NULL)
		return bad_value(option, value, "python or javascript", err);
	*(const struct language **)field = language;
	return 0;
}

#define FIELD(name) offsetof(struct settings, name)

static const struct option options[] = {
    {
        .name = "--engine",
        .argument = "NAME",
        .environment = {"CONTAINER_ENGINE", "BACKEND"},
        .parse = parse_engine,
        .field = FIELD(engine),
        .help = "docker or podman, by name or path",
    },
    {
        .name = "--python-image",
        .argument = "IMAGE",
        .parse = parse_image,
        .field = FIELD(images[LANGUAGE_PYTHON]),
        .help = "image for Python; else philschmi/code-sandbox-python:latest",
    },
    {
        .name = "--js-image",
        .argument = "IMAGE",
        .parse = parse_image,
        .field = FIELD(images[LANGUAGE_JAVASCRIPT]),
        .help = "image for JavaScript; else philschmi/code-sandbox-js:latest",
    },
    {
        .name = "--pass-through-env",
        .argument = "A,B",
        .environment = {"PASSTHROUGH_ENV"},
        .parse = parse_text,
        .field = FIELD(pass_env_list),
        .help = "environment variables that the code gets to see",
    },
    {
        .name = "--timeout",
        .argument = "SECONDS",
        .parse = parse_number,
        .field = FIELD(timeout_seconds),
        .minimum = 1,
        .maximum = 86400,
        .initial = "30",
        .help = "time for a program when the call names none",
    },
    {
        .name = "--max-timeout",
        .argument = "SECONDS",
        .parse = parse_number,
        .field = FIELD(max_timeout_seconds),
        .minimum = 1,
        .maximum = 86400,
        .initial = "600",
        .help = "the most that a call may ask for",
    },
    {
        .name = "--max-output",
        .argument = "BYTES",
        .parse = parse_size,
        .field = FIELD(max_output),
        .minimum = 1024,
        .maximum = 1LL << 28,
        .initial = "256k",
        .help = "kept of stdout and of stderr, head and tail",
    },
    {
        .name = "--max-parallel",
        .argument = "N",
        .parse = parse_number,
        .field = FIELD(max_parallel),
        .minimum = 1,
        .maximum = 1024,
        .initial = "8",
        .help = "programs that run at once; further calls wait",
    },
    {
        .name = "--pool",
        .argument = "N",
        .parse = parse_number,
        .field = FIELD(pool),
        .minimum = 0,
        .maximum = 64,
        .initial = "1",
        .help = "containers kept ready for each language in use; 0: none",
    },
    {
        .name = "--interpreter",
        .argument = "HOW",
        .parse = parse_interpreter,
        .field = FIELD(warm_interpreter),
        .initial = "warm",
        .help = "warm: started ahead of the code; plain: started with it",
    },
    {
        .name = "--preload",
        .argument = "A,B",
        .parse = parse_preload,
        .field = FIELD(preload),
        .initial = "",
        .help = "Python modules that a warm interpreter has imported already",
    },
    {
        .name = "--memory",
        .argument = "BYTES",
        .parse = parse_memory,
        .field = FIELD(memory),
        .minimum = 16LL << 20,
        .maximum = 1LL << 45,
        .initial = "1g",
        .help = "memory of a program, its files included",
    },
    {
        .name = "--cpus",
        .argument = "N",
        .parse = parse_cpus,
        .field = FIELD(cpus),
        .initial = "1",
        .help = "processors of a program, such as 0.5 or 2",
    },
    {
        .name = "--pids",
        .argument = "N",
        .parse = parse_number,
        .field = FIELD(pids),
        .minimum = 8,
        .maximum = 65536,
        .initial = "256",
        .help = "processes and threads of a program",
    },
    {
        .name = "--network",
        .argument = "NAME",
        .parse = parse_word,
        .field = FIELD(network),
        .help = "none, or a network of the engine; else the engine's own",
    },
    {
        .name = "--seccomp",
        .argument = "FILE",
        .parse = parse_seccomp,
        .field = FIELD(seccomp),
        .help = "another profile of system calls; engine: the engine's own",
    },
    {
        .name = "--verbose",
        .environment = {"VERBOSE"},
        .parse = parse_switch,
        .field = FIELD(verbose),
        .help = "say on stderr what is being done",
    },
    {
        .name = "--transport",
        .argument = "HOW",
        .parse = parse_transport,
        .field = FIELD(transport),
        .initial = "stdio",
        .help = "stdio or streamable-http",
    },
    {
        .name = "--host",
        .argument = "ADDRESS",
        .parse = parse_word,
        .field = FIELD(host),
        .initial = "127.0.0.1",
        .help = "where to listen; off this machine it wants a token",
        .http = true,
    },
    {
        .name = "--port",
        .argument = "N",
        .parse = parse_number,
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
        .parse = parse_path,
        .field = FIELD(path),
        .initial = "/mcp",
        .help = "path of the endpoint",
        .http = true,
    },
    {
        .name = "--listen",
        .argument = "unix:PATH",
        .parse = parse_listen,
        .field = FIELD(listen),
        .help = "a unix socket (mode 0600) instead of host and port",
        .http = true,
    },
    {
        .name = "--allow-host",
        .argument = "A,B",
        .parse = parse_text,
        .field = FIELD(allow_host),
        .help = "further names this server may be called by",
        .http = true,
    },
    {
        .name = "--allow-origin",
        .argument = "A,B",
        .parse = parse_text,
        .field = FIELD(allow_origin),
        .help = "web pages that may use this server",
        .http = true,
    },
    {
        .name = "--token-file",
        .argument = "FILE",
        .parse = parse_text,
        .field = FIELD(token_file),
        .help = "bearer token that clients must send",
        .http = true,
    },
    {
        .name = "--language",
        .argument = "NAME",
        .parse = parse_language,
        .field = FIELD(language),
        .help = "with run: python or javascript; else from the file name",
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
	for (size_t i = 0; i < LANGUAGE_COUNT; i++)
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

/* The original's pair: one image for everything. */
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
	if (language_by_name(language) == NULL)
		return err_set(err, ERR_ARGUMENT,
		    "CONTAINER_LANGUAGE: \"%s\" is not python or javascript",
		    language);
	if (engine_argv_check_image(image, err) != 0)
		return -1;
	for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
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
	if (option->argument == NULL)
		value = "true";
	else if (value == NULL && (value = *(*words)++) == NULL)
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
	if (settings->action == ACTION_RUN && settings->file == NULL) {
		settings->file = xstrdup(word);
		return 0;
	}
	return err_set(err, ERR_ARGUMENT,
	    "unexpected argument \"%s\": --help shows the usage", word);
}

static int
parse_words(struct settings *settings, char **words, struct err *err)
{
	bool only_words = false;

	while (*words != NULL && settings->action != ACTION_HELP &&
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
	return status;
}

static int
check_together(struct settings *settings, struct err *err)
{
	long long memory;

	if (settings->max_timeout_seconds < settings->timeout_seconds)
		settings->max_timeout_seconds = settings->timeout_seconds;
	if (parse_bytes(settings->memory, 0, LONG_MAX, &memory) == 0)
		settings->memory_bytes = (long)memory;
	if (settings->action == ACTION_RUN)
		settings->pool = 0; /* there is no next call */
	if (settings->http_option != NULL &&
	    settings->transport != TRANSPORT_HTTP)
		return err_set(err, ERR_ARGUMENT,
		    "%s goes with --transport streamable-http",
		    settings->http_option);
	if (environment_value("CODE_SANDBOX_TOKEN") != NULL)
		settings->token = xstrdup(getenv("CODE_SANDBOX_TOKEN"));
	if (settings->language != NULL && settings->action != ACTION_RUN)
		return err_set(err, ERR_ARGUMENT,
		    "--language belongs to the command run: "
		    "code-sandbox-mcp run --language %s FILE",
		    settings->language->name);
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
	fputs(
	    "usage: code-sandbox-mcp [OPTION ...]\n"
	    "       code-sandbox-mcp run [OPTION ...] [FILE|-]\n\n"
	    "An MCP server on stdin and stdout that runs Python and JavaScript "
	    "snippets,\neach in a fresh container of docker or podman. With "
	    "run: one program, from a\nterminal.\n\n",
	    stream);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		help_option(stream, &options[i]);
	fputs(
	    "\nCONTAINER_IMAGE and CONTAINER_LANGUAGE together name one image "
	    "for both languages;\nCODE_SANDBOX_TOKEN is a token without a "
	    "file. The manual: code-sandbox-mcp(1).\n",
	    stream);
}

void
settings_release(struct settings *settings)
{
	free(settings->engine);
	for (size_t i = 0; i < LANGUAGE_COUNT; i++)
		free(settings->images[i]);
	free(settings->pass_env_list);
	strlist_release(&settings->pass_env);
	free(settings->preload);
	free(settings->memory);
	free(settings->cpus);
	free(settings->network);
	free(settings->seccomp);
	free(settings->host);
	free(settings->path);
	free(settings->listen);
	free(settings->allow_host);
	free(settings->allow_origin);
	free(settings->token_file);
	free(settings->token);
	free(settings->file);
	*settings = (struct settings){0};
}
