#include "transport/http_token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

#define LENGTH_MIN 16

/* The first line of the file; NULL, and why not. */
static char *
read_token(const char *path, struct err *err)
{
	char text[4097];
	ssize_t length = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		length = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (length < 0) {
		err_system(err, errno, "--token-file %s", path);
		return NULL;
	}
	text[length] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	return xstrdup(text);
}

static int
check_length(const char *token, const char *source, struct err *err)
{
	if (strlen(token) >= LENGTH_MIN)
		return 0;
	return err_set(err, ERR_ARGUMENT,
	    "%s: a token has %d characters at least; \"openssl rand -hex 32\" "
	    "makes a good one",
	    source, LENGTH_MIN);
}

static void
warn_if_open(const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0 && (status.st_mode & S_IROTH) != 0)
		log_warn("every user of this machine can read the token: "
		         "chmod 600 %s",
		    path);
}

int
http_token_find(const struct settings *settings, char **token, struct err *err)
{
	*token = NULL;
	if (settings->token_file == NULL) {
		if (settings->token == NULL)
			return 0;
		*token = xstrdup(settings->token);
		return check_length(*token, "CODE_SANDBOX_TOKEN", err);
	}
	*token = read_token(settings->token_file, err);
	if (*token == NULL ||
	    check_length(*token, settings->token_file, err) != 0)
		return -1;
	warn_if_open(settings->token_file);
	return 0;
}
