#ifndef OWNER_H
#define OWNER_H

#include <stdbool.h>

/*
 * Every container carries the identity of the server that started it:
 *
 *	MACHINE:BOOT:PIDNS:PID:START
 *
 * a hash of the machine, the boot, the PID namespace, the process and when it
 * started.  From that another server can tell whether the owner is dead, and
 * must leave the container alone when it cannot tell: engines are shared
 * between machines and between containers.
 */

#define OWNER_LENGTH 96

void owner_self(char owner[OWNER_LENGTH]);
bool owner_is_dead(const char *owner);

#endif
