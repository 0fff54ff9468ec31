#include "engine/command.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"

struct heard {
	bool done;
	int done_count;
	bool ok;
	int exit_status;
	struct text out, words, lines;
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

static void
tear_down(void)
{
	children_free(children);
	event_base_free(base);
	ck_assert_int_eq(open_descriptors(), descriptors);
}

static void
on_line(void *arg, const char *text)
{
	struct heard *heard = arg;

	ck_assert(!heard->done);
	text_addf(&heard->lines, "[%s]", text);
}

static void
on_done(void *arg, const struct command_result *result)
{
	struct heard *heard = arg;

	heard->done = true;
	heard->done_count++;
	heard->ok = result->ok;
	heard->exit_status = result->exit_status;
	text_addf(&heard->out, "%s", result->out);
	text_addf(&heard->words, "%s", result->words);
}

static void
heard_release(struct heard *heard)
{
	text_release(&heard->out);
	text_release(&heard->words);
	text_release(&heard->lines);
}

static struct command *
start(const char *program, const char *script, const char *input,
    int timeout_seconds, struct heard *heard)
{
	struct strlist argv = {0}, env = {0};
	struct command *command;

	strlist_add(&argv, program);
	strlist_add(&argv, "-c");
	strlist_add(&argv, script);
	strlist_add(&env, "PATH=/usr/bin:/bin");
	strlist_add(&env, "GIVEN=yes");
	command = command_run(&(struct command_spec){.children = children,
	    .base = base,
	    .argv = &argv,
	    .env = &env,
	    .input = input,
	    .input_length = input != NULL ? strlen(input) : 0,
	    .timeout_seconds = timeout_seconds,
	    .line = on_line,
	    .done = on_done,
	    .arg = heard});
	/* It keeps neither. */
	strlist_release(&argv);
	strlist_release(&env);
	return command;
}

static void
wait_done(struct heard *heard)
{
	ck_assert_msg(loop_until(base, &heard->done), "done() did not come");
	ck_assert_int_eq(heard->done_count, 1);
}

static void
run(const char *script, const char *input, struct heard *heard)
{
	start("/bin/sh", script, input, PATIENCE_SECONDS, heard);
	ck_assert_msg(!heard->done, "done() from within command_run()");
	wait_done(heard);
}

START_TEST(success)
{
	struct heard heard = {0};

	run("echo out; echo words >&2", NULL, &heard);
	ck_assert(heard.ok);
	ck_assert_int_eq(heard.exit_status, 0);
	ck_assert_str_eq(heard.out.data, "out");
	ck_assert_str_eq(heard.words.data, "words");
	heard_release(&heard);
}
END_TEST

START_TEST(failure)
{
	struct heard heard = {0};

	run("echo 'it is broken' >&2; exit 125", NULL, &heard);
	ck_assert(!heard.ok);
	ck_assert_int_eq(heard.exit_status, 125);
	ck_assert_str_eq(heard.words.data, "it is broken");
	heard_release(&heard);
}
END_TEST

START_TEST(killed_has_no_status)
{
	struct heard heard = {0};

	run("echo last words >&2; kill -KILL $$", NULL, &heard);
	ck_assert(!heard.ok);
	ck_assert_int_eq(heard.exit_status, -1);
	ck_assert_str_eq(heard.words.data, "last words");
	heard_release(&heard);
}
END_TEST

START_TEST(blanks_at_the_end_are_cut)
{
	struct heard heard = {0};

	run("printf ' a \\n b \\t\\r\\n\\n'", NULL, &heard);
	ck_assert_str_eq(heard.out.data, " a \n b");
	heard_release(&heard);
}
END_TEST

START_TEST(bad_bytes_are_repaired)
{
	struct heard heard = {0};

	run("printf 'a\\377b'; printf '\\342\\202' >&2", NULL, &heard);
	ck_assert_str_eq(heard.out.data,
	    "a\xEF\xBF\xBD"
	    "b");
	ck_assert(is_utf8(heard.words.data, heard.words.length));
	heard_release(&heard);
}
END_TEST

START_TEST(input_arrives)
{
	struct heard heard = {0};

	run("cat", "some input", &heard);
	ck_assert(heard.ok);
	ck_assert_str_eq(heard.out.data, "some input");
	heard_release(&heard);
}
END_TEST

START_TEST(empty_input_is_an_end)
{
	struct heard heard = {0};

	run("cat; readlink /proc/self/fd/0 | cut -c 1-4", "", &heard);
	ck_assert_str_eq(heard.out.data, "pipe");
	heard_release(&heard);
}
END_TEST

START_TEST(without_input_stdin_is_empty)
{
	struct heard heard = {0};

	run("cat; readlink /proc/self/fd/0", NULL, &heard);
	ck_assert_str_eq(heard.out.data, "/dev/null");
	heard_release(&heard);
}
END_TEST

START_TEST(big_input)
{
	size_t length = (size_t)3 * 1024 * 1024;
	char *input = xcalloc(1, length + 1);
	struct heard heard = {0};

	memset(input, 'x', length);
	run("wc -c", input, &heard);
	ck_assert_int_eq(atol(heard.out.data), (long)length);
	free(input);
	heard_release(&heard);
}
END_TEST

START_TEST(environment_is_given)
{
	struct heard heard = {0};

	run("echo $GIVEN", NULL, &heard);
	ck_assert_str_eq(heard.out.data, "yes");
	heard_release(&heard);
}
END_TEST

START_TEST(missing_program)
{
	struct heard heard = {0};

	start("/nonexistent/engine", "x", NULL, PATIENCE_SECONDS, &heard);
	ck_assert_msg(!heard.done, "done() from within command_run()");
	wait_done(&heard);
	ck_assert(!heard.ok);
	ck_assert_int_eq(heard.exit_status, -1);
	ck_assert_str_eq(heard.words.data,
	    "cannot start /nonexistent/engine: No such file or directory");
	ck_assert_str_eq(heard.out.data, "");
	heard_release(&heard);
}
END_TEST

START_TEST(missing_program_with_input)
{
	struct heard heard = {0};

	start("/nonexistent/engine", "x", "in", PATIENCE_SECONDS, &heard);
	wait_done(&heard);
	ck_assert_int_eq(heard.exit_status, -1);
	heard_release(&heard);
}
END_TEST

START_TEST(timeout_kills)
{
	struct heard heard = {0};

	start("/bin/sh", "echo some; echo words >&2; exec sleep 987", NULL, 1,
	    &heard);
	wait_done(&heard);
	ck_assert(!heard.ok);
	ck_assert_int_eq(heard.exit_status, -1);
	ck_assert_str_eq(heard.words.data, "no answer within 1 seconds");
	ck_assert_str_eq(heard.out.data, "some");
	heard_release(&heard);
}
END_TEST

START_TEST(timeout_kills_what_ignores_signals)
{
	struct heard heard = {0};

	start("/bin/sh", "trap '' TERM INT HUP; while :; do :; done", NULL, 1,
	    &heard);
	wait_done(&heard);
	ck_assert_int_eq(heard.exit_status, -1);
	heard_release(&heard);
}
END_TEST

static bool
is_gone(int pid)
{
	return kill(pid, 0) != 0 && errno == ESRCH;
}

/* As of an engine that is a script around another one. */
START_TEST(timeout_kills_what_it_has_started)
{
	struct heard heard = {0};
	int pid, patience = PATIENCE_SECONDS * 100;

	start("/bin/sh", "sleep 987 & echo $!; wait", NULL, 1, &heard);
	wait_done(&heard);
	pid = (int)strtonum(heard.out.data, 2, INT_MAX, NULL);
	ck_assert_int_gt(pid, 0);
	while (!is_gone(pid) && patience-- > 0)
		loop_for(base, 10);
	ck_assert(is_gone(pid));
	heard_release(&heard);
}
END_TEST

/* More than the limit of 256 KiB; both ends are kept. */
START_TEST(output_is_bounded)
{
	struct heard heard = {0};

	run("echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo last",
	    NULL, &heard);
	ck_assert(heard.ok);
	ck_assert_uint_lt(heard.out.length, 257 * 1024);
	ck_assert_int_eq(strncmp(heard.out.data, "first\nxxx", 9), 0);
	ck_assert_str_eq(heard.out.data + heard.out.length - 7, "xxxlast");
	ck_assert_ptr_nonnull(strstr(heard.out.data, " bytes cut ...]"));
	heard_release(&heard);
}
END_TEST

START_TEST(lines_of_both_streams)
{
	struct heard heard = {0};

	run("echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three", NULL,
	    &heard);
	ck_assert_str_eq(heard.lines.data, "[one][two][three]");
	heard_release(&heard);
}
END_TEST

/* Progress bars return to the start of their line. */
START_TEST(carriage_returns_end_lines)
{
	struct heard heard = {0};

	run("printf '10%%\\r20%%\\r\\n\\n\\r100%%\\n'", NULL, &heard);
	ck_assert_str_eq(heard.lines.data, "[10%][20%][100%]");
	heard_release(&heard);
}
END_TEST

START_TEST(a_long_line_is_cut)
{
	struct heard heard = {0};

	run("head -c 100000 /dev/zero | tr '\\0' x; echo; echo next", NULL,
	    &heard);
	ck_assert_uint_lt(heard.lines.length, 600);
	ck_assert_str_eq(
	    heard.lines.data + heard.lines.length - 9, "xx][next]");
	heard_release(&heard);
}
END_TEST

START_TEST(dropped_is_not_heard_of)
{
	struct heard heard = {0}, other = {0};
	struct command *command =
	    start("/bin/sh", "exec sleep 987", NULL, 1, &heard);

	loop_for(base, 50);
	command_drop(command);
	run("sleep 1.2", NULL, &other);
	ck_assert(!heard.done);
	heard_release(&other);
}
END_TEST

START_TEST(dropped_before_it_could_not_start)
{
	struct heard heard = {0};
	struct command *command =
	    start("/nonexistent/engine", "x", NULL, 1, &heard);

	command_drop(command);
	loop_for(base, 50);
	ck_assert(!heard.done);
}
END_TEST

/* The program is gone, and not only forgotten. */
START_TEST(dropped_is_killed)
{
	char *directory = scratch_new();
	char *pid_file = xasprintf("%s/pid", directory), *script, *proc;
	struct heard heard = {0};
	struct command *command;
	char text[32] = "";
	FILE *stream;
	long long deadline = milliseconds_now() + PATIENCE_SECONDS * 500;

	script = xasprintf("echo $$ >%s.new; mv %s.new %s; exec sleep 987",
	    pid_file, pid_file, pid_file);
	command = start("/bin/sh", script, NULL, PATIENCE_SECONDS, &heard);
	while (access(pid_file, F_OK) != 0 && milliseconds_now() < deadline)
		loop_for(base, 20);
	stream = fopen(pid_file, "re");
	ck_assert_ptr_nonnull(stream);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), stream));
	fclose(stream);
	proc = xasprintf("/proc/%d", atoi(text));
	ck_assert_int_eq(access(proc, F_OK), 0);
	command_drop(command);
	while (access(proc, F_OK) == 0 && milliseconds_now() < deadline)
		loop_for(base, 20);
	ck_assert_int_ne(access(proc, F_OK), 0);
	free(proc);
	free(script);
	free(pid_file);
	scratch_free(directory);
}
END_TEST

