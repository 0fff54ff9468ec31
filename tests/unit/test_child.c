#include "engine/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"

/* One child and all that was heard of it. */
struct heard {
	struct text streams[CHILD_STREAMS];
	bool done;
	int done_count;
	int status;
	bool output_after_done;
};

static struct event_base *base;
static struct children *children;
static int descriptors;

static void
set_up(void)
{
	descriptors = open_descriptors();
	base = event_base_new();
	children = children_new(base);
}

/* Nothing may be left open, whatever the test did. */
static void
tear_down(void)
{
	if (children != NULL)
		children_free(children);
	event_base_free(base);
	ck_assert_int_eq(open_descriptors(), descriptors);
}

static void
on_output(void *arg, enum child_stream stream, const char *data, size_t length)
{
	struct heard *heard = arg;

	heard->output_after_done |= heard->done;
	text_add(&heard->streams[stream], data, length);
}

static void
on_done(void *arg, int wait_status)
{
	struct heard *heard = arg;

	heard->done = true;
	heard->done_count++;
	heard->status = wait_status;
}

static const struct child_callbacks callbacks = {on_output, on_done};

static void
heard_release(struct heard *heard)
{
	for (size_t i = 0; i < CHILD_STREAMS; i++)
		text_release(&heard->streams[i]);
}

static struct child *
spawn(const char *const *words, const char *const *env, bool with_stdin,
    struct heard *heard)
{
	struct err err = {0};
	struct child *child = child_spawn(children,
	    &(struct child_spec){.argv = (char *const *)words,
	        .envp = (char *const *)env,
	        .with_stdin = with_stdin,
	        .callbacks = &callbacks,
	        .arg = heard},
	    &err);

	ck_assert_msg(child != NULL, "%s", err.message);
	return child;
}

static struct child *
shell(const char *script, bool with_stdin, struct heard *heard)
{
	return spawn((const char *const[]){"/bin/sh", "-c", script, NULL},
	    (const char *const[]){"PATH=/usr/bin:/bin", NULL}, with_stdin,
	    heard);
}

static void
send_text(struct child *child, const char *data, size_t length)
{
	child_write(child, &(struct iovec){(void *)(size_t)data, length}, 1);
}

static void
wait_done(struct heard *heard)
{
	ck_assert_msg(loop_until(base, &heard->done), "done() did not come");
	ck_assert_int_eq(heard->done_count, 1);
	ck_assert(!heard->output_after_done);
}

START_TEST(output_of_both_streams)
{
	struct heard heard = {0};

	shell("printf out; printf err >&2; printf ' more'", false, &heard);
	wait_done(&heard);
	ck_assert_str_eq(text_string(&heard.streams[CHILD_STDOUT]), "out more");
	ck_assert_str_eq(text_string(&heard.streams[CHILD_STDERR]), "err");
	heard_release(&heard);
}
END_TEST

START_TEST(exit_status)
{
	static const int statuses[] = {0, 1, 42, 255};

	for (size_t i = 0; i < COUNT(statuses); i++) {
		struct heard heard = {0};
		char *script = xasprintf("exit %d", statuses[i]);

		shell(script, false, &heard);
		wait_done(&heard);
		ck_assert(WIFEXITED(heard.status));
		ck_assert_int_eq(WEXITSTATUS(heard.status), statuses[i]);
		free(script);
		heard_release(&heard);
	}
}
END_TEST

START_TEST(death_by_signal)
{
	struct heard heard = {0};

	shell("kill -SEGV $$", false, &heard);
	wait_done(&heard);
	ck_assert(WIFSIGNALED(heard.status));
	ck_assert_int_eq(WTERMSIG(heard.status), SIGSEGV);
	heard_release(&heard);
}
END_TEST

START_TEST(kill_by_us)
{
	struct heard heard = {0};
	struct child *child = shell("exec sleep 1000", false, &heard);

	child_kill(child);
	wait_done(&heard);
	ck_assert(WIFSIGNALED(heard.status));
	ck_assert_int_eq(WTERMSIG(heard.status), SIGKILL);
	heard_release(&heard);
}
END_TEST

/* A shell that has set its trap, and says so. */
static struct child *
trapping_shell(const char *script, struct heard *heard)
{
	struct child *child = shell(script, false, heard);

	while (heard->streams[CHILD_STDOUT].length == 0)
		event_base_loop(base, EVLOOP_ONCE);
	return child;
}

