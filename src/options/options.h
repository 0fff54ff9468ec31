#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdio.h>

#include "base/err.h"
#include "settings/settings.h"

/*
 * The command line and the environment.  One table drives parsing, --help and
 * the check that the manual page names every option.
 */

/* Fills in settings; on a mistake says so in one line. */
int options_parse(
    struct settings *settings, int argc, char **argv, struct err *err);
void options_help(FILE *stream);
void settings_release(struct settings *settings);

#endif
