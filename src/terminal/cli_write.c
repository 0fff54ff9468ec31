#include "terminal/cli_write.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

/* Waits until a piece can be written without blocking; a signal that is to end
 * us ends the wait, a child that has ended does not. */
static bool
wait_until_writable(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
	sigset_t children;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	return ppoll(&poll_fd, 1, NULL, &children) > 0;
}

int
cli_write(int fd, const char *data, size_t length)
{
	while (length > 0) {
		size_t piece = length < PIPE_BUF ? length : PIPE_BUF;
		ssize_t sent;

		if (!wait_until_writable(fd)) {
			errno = EINTR;
			return -1;
		}
		sent = write(fd, data, piece);
		if (sent < 0 && errno == EAGAIN)
			continue;
		if (sent < 0)
			return -1;
		data += sent;
		length -= (size_t)sent;
	}
	return 0;
}
