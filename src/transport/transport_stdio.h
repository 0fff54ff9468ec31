#ifndef TRANSPORT_STDIO_H
#define TRANSPORT_STDIO_H

#include "mcp/mcp.h"

/*
 * One client on stdin and stdout, one message a line.  This is the only module
 * of the server that writes to stdout.
 */

struct event_base;
struct transport_stdio;

/* closed() is called once, when the client has gone: stdin ended, or stdout
 * takes no more. */
struct transport_stdio *transport_stdio_new(struct event_base *base,
    struct mcp *mcp, void (*closed)(void *arg), void *arg);
/* Sends out what is ready to go, as far as the client takes it now.  Returns an
 * exit status: 0 when the client went, 1 when it could not be read from or
 * written to. */
int transport_stdio_free(struct transport_stdio *transport);

#endif
