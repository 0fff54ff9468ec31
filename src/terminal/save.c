#include "terminal/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/token.h"
#include "sandbox/work_path.h"

#define DIRECTORY_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define FILE_FLAGS (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)

static int
enter(int directory, const char *name, const char *path, struct err *err)
{
	int fd = openat(directory, name, DIRECTORY_FLAGS);

	if (fd < 0 && errno == ENOENT &&
	    (mkdirat(directory, name, 0777) == 0 || errno == EEXIST))
		fd = openat(directory, name, DIRECTORY_FLAGS);
	if (fd < 0)
		err_system(
		    err, errno, "%s is not saved: directory %s", path, name);
	return fd;
}

/* Step by step, so that each directory is seen to be one and not a link.
 * *name becomes the last part of the path; -1 or a descriptor to be closed. */
static int
enter_parents(
    int directory, char *parts, const char *path, char **name, struct err *err)
{
	int fd = openat(directory, ".", DIRECTORY_FLAGS);
	char *slash;

	if (fd < 0)
		err_system(err, errno, "%s is not saved", path);
	while (fd >= 0 && (slash = strchr(parts, '/')) != NULL) {
		int inner;

		*slash = '\0';
		inner = enter(fd, parts, path, err);
		close(fd);
		fd = inner;
		parts = slash + 1;
	}
	*name = parts;
	return fd;
}

static int
write_all(int fd, const char *data, size_t length)
{
	while (length > 0) {
		ssize_t sent = write(fd, data, length);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -1;
		data += sent;
		length -= (size_t)sent;
	}
	return 0;
}

static int
write_file(int directory, const char *name, const char *data, size_t length)
{
	int fd = openat(directory, name, FILE_FLAGS, 0666);
	int status, errnum;

	if (fd < 0)
		return -1;
	status = write_all(fd, data, length);
	errnum = errno;
	if (close(fd) != 0 && status == 0) {
		status = -1;
		errnum = errno;
	}
	if (status != 0)
		unlinkat(directory, name, 0);
	errno = errnum;
	return status;
}

/* The old file stays until the new one is complete. */
static int
replace_file(int directory, const char *name, const char *data, size_t length)
{
	char token[TOKEN_LENGTH + 1], *fresh;
	int status, errnum;

	token_make(token);
	fresh = xasprintf(".%s", token);
	status = write_file(directory, fresh, data, length);
	if (status == 0 && renameat(directory, fresh, directory, name) != 0) {
		errnum = errno;
		unlinkat(directory, fresh, 0);
		errno = errnum;
		status = -1;
	}
	free(fresh);
	return status;
}

static int
save_in(int directory, const char *name, const char *data, size_t length,
    bool force, const char *path, struct err *err)
{
	int status = force ? replace_file(directory, name, data, length)
	                   : write_file(directory, name, data, length);

	if (status == 0)
		return 0;
	if (errno == EEXIST && !force)
		return err_set(err, ERR_ARGUMENT,
		    "%s is not saved: there is one already; --force replaces "
		    "it",
		    path);
	return err_system(err, errno, "%s is not saved", path);
}

int
save_file(int directory, const char *path, const char *data, size_t length,
    bool force, struct err *err)
{
	char *parts, *name;
	int fd, status = -1;

	if (work_path_check(path, strlen(path), err) != 0)
		return -1;
	parts = xstrdup(path);
	fd = enter_parents(directory, parts, path, &name, err);
	if (fd >= 0) {
		status = save_in(fd, name, data, length, force, path, err);
		close(fd);
	}
	free(parts);
	return status;
}

bool
save_is_taken(int directory, const char *path)
{
	struct stat status;

	return fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) == 0;
}
