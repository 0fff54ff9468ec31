#ifndef LOG_H
#define LOG_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Everything said to the person who runs the server goes to stderr.  Lines that
 * nobody reads are lost, and counted; no text can speak to the terminal.
 */

typedef int log_write_fn(int fd, const char *data, size_t length);

void log_set_verbose(bool verbose);
/* Called before each line: what else is on the terminal makes room.  NULL: no
 * longer. */
void log_set_before(void (*before)(void *arg), void *arg);
/* What waits for a reader instead. */
void log_set_write(log_write_fn *write_fn);
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool log_is_verbose(void);
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
