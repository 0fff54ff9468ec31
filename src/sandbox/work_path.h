#ifndef WORK_PATH_H
#define WORK_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * Paths of files in a program's working directory, as a caller names them, and
 * the URIs that stand for them:
 *
 *	sandbox://session/HANDLE/PATH   a file that is there to be read
 *	sandbox://files/PATH            one that came along with a result
 */

/* Fails unless it leads to a file in the working directory and nowhere else.
 * It may hold NUL, which is refused. */
int work_path_check(const char *path, size_t length, struct err *err);
/* Whether both cannot be: they are the same, or one would be a directory. */
bool work_path_clash(const char *one, const char *other);

/* The URI of a file, to be freed; without a session if that is NULL. */
char *work_path_uri(const char *session, const char *path);
/* The template of those with a session, as of RFC 6570. */
#define WORK_PATH_TEMPLATE "sandbox://session/{session}/{+path}"
/* Whether it looks like one of a session's file. */
bool work_path_is_session_uri(const char *uri);
/* Its parts, to be freed; fails if it is none. */
int work_path_parse_uri(
    const char *uri, char **session, char **path, struct err *err);

#endif
