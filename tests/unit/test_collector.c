#include "sandbox/collector.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "helpers.h"
#include "settings/language.h"
#include "suites.h"

#define NOW " 1700000000 2023-11-14 22:13:20.000000000 +0000|"
#define GIVEN " " COLLECTOR_GIVEN " 2000-01-01 00:00:00.000000000 +0000|"
#define FIGURE(name) COLLECTOR_FIGURES name

static struct job
python_job(void)
{
	return (struct job){.language = &languages[LANGUAGE_PYTHON]};
}

/* The names that are left to be asked for, with a space behind each. */
static char *
asked_for(struct collector *collector)
{
	struct text names = {0};
	const char *name;
	size_t limit;

	text_addf(&names, "%s", "");
	while ((name = collector_next(collector, &limit)) != NULL) {
		text_addf(&names, "%s ", name);
		collector_answered(collector);
	}
	return names.data;
}

static const struct {
	const char *name;
	const char *entry;
	size_t listed, left_out;
	const char *wanted;
} rows[] = {
    {"a small file", "5" NOW "./a.txt", 1, 0, "./a.txt "},
    {"an empty one", "0" NOW "./a.txt", 1, 0, "./a.txt "},
    {"in a directory", "5" NOW "./d/e/a.txt", 1, 0, "./d/e/a.txt "},
    {"a name with blanks and a bar", "5" NOW "./ a|b ", 1, 0, "./ a|b  "},
    {"a name that begins with a dash", "5" NOW "./-rf", 1, 0, "./-rf "},
    {"the code itself", "5" NOW "./code.py", 0, 0, ""},
    {"code in a directory", "5" NOW "./d/code.py", 1, 0, "./d/code.py "},
    {"one that came with the call", "5" GIVEN "./given.txt", 0, 0, ""},
    {"... and has changed since", "5" NOW "./given.txt", 1, 0, "./given.txt "},
    {"... and has grown", "6" GIVEN "./given.txt", 1, 0, "./given.txt "},
    {"... and has another name now", "5" GIVEN "./a.txt", 1, 0, "./a.txt "},
    {"one that came with the image", "5 946771200 2000|./seed.txt", 0, 0, ""},
    {"as large as small ones are", "65536" NOW "./a.txt", 1, 0, "./a.txt "},
    {"a byte larger", "65537" NOW "./a.txt", 1, 0, ""},
    {"a larger image", "1048576" NOW "./a.png", 1, 0, "./a.png "},
    {"too large an image", "1048577" NOW "./a.png", 1, 0, ""},
    {"large and asked for", "16777216" NOW "./wanted.bin", 1, 0,
        "./wanted.bin "},
    {"asked for in any directory", "70000" NOW "./deep.bin", 1, 0,
        "./deep.bin "},
    {"... and in one", "70000" NOW "./d/e/deep.bin", 1, 0, "./d/e/deep.bin "},
    {"asked for below one", "70000" NOW "./below/x.bin", 1, 0,
        "./below/x.bin "},
    {"... and further down", "70000" NOW "./below/d/x.bin", 1, 0,
        "./below/d/x.bin "},
    {"too large, though asked for", "16777217" NOW "./wanted.bin", 1, 0, ""},
    {"sparse beyond all bounds", "1099511627776" NOW "./wanted.bin", 1, 0, ""},
    {"a figure", "3000000" NOW FIGURE("figure-01.png"), 1, 0,
        FIGURE("figure-01.png") " "},
    {"a figure too large", "4194305" NOW FIGURE("figure-01.png"), 1, 0, ""},
    {"an odd name, which is counted", "5 0 0|", 0, 1, ""},
    {"as many more", "5", 0, 5, ""},
    {"a number that is none", "0", 0, 1, ""},
    {"no bar", "5 0 0", 0, 1, ""},
    {"nothing", "", 0, 1, ""},
    {"no size", NOW "./a", 0, 1, ""},
    {"a size that is none", "x" NOW "./a", 0, 1, ""},
    {"a size below 0", "-1" NOW "./a", 0, 1, ""},
    {"a size past all types", "99999999999999999999" NOW "./a", 0, 1, ""},
    {"absolute", "5" NOW "/etc/passwd", 0, 1, ""},
    {"upwards", "5" NOW "./../a", 0, 1, ""},
    {"upwards from the figures", "5" NOW FIGURE("../a"), 0, 1, ""},
    {"not UTF-8", "5" NOW "./\xFF", 0, 1, ""},
    {"a control character", "5" NOW "./a\001b", 0, 1, ""},
};