START_TEST(asked_it_ends_by_itself)
{
	struct heard heard = {0};

	child_ask(trapping_shell(
	    "trap 'exit 3' TERM; echo up; sleep 1000 & wait", &heard));
	wait_done(&heard);
	ck_assert(WIFEXITED(heard.status));
	ck_assert_int_eq(WEXITSTATUS(heard.status), 3);
	heard_release(&heard);
}
END_TEST

START_TEST(asked_in_vain_it_is_killed)
{
	struct heard heard = {0};

	child_ask(
	    trapping_shell("trap '' TERM; echo up; exec sleep 1000", &heard));
	wait_done(&heard);
	ck_assert(WIFSIGNALED(heard.status));
	ck_assert_int_eq(WTERMSIG(heard.status), SIGKILL);
	heard_release(&heard);
}
END_TEST

START_TEST(stdin_is_empty_without_one)
{
	struct heard heard = {0};

	shell("cat; readlink /proc/self/fd/0", false, &heard);
	wait_done(&heard);
	ck_assert_str_eq(
	    text_string(&heard.streams[CHILD_STDOUT]), "/dev/null\n");
	heard_release(&heard);
}
END_TEST

START_TEST(stdin_is_written_in_pieces)
{
	struct heard heard = {0};
	struct child *child = shell("cat", true, &heard);
	char first[] = "one ", second[] = "two ";

	child_write(child, (struct iovec[]){{first, 4}, {second, 4}}, 2);
	loop_for(base, 20);
	send_text(child, BYTES("three"));
	child_finish_stdin(child);
	wait_done(&heard);
	ck_assert_str_eq(
	    text_string(&heard.streams[CHILD_STDOUT]), "one two three");
	heard_release(&heard);
}
END_TEST

/* Far more than a pipe holds, both ways at once. */
START_TEST(five_megabytes_through_cat)
{
	size_t length = (size_t)5 * 1024 * 1024;
	char *data = xcalloc(1, length);
	struct heard heard = {0};
	struct child *child = shell("cat", true, &heard);

	for (size_t i = 0; i < length; i++)
		data[i] = (char)(i * 31 + i / 4096);
	send_text(child, data, length / 2);
	send_text(child, data + length / 2, length - length / 2);
	child_finish_stdin(child);
	wait_done(&heard);
	ck_assert_uint_eq(heard.streams[CHILD_STDOUT].length, length);
	ck_assert_mem_eq(heard.streams[CHILD_STDOUT].data, data, length);
	free(data);
	heard_release(&heard);
}
END_TEST

START_TEST(writing_after_the_end_is_nothing)
{
	struct heard heard = {0};
	struct child *child = shell("cat", true, &heard);

	send_text(child, BYTES("a"));
	child_finish_stdin(child);
	send_text(child, BYTES("b"));
	child_finish_stdin(child);
	child_close_stdin(child);
	wait_done(&heard);
	ck_assert_str_eq(text_string(&heard.streams[CHILD_STDOUT]), "a");
	heard_release(&heard);
}
END_TEST

START_TEST(writing_nothing_leaves_stdin_open)
{
	struct heard heard = {0};
	struct child *child = shell("cat", true, &heard);

	errno = ENOENT; /* left over from something else */
	send_text(child, "", 0);
	send_text(child, BYTES("abc"));
	child_finish_stdin(child);
	wait_done(&heard);
	ck_assert_str_eq(text_string(&heard.streams[CHILD_STDOUT]), "abc");
	heard_release(&heard);
}
END_TEST

/*
 * The first write fills the pipe and waits for it to become writable; the
 * second one, made when it is so again, takes the rest along.  The wait then
 * ends with nothing to write, and that is no reason to close stdin.
 */
