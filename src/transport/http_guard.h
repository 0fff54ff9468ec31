#ifndef HTTP_GUARD_H
#define HTTP_GUARD_H

#include <stdbool.h>

#include "base/err.h"
#include "settings/settings.h"

/*
 * Who may talk to us over HTTP.  A page in a browser can make requests to this
 * machine, and a name in the DNS can be made to point to it: so Host and
 * Origin must be names that we know, always, and a token is asked for where
 * there is one.  NULL stands for a header that did not come.
 */

struct http_guard {
	struct strlist hosts;   /* beside the names of the loopback */
	struct strlist origins; /* beside those of pages from the loopback */
	char *token;            /* NULL: none is asked for */
};

/* -1, and why, when what the settings ask for would let anybody in.  To be
 * released in any case. */
int http_guard_init(struct http_guard *guard, const struct settings *settings,
    bool loopback, struct err *err);
void http_guard_release(struct http_guard *guard);
bool http_guard_host(const struct http_guard *guard, const char *host);
bool http_guard_origin(const struct http_guard *guard, const char *origin);
/* A page that somebody has named, and that may so read our answers. */
bool http_guard_page(const struct http_guard *guard, const char *origin);
bool http_guard_token(
    const struct http_guard *guard, const char *authorization);

#endif
