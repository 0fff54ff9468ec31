#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "settings/settings.h"

/*
 * code-sandbox-mcp run: one program, the way a tool call runs it, with its
 * output going straight to ours.  Returns the program's exit status; 128 + N
 * when signal N ended it, 124 when its time was up, 125 when it could not be
 * run at all.
 */
int cli_run(const struct settings *settings);

#endif