START_TEST(stdin_survives_a_wait_that_is_over)
{
	char *directory = scratch_new(), *block = xcalloc(1, 70000);
	char *flag = xasprintf("%s/read", directory);
	char *script = xasprintf(
	    "head -c 65537 | wc -c; : >%s; head -c 10000 | wc -c", flag);
	long long deadline = milliseconds_now() + PATIENCE_SECONDS * 500;
	struct heard heard = {0};
	struct child *child;

	child = shell(script, true, &heard);
	/* 65536 of these go at once, on a pipe of the usual size. */
	send_text(child, block, 66000);
	while (milliseconds_now() < deadline && heard.done_count == 0 &&
	    access(flag, F_OK) != 0) {
		/* One byte a time until the reader has had its share. */
		send_text(child, block, 1);
		usleep(1000);
	}
	ck_assert_msg(access(flag, F_OK) == 0, "nothing was read");
	errno = ENOENT; /* left over from something else */
	loop_for(base, 50);
	ck_assert_msg(!heard.done, "stdin was closed");
	for (int i = 0; i < 10; i++)
		send_text(child, block, 1000);
	child_finish_stdin(child);
	wait_done(&heard);
	ck_assert_str_eq(
	    text_string(&heard.streams[CHILD_STDOUT]), "65537\n10000\n");
	free(flag);
	free(script);
	free(block);
	scratch_free(directory);
	heard_release(&heard);
}
END_TEST

START_TEST(close_drops_what_was_not_taken)
{
	size_t length = (size_t)1024 * 1024;
	char *data = xcalloc(1, length);
	struct heard heard = {0};
	struct child *child = shell("sleep 0.1; wc -c", true, &heard);

	send_text(child, data, length);
	child_close_stdin(child);
	wait_done(&heard);
	ck_assert_int_lt(
	    atol(text_string(&heard.streams[CHILD_STDOUT])), (long)length);
	free(data);
	heard_release(&heard);
}
END_TEST

START_TEST(a_child_that_does_not_read)
{
	size_t length = (size_t)1024 * 1024;
	char *data = xcalloc(1, length);
	struct heard heard = {0};
	struct child *child =
	    shell("exec <&-; echo closed; exit 3", true, &heard);

	send_text(child, data, length);
	child_finish_stdin(child);
	wait_done(&heard);
	ck_assert_int_eq(WEXITSTATUS(heard.status), 3);
	ck_assert_str_eq(text_string(&heard.streams[CHILD_STDOUT]), "closed\n");
	free(data);
	heard_release(&heard);
}
END_TEST

/* The streams end first: not done before the child has been reaped. */
START_TEST(done_waits_for_the_child)
{
	struct heard heard = {0};
	struct child *child =
	    shell("exec >&- 2>&-; read line; exit 7", true, &heard);

	loop_for(base, 200);
	ck_assert(!heard.done);
	child_finish_stdin(child);
	wait_done(&heard);
	ck_assert_int_eq(WEXITSTATUS(heard.status), 7);
	heard_release(&heard);
}
END_TEST

/* The child ends first: what it leaves in the pipe is not lost. */
START_TEST(done_waits_for_the_streams)
{
	struct heard heard = {0};

	shell("(sleep 0.3; echo late) & echo early; exit 5", false, &heard);
	wait_done(&heard);
	ck_assert_str_eq(
	    text_string(&heard.streams[CHILD_STDOUT]), "early\nlate\n");
	ck_assert_int_eq(WEXITSTATUS(heard.status), 5);
	heard_release(&heard);
}
END_TEST

START_TEST(done_comes_from_the_loop)
{
	struct heard heard = {0};

	shell("exit 0", false, &heard);
	usleep(100000);
	ck_assert(!heard.done);
	wait_done(&heard);
	heard_release(&heard);
}
END_TEST

/* A process that sleeps longer than any test, so that it can be found. */
#define SLEEPER "sleep 987"

static void
end_sleeper(struct heard *heard)
{
	long pid = atol(text_string(&heard->streams[CHILD_STDOUT]));

	ck_assert_int_gt(pid, 1);
	kill((pid_t)pid, SIGKILL);
}

START_TEST(a_grandchild_does_not_hold_done)
{
	struct heard heard = {0};

	shell(SLEEPER " & echo $!; exit 4", false, &heard);
	wait_done(&heard);
	ck_assert_int_eq(WEXITSTATUS(heard.status), 4);
	end_sleeper(&heard);
	heard_release(&heard);
}
END_TEST

