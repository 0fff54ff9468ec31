#include "terminal/cli_input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"

static char *directory;

static void
set_up(void)
{
	directory = scratch_new();
	ck_assert_int_eq(chdir(directory), 0);
	free(scratch_program(directory, "a.py", "print(1)\n"));
	free(scratch_program(directory, "empty.py", ""));
	free(scratch_program(directory, "data.csv", "1,2\n"));
	free(scratch_program(directory, "other", "x"));
	free(scratch_program(directory, "with=sign", "y"));
	free(scratch_program(directory, "code.py", "z"));
}

static void
tear_down(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	scratch_free(directory);
}

/* The job as text. */
static char *
describe(const struct job *job)
{
	struct text text = {0};

	text_addf(&text, "%s:%s", job->language->name, job->code);
	for (size_t i = 0; i < job->file_count; i++)
		text_addf(&text, "%s=%.*s\n", job->files[i].path,
		    (int)job->files[i].length, job->files[i].data);
	if (job->input != NULL)
		text_addf(
		    &text, "input=%.*s\n", (int)job->input_length, job->input);
	for (size_t i = 0; i < job->arguments.count; i++)
		text_addf(&text, "argument=%s\n", job->arguments.items[i]);
	for (size_t i = 0; i < job->packages.count; i++)
		text_addf(&text, "package=%s\n", job->packages.items[i]);
	for (size_t i = 0; i < job->outputs.count; i++)
		text_addf(&text, "output=%s\n", job->outputs.items[i]);
	return text.data;
}

static const struct {
	const char *words[8];
	const char *expected;
} good[] = {
    {{"a.py"}, "python:print(1)\n"},
    {{"--language=javascript", "a.py"}, "javascript:print(1)\n"},
    {{"--file=data.csv", "a.py"}, "python:print(1)\ndata.csv=1,2\n\n"},
    {{"--file=./data.csv", "a.py"}, "python:print(1)\ndata.csv=1,2\n\n"},
    {{"--file=data.csv=in/x", "a.py"}, "python:print(1)\nin/x=1,2\n\n"},
    {{"--file=with=sign", "a.py"}, "python:print(1)\nwith=sign=y\n"},
    {{"--file=with=sign=b", "a.py"}, "python:print(1)\nb=y\n"},
    {{"--file=code.py=b.py", "a.py"}, "python:print(1)\nb.py=z\n"},
    {{"--file=data.csv", "--file=other", "--file=data.csv=third", "a.py"},
        "python:print(1)\ndata.csv=1,2\n\nother=x\nthird=1,2\n\n"},
    {{"--stdin=data.csv", "a.py"}, "python:print(1)\ninput=1,2\n\n"},
    {{"--stdin=empty.py", "a.py"}, "python:print(1)\ninput=\n"},
    {{"--package=p", "--output=*.csv", "--output=o", "a.py", "-x", "y"},
        "python:print(1)\nargument=-x\nargument=y\npackage=p\n"
        "output=*.csv\noutput=o\n"},
};

static int
read_job(struct job *job, const char *const words[8], struct err *err)
{
	struct settings settings;
	int status;

	settings_make(&settings, "run", words[0], words[1], words[2], words[3],
	    words[4], words[5], words[6], words[7], NULL);
	*job = (struct job){0};
	*err = (struct err){0};
	status = cli_input_read(job, &settings, err);
	settings_release(&settings);
	return status;
}

START_TEST(taken)
{
	struct job job;
	struct err err;
	char *text;

	ck_assert_msg(
	    read_job(&job, good[_i].words, &err) == 0, "%s", err.message);
	text = describe(&job);
	ck_assert_str_eq(text, good[_i].expected);
	free(text);
	job_release(&job);
}
END_TEST

static const struct {
	const char *words[8];
	const char *mention;
} bad[] = {
    {{"other"}, "--language"},
    {{"none.py"}, "none.py"},
    {{"empty.py"}, "empty"},
    {{"--file=none", "a.py"}, "none"},
    {{"--file=none=x", "a.py"}, "none"},
    {{"--file=.", "a.py"}, "--file"},
    {{"--file=./", "a.py"}, "--file"},
    {{"--file=/tmp=x", "a.py"}, "directory"},
    {{"--file=data.csv=", "a.py"}, "--file"},
    {{"--file=data.csv=/x", "a.py"}, "absolute"},
    {{"--file=data.csv=../x", "a.py"}, "\"../x\""},
    {{"--file=data.csv=a\nb", "a.py"}, "--file"},
    {{"--file=code.py", "a.py"}, "the program itself"},
    {{"--file=data.csv=code.py", "a.py"}, "the program itself"},
    {{"--file=data.csv", "--file=./data.csv", "a.py"}, "cannot both be"},
    {{"--file=data.csv=x", "--file=other=x/y", "a.py"}, "cannot both be"},
    {{"--file=data.csv=code.py/x", "a.py"}, "the program itself"},
    {{"--network=none", "--package=p", "a.py"}, "--network"},
    {{"--file=-", "a.py"}, "--stdin"},
    {{"--file=/dev/zero=x", "a.py"}, "too large"},
    {{"--stdin=none", "a.py"}, "none"},
    {{"--stdin=/tmp", "a.py"}, "directory"},
};

START_TEST(refused)
{
	struct job job;
	struct err err;
	int status = read_job(&job, bad[_i].words, &err);

	job_release(&job);
	ck_assert_msg(status == -1, "%s was taken", bad[_i].words[0]);
	ck_assert_msg(strstr(err.message, bad[_i].mention) != NULL,
	    "%s: does not mention %s: %s", bad[_i].words[0], bad[_i].mention,
	    err.message);
}
END_TEST

Suite *
cli_input_suite(void)
{
	Suite *suite = suite_create("cli_input");
	TCase *tcase = tcase_create("cli_input");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, taken, 0, COUNT(good));
	tcase_add_loop_test(tcase, refused, 0, COUNT(bad));
	suite_add_tcase(suite, tcase);
	return suite;
}
