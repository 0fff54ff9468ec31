#include "options/options.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "engine/engine_argv.h"
#include "options/option_languages.h"
#include "options/option_table.h"
#include "settings/names.h"

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
	for (size_t i = 0; i < option_count; i++)
		if (option_table[i].initial != NULL &&
		    set_option(settings, &option_table[i],
		        option_table[i].initial, err) != 0)
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
	if (names_check_image(image, err) != 0)
		return -1;
	for (size_t i = 0; i < LANGUAGE_BUILT_IN; i++) {
		free(settings->images[i]);
		settings->images[i] = xstrdup(image);
	}
	return 0;
}

/* A variable that is wrong; the option can still take its place. */
struct mistake {
	const struct option *option; /* NULL: none is */
	struct err err;
};

static void
apply_variables(struct settings *settings, struct mistake *mistake)
{
	for (size_t i = 0; i < option_count; i++) {
		const char *const *name = option_table[i].environment;
		struct err why;

		while (*name != NULL && environment_value(*name) == NULL)
			name++;
		if (*name == NULL ||
		    set_option(
		        settings, &option_table[i], getenv(*name), &why) == 0)
			continue;
		mistake->option = &option_table[i];
		err_set(
		    &mistake->err, ERR_ARGUMENT, "%s: %s", *name, why.message);
	}
}

/* Only options with a text for a value have variables that can be wrong. */
static bool
counts(const struct mistake *mistake, const struct settings *settings)
{
	const char *text;

	if (mistake->option == NULL)
		return false;
	memcpy(&text, (const char *)settings + mistake->option->field,
	    sizeof(text));
	return text == NULL;
}

static const struct option *
find_option(const char *word, size_t length)
{
	for (size_t i = 0; i < option_count; i++)
		if (strlen(option_table[i].name) == length &&
		    strncmp(option_table[i].name, word, length) == 0)
			return &option_table[i];
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
	if (option->tcp)
		settings->tcp_option = option->name;
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

		if (names_check_variable(name, &why) != 0)
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
	if (settings->tcp_option != NULL && settings->listen != NULL)
		return err_set(err, ERR_ARGUMENT,
		    "%s does not go with --listen, which takes its place",
		    settings->tcp_option);
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
	struct mistake mistake = {0};
	struct err image_err = {0};

	*settings = (struct settings){.action = ACTION_SERVE};
	if (set_initial(settings, err) != 0)
		return -1;
	apply_variables(settings, &mistake);
	apply_container_image(settings, &image_err);
	if (parse_words(settings, argv + (argc > 0), err) != 0)
		return -1;
	/* Help is to be had whatever the environment says. */
	if (settings->action == ACTION_HELP ||
	    settings->action == ACTION_VERSION)
		return 0;
	if (counts(&mistake, settings) || image_err.code != ERR_NONE) {
		*err = image_err.code != ERR_NONE ? image_err : mistake.err;
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
	for (size_t i = 0; i < option_count; i++)
		help_option(stream, &option_table[i]);
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
