#include "language.h"

#include <string.h>

#include "helpers.h"
#include "suites.h"

static const struct {
	const char *file;
	const char *expected; /* NULL: none */
} files[] = {
    {"a.py", "python"},
    {"dir.js/a.py", "python"},
    {"a.b.py", "python"},
    {".py", "python"},
    {"a.js", "javascript"},
    {"a.mjs", "javascript"},
    {"a.cjs", "javascript"},
    {"a", NULL},
    {"", NULL},
    {"a.", NULL},
    {"py", NULL},
    {"a.pyc", NULL},
    {"a.py.txt", NULL},
    {"a.PY", NULL},
    {"a.ts", NULL},
    {"dir.py/a", NULL},
};

START_TEST(by_file)
{
	const struct language *language = language_by_file(files[_i].file);

	if (files[_i].expected == NULL)
		ck_assert_msg(language == NULL, "%s", files[_i].file);
	else
		ck_assert_msg(language != NULL &&
		        strcmp(language->name, files[_i].expected) == 0,
		    "%s", files[_i].file);
}
END_TEST

START_TEST(by_name)
{
	ck_assert_ptr_eq(
	    language_by_name("python"), &languages[LANGUAGE_PYTHON]);
	ck_assert_ptr_eq(
	    language_by_name("javascript"), &languages[LANGUAGE_JAVASCRIPT]);
	ck_assert_ptr_null(language_by_name(""));
	ck_assert_ptr_null(language_by_name("Python"));
	ck_assert_ptr_null(language_by_name("python3"));
	ck_assert_ptr_null(language_by_name("js"));
}
END_TEST

START_TEST(rows_are_complete)
{
	const struct language *language = &languages[_i];

	ck_assert_int_eq(language->id, _i);
	ck_assert_ptr_eq(language_by_name(language->name), language);
	ck_assert_ptr_eq(language_by_file(language->file), language);
	ck_assert_ptr_nonnull(language->title);
	ck_assert_ptr_nonnull(language->print);
	ck_assert_ptr_nonnull(language->command[0]);
	ck_assert_ptr_nonnull(language->libraries[0]);
	ck_assert_ptr_nonnull(language->suffixes[0]);
	ck_assert_str_ne(language->hook, "");
	ck_assert_ptr_nonnull(language->hook_variable);
	ck_assert_ptr_nonnull(language->hook_separator);
}
END_TEST

/* The variable must lead the interpreter to where the runner puts the hook. */
START_TEST(hooks_lie_where_they_are_looked_for)
{
	const struct language *language = &languages[_i];
	size_t length = strlen(RUNNER_DIRECTORY "/");

	ck_assert_ptr_nonnull(strstr(language->hook_value, RUNNER_DIRECTORY));
	ck_assert_int_eq(
	    strncmp(language->hook_file, RUNNER_DIRECTORY "/", length), 0);
	ck_assert_ptr_null(strchr(language->hook_file + length, '/'));
}
END_TEST

/* What the original's documents promise. */
START_TEST(promises_of_the_original)
{
	const struct language *python = &languages[LANGUAGE_PYTHON];
	const struct language *js = &languages[LANGUAGE_JAVASCRIPT];

	ck_assert_str_eq(python->image, "philschmi/code-sandbox-python:latest");
	ck_assert_str_eq(js->image, "philschmi/code-sandbox-js:latest");
	ck_assert_str_eq(python->file, "code.py");
	ck_assert_str_eq(python->command[0], "python3");
	ck_assert_str_eq(python->command[1], "-u");
	ck_assert_str_eq(python->command[2], "code.py");
	ck_assert_ptr_null(python->command[3]);
	ck_assert_str_eq(js->file, "code.js");
	ck_assert_str_eq(js->command[0], "node");
	ck_assert_str_eq(js->command[1], "code.js");
	ck_assert_ptr_null(js->command[2]);
}
END_TEST

Suite *
language_suite(void)
{
	Suite *suite = suite_create("language");
	TCase *tcase = tcase_create("language");

	tcase_add_loop_test(tcase, by_file, 0, COUNT(files));
	tcase_add_test(tcase, by_name);
	tcase_add_loop_test(tcase, rows_are_complete, 0, LANGUAGE_COUNT);
	tcase_add_loop_test(
	    tcase, hooks_lie_where_they_are_looked_for, 0, LANGUAGE_COUNT);
	tcase_add_test(tcase, promises_of_the_original);
	suite_add_tcase(suite, tcase);
	return suite;
}