/* The same while other children come and go all the time. */
START_TEST(a_grandchild_does_not_hold_done_on_a_busy_server)
{
	long long deadline = milliseconds_now() + 15000;
	struct heard heard = {0};

	shell(SLEEPER " & echo $!; exit 4", false, &heard);
	while (!heard.done && milliseconds_now() < deadline) {
		struct heard other = {0};

		shell("exit 0", false, &other);
		wait_done(&other);
		heard_release(&other);
		loop_for(base, 200);
	}
	end_sleeper(&heard);
	ck_assert_msg(heard.done, "each SIGCHLD put it off again");
	heard_release(&heard);
}
END_TEST

START_TEST(a_missing_program)
{
	static const char *const words[] = {"/nonexistent/program", NULL};
	static const char *const env[] = {NULL};
	struct heard heard = {0};
	struct err err = {0};

	ck_assert_ptr_null(child_spawn(children,
	    &(struct child_spec){.argv = (char *const *)words,
	        .envp = (char *const *)env,
	        .with_stdin = true,
	        .callbacks = &callbacks,
	        .arg = &heard},
	    &err));
	ck_assert_int_eq(err.code, ERR_SYSTEM);
	ck_assert_str_eq(err.message,
	    "cannot start /nonexistent/program: No such file or directory");
	loop_for(base, 50);
	ck_assert(!heard.done);
}
END_TEST

START_TEST(a_program_that_may_not_be_run)
{
	char *directory = scratch_new();
	char *path = scratch_program(directory, "program", "");
	const char *const words[] = {path, NULL};
	static const char *const env[] = {NULL};
	struct err err = {0};

	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_ptr_null(child_spawn(children,
	    &(struct child_spec){.argv = (char *const *)words,
	        .envp = (char *const *)env,
	        .callbacks = &callbacks},
	    &err));
	ck_assert_ptr_nonnull(strstr(err.message, path));
	ck_assert_ptr_nonnull(strstr(err.message, "Permission denied"));
	free(path);
	scratch_free(directory);
}
END_TEST

START_TEST(no_descriptors_are_left)
{
	int before = open_descriptors();

	for (int i = 0; i < 20; i++) {
		struct heard heard = {0};
		struct child *child = shell("cat >&2", true, &heard);

		send_text(child, BYTES("x"));
		child_finish_stdin(child);
		wait_done(&heard);
		heard_release(&heard);
	}
	ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

START_TEST(the_child_has_three_descriptors)
{
	struct heard heard = {0};
	int extra = open_descriptors() > 0 ? dup(STDERR_FILENO) : -1;

	/* Of its four, one reads the directory. */
	shell(
	    "for fd in /proc/self/fd/*; do echo ${fd##*/}; done", true, &heard);
	wait_done(&heard);
	close(extra);
	ck_assert_msg(
	    strncmp(heard.streams[CHILD_STDOUT].data, "0\n1\n2\n", 6) == 0 &&
	        heard.streams[CHILD_STDOUT].length <= 9,
	    "%s", heard.streams[CHILD_STDOUT].data);
	heard_release(&heard);
}
END_TEST

START_TEST(the_environment_is_what_is_given)
{
	struct heard heard = {0};

	spawn((const char *const[]){"/usr/bin/env", NULL},
	    (const char *const[]){"A=1", "B=two words", NULL}, false, &heard);
	wait_done(&heard);
	ck_assert_str_eq(
	    text_string(&heard.streams[CHILD_STDOUT]), "A=1\nB=two words\n");
	heard_release(&heard);
}
END_TEST

/* The word of a line of /proc/PID/status. */
static unsigned long long
status_mask(const char *status, const char *name)
{
	const char *line = strstr(status, name);

	ck_assert_msg(line != NULL, "%s", name);
	return strtoull(line + strlen(name), NULL, 16);
}

START_TEST(signals_are_as_they_were_at_birth)
{
	struct heard heard = {0};
	sigset_t blocked, saved;
	void (*saved_handler)(int) = signal(SIGHUP, SIG_IGN);

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &saved);
	spawn((const char *const[]){"/bin/cat", "/proc/self/status", NULL},
	    (const char *const[]){NULL}, false, &heard);
	sigprocmask(SIG_SETMASK, &saved, NULL);
	signal(SIGHUP, saved_handler);
	wait_done(&heard);
	ck_assert_uint_eq(
	    status_mask(heard.streams[CHILD_STDOUT].data, "SigBlk:"), 0);
	/* The first 31: the two behind them are the C library's own. */
	ck_assert_uint_eq(
	    status_mask(heard.streams[CHILD_STDOUT].data, "SigIgn:") &
	        0x7fffffff,
	    0);
	heard_release(&heard);
}
END_TEST

