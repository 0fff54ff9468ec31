#include "terminal/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"
#include "terminal/sixel.h"

#define ENV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define START "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
#define SMALL START "\0\0\0\1\0\0\0\1"

static const struct {
	const char *name;
	const char *const *env;
	enum picture_protocol protocol;
	bool ask;
} guesses[] = {
    {"kitty", ENV("TERM=xterm-kitty"), PICTURE_KITTY, false},
    {"kitty under another name",
        ENV("TERM=xterm-256color", "KITTY_WINDOW_ID=1"), PICTURE_KITTY, false},
    {"an empty variable", ENV("TERM=xterm-256color", "KITTY_WINDOW_ID="),
        PICTURE_SIXEL, true},
    {"ghostty", ENV("TERM=xterm-ghostty"), PICTURE_KITTY, false},
    {"ghostty under another name", ENV("TERM=xterm", "TERM_PROGRAM=ghostty"),
        PICTURE_KITTY, false},
    {"WezTerm", ENV("TERM=xterm-256color", "TERM_PROGRAM=WezTerm"),
        PICTURE_ITERM, false},
    {"iTerm2", ENV("TERM=xterm-256color", "TERM_PROGRAM=iTerm.app"),
        PICTURE_ITERM, false},
    {"iTerm2 through ssh", ENV("TERM=xterm-256color", "LC_TERMINAL=iTerm2"),
        PICTURE_ITERM, false},
    {"mintty", ENV("TERM=xterm", "TERM_PROGRAM=mintty"), PICTURE_ITERM, false},
    {"VS Code", ENV("TERM=xterm-256color", "TERM_PROGRAM=vscode"),
        PICTURE_ITERM, true},
    {"VS Code started from kitty",
        ENV("TERM=xterm-256color", "TERM_PROGRAM=vscode", "KITTY_WINDOW_ID=1"),
        PICTURE_ITERM, true},
    {"foot", ENV("TERM=foot-extra"), PICTURE_SIXEL, false},
    {"mlterm", ENV("TERM=mlterm"), PICTURE_SIXEL, false},
    {"xterm", ENV("TERM=xterm-256color"), PICTURE_SIXEL, true},
    {"tmux in kitty",
        ENV("TERM=tmux-256color", "TMUX=/tmp/tmux,1,0", "KITTY_WINDOW_ID=1"),
        PICTURE_SIXEL, true},
    {"screen in kitty", ENV("TERM=screen", "STY=1.a", "KITTY_WINDOW_ID=1"),
        PICTURE_NONE, false},
    {"dumb", ENV("TERM=dumb", "KITTY_WINDOW_ID=1"), PICTURE_NONE, false},
    {"none", ENV("A=1"), PICTURE_NONE, false},
};

START_TEST(guess)
{
	struct picture_guess found;

	environment_set(guesses[_i].env);
	found = picture_guess();
	ck_assert_msg(found.protocol == guesses[_i].protocol &&
	        found.ask == guesses[_i].ask,
	    "%s: %d %d", guesses[_i].name, found.protocol, found.ask);
}
END_TEST

static const struct {
	const char *name;
	const char *data;
	size_t length;
	bool png;
} files[] = {
    {"the smallest", BYTES(SMALL), true},
    {"the largest", BYTES(START "\0\0\x10\0\0\0\x10\0"), true},
    {"too wide", BYTES(START "\0\0\x10\1\0\0\0\1"), false},
    {"too high", BYTES(START "\0\0\0\1\xff\xff\xff\xff"), false},
    {"of no width", BYTES(START "\0\0\0\0\0\0\0\1"), false},
    {"cut off", BYTES(START "\0\0\0\1\0\0\0"), false},
    {"the signature alone", BYTES("\x89PNG\r\n\x1a\n"), false},
    {"text", BYTES("\033[2J and more than twenty bytes"), false},
    {"nothing", "", 0, false},
};

START_TEST(png)
{
	ck_assert_msg(
	    picture_is_png(files[_i].data, files[_i].length) == files[_i].png,
	    "%s", files[_i].name);
}
END_TEST

START_TEST(every_byte)
{
	static char small[] = SMALL;
	static const char text[] = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB";
	char expected[200], *found;
	size_t length;

	found =
	    picture_encode(PICTURE_KITTY, small, sizeof(small) - 1, &length);
	snprintf(expected, sizeof(expected),
	    "\033_Ga=T,f=100,q=2,m=0;%s\033\\\n", text);
	ck_assert_str_eq(found, expected);
	ck_assert_uint_eq(length, strlen(expected));
	free(found);
	found =
	    picture_encode(PICTURE_ITERM, small, sizeof(small) - 1, &length);
	snprintf(expected, sizeof(expected),
	    "\033]1337;File=inline=1;size=24:%s\a\n", text);
	ck_assert_str_eq(found, expected);
	ck_assert_uint_eq(length, strlen(expected));
	free(found);
}
END_TEST

/* 4096 characters of text are 3072 bytes. */
static const struct {
	size_t length;
	size_t chunks;
	size_t last;
} sizes[] = {{3071, 1, 4096}, {3072, 1, 4096}, {3073, 2, 4}, {6144, 2, 4096},
    {10000, 4, 1048}};

