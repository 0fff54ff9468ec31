#ifndef ERR_H
#define ERR_H

/*
 * One error object.  The caller allocates it; a function that fails writes it
 * and returns -1 (or NULL); a function that succeeds leaves it alone.  The
 * message is for people: what happened and what to do next.
 */

enum err_code {
	ERR_NONE,
	ERR_PARSE,    /* not JSON */
	ERR_REQUEST,  /* JSON, but not a JSON-RPC message we take */
	ERR_METHOD,   /* no such method */
	ERR_PARAMS,   /* no such tool, resource, or malformed parameters */
	ERR_RESOURCE, /* no such resource */
	ERR_SESSION,  /* no such session over HTTP */
	ERR_FULL,     /* ... and no room for another */
	ERR_META,     /* params that are none, or lack what _meta must carry */
	ERR_HEADER,   /* a header does not match the message */
	ERR_CAPABILITY, /* the client would have to be able to do more */
	ERR_VERSION,    /* a revision that we do not speak */
	ERR_INTERNAL,   /* our own fault */
	ERR_ARGUMENT,   /* a tool argument the model can put right */
	ERR_ENGINE,     /* no engine, or the engine failed */
	ERR_IMAGE,      /* the image is missing and cannot be had */
	ERR_BUSY,       /* too many calls are waiting */
	ERR_SHUTDOWN,   /* the server is going */
	ERR_SYSTEM,     /* a system call failed */
};

struct err {
	enum err_code code;
	char message[2048];
};

/* Both return -1, so that "return err_set(...)" reads well. */
int err_set(struct err *err, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int err_system(struct err *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
