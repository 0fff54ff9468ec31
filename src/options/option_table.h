#ifndef OPTION_TABLE_H
#define OPTION_TABLE_H

#include "options/option_values.h"

/* Every option, in the order in which --help lists them. */
extern const struct option option_table[];
extern const size_t option_count;

#endif
