#include "base/log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers.h"
#include "suites.h"

/* A pipe in the place of stderr. */
static int reading, saved;
static char heard[1 << 20];

static void
set_up(void)
{
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	saved = dup(STDERR_FILENO);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	reading = ends[0];
	fcntl(reading, F_SETFL, O_NONBLOCK);
}

static void
tear_down(void)
{
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(reading);
}

/* All that is in the pipe. */
static const char *
hear(void)
{
	size_t length = 0;
	ssize_t got;

	while ((got = read(
	            reading, heard + length, sizeof(heard) - length - 1)) > 0)
		length += (size_t)got;
	heard[length] = '\0';
	return heard;
}

START_TEST(line_has_a_name)
{
	log_warn("%s %d", "what", 7);
	log_debug("not said");
	ck_assert_str_eq(hear(), "code-sandbox-mcp: what 7\n");
}
END_TEST

START_TEST(no_text_speaks_to_the_terminal)
{
	log_warn("%s",
	    "a\033]52;c;x\a\r\xC2\x9B"
	    "b\xFF\nc\td");
	ck_assert_str_eq(hear(),
	    "code-sandbox-mcp: a ]52;c;x    b"
	    "\xEF\xBF\xBD\nc\td\n");
}
END_TEST

START_TEST(long_line_is_cut)
{
	char text[10000];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	log_warn("%s", text);
	ck_assert_uint_le(strlen(hear()), 4096);
	ck_assert_uint_ge(strlen(heard), 4000);
	ck_assert_int_eq(heard[strlen(heard) - 1], '\n');
}
END_TEST

/* A pipe holds 64 KiB.  That this comes to an end is what is tested. */
START_TEST(nobody_reads)
{
	const char *lost;

	for (int i = 0; i < 10000; i++)
		log_warn("line %d", i);
	ck_assert_ptr_nonnull(strstr(hear(), "line 100\n"));
	ck_assert_ptr_null(strstr(heard, "line 9999\n"));
	log_warn("now");
	log_warn("then");
	lost = strstr(hear(), "nobody read them: ");
	ck_assert_msg(lost != NULL, "%s", heard);
	ck_assert_int_gt(atoi(lost + strlen("nobody read them: ")), 5000);
	ck_assert_ptr_nonnull(strstr(lost,
	    "\ncode-sandbox-mcp: now\n"
	    "code-sandbox-mcp: then\n"));
	ck_assert_ptr_null(strstr(lost + 1, "nobody read them"));
}
END_TEST

/* It has not lost lines: there was nobody to lose them. */
START_TEST(reader_that_is_gone)
{
	close(reading);
	log_warn("to nobody");
	reading = dup(saved);
	tear_down();
	set_up();
	log_warn("to somebody");
	ck_assert_str_eq(hear(), "code-sandbox-mcp: to somebody\n");
}
END_TEST

Suite *
log_suite(void)
{
	Suite *suite = suite_create("log");
	TCase *tcase = tcase_create("log");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, line_has_a_name);
	tcase_add_test(tcase, no_text_speaks_to_the_terminal);
	tcase_add_test(tcase, long_line_is_cut);
	tcase_add_test(tcase, nobody_reads);
	tcase_add_test(tcase, reader_that_is_gone);
	suite_add_tcase(suite, tcase);
	return suite;
}
