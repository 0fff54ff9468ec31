#ifndef HTTP_CORS_H
#define HTTP_CORS_H

#include <stdbool.h>

/*
 * What browsers ask for before they let a page of another origin send requests
 * to us and read the answers.  It is for pages that have been named only: one
 * that just comes from this machine may try, and is not told.
 */

struct evhttp_request;
struct http_guard;

/* Adds to the answer, whatever it will be, that the page may read it. */
void http_cors_allow(
    struct evhttp_request *request, const struct http_guard *guard);
/* True: the browser only asks what the page may send, and has been told. */
bool http_cors_preflight(
    struct evhttp_request *request, const struct http_guard *guard);

#endif
