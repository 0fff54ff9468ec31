#include "settings/names.h"

#include <ctype.h>
#include <stdbool.h>

/* A word that the engine could read as a flag, or that would break a line of
 * its output, never reaches it. */
static bool
is_plain_word(const char *word)
{
	if (*word == '\0' || *word == '-')
		return false;
	for (; *word != '\0'; word++)
		if (!isgraph((unsigned char)*word))
			return false;
	return true;
}

int
names_check_image(const char *image, struct err *err)
{
	if (is_plain_word(image))
		return 0;
	return err_set(err, ERR_ARGUMENT,
	    "\"%s\" is not an image name: it must not be empty, begin with "
	    "\"-\" or contain white space",
	    image);
}

int
names_check_variable(const char *name, struct err *err)
{
	const char *rest = name;

	if (isalpha((unsigned char)*rest) || *rest == '_')
		while (isalnum((unsigned char)*rest) || *rest == '_')
			rest++;
	if (rest > name && *rest == '\0')
		return 0;
	return err_set(err, ERR_ARGUMENT,
	    "\"%s\" is not the name of an environment variable", name);
}
