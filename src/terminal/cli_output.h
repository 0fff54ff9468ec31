#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "base/err.h"
#include "sandbox/artifact.h"
#include "settings/settings.h"

/*
 * What the command run gets back from a program besides what it prints: files
 * are saved if they were asked for, and named if not; figures are shown on a
 * terminal that can, and saved otherwise.
 *
 *  1. cli_output_new(), before the program runs: a mistake is told then.
 *  2. cli_output_take() with what it left behind.
 *  3. cli_output_show(), when no event loop runs any more (see sixel.h).
 *
 * The latter two return -1 if something could not be saved; they say so.
 */

struct cli_output;

struct cli_output *cli_output_new(
    const struct settings *settings, struct err *err);
int cli_output_take(
    struct cli_output *output, const struct artifacts *artifacts);
int cli_output_show(struct cli_output *output);
void cli_output_free(struct cli_output *output);

#endif
