#ifndef NAMES_H
#define NAMES_H

#include "base/err.h"

/* Whether a name may stand in an engine command at all. */

int names_check_image(const char *image, struct err *err);
/* Of an environment variable. */
int names_check_variable(const char *name, struct err *err);

#endif
