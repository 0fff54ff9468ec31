#ifndef CLI_FIGURES_H
#define CLI_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/artifact.h"

/*
 * The figures of a program: on a terminal that shows pictures they are shown,
 * otherwise they become figure-1.png and so on, or the next numbers that are
 * free.
 */

struct cli_figures {
	struct figure *items;
	size_t count;
};

/* Copies it; saved: under its own name, which is enough. */
void cli_figures_add(
    struct cli_figures *figures, const struct artifact *figure, bool saved);
/* -1 if one could not be saved, which it says.  Not while an event loop runs
 * (see sixel.h). */
int cli_figures_show(
    const struct cli_figures *figures, int directory, bool force);
void cli_figures_release(struct cli_figures *figures);

#endif