Suite *
command_suite(void)
{
	Suite *suite = suite_create("command");
	TCase *tcase = tcase_create("command");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, success);
	tcase_add_test(tcase, failure);
	tcase_add_test(tcase, killed_has_no_status);
	tcase_add_test(tcase, blanks_at_the_end_are_cut);
	tcase_add_test(tcase, bad_bytes_are_repaired);
	tcase_add_test(tcase, input_arrives);
	tcase_add_test(tcase, empty_input_is_an_end);
	tcase_add_test(tcase, without_input_stdin_is_empty);
	tcase_add_test(tcase, big_input);
	tcase_add_test(tcase, environment_is_given);
	if (!under_valgrind()) {
		tcase_add_test(tcase, missing_program);
		tcase_add_test(tcase, missing_program_with_input);
		tcase_add_test(tcase, dropped_before_it_could_not_start);
	}
	tcase_add_test(tcase, timeout_kills);
	tcase_add_test(tcase, timeout_kills_what_ignores_signals);
	tcase_add_test(tcase, timeout_kills_what_it_has_started);
	tcase_add_test(tcase, output_is_bounded);
	tcase_add_test(tcase, lines_of_both_streams);
	tcase_add_test(tcase, carriage_returns_end_lines);
	tcase_add_test(tcase, a_long_line_is_cut);
	tcase_add_test(tcase, dropped_is_not_heard_of);
	tcase_add_test(tcase, dropped_is_killed);
	suite_add_tcase(suite, tcase);
	return suite;
}
