#ifndef OUTLET_H
#define OUTLET_H

#include <stddef.h>

#include "base/err.h"

/*
 * Where the messages that answer one request go.  A transport makes it: over
 * stdio all requests share one, over HTTP each has its own.
 */
struct outlet {
	/* On the way: any number of notifications. */
	void (*notify)(void *arg, const char *message, size_t length);
	/* In the end, once: the response; code is ERR_NONE or its error. */
	void (*reply)(
	    void *arg, const char *message, size_t length, enum err_code code);
	/* Or, once: there will be no response, because it was cancelled. */
	void (*drop)(void *arg);
	void *arg;
	/* Tells the outlets of one connection from those of another. */
	const void *owner;
};

#endif
