#ifndef HTTP_LISTEN_H
#define HTTP_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "settings/settings.h"

/* The socket that the HTTP server listens on. */

struct event_base;
struct evconnlistener;

struct http_listen {
	struct evconnlistener *listener;
	bool loopback; /* only this machine can reach it */
	char *socket;  /* path of a unix socket, to be removed; or NULL */
	dev_t device;  /* by which it is known again */
	ino_t inode;
	char *address; /* for people */
};

int http_listen_open(struct http_listen *listen, struct event_base *base,
    const struct settings *settings, struct err *err);
void http_listen_release(struct http_listen *listen);

#endif
