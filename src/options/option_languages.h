#ifndef OPTION_LANGUAGES_H
#define OPTION_LANGUAGES_H

#include "base/err.h"
#include "settings/settings.h"

/*
 * The options about languages depend on each other: all of them may name one
 * that --language-file adds.  So they are looked at when all are known.
 */
int option_languages_resolve(struct settings *settings, struct err *err);

/* The language of this name; or NULL, and a sentence that says where the name
 * stood and which ones there are. */
const struct language *option_language(const struct settings *settings,
    const char *where, const char *name, struct err *err);

#endif
