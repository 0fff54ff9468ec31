#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

/*
 * What a person at a terminal sees while there is nothing of the program's to
 * see yet: what it waits for, on a line of stderr that goes before anything
 * else comes.  Where stderr is no terminal, or one that is not to be drawn on,
 * this does nothing.
 */

struct cli_progress;
struct event_base;
struct settings;

struct cli_progress *cli_progress_new(
    struct event_base *base, const struct settings *settings);
void cli_progress_say(struct cli_progress *progress, const char *text);
/* The program is there: from now on the terminal is its own. */
void cli_progress_end(struct cli_progress *progress);
void cli_progress_free(struct cli_progress *progress);

#endif
