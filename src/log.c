#include "log.h"

#include <stdarg.h>
#include <stdio.h>

static bool log_verbose;

static void
log_line(const char *format, va_list ap)
{
	char line[4096];
	int used;

	/* One write a line: lines of several servers do not mix. */
	used = snprintf(line, sizeof(line), "code-sandbox-mcp: ");
	vsnprintf(line + used, sizeof(line) - (size_t)used, format, ap);
	fprintf(stderr, "%s\n", line);
}

void
log_set_verbose(bool verbose)
{
	log_verbose = verbose;
}

bool
log_is_verbose(void)
{
	return log_verbose;
}

void
log_warn(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	log_line(format, ap);
	va_end(ap);
}

void
log_debug(const char *format, ...)
{
	va_list ap;

	if (!log_verbose)
		return;
	va_start(ap, format);
	log_line(format, ap);
	va_end(ap);
}
