#include "base/spinner.h"

#include <string.h>

#include "helpers.h"
#include "suites.h"

static struct text screen;
static int width;

static void
on_write(void *arg, const char *data, size_t length)
{
	text_add(arg, data, length);
}

static int
on_columns(void *arg)
{
	(void)arg;
	return width;
}

static const struct spinner_terminal terminal = {
    .write = on_write, .columns = on_columns, .arg = &screen};

static void
begin(struct spinner *spinner)
{
	width = 80;
	screen = (struct text){0};
	spinner_init(spinner, &terminal);
}

/* What was written since the last time. */
static void
assert_written(const char *expected)
{
	ck_assert_str_eq(text_string(&screen), expected);
	text_release(&screen);
}

START_TEST(silent_until_something_is_said)
{
	struct spinner spinner;

	begin(&spinner);
	spinner_tick(&spinner, 0);
	spinner_tick(&spinner, 5000);
	spinner_erase(&spinner);
	spinner_release(&spinner);
	assert_written("");
}
END_TEST

START_TEST(every_byte)
{
	struct spinner spinner;

	begin(&spinner);
	spinner_say(&spinner, "pulling", 10500);
	assert_written("\r\033[K| pulling (0 s)");
	spinner_tick(&spinner, 11499);
	assert_written("\r\033[K/ pulling (0 s)");
	spinner_tick(&spinner, 11500);
	assert_written("\r\033[K- pulling (1 s)");
	/* Another text, the same wait. */
	spinner_say(&spinner, "installing", 75500);
	assert_written("\r\033[K\\ installing (65 s)");
	spinner_tick(&spinner, 75600);
	assert_written("\r\033[K| installing (65 s)");
	spinner_release(&spinner);
	assert_written("\r\033[K");
}
END_TEST

START_TEST(erased_once_and_drawn_again)
{
	struct spinner spinner;

	begin(&spinner);
	spinner_say(&spinner, "a", 0);
	text_release(&screen);
	spinner_erase(&spinner);
	assert_written("\r\033[K");
	spinner_erase(&spinner);
	assert_written("");
	spinner_tick(&spinner, 1000);
	assert_written("\r\033[K/ a (1 s)");
	spinner_release(&spinner);
	assert_written("\r\033[K");
	spinner_tick(&spinner, 2000);
	spinner_release(&spinner);
	assert_written("");
}
END_TEST

static const struct {
	const char *name;
	const char *text;
	int width;
	const char *shown;
} texts[] = {
    {"fits", "1234567890123", 22, "1234567890123"},
    {"cut", "12345678901234567890", 22, "1234567890123"},
    {"cut to nothing less than a narrow one", "12345678901234567890", 5,
        "12345678901"},
    {"no width known", "12345678901234567890", 0, "12345678901"},
    {"wide ones count twice",
        "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
        "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac",
        20,
        "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
        "\xe2\x82\xac\xe2\x82\xac"},
    {"several lines", "a\nb\tc", 80, "a b c"},
    {"escapes", "a\033[2Jb\x7f", 80, "a [2Jb "},
    {"an escape of eight bits",
        "a\xc2\x9b"
        "2J",
        80, "a  2J"},
    {"not UTF-8", "a\xff", 80, "a\xef\xbf\xbd"},
    {"percent", "50%s%n", 80, "50%s%n"},
    {"nothing", "", 80, ""},
};

START_TEST(shown)
{
	struct spinner spinner;
	struct text expected = {0};

	begin(&spinner);
	width = texts[_i].width;
	spinner_say(&spinner, texts[_i].text, 0);
	text_addf(&expected, "\r\033[K| %s (0 s)", texts[_i].shown);
	assert_written(expected.data);
	text_release(&expected);
	spinner_release(&spinner);
	text_release(&screen);
}
END_TEST

Suite *
spinner_suite(void)
{
	Suite *suite = suite_create("spinner");
	TCase *tcase = tcase_create("spinner");

	tcase_add_test(tcase, silent_until_something_is_said);
	tcase_add_test(tcase, every_byte);
	tcase_add_test(tcase, erased_once_and_drawn_again);
	tcase_add_loop_test(tcase, shown, 0, COUNT(texts));
	suite_add_tcase(suite, tcase);
	return suite;
}
