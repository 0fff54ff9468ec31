#ifndef JOB_H
#define JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strlist.h"
#include "settings/language.h"

/*
 * What a caller wants done, complete and checked.  It owns all that it names.
 * All zero is an empty one.
 */

#define JOB_SESSION_NEW "new"
#define JOB_CODE_MAX ((size_t)16 * 1024 * 1024)

struct job_file {
	char *path; /* in the working directory */
	char *data;
	size_t length;
};

struct job {
	const struct language *language;
	char *code;
	size_t code_length;
	int timeout_seconds; /* 0: the server's own */
	bool offline;        /* no network, whatever the settings say */
	bool online;         /* a network was asked for by name */
	struct job_file *files;
	size_t file_count;
	char *input; /* what the program reads; NULL: nothing */
	size_t input_length;
	struct strlist arguments;
	struct strlist packages; /* to be installed before it runs */
	struct strlist outputs;  /* patterns of files that are to come back */
	char *session;           /* NULL: none; JOB_SESSION_NEW; or a handle */
	const void *client;      /* whose session; others cannot use it */
	char *fetch; /* instead of code: the file of the session to read */
};

/* A string of the caller's becomes one of the job's. */
char *job_copy(const char *data, size_t length);
void job_add_file(
    struct job *job, const char *path, const char *data, size_t length);
/* The bytes of its code, files and input. */
size_t job_size(const struct job *job);
/* Whether it is code alone, with nothing to be put in place for it. */
bool job_is_plain(const struct job *job);
void job_release(struct job *job);

#endif
