#include "terminal/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "helpers.h"
#include "suites.h"

static const struct {
	const char *answer;
	bool sixel;
} answers[] = {
    {"\033[?62;4c", true},
    {"\033[?64;1;2;4;6;9;15c", true},
    {"\033[?65;1;9;4c", true},
    {"typed ahead\033[?62;4c", true},
    {"\033[?62;04c", true},
    {"\033[?4c", false},
    {"\033[?4;6c", false},
    {"\033[?62;14;44c", false},
    {"\033[?62;c", false},
    {"\033[?62;;4c", true},
    {"\033[?62;4", false},
    {"\033[?62;4x;c", false},
    {"\033[?1;2c", false},
    {"\033[62;4c", false},
    {"4c", false},
    {"", false},
};

START_TEST(answer)
{
	ck_assert_msg(
	    terminal_answer_has_sixel(answers[_i].answer) == answers[_i].sixel,
	    "%s", answers[_i].answer + 1);
}
END_TEST

/* A terminal of its own, whose other end is held by a process that waits for
 * the question and says this. */
static int
open_terminal(const char *reply, pid_t *pid)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
	char byte, seen[3] = "";

	ck_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(slave, 0);
	*pid = fork();
	ck_assert_int_ge(*pid, 0);
	if (*pid == 0) {
		while (memcmp(seen, "\033[c", 3) != 0 &&
		    read(master, &byte, 1) == 1) {
			memmove(seen, seen + 1, 2);
			seen[2] = byte;
		}
		if (write(master, reply, strlen(reply)) < 0)
			_exit(1);
		pause();
	}
	close(master);
	return slave;
}

static void
assert_asked(const char *reply, bool expected)
{
	struct termios before = {0}, after = {0};
	pid_t pid;
	int fd = open_terminal(reply, &pid);

	ck_assert_int_eq(tcgetattr(fd, &before), 0);
	ck_assert(terminal_takes_sixel(fd) == expected);
	ck_assert_int_eq(tcgetattr(fd, &after), 0);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
}

START_TEST(asked)
{
	assert_asked("\033[?62;4;22c", true);
	assert_asked("\033[?62;22c", false);
}
END_TEST

START_TEST(no_answer_is_not_waited_for)
{
	long long start = milliseconds_now();

	assert_asked("", false);
	assert_asked("\033[?62;4", false);
	ck_assert_int_lt(milliseconds_now() - start, 20000);
}
END_TEST

START_TEST(no_terminal)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	ck_assert(!terminal_takes_sixel(fd));
	ck_assert_int_eq(terminal_columns(fd), 80);
	close(fd);
}
END_TEST

START_TEST(dumb)
{
	static const char *const none[] = {NULL};
	static const char *const empty[] = {"TERM=", NULL};
	static const char *const dumb_one[] = {"TERM=dumb", NULL};
	static const char *const xterm[] = {"TERM=xterm", NULL};

	environment_set(none);
	ck_assert(terminal_is_dumb());
	environment_set(empty);
	ck_assert(terminal_is_dumb());
	environment_set(dumb_one);
	ck_assert(terminal_is_dumb());
	environment_set(xterm);
	ck_assert(!terminal_is_dumb());
}
END_TEST

Suite *
terminal_suite(void)
{
	Suite *suite = suite_create("terminal");
	TCase *tcase = tcase_create("terminal");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	environment_fixture(tcase);
	tcase_add_loop_test(tcase, answer, 0, COUNT(answers));
	tcase_add_test(tcase, asked);
	tcase_add_test(tcase, no_answer_is_not_waited_for);
	tcase_add_test(tcase, no_terminal);
	tcase_add_test(tcase, dumb);
	suite_add_tcase(suite, tcase);
	return suite;
}
