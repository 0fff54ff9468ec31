#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <bsd/string.h>

#include "base/utf8.h"

/* The message goes into JSON: no half characters, where it was cut or where a
 * part of it was. */
static void
err_clean(struct err *err)
{
	size_t length = strlen(err->message), step;

	for (size_t i = 0; i < length; i += step) {
		step = utf8_sequence(err->message + i, length - i);
		if (step > 0)
			continue;
		err->message[i] = '?';
		step = 1;
	}
}

static void __attribute__((format(printf, 3, 0)))
err_vset(struct err *err, enum err_code code, const char *format, va_list ap)
{
	err->code = code;
	vsnprintf(err->message, sizeof(err->message), format, ap);
	err_clean(err);
}

int
err_set(struct err *err, enum err_code code, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	err_vset(err, code, format, ap);
	va_end(ap);
	return -1;
}

int
err_system(struct err *err, int errnum, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	err_vset(err, ERR_SYSTEM, format, ap);
	va_end(ap);
	strlcat(err->message, ": ", sizeof(err->message));
	strlcat(err->message, strerror(errnum), sizeof(err->message));
	err_clean(err);
	return -1;
}
