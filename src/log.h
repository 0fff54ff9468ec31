#ifndef LOG_H
#define LOG_H

#include <stdbool.h>

/* Everything said to the person who runs the server goes to stderr. */

void log_set_verbose(bool verbose);
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool log_is_verbose(void);
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
