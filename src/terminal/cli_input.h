#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "base/err.h"
#include "sandbox/job.h"
#include "settings/settings.h"

/*
 * What the command run is given, as a job: the program, and what goes with it
 * (files, standard input, arguments, packages).  All is read here and now.
 */
int cli_input_read(
    struct job *job, const struct settings *settings, struct err *err);

#endif
