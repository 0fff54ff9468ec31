#include "terminal/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/monotonic.h"

#define ASK "\033[c"
#define ANSWER "\033[?"
#define SIXEL 4
/* On a slow line; one that takes longer gets no pictures. */
#define PATIENCE_MS 500

bool
terminal_is_dumb(void)
{
	const char *term = getenv("TERM");

	return term == NULL || *term == '\0' || strcmp(term, "dumb") == 0;
}

int
terminal_columns(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return 80;
	return size.ws_col;
}

bool
terminal_answer_has_sixel(const char *answer)
{
	const char *rest = strstr(answer, ANSWER);
	char *end;

	if (rest == NULL || strchr(rest, 'c') == NULL)
		return false;
	/* The first number is the kind of terminal, not something it can do. */
	rest += strlen(ANSWER);
	rest += strcspn(rest, ";c");
	while (*rest == ';') {
		if (strtol(rest + 1, &end, 10) == SIXEL && end > rest + 1 &&
		    (*end == ';' || *end == 'c'))
			return true;
		rest += 1 + strcspn(rest + 1, ";c");
	}
	return false;
}

static bool
wait_until(int fd, short events, uint64_t deadline)
{
	struct pollfd poll_fd = {.fd = fd, .events = events};
	uint64_t now = monotonic_ms();

	return now < deadline && poll(&poll_fd, 1, (int)(deadline - now)) > 0;
}

static void
read_answer(int fd, uint64_t deadline, char *answer, size_t size)
{
	size_t used = 0;
	ssize_t got;

	while (used + 1 < size && wait_until(fd, POLLIN, deadline)) {
		got = read(fd, answer + used, size - used - 1);
		if (got <= 0)
			break;
		used += (size_t)got;
		answer[used] = '\0';
		if (strstr(answer, ANSWER) != NULL &&
		    strchr(strstr(answer, ANSWER), 'c') != NULL)
			break;
	}
}

/* A signal between the two tcsetattr() would leave a terminal without echo;
 * and none could end a write to one that Ctrl-S has stopped. */
static void
ask(int fd, char *answer, size_t size)
{
	uint64_t deadline = monotonic_ms() + PATIENCE_MS;
	struct termios before, raw;
	sigset_t all, mask;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	if (tcgetattr(fd, &before) == 0) {
		raw = before;
		raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
		raw.c_cc[VMIN] = 0;
		raw.c_cc[VTIME] = 0;
		if (tcsetattr(fd, TCSANOW, &raw) == 0) {
			if (wait_until(fd, POLLOUT, deadline) &&
			    write(fd, ASK, strlen(ASK)) == (ssize_t)strlen(ASK))
				read_answer(fd, deadline, answer, size);
			tcsetattr(fd, TCSANOW, &before);
		}
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

bool
terminal_takes_sixel(int fd)
{
	char answer[256] = "";
	pid_t foreground = tcgetpgrp(fd);

	/* In the background it is not ours to ask. */
	if (foreground >= 0 && foreground != getpgrp())
		return false;
	ask(fd, answer, sizeof(answer));
	return terminal_answer_has_sixel(answer);
}