START_TEST(a_group_of_its_own)
{
	struct heard heard = {0};
	int pid, group;

	shell("exec cat /proc/self/stat", false, &heard);
	wait_done(&heard);
	ck_assert_int_eq(sscanf(heard.streams[CHILD_STDOUT].data,
	                     "%d %*s %*c %*d %d", &pid, &group),
	    2);
	ck_assert_int_eq(group, pid);
	ck_assert_int_ne(group, getpgrp());
	heard_release(&heard);
}
END_TEST

START_TEST(abandoned_says_nothing_and_is_reaped)
{
	struct heard heard = {0}, other = {0};
	int before = open_descriptors();
	struct child *child = shell("echo x; exec sleep 987", false, &heard);

	child_abandon(child);
	child_kill(child);
	shell("sleep 0.2", false, &other);
	wait_done(&other);
	ck_assert(!heard.done);
	ck_assert_uint_eq(heard.streams[CHILD_STDOUT].length, 0);
	ck_assert_int_eq(open_descriptors(), before);
	/* No child of ours is left, not even a dead one. */
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* An abandoned child that goes on printing is not blocked by a full pipe. */
START_TEST(abandoned_is_drained)
{
	struct heard heard = {0};
	char *directory = scratch_new();
	char *flag = xasprintf("%s/end", directory);
	char *script = xasprintf("head -c 1000000 /dev/zero; : >%s", flag);
	long long deadline = milliseconds_now() + PATIENCE_SECONDS * 500;

	child_abandon(shell(script, false, &heard));
	while (access(flag, F_OK) != 0 && milliseconds_now() < deadline)
		loop_for(base, 20);
	ck_assert_msg(access(flag, F_OK) == 0, "it hangs in its output");
	loop_for(base, 50);
	ck_assert(!heard.done);
	free(script);
	free(flag);
	scratch_free(directory);
}
END_TEST

static struct heard second;

static void
on_done_spawn(void *arg, int wait_status)
{
	on_done(arg, wait_status);
	shell("echo second", false, &second);
}

START_TEST(done_may_start_another)
{
	static const struct child_callbacks spawning = {
	    on_output, on_done_spawn};
	static const char *const words[] = {"/bin/true", NULL};
	static const char *const env[] = {NULL};
	struct heard heard = {0};
	struct err err;

	second = (struct heard){0};
	ck_assert_ptr_nonnull(child_spawn(children,
	    &(struct child_spec){.argv = (char *const *)words,
	        .envp = (char *const *)env,
	        .callbacks = &spawning,
	        .arg = &heard},
	    &err));
	wait_done(&heard);
	wait_done(&second);
	ck_assert_str_eq(
	    text_string(&second.streams[CHILD_STDOUT]), "second\n");
	heard_release(&heard);
	heard_release(&second);
}
END_TEST

START_TEST(many_at_once)
{
	struct heard heard[50];

	memset(heard, 0, sizeof(heard));
	for (size_t i = 0; i < COUNT(heard); i++) {
		char *script = xasprintf("echo %zu; exit %zu", i, i);

		shell(script, false, &heard[i]);
		free(script);
	}
	for (size_t i = 0; i < COUNT(heard); i++) {
		wait_done(&heard[i]);
		ck_assert_uint_eq((size_t)WEXITSTATUS(heard[i].status), i);
		ck_assert_int_eq(
		    atoi(text_string(&heard[i].streams[CHILD_STDOUT])), (int)i);
		heard_release(&heard[i]);
	}
}
END_TEST

START_TEST(free_ends_what_still_runs)
{
	struct heard heard = {0};

	shell("trap '' TERM; sleep 987", true, &heard);
	children_free(children);
	children = NULL;
	ck_assert(!heard.done);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* Children that are not ours are for others to wait for. */
START_TEST(strangers_are_left_alone)
{
	struct heard heard = {0};
	pid_t stranger = fork();

	ck_assert_int_ge(stranger, 0);
	if (stranger == 0) {
		execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL);
		_exit(1);
	}
	shell("sleep 0.2", false, &heard);
	wait_done(&heard);
	ck_assert_int_eq(waitpid(stranger, &heard.status, 0), stranger);
	ck_assert_int_eq(WEXITSTATUS(heard.status), 9);
	heard_release(&heard);
}
END_TEST

static const struct {
	const char *name;
	const char *path; /* the variable; NULL: not set */
	const char *program;
	const char *expected; /* NULL: not found */
} programs[] = {
    {"on PATH", "PATH=/nonexistent:/bin", "sh", "/bin/sh"},
    {"the first of two", "PATH=/usr/bin:/bin", "env", "/usr/bin/env"},
    {"not on PATH", "PATH=/nonexistent", "sh", NULL},
    {"PATH is empty", "PATH=", "sh", NULL},
    {"PATH is not set", "X=1", "sh", NULL},
    {"an empty entry is not the current directory", "PATH=:/nonexistent:", "sh",
        NULL},
    {"a path is not looked up", "PATH=/nonexistent", "/bin/sh", "/bin/sh"},
    {"a path that is not there", "PATH=/bin", "/nonexistent/sh", NULL},
    {"a directory is no program", "PATH=/", "bin", NULL},
    {"a directory as a path", "PATH=/bin", "/bin", NULL},
    {"a file that may not be run", "PATH=/proc/self", "status", NULL},
    {"nothing", "PATH=/bin", "", NULL},
};

START_TEST(find_program)
{
	static const char *env[] = {NULL, NULL};
	char *found;

	env[0] = programs[_i].path;
	environment_set(env);
	found = child_find_program(programs[_i].program);
	ck_assert_msg((found == NULL) == (programs[_i].expected == NULL) &&
	        (found == NULL || strcmp(found, programs[_i].expected) == 0),
	    "%s: %s", programs[_i].name, found != NULL ? found : "(none)");
	free(found);
}
END_TEST

Suite *
child_suite(void)
{
	Suite *suite = suite_create("child");
	TCase *tcase = tcase_create("child"), *find = tcase_create("find");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, output_of_both_streams);
	tcase_add_test(tcase, exit_status);
	tcase_add_test(tcase, death_by_signal);
	tcase_add_test(tcase, kill_by_us);
	tcase_add_test(tcase, asked_it_ends_by_itself);
	tcase_add_test(tcase, asked_in_vain_it_is_killed);
	tcase_add_test(tcase, stdin_is_empty_without_one);
	tcase_add_test(tcase, stdin_is_written_in_pieces);
	tcase_add_test(tcase, five_megabytes_through_cat);
	tcase_add_test(tcase, writing_after_the_end_is_nothing);
	tcase_add_test(tcase, writing_nothing_leaves_stdin_open);
	tcase_add_test(tcase, stdin_survives_a_wait_that_is_over);
	tcase_add_test(tcase, close_drops_what_was_not_taken);
	tcase_add_test(tcase, a_child_that_does_not_read);
	tcase_add_test(tcase, done_waits_for_the_child);
	tcase_add_test(tcase, done_waits_for_the_streams);
	tcase_add_test(tcase, done_comes_from_the_loop);
	tcase_add_test(tcase, a_grandchild_does_not_hold_done);
	tcase_add_test(tcase, a_grandchild_does_not_hold_done_on_a_busy_server);
	if (!under_valgrind()) {
		tcase_add_test(tcase, a_missing_program);
		tcase_add_test(tcase, a_program_that_may_not_be_run);
	}
	tcase_add_test(tcase, no_descriptors_are_left);
	tcase_add_test(tcase, the_child_has_three_descriptors);
	tcase_add_test(tcase, the_environment_is_what_is_given);
	tcase_add_test(tcase, signals_are_as_they_were_at_birth);
	tcase_add_test(tcase, a_group_of_its_own);
	tcase_add_test(tcase, abandoned_says_nothing_and_is_reaped);
	tcase_add_test(tcase, abandoned_is_drained);
	tcase_add_test(tcase, done_may_start_another);
	tcase_add_test(tcase, many_at_once);
	tcase_add_test(tcase, free_ends_what_still_runs);
	tcase_add_test(tcase, strangers_are_left_alone);
	suite_add_tcase(suite, tcase);
	environment_fixture(find);
	tcase_add_loop_test(find, find_program, 0, COUNT(programs));
	suite_add_tcase(suite, find);
	return suite;
}
