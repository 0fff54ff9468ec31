#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include "settings/settings.h"

/*
 * Sees to it that the programs which may run at a time get their descriptors,
 * and so many connections: the limit is raised as far as that takes and the
 * system lets us.  Programs come first; returns how many connections may be
 * taken.
 */
int descriptors_reserve(const struct settings *settings, int connections);

#endif