START_TEST(entries)
{
	struct collector collector = {0};
	struct job job = python_job();
	struct artifacts artifacts = {0};
	char *wanted;

	strlist_add(&job.outputs, "want*");
	strlist_add(&job.outputs, "**/deep.*");
	strlist_add(&job.outputs, "below/**/*.bin");
	job_add_file(&job, "given.txt", "given", 5);
	collector_entry(&collector, rows[_i].entry);
	collector_choose(&collector, &job, NULL);
	wanted = asked_for(&collector);
	ck_assert_msg(strcmp(wanted, rows[_i].wanted) == 0, "%s: %s",
	    rows[_i].name, wanted);
	collector_take(&collector, &artifacts);
	ck_assert_msg(artifacts.count == rows[_i].listed &&
	        artifacts.left_out == rows[_i].left_out,
	    "%s: %zu listed, %zu left out", rows[_i].name, artifacts.count,
	    artifacts.left_out);
	artifacts_release(&artifacts);
	job_release(&job);
	free(wanted);
}
END_TEST

START_TEST(figures_come_first_and_the_rest_by_name)
{
	struct collector collector = {0};
	struct job job = python_job();
	char *wanted;

	collector_entry(&collector, "1" NOW "./b");
	collector_entry(&collector, "1" NOW FIGURE("figure-02.png"));
	collector_entry(&collector, "1" NOW "./a");
	collector_entry(&collector, "1" NOW FIGURE("figure-01.png"));
	collector_choose(&collector, &job, NULL);
	wanted = asked_for(&collector);
	ck_assert_str_eq(wanted,
	    FIGURE("figure-01.png") " " FIGURE("figure-02.png") " ./a ./b ");
	free(wanted);
	collector_release(&collector);
}
END_TEST

static void
add_data(struct collector *collector, const char *data, size_t length)
{
	char *text = base64_encode(data, length, NULL);

	collector_data(collector, text);
	free(text);
}

/* What was listed and what came need not be the same. */
static const struct {
	const char *name;
	const char *pieces[3];
	const char *content; /* NULL: it does not come back */
} contents[] = {
    {"in one piece", {"hello"}, "hello"},
    {"in pieces", {"he", "l", "lo"}, "hello"},
    {"it has shrunk", {"hell"}, NULL},
    {"it has gone", {NULL}, NULL},
    {"it has grown", {"hello", "!"}, "hello"},
};

START_TEST(content)
{
	struct collector collector = {0};
	struct job job = python_job();
	struct artifacts artifacts = {0};
	size_t limit;

	collector_entry(&collector, "5" NOW "./a.txt");
	collector_choose(&collector, &job, NULL);
	ck_assert_str_eq(collector_next(&collector, &limit), "./a.txt");
	ck_assert_uint_eq(limit, 5);
	for (size_t i = 0; i < 3 && contents[_i].pieces[i] != NULL; i++)
		add_data(&collector, contents[_i].pieces[i],
		    strlen(contents[_i].pieces[i]));
	collector_data(&collector, "not base64!");
	collector_answered(&collector);
	ck_assert_ptr_null(collector_next(&collector, &limit));
	/* Late answers, and some that nobody asked for. */
	add_data(&collector, "x", 1);
	collector_answered(&collector);
	collector_take(&collector, &artifacts);
	ck_assert_uint_eq(artifacts.count, 1);
	ck_assert_str_eq(artifacts.items[0].path, "a.txt");
	if (contents[_i].content == NULL)
		ck_assert_ptr_null(artifacts.items[0].data);
	else
		ck_assert(artifacts.items[0].length == 5 &&
		    memcmp(artifacts.items[0].data, contents[_i].content, 5) ==
		        0);
	artifacts_release(&artifacts);
}
END_TEST

START_TEST(there_is_an_end_to_it)
{
	struct collector collector = {0};
	struct job job = python_job();
	struct artifacts artifacts = {0};
	size_t limit, asked = 0;

	for (int i = 0; i < 5000; i++) {
		char entry[200];

		snprintf(entry, sizeof(entry), "5" NOW "./f%04d", i);
		collector_entry(&collector, entry);
	}
	collector_choose(&collector, &job, NULL);
	while (collector_next(&collector, &limit) != NULL) {
		add_data(&collector, "hello", 5);
		collector_answered(&collector);
		asked++;
	}
	ck_assert_uint_eq(asked, 10);
	collector_take(&collector, &artifacts);
	ck_assert_uint_eq(artifacts.count, 200);
	ck_assert_uint_eq(artifacts.count + artifacts.left_out, 5000);
	ck_assert_uint_eq(artifacts.doubtful, 3000);
	artifacts_release(&artifacts);
}
END_TEST

