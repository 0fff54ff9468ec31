#include "terminal/cli_output.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"

#define PNG "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1"

static char *directory;

static void
set_up(void)
{
	directory = scratch_new();
	ck_assert_int_eq(chdir(directory), 0);
}

static void
tear_down(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	scratch_free(directory);
}

struct file {
	const char *path;
	const char *data; /* NULL: it stayed */
	uint64_t size;
	bool figure;
};

struct row {
	const char *name;
	const char *words[4];
	struct file files[14];
	size_t left_out;
	const char *there; /* a file that was there before */
	const char *saved; /* names and sizes of what is there afterwards */
	const char *said;
	int status;
};

static void
make_artifacts(struct artifacts *artifacts, const struct row *row)
{
	const struct file *file = row->files;

	*artifacts = (struct artifacts){
	    .left_out = row->left_out, .doubtful = row->left_out};
	for (; file->path != NULL; file++) {
		bool png = file->data != NULL && strcmp(file->data, "PNG") == 0;
		size_t length = png      ? sizeof(PNG) - 1
		    : file->data != NULL ? strlen(file->data)
		                         : 0;
		char *data = NULL;

		if (file->data != NULL) {
			data = xcalloc(1, length + 1);
			memcpy(data, png ? PNG : file->data, length);
		}
		artifacts->items = xrealloc(artifacts->items,
		    (artifacts->count + 1) * sizeof(*artifacts->items));
		artifacts->items[artifacts->count++] = (struct artifact){
		    .path = xstrdup(file->path),
		    .data = data,
		    .length = length,
		    .size = data != NULL ? length : file->size,
		    .figure = file->figure,
		};
	}
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static char *
list_directory(void)
{
	struct dirent **entries;
	struct text text = {0};
	int count = scandir(directory, &entries, NULL, by_name);

	text_add(&text, "", 0);
	for (int i = 0; i < count; i++) {
		if (strcmp(entries[i]->d_name, "stderr") != 0 &&
		    strcmp(entries[i]->d_name, ".") != 0 &&
		    strcmp(entries[i]->d_name, "..") != 0)
			text_addf(&text, "%s ", entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return text.data;
}

static int
take_and_show(const struct row *row, const struct artifacts *artifacts)
{
	struct settings settings;
	struct cli_output *output;
	struct err err;
	int status;

	settings_make(&settings, "run", row->words[0], row->words[1],
	    row->words[2], row->words[3], NULL);
	output = cli_output_new(&settings, &err);
	ck_assert_msg(output != NULL, "%s: %s", row->name, err.message);
	status = cli_output_take(output, artifacts);
	status |= cli_output_show(output);
	cli_output_free(output);
	settings_release(&settings);
	return status;
}

static const struct row rows[] = {
    {"nothing", {"a.py"}, {{0}}, 0, NULL, "", "", 0},
    {"saved", {"--output=*.csv", "a.py"}, {{"a.csv", "1", 1, false}}, 0, NULL,
        "a.csv ", "", 0},
    {"not asked for", {"a.py"}, {{"a.csv", NULL, 1234, false}}, 0, NULL, "",
        "left in the sandbox: a.csv (1.2 kB); --output saves it\n", 0},
    {"not asked for, and handed over all the same", {"a.py"},
        {{"a.csv", "1", 1, false}}, 0, NULL, "",
        "left in the sandbox: a.csv (1 B); --output saves it\n", 0},
    {"handed over, and others asked for", {"--output=a", "a.py"},
        {{"a", "1", 1, false}, {"b", "1", 1, false}}, 0, NULL, "a ",
        "left in the sandbox: b (1 B); --output saves it\n", 0},
    {"some of them", {"--output=a", "a.py"},
        {{"a", "1", 1, false}, {"b", NULL, 999, false},
            {"c/d", NULL, 5000000000, false}},
        0, NULL, "a ",
        "left in the sandbox: b (999 B), c/d (5.0 GB); --output saves them\n",
        0},
    {"some were left out before", {"a.py"}, {{"b", NULL, 1, false}}, 7, NULL,
        "",
        "left in the sandbox: b (1 B); --output saves it\n"
        "left in the sandbox: 7 more, of more than 200 or with names that "
        "cannot be shown\n",
        0},
    {"all were left out", {"a.py"}, {{0}}, 2, NULL, "",
        "left in the sandbox: 2 more, of more than 200 or with names that "
        "cannot be shown\n",
        0},
    {"some were left out, and asked for", {"--output=*", "a.py"},
        {{"b", "1", 1, false}}, 7, NULL, "b ",
        "left in the sandbox: 7 more, of more than 200 or with names that "
        "cannot be shown\n",
        -1},
    {"some were left out, and others asked for", {"--output=b", "a.py"},
        {{"b", "1", 1, false}}, 7, NULL, "b ",
        "left in the sandbox: 7 more, of more than 200 or with names that "
        "cannot be shown\n",
        0},
    {"a name like a pattern", {"--output=a[1].csv", "a.py"},
        {{"a[1].csv", "1", 1, false}}, 0, NULL, "a[1].csv ", "", 0},
    {"many", {"a.py"},
        {{"a", NULL, 1, false}, {"b", NULL, 1, false}, {"c", NULL, 1, false},
            {"d", NULL, 1, false}, {"e", NULL, 1, false}, {"f", NULL, 1, false},
            {"g", NULL, 1, false}, {"h", NULL, 1, false}, {"i", NULL, 1, false},
            {"j", NULL, 1, false}, {"k", NULL, 1, false},
            {"l", NULL, 1, false}},
        0, NULL, "",
        "left in the sandbox: a (1 B), b (1 B), c (1 B), d (1 B), e (1 B), "
        "f (1 B), g (1 B), h (1 B), i (1 B), j (1 B), 2 more; --output saves "
        "them\n",
        0},
    {"odd names are not even shown", {"--output=*", "a.py"},
        {{"../x", "1", 1, false}, {"/tmp/x", "1", 1, false},
            {"a\033[2J", "1", 1, false}},
        0, NULL, "", "", 0},
    {"in any directory", {"--output=**/*.csv", "a.py"},
        {{"a.csv", "1", 1, false}}, 0, NULL, "a.csv ", "", 0},
    {"hidden files, by a star", {"--output=*", "a.py"},
        {{".git/hooks/x", "1", 1, false}, {"a/.b", "1", 1, false}}, 0, NULL, "",
        "", 0},
    {"there already", {"--output=*", "a.py"}, {{"a.csv", "1", 1, false}}, 0,
        "a.csv", "a.csv ",
        "a.csv is not saved: there is one already; --force replaces it\n", -1},
    {"there already, and replaced", {"--output=a.csv", "--force", "a.py"},
        {{"a.csv", "1", 1, false}}, 0, "a.csv", "a.csv ", "", 0},
    {"too large", {"--output=big", "a.py"}, {{"big", NULL, 1 << 30, false}}, 0,
        NULL, "",
        "big is not saved: it has more than 16 MiB, or all files "
        "together more than 24 MiB, or it changed meanwhile\n",
        -1},
    {"never written", {"--output=a.csv", "a.py"}, {{0}}, 0, NULL, "",
        "--output: the program left no a.csv\n", -1},
    {"never written, by a pattern", {"--output=*.csv", "a.py"}, {{0}}, 0, NULL,
        "", "--output: the program left no *.csv\n", -1},
    {"a directory", {"--output=out", "a.py"}, {{"out/a", NULL, 1, false}}, 0,
        NULL, "",
        "--output: out is a directory: \"out/*\" is what is in it\n"
        "left in the sandbox: out/a (1 B); --output saves it\n",
        -1},
    {"a figure", {"a.py"}, {{"plot.png", "PNG", 0, true}}, 0, NULL,
        "figure-1.png ", "a figure is saved as figure-1.png\n", 0},
    {"figures", {"a.py"},
        {{"x.png", "PNG", 0, true}, {"x.png", "PNG", 0, true},
            {"x.png", "PNG", 0, true}},
        0, NULL, "figure-1.png figure-2.png figure-3.png ",
        "3 figures are saved as figure-1.png to figure-3.png\n", 0},
    {"a figure beside another", {"a.py"}, {{"x.png", "PNG", 0, true}}, 0,
        "figure-1.png", "figure-1.png figure-2.png ",
        "a figure is saved as figure-2.png\n", 0},
    {"a figure in place of another", {"--force", "a.py"},
        {{"x.png", "PNG", 0, true}}, 0, "figure-1.png", "figure-1.png ",
        "a figure is saved as figure-1.png\n", 0},
    {"a figure by name", {"--output=f*.png", "a.py"},
        {{"f1.png", "PNG", 0, true}}, 0, NULL, "f1.png ", "", 0},
    {"a figure by the name of a file", {"--output=figure-01.png", "a.py"},
        {{"figure-01.png", "PNG", 0, true}, {"figure-01.png", "1", 1, false}},
        0, NULL, "figure-01.png figure-1.png ",
        "a figure is saved as figure-1.png\n", 0},
    {"a figure of another kind", {"a.py"}, {{"x.svg", "<svg>", 0, true}}, 0,
        NULL, "figure-1.svg ", "a figure is saved as figure-1.svg\n", 0},
    {"a figure that stayed", {"a.py"}, {{"x.png", NULL, 9000000, true}}, 0,
        NULL, "", "a figure is not shown: it is too large\n", 0},
    {"a figure that is none", {"a.py"}, {{"x.sh", "GIF", 0, true}}, 0, NULL,
        "figure-1.bin ", "a figure is saved as figure-1.bin\n", 0},
};

/* Without the name of the program in front of each line. */
static char *
read_said(int fd)
{
	char buffer[4096] = "", *line, *rest = buffer;
	struct text text = {0};

	text_add(&text, "", 0);
	ck_assert_int_ge(pread(fd, buffer, sizeof(buffer) - 1, 0), 0);
	while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
		ck_assert_mem_eq(line, "code-sandbox-mcp: ", 18);
		text_addf(&text, "%s\n", line + 18);
	}
	return text.data;
}

START_TEST(taken)
{
	const struct row *row = &rows[_i];
	struct artifacts artifacts;
	int saved = dup(STDERR_FILENO), status;
	int fd = open("stderr", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char *said, *names;

	if (row->there != NULL)
		free(scratch_program(directory, row->there, "old"));
	make_artifacts(&artifacts, row);
	dup2(fd, STDERR_FILENO);
	status = take_and_show(row, &artifacts);
	dup2(saved, STDERR_FILENO);
	close(saved);
	said = read_said(fd);
	names = list_directory();
	close(fd);
	ck_assert_msg(
	    strcmp(said, row->said) == 0, "%s: said %s", row->name, said);
	ck_assert_msg(strcmp(names, row->saved) == 0, "%s: there is %s",
	    row->name, names);
	ck_assert_msg(status == row->status, "%s: %d", row->name, status);
	free(said);
	free(names);
	artifacts_release(&artifacts);
}
END_TEST

/* No pattern is for those that were left out, so nothing is missing. */
START_TEST(left_out_and_not_asked_for)
{
	static const struct row row = {.name = "left out",
	    .words = {"--output=*.csv", "a.py"},
	    .files = {{"b.csv", "1", 1, false}},
	    .left_out = 7};
	struct artifacts artifacts;

	make_artifacts(&artifacts, &row);
	artifacts.doubtful = 0;
	ck_assert_int_eq(take_and_show(&row, &artifacts), 0);
	artifacts_release(&artifacts);
}
END_TEST

/* Stdout becomes a terminal; returns its other end. */
static int
stdout_to_terminal(int *saved)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;

	ck_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(slave, 0);
	fflush(stdout);
	*saved = dup(STDOUT_FILENO);
	dup2(slave, STDOUT_FILENO);
	close(slave);
	return master;
}

START_TEST(shown_on_a_terminal)
{
	static const char *const kitty[] = {
	    "TERM=xterm", "KITTY_WINDOW_ID=1", NULL};
	static const struct row row = {.name = "shown",
	    .words = {"--output=b.png", "a.py"},
	    .files = {{"a.png", "PNG", 0, true}, {"b.png", "PNG", 0, true}}};
	static const char picture[] = "\033_Ga=T,f=100,q=2,m=0;"
	                              "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"
	                              "\033\\\r\n";
	char shown[1000] = "", expected[1000], *names;
	struct artifacts artifacts;
	int saved, master = stdout_to_terminal(&saved), status;
	ssize_t got;

	make_artifacts(&artifacts, &row);
	environment_set(kitty);
	status = take_and_show(&row, &artifacts);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	snprintf(expected, sizeof(expected), "%s%s", picture, picture);
	/* A terminal hands it over in pieces. */
	while (strlen(shown) < strlen(expected) &&
	    (got = read(master, shown + strlen(shown),
	         sizeof(shown) - 1 - strlen(shown))) > 0)
		;
	close(master);
	artifacts_release(&artifacts);
	ck_assert_str_eq(shown, expected);
	ck_assert_int_eq(status, 0);
	/* Shown is enough, unless it was asked for. */
	names = list_directory();
	ck_assert_str_eq(names, "b.png ");
	free(names);
}
END_TEST

START_TEST(told_before_it_runs)
{
	static const char *const words[][2] = {{"--output=there", "--force"},
	    {"--output=../x", NULL}, {"--output=a/../x", "--force"},
	    {"--output=./*.csv", NULL}, {"--output=.env", NULL},
	    {"--output=a/.*", NULL}, {"--output-dir=no/such", NULL},
	    {"--output-dir=there", NULL}};
	struct settings settings;
	struct cli_output *output;
	struct err err;

	free(scratch_program(directory, "there", "old"));
	for (size_t i = 0; i < COUNT(words); i++) {
		settings_make(&settings, "run", words[i][0], words[i][1], NULL);
		output = cli_output_new(&settings, &err);
		ck_assert_msg((output != NULL) == (i == 0), "%s", words[i][0]);
		if (output != NULL)
			cli_output_free(output);
		settings_release(&settings);
	}
	settings_make(&settings, "run", words[0][0], NULL);
	ck_assert_ptr_null(cli_output_new(&settings, &err));
	ck_assert_ptr_nonnull(strstr(err.message, "--force"));
	settings_release(&settings);
}
END_TEST

START_TEST(the_directory_is_made)
{
	struct settings settings;
	struct cli_output *output;
	struct err err;

	settings_make(&settings, "run", "--output-dir=new", NULL);
	output = cli_output_new(&settings, &err);
	ck_assert_ptr_nonnull(output);
	cli_output_free(output);
	settings_release(&settings);
	ck_assert_int_eq(rmdir("new"), 0);
}
END_TEST

Suite *
cli_output_suite(void)
{
	Suite *suite = suite_create("cli_output");
	TCase *tcase = tcase_create("cli_output");

	/* Nothing that says what the terminal can do. */
	environment_fixture(tcase);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, taken, 0, COUNT(rows));
	tcase_add_test(tcase, left_out_and_not_asked_for);
	tcase_add_test(tcase, shown_on_a_terminal);
	tcase_add_test(tcase, told_before_it_runs);
	tcase_add_test(tcase, the_directory_is_made);
	suite_add_tcase(suite, tcase);
	return suite;
}
