#ifndef MESSAGE_H
#define MESSAGE_H

#include "engine/child.h"
#include "sandbox/job.h"
#include "settings/language.h"

/*
 * What the runner inside the container is told on its stdin: lines, some of
 * them with so many bytes behind them.  An interpreter that waits for the code
 * is first told how to:
 *
 *	hook SIZE          files, each a record separator, its name, and in the
 *	                   lines that follow what is in it
 *
 * A call is
 *
 *	code SIZE          the code, and the program starts
 *
 * or, when there is more to it, "call" and any of these ahead of the code:
 *
 *	file SIZE PATH     a file for the working directory
 *	stdin SIZE         what the program reads
 *	argument SIZE
 *	package NAME       to be installed first
 *	session            the interpreter goes on when the code has run
 *
 * Requests, when the program has ended and the container stays:
 *
 *	list               entries, and answered
 *	get LIMIT PATH     data, no more than LIMIT bytes of it, and answered
 *	interrupt          SIGINT for the interpreter of a session
 */

void message_hook(struct child *child, const struct hook_file *files);
void message_call(struct child *child, const struct job *job);
void message_list(struct child *child);
void message_get(struct child *child, size_t limit, const char *path);
void message_interrupt(struct child *child);

#endif