START_TEST(all_together_are_limited_too)
{
	struct collector collector = {0};
	struct job job = python_job();
	char *wanted;

	strlist_add(&job.outputs, "*");
	collector_entry(&collector, "16000000" NOW "./a");
	collector_entry(&collector, "16000000" NOW "./b");
	collector_entry(&collector, "5000000" NOW "./c");
	collector_choose(&collector, &job, NULL);
	wanted = asked_for(&collector);
	ck_assert_str_eq(wanted, "./a ./c ");
	free(wanted);
	collector_release(&collector);
	job_release(&job);
}
END_TEST

START_TEST(what_was_asked_for_comes_first)
{
	struct collector collector = {0};
	struct job job = python_job();
	char *wanted;

	strlist_add(&job.outputs, "z");
	for (int i = 0; i < 10; i++) {
		char entry[200];

		snprintf(entry, sizeof(entry), "1048576" NOW "./%d.png", i);
		collector_entry(&collector, entry);
	}
	collector_entry(&collector, "16777216" NOW "./z");
	collector_choose(&collector, &job, NULL);
	wanted = asked_for(&collector);
	ck_assert_str_eq(wanted,
	    "./0.png ./1.png ./2.png ./3.png ./4.png ./5.png ./6.png ./7.png "
	    "./z ");
	free(wanted);
	collector_release(&collector);
	job_release(&job);
}
END_TEST

/* Patterns that take long to compare with such names: no more than a moment is
 * spent on them, and what is not found in it is listed all the same. */
START_TEST(patterns_that_take_long)
{
	struct collector collector = {0};
	struct job job = python_job();
	struct artifacts artifacts = {0};
	char entry[900], pattern[200] = "*";

	while (strlen(pattern) < 180)
		strlcat(pattern, "[[:alpha:]]", sizeof(pattern));
	strlcat(pattern, "b", sizeof(pattern));
	for (int i = 0; i < 20; i++)
		strlist_add(&job.outputs, pattern);
	for (int i = 0; i < 1000; i++) {
		/* Many names, each of them no longer than a name may be. */
		snprintf(entry, sizeof(entry), "5" NOW "./%04d", i);
		for (int part = 0; part < 3; part++) {
			size_t length = strlen(entry);

			memset(entry + length, 'a', 200);
			strlcpy(entry + length + 200, part < 2 ? "/" : "",
			    sizeof(entry) - length - 200);
		}
		collector_entry(&collector, entry);
	}
	collector_choose(&collector, &job, NULL);
	/* It would be 2 GB: half a minute. */
	ck_assert_uint_lt(collector.effort, (size_t)40 * 1024 * 1024);
	collector_take(&collector, &artifacts);
	ck_assert_uint_eq(artifacts.count + artifacts.left_out, 1000);
	artifacts_release(&artifacts);
	job_release(&job);
}
END_TEST

/* A name is no work, so that all of them are found. */
START_TEST(names_among_many_files)
{
	struct collector collector = {0};
	struct job job = python_job();
	char entry[300], *wanted;

	for (int i = 0; i < 20; i++) {
		snprintf(entry, sizeof(entry), "%0100d", 1980 + i);
		strlist_add(&job.outputs, entry);
	}
	for (int i = 0; i < 2000; i++) {
		snprintf(entry, sizeof(entry), "70000" NOW "./%0100d", i);
		collector_entry(&collector, entry);
	}
	collector_choose(&collector, &job, NULL);
	wanted = asked_for(&collector);
	ck_assert_uint_eq(strlen(wanted), 20 * 103);
	free(wanted);
	collector_release(&collector);
	job_release(&job);
}
END_TEST

static const struct {
	const char *pattern, *path;
	bool fits;
} fits_rows[] = {
    {"a.csv", "a.csv", true},
    {"a.csv", "b/a.csv", false},
    {"*.csv", "b/a.csv", true},
    {"**/a.csv", "a.csv", true},
    {"**/a.csv", "b/c/a.csv", true},
    {"**/a.csv", "ba.csv", false},
    {"**/x/**/y", "x/y", true},
    {"**/x/**/y", "x/q/y", true},
    {"**/x/**/y", "p/x/y", true},
    {"**/x/**/y", "p/x/q/r/y", true},
    {"**/x/**/y", "p/y", false},
    {"**/1/**/2/**/3/**/4/**/5", "1/2/3/4/q/5", true},
    {"a[1].csv", "a[1].csv", true},
    {"a[1].csv", "a1.csv", true},
    {"**/", "a", false},
};

START_TEST(patterns)
{
	ck_assert_msg(collector_fits(fits_rows[_i].pattern,
	                  fits_rows[_i].path) == fits_rows[_i].fits,
	    "%s and %s", fits_rows[_i].pattern, fits_rows[_i].path);
}
END_TEST

