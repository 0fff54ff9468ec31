#include "engine/owner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"
#include "suites.h"

struct parts {
	char machine[32], boot[32];
	unsigned long long pid_namespace;
	int pid;
	unsigned long long start;
};

static void
self_parts(struct parts *parts)
{
	char owner[OWNER_LENGTH];

	owner_self(owner);
	ck_assert_msg(sscanf(owner, "%31[0-9a-f]:%31[0-9a-f]:%llu:%d:%llu",
	                  parts->machine, parts->boot, &parts->pid_namespace,
	                  &parts->pid, &parts->start) == 5,
	    "%s", owner);
}

static bool
is_dead(const struct parts *parts)
{
	char owner[256];

	snprintf(owner, sizeof(owner), "%s:%s:%llu:%d:%llu", parts->machine,
	    parts->boot, parts->pid_namespace, parts->pid, parts->start);
	return owner_is_dead(owner);
}

static const char other_hash[] = "0123456789abcdef";

START_TEST(self_has_all_parts)
{
	struct parts parts;

	self_parts(&parts);
	ck_assert_uint_eq(strlen(parts.machine), 16);
	ck_assert_uint_eq(strlen(parts.boot), 16);
	ck_assert_int_eq(parts.pid, getpid());
	ck_assert_uint_gt(parts.pid_namespace, 0);
	ck_assert_uint_gt(parts.start, 0);
}
END_TEST

START_TEST(self_is_the_same_each_time)
{
	char first[OWNER_LENGTH], second[OWNER_LENGTH];

	owner_self(first);
	owner_self(second);
	ck_assert_str_eq(first, second);
	ck_assert_ptr_null(strpbrk(first, " \t\n"));
}
END_TEST

START_TEST(self_is_alive)
{
	char owner[OWNER_LENGTH];

	owner_self(owner);
	ck_assert(!owner_is_dead(owner));
}
END_TEST

START_TEST(same_pid_with_another_start_is_dead)
{
	struct parts parts;

	self_parts(&parts);
	parts.start++;
	ck_assert(is_dead(&parts));
}
END_TEST

/* A process that lives, and then does not. */
START_TEST(another_process_until_it_ends)
{
	struct parts parts;
	char owner[OWNER_LENGTH] = "";
	int ends[2];
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		owner_self(owner);
		if (write(ends[1], owner, sizeof(owner)) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	ck_assert_int_eq(read(ends[0], owner, sizeof(owner)), sizeof(owner));
	close(ends[0]);
	close(ends[1]);
	self_parts(&parts);
	ck_assert_int_ne(parts.pid, pid);
	ck_assert(!owner_is_dead(owner));
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert(owner_is_dead(owner));
}
END_TEST

START_TEST(other_machine_cannot_be_told)
{
	struct parts parts;

	self_parts(&parts);
	strcpy(parts.machine, other_hash);
	ck_assert_msg(!is_dead(&parts), "with a live pid");
	parts.start++;
	ck_assert_msg(!is_dead(&parts), "with a dead pid");
	strcpy(parts.boot, other_hash);
	ck_assert_msg(!is_dead(&parts), "with another boot");
}
END_TEST

START_TEST(other_boot_is_dead)
{
	struct parts parts;

	self_parts(&parts);
	strcpy(parts.boot, other_hash);
	ck_assert(is_dead(&parts));
}
END_TEST

START_TEST(other_pid_namespace_cannot_be_told)
{
	struct parts parts;

	self_parts(&parts);
	parts.pid_namespace++;
	ck_assert_msg(!is_dead(&parts), "with a live pid");
	parts.start++;
	ck_assert_msg(!is_dead(&parts), "with a dead pid");
}
END_TEST

static const char *const garbage[] = {"", ":", "::::", "<no value>", "abc",
    "0123456789abcdef", "0123456789abcdef:0123456789abcdef",
    "0123456789abcdef:0123456789abcdef:1:2",
    "0123456789abcdef:0123456789abcdef:1:2:",
    "0123456789abcdef:0123456789abcdef:x:2:3",
    "0123456789abcdef:0123456789abcdef:1:x:3",
    "0123456789ABCDEF:0123456789abcdef:1:2:3",
    "0123456789abcdef0:0123456789abcdef:1:2:3",
    " 0123456789abcdef:0123456789abcdef:1:2:3", "\n", "%s%s%n"};

START_TEST(garbage_cannot_be_told)
{
	ck_assert_msg(!owner_is_dead(garbage[_i]), "\"%s\"", garbage[_i]);
}
END_TEST

/* Our own machine and boot, so that only the last parts are garbage. */
START_TEST(garbage_in_the_last_parts_cannot_be_told)
{
	static const char *const ends[] = {
	    "", "x", "-", ":", "1", "1:", "1:x", "1:2", "1:2:", "1:2:x"};
	struct parts parts;
	char owner[256];

	self_parts(&parts);
	snprintf(owner, sizeof(owner), "%s:%s:%s", parts.machine, parts.boot,
	    ends[_i]);
	ck_assert_msg(!owner_is_dead(owner), "\"%s\"", owner);
}
END_TEST

START_TEST(a_long_owner_does_no_harm)
{
	char owner[4096];

	memset(owner, 'a', sizeof(owner) - 1);
	owner[sizeof(owner) - 1] = '\0';
	ck_assert(!owner_is_dead(owner));
}
END_TEST

Suite *
owner_suite(void)
{
	Suite *suite = suite_create("owner");
	TCase *tcase = tcase_create("owner");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_test(tcase, self_has_all_parts);
	tcase_add_test(tcase, self_is_the_same_each_time);
	tcase_add_test(tcase, self_is_alive);
	tcase_add_test(tcase, same_pid_with_another_start_is_dead);
	tcase_add_test(tcase, another_process_until_it_ends);
	tcase_add_test(tcase, other_machine_cannot_be_told);
	tcase_add_test(tcase, other_boot_is_dead);
	tcase_add_test(tcase, other_pid_namespace_cannot_be_told);
	tcase_add_loop_test(tcase, garbage_cannot_be_told, 0, COUNT(garbage));
	tcase_add_loop_test(
	    tcase, garbage_in_the_last_parts_cannot_be_told, 0, 10);
	tcase_add_test(tcase, a_long_owner_does_no_harm);
	suite_add_tcase(suite, tcase);
	return suite;
}
