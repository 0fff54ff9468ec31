#include "options/option_languages.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "settings/names.h"

const struct language *
option_language(const struct settings *settings, const char *where,
    const char *name, struct err *err)
{
	struct err why;
	const struct language *language =
	    language_find(&settings->languages, name, &why);

	if (language == NULL)
		err_set(err, ERR_ARGUMENT, "%s: %s", where, why.message);
	return language;
}

static int
load_file(struct settings *settings, struct err *err)
{
	struct language_table *table = &settings->languages;
	size_t count = table->count;
	struct err why;

	if (settings->language_file == NULL)
		return 0;
	if (language_table_load(table, settings->language_file, &why) != 0)
		return err_set(
		    err, ERR_ARGUMENT, "--language-file: %s", why.message);
	for (; count < table->count; count++)
		settings->images[count] = xstrdup(table->rows[count]->image);
	return 0;
}

static int
choose(struct settings *settings, struct err *err)
{
	struct err why;

	if (settings->languages_list == NULL ||
	    language_table_choose(
	        &settings->languages, settings->languages_list, &why) == 0)
		return 0;
	return err_set(err, ERR_ARGUMENT, "--languages: %s", why.message);
}

static int
set_image(struct settings *settings, const char *words, struct err *err)
{
	size_t length = strcspn(words, "=");
	char *name = xstrndup(words, length);
	const struct language *language =
	    option_language(settings, "--image", name, err);
	struct err why;

	free(name);
	if (language == NULL)
		return -1;
	if (words[length] != '=')
		return err_set(err, ERR_ARGUMENT,
		    "--image: \"%s\" names no image: write %s=IMAGE", words,
		    words);
	if (names_check_image(words + length + 1, &why) != 0)
		return err_set(err, ERR_ARGUMENT, "--image: %s", why.message);
	free(settings->images[language->id]);
	settings->images[language->id] = xstrdup(words + length + 1);
	return 0;
}

int
option_languages_resolve(struct settings *settings, struct err *err)
{
	if (load_file(settings, err) != 0 || choose(settings, err) != 0)
		return -1;
	for (size_t i = 0; i < settings->image_list.count; i++)
		if (set_image(settings, settings->image_list.items[i], err) !=
		    0)
			return -1;
	if (settings->language_name == NULL)
		return 0;
	settings->language = option_language(
	    settings, "--language", settings->language_name, err);
	return settings->language != NULL ? 0 : -1;
}