/* In a session: what an earlier call has told of is not told again. */
START_TEST(what_was_seen_before)
{
	struct collector collector = {0};
	struct job job = python_job();
	struct collector_seen seen = {0};
	char *wanted;

	collector_entry(&collector, "5" NOW "./b");
	collector_entry(&collector, "5" NOW "./a");
	collector_choose(&collector, &job, &seen);
	collector_release(&collector);
	ck_assert_uint_eq(seen.lines.count, 2);
	collector_entry(&collector, "5" NOW "./a");
	collector_entry(&collector, "6" NOW "./b");
	collector_entry(&collector, "5" NOW "./c");
	collector_choose(&collector, &job, &seen);
	wanted = asked_for(&collector);
	ck_assert_str_eq(wanted, "./b ./c ");
	ck_assert_uint_eq(seen.lines.count, 3);
	free(wanted);
	collector_release(&collector);
	/* ... unless it is asked for. */
	strlist_add(&job.outputs, "a");
	collector_entry(&collector, "5" NOW "./a");
	collector_entry(&collector, "6" NOW "./b");
	collector_choose(&collector, &job, &seen);
	wanted = asked_for(&collector);
	ck_assert_str_eq(wanted, "./a ");
	free(wanted);
	collector_release(&collector);
	job_release(&job);
	collector_seen_release(&seen);
}
END_TEST

static size_t
left_out_of(struct collector *collector, struct collector_seen *seen,
    const char *output)
{
	struct job job = python_job();
	struct artifacts artifacts;
	size_t left_out;

	if (output != NULL)
		strlist_add(&job.outputs, output);
	collector_choose(collector, &job, seen);
	collector_take(collector, &artifacts);
	left_out = artifacts.left_out;
	artifacts_release(&artifacts);
	job_release(&job);
	return left_out;
}

/* What it has counted it does not count again either. */
START_TEST(what_was_left_out_before)
{
	struct collector collector = {0};
	struct collector_seen seen = {0};

	collector_entry(&collector, "5" NOW "./a");
	collector_entry(&collector, "5 0 0|");
	collector_entry(&collector, "500");
	ck_assert_uint_eq(left_out_of(&collector, &seen, NULL), 501);
	/* Nothing new. */
	collector_entry(&collector, "5" NOW "./a");
	collector_entry(&collector, "5 0 0|");
	collector_entry(&collector, "500");
	ck_assert_uint_eq(left_out_of(&collector, &seen, NULL), 0);
	/* One more of an odd name, and a new one ahead of the old. */
	collector_entry(&collector, "5" NOW "./b");
	collector_entry(&collector, "5" NOW "./a");
	collector_entry(&collector, "5 0 0|");
	collector_entry(&collector, "5 0 0|");
	collector_entry(&collector, "500");
	ck_assert_uint_eq(left_out_of(&collector, &seen, NULL), 1);
	/* It has pushed one off the list; eight are new, with an old date; the
	 * odd ones have gone. */
	collector_entry(&collector, "5" NOW "./c");
	collector_entry(&collector, "510");
	ck_assert_uint_eq(left_out_of(&collector, &seen, NULL), 8);
	/* Each of them may be one that is asked for, but not by its name. */
	collector_entry(&collector, "5" NOW "./c");
	collector_entry(&collector, "510");
	ck_assert_uint_eq(left_out_of(&collector, &seen, "a.csv"), 0);
	collector_entry(&collector, "5" NOW "./c");
	collector_entry(&collector, "510");
	ck_assert_uint_eq(left_out_of(&collector, &seen, "*.csv"), 510);
	collector_seen_release(&seen);
}
END_TEST

Suite *
collector_suite(void)
{
	Suite *suite = suite_create("collector");
	TCase *tcase = tcase_create("collector");

	tcase_add_loop_test(tcase, entries, 0, (int)COUNT(rows));
	tcase_add_test(tcase, figures_come_first_and_the_rest_by_name);
	tcase_add_loop_test(tcase, content, 0, (int)COUNT(contents));
	tcase_add_test(tcase, there_is_an_end_to_it);
	tcase_add_test(tcase, all_together_are_limited_too);
	tcase_add_test(tcase, what_was_asked_for_comes_first);
	tcase_add_test(tcase, names_among_many_files);
	tcase_add_test(tcase, patterns_that_take_long);
	tcase_add_loop_test(tcase, patterns, 0, (int)COUNT(fits_rows));
	tcase_add_test(tcase, what_was_seen_before);
	tcase_add_test(tcase, what_was_left_out_before);
	suite_add_tcase(suite, tcase);
	return suite;
}
