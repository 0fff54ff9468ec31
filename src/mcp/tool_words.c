#include "mcp/tool_arguments_private.h"

#include <string.h>

#include "sandbox/work_path.h"

/* A command line argument is any string that can be one. */
static int
check_arg(const char *word, size_t length, struct err *err)
{
	if (strlen(word) == length)
		return 0;
	return err_set(err, ERR_ARGUMENT,
	    "An item of \"args\" contains a NUL character; no command line "
	    "can.");
}

static bool
is_archive(const char *word, size_t length)
{
	static const char *const suffixes[] = {
	    ".whl", ".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz"};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t rest = strlen(suffixes[i]);

		if (length >= rest &&
		    strcasecmp(word + length - rest, suffixes[i]) == 0)
			return true;
	}
	return false;
}

/*
 * A name in the package index of the language, and a version if need be:
 * requests==2.32.3, pandas[excel]>=2,<3, left-pad@1.3.0, @scope/name@^1.
 *
 * It becomes a word of the installer's command line, so it must not look like
 * an option of it, nor like what else installers take there: a URL, a file, a
 * directory, a repository of somebody's ("user/name" is one, for npm).  Code
 * that is run could fetch those by itself; but whoever lets the network reach
 * nothing but an index counts on the installer asking nobody else.  Hence no
 * colon, and no slash but that of a scope; and no name of an archive.  White
 * space, quotes and ";" are only in markers, which choose by platform, and
 * there is one platform.
 */
static bool
is_package(const char *word, size_t length)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	static const char others[] = "@/._-+~^*<>=!,[]";
	const char *rest = word + (*word == '@');
	const char *slash = strchr(word, '/');

	if (*rest == '\0' || strchr(letters, *rest) == NULL)
		return false;
	if (slash != NULL && (*word != '@' || strchr(slash + 1, '/') != NULL))
		return false;
	for (; *rest != '\0'; rest++)
		if (strchr(letters, *rest) == NULL &&
		    strchr(others, *rest) == NULL)
			return false;
	/* npm takes what is behind such an @ for a path. */
	return (size_t)(rest - word) == length && !is_archive(word, length) &&
	    strstr(word, "@.") == NULL;
}

static int
check_package(const char *word, size_t length, struct err *err)
{
	if (is_package(word, length))
		return 0;
	return err_set(err, ERR_ARGUMENT,
	    "\"%.100s\" is not the name of a package: pass a name in the "
	    "package index and, if need be, a version, such as "
	    "\"requests==2.32.3\" or \"left-pad@1.3.0\"; no URLs, paths "
	    "or options, and no white space.",
	    word);
}

static int
check_installable(
    const struct settings *settings, const struct job *job, struct err *err)
{
	if (job->language->install == NULL)
		return err_set(err, ERR_ARGUMENT,
		    "Packages cannot be installed for %s: do with what is "
		    "there.",
		    job->language->title);
	if (settings->offline)
		return err_set(err, ERR_ARGUMENT,
		    "Packages need the network, and this server gives "
		    "programs none: do with what is there.");
	if (job->offline)
		return err_set(err, ERR_ARGUMENT,
		    "Packages need the network: leave out \"network\", or "
		    "\"packages\".");
	return 0;
}

static struct strlist *
args_of(struct job *job)
{
	return &job->arguments;
}

static struct strlist *
outputs_of(struct job *job)
{
	return &job->outputs;
}

static struct strlist *
packages_of(struct job *job)
{
	return &job->packages;
}

const struct words words_args = {
    .name = "args",
    .description = "Command line arguments of the program.",
    .count_max = 100,
    .total_max = (size_t)64 * 1024,
    .list = args_of,
    .check = check_arg,
};

const struct words words_outputs = {
    .name = "outputs",
    .description = "Patterns such as \"report.pdf\" or \"out/*.csv\": files "
                   "that must come back even if they are large or, in a "
                   "session, old. * stands for slashes too; hidden files "
                   "never come.",
    .count_max = 20,
    .each_max = 200,
    .list = outputs_of,
    .check = work_path_check,
};

const struct words words_packages = {
    .name = "packages",
    .count_max = 50,
    .each_max = 200,
    .list = packages_of,
    .check = check_package,
    .check_all = check_installable,
};

void
words_describe(
    const struct words *words, yyjson_mut_doc *doc, yyjson_mut_val *property)
{
	yyjson_mut_obj_add_str(doc, property, "type", "array");
	yyjson_mut_obj_add_str(doc,
	    yyjson_mut_obj_add_obj(doc, property, "items"), "type", "string");
	yyjson_mut_obj_add_uint(doc, property, "maxItems", words->count_max);
	if (words->description != NULL)
		yyjson_mut_obj_add_str(
		    doc, property, "description", words->description);
}

static int
add_word(const struct words *words, yyjson_val *item, struct strlist *list,
    struct err *err)
{
	size_t length = yyjson_get_len(item);

	if (!yyjson_is_str(item))
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"%s\" must be an array of strings, and one "
		    "item is %s.",
		    words->name, yyjson_get_type_desc(item));
	if (words->each_max > 0 && length > words->each_max)
		return err_set(err, ERR_ARGUMENT,
		    "An item of \"%s\" has %zu bytes; the limit is %zu.",
		    words->name, length, words->each_max);
	if (words->check(yyjson_get_str(item), length, err) != 0)
		return -1;
	strlist_add(list, yyjson_get_str(item));
	return 0;
}

int
words_read(const struct words *words, yyjson_val *value,
    const struct settings *settings, struct job *job, struct err *err)
{
	struct strlist *list = words->list(job);
	size_t i, count, total = 0;
	yyjson_val *item;

	if (value == NULL || yyjson_is_null(value))
		return 0;
	if (!yyjson_is_arr(value))
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"%s\" must be an array of strings, not %s.",
		    words->name, yyjson_get_type_desc(value));
	if (yyjson_arr_size(value) > words->count_max)
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"%s\" has %zu items; the limit is %zu.",
		    words->name, yyjson_arr_size(value), words->count_max);
	yyjson_arr_foreach(value, i, count, item)
	{
		if (add_word(words, item, list, err) != 0)
			return -1;
		total += yyjson_get_len(item);
	}
	if (words->total_max > 0 && total > words->total_max)
		return err_set(err, ERR_ARGUMENT,
		    "The argument \"%s\" has %zu bytes; the limit is %zu.",
		    words->name, total, words->total_max);
	if (list->count > 0 && words->check_all != NULL)
		return words->check_all(settings, job, err);
	return 0;
}
