#include "terminal/save.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"

/* A directory "in" within one of its own, so that "outside" is there. */
static char *scratch;
static int outside, inside;
static int descriptors;

static void
set_up(void)
{
	descriptors = open_descriptors();
	scratch = scratch_new();
	outside = open(scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(mkdirat(outside, "in", 0700), 0);
	inside = openat(outside, "in", O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(inside, 0);
}

static void
tear_down(void)
{
	char *command = xasprintf("/bin/rm -rf %s/in", scratch);

	close(inside);
	close(outside);
	ck_assert_int_eq(open_descriptors(), descriptors);
	ck_assert_int_eq(system(command), 0);
	free(command);
	scratch_free(scratch);
}

static void
put(int directory, const char *name, const char *content)
{
	int fd = openat(
	    directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	ck_assert_int_eq(
	    write(fd, content, strlen(content)), (ssize_t)strlen(content));
	close(fd);
}

static void
assert_content(int directory, const char *name, const char *expected)
{
	char content[100] = "";
	int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s is not there", name);
	ck_assert_int_ge(read(fd, content, sizeof(content) - 1), 0);
	close(fd);
	ck_assert_str_eq(content, expected);
}

static int
save(const char *path, bool force)
{
	struct err err = {0};
	int status = save_file(inside, path, "new", 3, force, &err);

	ck_assert((status == 0) == (*err.message == '\0'));
	return status;
}

START_TEST(saved)
{
	struct stat status;

	umask(022);
	ck_assert_int_eq(save("a", false), 0);
	assert_content(inside, "a", "new");
	ck_assert_int_eq(fstatat(inside, "a", &status, 0), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0644);
	ck_assert_int_eq(save("b/c/d", false), 0);
	assert_content(inside, "b/c/d", "new");
	ck_assert_int_eq(save("b/c/e", false), 0);
	assert_content(inside, "b/c/e", "new");
	ck_assert(save_is_taken(inside, "b/c/e"));
	ck_assert(!save_is_taken(inside, "b/c/f"));
}
END_TEST

/* Which has no descriptor, if its user may not enter it. */
START_TEST(in_the_current_directory)
{
	int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct err err;

	ck_assert_int_eq(fchdir(inside), 0);
	ck_assert_int_eq(save_file(AT_FDCWD, "a", "new", 3, false, &err), 0);
	ck_assert_int_eq(fchdir(before), 0);
	close(before);
	assert_content(inside, "a", "new");
}
END_TEST

START_TEST(empty)
{
	struct err err;

	ck_assert_int_eq(save_file(inside, "a", NULL, 0, false, &err), 0);
	assert_content(inside, "a", "");
}
END_TEST

START_TEST(nothing_is_overwritten)
{
	struct err err;

	put(inside, "a", "old");
	ck_assert_int_eq(save_file(inside, "a", "new", 3, false, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.message, "--force"));
	assert_content(inside, "a", "old");
}
END_TEST

START_TEST(force_replaces)
{
	put(inside, "a", "old and longer");
	ck_assert_int_eq(save("a", true), 0);
	assert_content(inside, "a", "new");
	ck_assert_int_eq(save("b", true), 0);
	assert_content(inside, "b", "new");
}
END_TEST

/* A disk that is full, so to say. */
START_TEST(force_loses_nothing)
{
	struct rlimit before, none = {.rlim_cur = 0};
	int status;

	put(inside, "a", "old");
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	none.rlim_max = before.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	status = save("a", true);
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_DFL);
	ck_assert_int_eq(status, -1);
	assert_content(inside, "a", "old");
	ck_assert_int_eq(unlinkat(inside, "a", 0), 0);
	ck_assert_msg(unlinkat(outside, "in", AT_REMOVEDIR) == 0,
	    "something else was left");
}
END_TEST

START_TEST(force_does_not_replace_a_directory)
{
	ck_assert_int_eq(mkdirat(inside, "a", 0700), 0);
	ck_assert_int_eq(save("a", true), -1);
	ck_assert_int_eq(save("a", false), -1);
}
END_TEST

START_TEST(never_through_a_link)
{
	put(outside, "target", "old");
	ck_assert_int_eq(symlinkat("../target", inside, "a"), 0);
	ck_assert_int_eq(symlinkat("../fresh", inside, "dangling"), 0);
	ck_assert_int_eq(symlinkat("..", inside, "up"), 0);
	ck_assert_int_eq(mkdirat(inside, "real", 0700), 0);
	ck_assert_int_eq(symlinkat("real", inside, "near"), 0);
	ck_assert_int_eq(save("a", false), -1);
	ck_assert_int_eq(save("dangling", false), -1);
	ck_assert(save_is_taken(inside, "dangling"));
	for (int force = 0; force < 2; force++) {
		ck_assert_int_eq(save("up/fresh", force), -1);
		ck_assert_int_eq(save("up/target", force), -1);
		ck_assert_int_eq(save("near/x", force), -1);
	}
	/* The link goes, and not what it leads to. */
	ck_assert_int_eq(save("a", true), 0);
	ck_assert_int_eq(save("dangling", true), 0);
	assert_content(inside, "a", "new");
	assert_content(inside, "dangling", "new");
	assert_content(outside, "target", "old");
	ck_assert(!save_is_taken(outside, "fresh"));
	ck_assert(!save_is_taken(inside, "real/x"));
}
END_TEST

START_TEST(a_file_is_no_directory)
{
	put(inside, "a", "old");
	ck_assert_int_eq(save("a/b", false), -1);
	ck_assert_int_eq(save("a/b", true), -1);
	assert_content(inside, "a", "old");
}
END_TEST

static const char *const bad[] = {
    "", "/etc/x", "../x", "a/../../x", "..", ".", "./x", "a//x", "x/", "a\nb"};

START_TEST(bad_names)
{
	ck_assert_int_eq(save(bad[_i], false), -1);
	ck_assert_int_eq(save(bad[_i], true), -1);
	ck_assert(!save_is_taken(outside, "x"));
	ck_assert(!save_is_taken(inside, "a"));
}
END_TEST

/* A limit of the process stands for a full disk. */
START_TEST(no_half_file_is_left)
{
	struct rlimit limit;
	struct err err;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 2;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(save_file(inside, "a", "new", 3, false, &err), -1);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert(!save_is_taken(inside, "a"));
}
END_TEST

Suite *
save_suite(void)
{
	Suite *suite = suite_create("save");
	TCase *tcase = tcase_create("save");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, saved);
	tcase_add_test(tcase, in_the_current_directory);
	tcase_add_test(tcase, empty);
	tcase_add_test(tcase, nothing_is_overwritten);
	tcase_add_test(tcase, force_replaces);
	tcase_add_test(tcase, force_loses_nothing);
	tcase_add_test(tcase, force_does_not_replace_a_directory);
	tcase_add_test(tcase, never_through_a_link);
	tcase_add_test(tcase, a_file_is_no_directory);
	tcase_add_test(tcase, no_half_file_is_left);
	tcase_add_loop_test(tcase, bad_names, 0, COUNT(bad));
	suite_add_tcase(suite, tcase);
	return suite;
}
