#ifndef SERVER_H
#define SERVER_H

#include "settings/settings.h"

/* Serves until the client goes or a signal comes; returns the exit status. */
int server_serve(const struct settings *settings);

#endif
