#include "settings/language_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/strlist.h"
#include "helpers.h"
#include "settings/names.h"
#include "suites.h"

static struct language_table table;

static void
set_up(void)
{
	language_table_init(&table);
}

static void
tear_down(void)
{
	language_table_release(&table);
}

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
    {"a.ts", "typescript"},
    {"a.mts", "typescript"},
    {"a.sh", "bash"},
    {"a.rb", "ruby"},
    {"a.go", "go"},
    {"a.c", "c"},
    {"a.cpp", "cpp"},
    {"a.cc", "cpp"},
    {"A.java", "java"},
    {"a.R", "r"},
    {"a.r", "r"},
    {"a.C", NULL},
    {"a.h", NULL},
    {"dir.py/a", NULL},
};

START_TEST(by_file)
{
	const struct language *language =
	    language_by_file(&table, files[_i].file);

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
	    language_by_name(&table, "python"), &languages[LANGUAGE_PYTHON]);
	ck_assert_ptr_eq(language_by_name(&table, "javascript"),
	    &languages[LANGUAGE_JAVASCRIPT]);
	ck_assert_ptr_null(language_by_name(&table, ""));
	ck_assert_ptr_null(language_by_name(&table, "Python"));
	ck_assert_ptr_null(language_by_name(&table, "python3"));
	ck_assert_ptr_null(language_by_name(&table, "js"));
}
END_TEST

START_TEST(by_tool)
{
	ck_assert_ptr_eq(language_by_tool(&table, "run_python_code"),
	    &languages[LANGUAGE_PYTHON]);
	ck_assert_ptr_eq(language_by_tool(&table, "run_javascript_code"),
	    &languages[LANGUAGE_JAVASCRIPT]);
	ck_assert_ptr_null(language_by_tool(&table, "python"));
}
END_TEST

/* What follows from a row elsewhere must find it all there. */
START_TEST(rows_are_complete)
{
	const struct language *language = &languages[_i];
	struct err err;

	ck_assert_uint_eq(language->id, _i);
	ck_assert_ptr_eq(table.rows[_i], language);
	ck_assert_ptr_eq(language_by_name(&table, language->name), language);
	ck_assert_ptr_eq(language_by_file(&table, language->file), language);
	ck_assert_ptr_eq(language_by_tool(&table, language->tool), language);
	ck_assert_int_eq(names_check_image(language->image, &err), 0);
	ck_assert_ptr_nonnull(language->title);
	ck_assert_ptr_nonnull(language->print);
	ck_assert_ptr_nonnull(language->command[0]);
	ck_assert_ptr_nonnull(language->libraries);
	ck_assert_ptr_nonnull(language->suffixes[0]);
	ck_assert_int_eq(
	    table.on[_i], _i == LANGUAGE_PYTHON || _i == LANGUAGE_JAVASCRIPT);
}
END_TEST

/* Arguments are put behind the command: behind the file, or behind the name
 * that a shell has for itself. */
START_TEST(commands_take_arguments)
{
	const struct language *language = &languages[_i];
	const char *const *word = language->command;
	bool shell = strcmp(*word, "sh") == 0;

	if (shell) {
		ck_assert_str_eq(word[1], "-c");
		ck_assert_ptr_nonnull(strstr(word[2], language->file));
		ck_assert_ptr_nonnull(strstr(word[2], " \"$@\""));
	}
	while (word[1] != NULL)
		word++;
	ck_assert_str_eq(*word, shell ? "sh" : language->file);
}
END_TEST

static const struct {
	const char *names;
	const char *expected; /* NULL: refused */
} choices[] = {
    {"python", "python"},
    {"javascript,bash", "javascript, bash"},
    {" bash , javascript ,, bash", "javascript, bash"},
    {"all", "python, javascript, typescript, bash, ruby, go, c, cpp, java, r"},
    {"c,all",
        "python, javascript, typescript, bash, ruby, go, c, cpp, java, r"},
    {"", NULL},
    {",", NULL},
    {"cobol", NULL},
    {"python,cobol", NULL},
    {"ALL", NULL},
};

START_TEST(chosen)
{
	const char *names[LANGUAGE_MAX + 1] = {NULL};
	size_t count = 0;
	struct err err = {0};
	char *text;
	int status = language_table_choose(&table, choices[_i].names, &err);

	if (choices[_i].expected == NULL) {
		ck_assert_int_eq(status, -1);
		ck_assert_int_eq(err.code, ERR_ARGUMENT);
		return;
	}
	ck_assert_msg(status == 0, "%s: %s", choices[_i].names, err.message);
	for (size_t i = 0; i < table.count; i++)
		if (table.on[i])
			names[count++] = table.rows[i]->name;
	text = strlist_join(names, ", ", ", ");
	ck_assert_str_eq(text, choices[_i].expected);
	free(text);
}
END_TEST

/* The variable must lead the interpreter to where the runner puts the hook. */
START_TEST(hooks_lie_where_they_are_looked_for)
{
	const struct language *language = &languages[_i];

	if (language->hook == NULL)
		return;
	ck_assert_ptr_nonnull(language->hook_variable);
	ck_assert_ptr_nonnull(language->hook_separator);
	ck_assert_ptr_nonnull(strstr(language->hook_value, RUNNER_DIRECTORY));
	ck_assert_ptr_nonnull(language->hook[0].name);
	for (const struct hook_file *file = language->hook; file->name != NULL;
	    file++) {
		ck_assert_ptr_null(strchr(file->name, '/'));
		ck_assert_str_ne(file->text, "");
		/* It stands between two of them. */
		ck_assert_ptr_null(strchr(file->text, '\036'));
	}
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

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, by_file, 0, COUNT(files));
	tcase_add_test(tcase, by_name);
	tcase_add_test(tcase, by_tool);
	tcase_add_loop_test(tcase, rows_are_complete, 0, LANGUAGE_BUILT_IN);
	tcase_add_loop_test(
	    tcase, commands_take_arguments, 0, LANGUAGE_BUILT_IN);
	tcase_add_loop_test(tcase, chosen, 0, COUNT(choices));
	tcase_add_loop_test(
	    tcase, hooks_lie_where_they_are_looked_for, 0, LANGUAGE_BUILT_IN);
	tcase_add_test(tcase, promises_of_the_original);
	suite_add_tcase(suite, tcase);
	return suite;
}
