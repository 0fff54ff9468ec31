#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include <stdbool.h>

/* Small things about a request that has come in whole. */

struct evhttp_request;

/* NULL when it did not come. */
const char *http_header(struct evhttp_request *request, const char *name);
/* Whether the client can read this type; one that says nothing can. */
bool http_accepts(struct evhttp_request *request, const char *type);
/* Whether it names the type itself. */
bool http_asks_for(struct evhttp_request *request, const char *type);
/* For the answer. */
void http_add_header(
    struct evhttp_request *request, const char *name, const char *value);
/* Whether the answer may be of unknown length: in HTTP/1.0, as proxies speak
 * it, only the last of a connection. */
bool http_may_stream(struct evhttp_request *request);
/* Somebody else may believe that it says something else, or ends elsewhere. */
bool http_is_doubtful(struct evhttp_request *request);

/* For what is not answered by the protocol. */
void http_send(struct evhttp_request *request, int status, const char *type,
    const char *text);
/* A status, and a sentence for people, or NULL. */
void http_send_status(
    struct evhttp_request *request, int status, const char *why);

#endif
