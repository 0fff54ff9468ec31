#ifndef HTTP_TOKEN_H
#define HTTP_TOKEN_H

#include "base/err.h"
#include "settings/settings.h"

/* The token that clients must send, to be freed in any case; NULL: none is
 * asked for.  It is that of the file if there is one, else of the environment.
 */
int http_token_find(
    const struct settings *settings, char **token, struct err *err);

#endif