START_TEST(chunks)
{
	char *data = xcalloc(1, sizes[_i].length), *found, *rest, *end;
	size_t length, count = 0;

	memcpy(data, SMALL, sizeof(SMALL) - 1);
	found = picture_encode(PICTURE_KITTY, data, sizes[_i].length, &length);
	for (rest = found; *rest != '\n'; rest = end + 2) {
		bool last = ++count == sizes[_i].chunks;
		char start[40];

		end = strstr(rest, "\033\\");
		snprintf(start, sizeof(start), "\033_G%sm=%d;",
		    count == 1 ? "a=T,f=100,q=2," : "", !last);
		ck_assert_mem_eq(rest, start, strlen(start));
		ck_assert_uint_eq((size_t)(end - rest) - strlen(start),
		    last ? sizes[_i].last : 4096);
	}
	ck_assert_uint_eq(count, sizes[_i].chunks);
	ck_assert_ptr_eq(rest + 1, found + length);
	free(found);
	free(data);
}
END_TEST

START_TEST(what_is_no_picture_is_not_shown)
{
	char text[] = "\033[2J and more than twenty bytes";
	char small[] = SMALL;
	size_t length;

	ck_assert_ptr_null(
	    picture_encode(PICTURE_KITTY, text, sizeof(text) - 1, &length));
	ck_assert_ptr_null(
	    picture_encode(PICTURE_ITERM, text, sizeof(text) - 1, &length));
	ck_assert_ptr_null(
	    picture_encode(PICTURE_NONE, small, sizeof(small) - 1, &length));
}
END_TEST

/* With a program of this name and content, and no other, on PATH. */
static char *
convert(const char *name, const char *content, size_t *length)
{
	static const char *const none[] = {NULL};
	char small[] = SMALL, *directory = scratch_new();
	char *path = xasprintf("PATH=%s", directory), *found;

	if (name != NULL)
		free(scratch_program(directory, name, content));
	environment_set(ENV(path));
	ck_assert(sixel_is_there() == (name != NULL));
	found = picture_encode(PICTURE_SIXEL, small, sizeof(small) - 1, length);
	environment_set(none);
	free(path);
	scratch_free(directory);
	return found;
}

static const struct {
	const char *name;
	const char *program;
	const char *content;
	const char *expected; /* NULL: none */
} converters[] = {
    {"there is none", NULL, NULL, NULL},
    {"img2sixel", "img2sixel",
        "#!/bin/sh\n[ $# = 0 ] || exit 1\n"
        "/usr/bin/head -c 4 | /usr/bin/tail -c 3 >&2\n"
        "printf '\\033Pq#0\\033\\\\'\n",
        "\033Pq#0\033\\\n"},
    {"chafa", "chafa", "#!/bin/sh\nprintf '\\033P%s\\n' \"$*\"\n",
        "\033P--format=sixel -\n"},
    {"it gets the picture", "img2sixel",
        "#!/bin/sh\n[ \"$(/usr/bin/wc -c)\" = 24 ] && printf '\\033P\\n'\n",
        "\033P\n"},
    {"it has limits", "img2sixel",
        "#!/bin/sh\n/usr/bin/cat >/dev/null\n"
        "echo \"\033P$(ulimit -v) $(ulimit -t) $(ulimit -f)\"\n",
        "\033P1048576 10 0\n"},
    {"it fails", "img2sixel", "#!/bin/sh\nprintf '\\033P\\n'\nexit 1\n", NULL},
    {"it says nothing", "img2sixel", "#!/bin/sh\nexit 0\n", NULL},
    {"it says something else", "img2sixel", "#!/bin/sh\necho usage\n", NULL},
    {"it dies", "img2sixel", "#!/bin/sh\nkill -9 $$\n", NULL},
};

START_TEST(sixel)
{
	size_t length = 0;
	char *found =
	    convert(converters[_i].program, converters[_i].content, &length);

	if (converters[_i].expected == NULL) {
		ck_assert_msg(found == NULL, "%s", converters[_i].name);
		return;
	}
	ck_assert_msg(found != NULL, "%s", converters[_i].name);
	ck_assert_uint_eq(length, strlen(converters[_i].expected));
	ck_assert_mem_eq(found, converters[_i].expected, length);
	free(found);
}
END_TEST

Suite *
picture_suite(void)
{
	Suite *suite = suite_create("picture");
	TCase *tcase = tcase_create("picture");

	tcase_set_timeout(tcase, PATIENCE_SECONDS);
	environment_fixture(tcase);
	tcase_add_loop_test(tcase, guess, 0, COUNT(guesses));
	tcase_add_loop_test(tcase, png, 0, COUNT(files));
	tcase_add_test(tcase, every_byte);
	tcase_add_loop_test(tcase, chunks, 0, COUNT(sizes));
	tcase_add_test(tcase, what_is_no_picture_is_not_shown);
	tcase_add_loop_test(tcase, sixel, 0, COUNT(converters));
	suite_add_tcase(suite, tcase);
	return suite;
}
