#include "options.h"

#include <ctype.h>
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
    {"--engine", "NAME", {"CONTAINER_ENGINE", "BACKEND"}, parse_engine,
        FIELD(engine), 0, 0, NULL,
        "docker or podman, by name or path (default: whichever answers)"},
    {"--python-image", "IMAGE", {NULL}, parse_image,
        FIELD(images[LANGUAGE_PYTHON]), 0, 0, NULL,
        "image for Python (philschmi/code-sandbox-python:latest)"},
    {"--js-image", "IMAGE", {NULL}, parse_image,
        FIELD(images[LANGUAGE_JAVASCRIPT]), 0, 0, NULL,
        "image for JavaScript (philschmi/code-sandbox-js:latest)"},
    {"--pass-through-env", "A,B", {"PASSTHROUGH_ENV"}, parse_text,
        FIELD(pass_env_list), 0, 0, NULL,
        "environment variables that the code gets to see"},
    {"--timeout", "SECONDS", {NULL}, parse_number, FIELD(timeout_seconds), 1,
        86400, "30", "time for a program when the call names none"},
    {"--max-timeout", "SECONDS", {NULL}, parse_number,
        FIELD(max_timeout_seconds), 1, 86400, "600",
        "the most that a call may ask for"},
    {"--max-output", "BYTES", {NULL}, parse_size, FIELD(max_output), 1024,
        1LL << 28, "1m", "kept of stdout and of stderr, head and tail"},
    {"--max-parallel", "N", {NULL}, parse_number, FIELD(max_parallel), 1, 1024,
        "8", "programs that run at once; further calls wait"},
    {"--pool", "N", {NULL}, parse_number, FIELD(pool), 0, 64, "1",
        "containers kept ready for each language in use; 0: none"},
    {"--interpreter", "HOW", {NULL}, parse_interpreter, FIELD(warm_interpreter),
        0, 0, "warm",
        "warm: started ahead of the code; plain: started with it"},
    {"--preload", "A,B", {NULL}, parse_preload, FIELD(preload), 0, 0, "",
        "Python modules that a warm interpreter has imported already"},
    {"--memory", "BYTES", {NULL}, parse_memory, FIELD(memory), 16LL << 20,
        1LL << 45, "1g", "memory of a program, its files included"},
    {"--cpus", "N", {NULL}, parse_cpus, FIELD(cpus), 0, 0, "1",
        "processors of a program, such as 0.5 or 2"},
    {"--pids", "N", {NULL}, parse_number, FIELD(pids), 8, 65536, "256",
        "processes and threads of a program"},
    {"--network", "NAME", {NULL}, parse_word, FIELD(network), 0, 0, NULL,
        "none, or a network of the engine (default: the engine's own)"},
    {"--verbose", NULL, {"VERBOSE"}, parse_switch, FIELD(verbose), 0, 0, NULL,
        "say on stderr what is being done"},
    {"--transport", "HOW", {NULL}, parse_transport, FIELD(transport), 0, 0,
        "stdio", "stdio or streamable-http"},
    {"--host", "ADDRESS", {NULL}, parse_word, FIELD(host), 0, 0, "127.0.0.1",
        "HTTP: where to listen; off this machine it wants a token"},
    {"--port", "N", {NULL}, parse_number, FIELD(port), 0, 65535, "8000",
        "HTTP: port; 0: any free one"},
    {"--path", "PATH", {NULL}, parse_path, FIELD(path), 0, 0, "/mcp",
        "HTTP: path of the endpoint"},
    {"--listen", "unix:PATH", {NULL}, parse_listen, FIELD(listen), 0, 0, NULL,
        "HTTP: a unix socket (mode 0600) instead of host and port"},
    {"--allow-host", "A,B", {NULL}, parse_text, FIELD(allow_host), 0, 0, NULL,
        "HTTP: further names this server may be called by"},
    {"--allow-origin", "A,B", {NULL}, parse_text, FIELD(allow_origin), 0, 0,
        NULL, "HTTP: web pages that may use this server"},
    {"--token-file", "FILE", {NULL}, parse_text, FIELD(token_file), 0, 0, NULL,
        "HTTP: bearer token that clients must send"},
    {"--language", "NAME", {NULL}, parse_language, FIELD(language), 0, 0, NULL,
        "run: python or javascript (default: from the file name)"},
    {"--help", NULL, {NULL}, NULL, 0, 0, 0, NULL, "this text"},
    {"--version", NULL, {NULL}, NULL, 0, 0, 0, NULL, "the version"},
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
	const struct option *option = find_option(word, length);

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
	if (settings->max_timeout_seconds < settings->timeout_seconds)
		settings->max_timeout_seconds = settings->timeout_seconds;
	if (settings->action == ACTION_RUN)
		settings->pool = 0; /* there is no next call */
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
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		char usage[64];

		snprintf(usage, sizeof(usage), "%s%s%s", options[i].name,
		    options[i].argument != NULL ? " " : "",
		    options[i].argument != NULL ? options[i].argument : "");
		fprintf(stream, "  %-24s %s", usage, options[i].help);
		if (options[i].initial != NULL && *options[i].initial != '\0')
			fprintf(stream, " (%s)", options[i].initial);
		for (size_t j = 0; options[i].environment[j] != NULL; j++)
			fprintf(stream, "%s%s", j == 0 ? " [" : ", ",
			    options[i].environment[j]);
		fputs(options[i].environment[0] != NULL ? "]\n" : "\n", stream);
	}
	fputs("\nIn brackets: the environment variable that sets the same. "
	      "CONTAINER_IMAGE and\nCONTAINER_LANGUAGE together name one image "
	      "for both languages.\nThe manual: code-sandbox-mcp(1).\n",
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
