#include "base/redact.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"

static void
collect(void *arg, const char *data, size_t length)
{
	text_addf(arg, "%.*s", (int)length, data);
}

static const struct {
	const char *name;
	const char *text;
	const char *expected;
} cases[] = {
    {"nothing", "", ""},
    {"no secret", "hello, world\n", "hello, world\n"},
    {"alone", "hunter2hunter2", "[PASSWORD]"},
    {"within", "<hunter2hunter2>", "<[PASSWORD]>"},
    {"twice", "hunter2hunter2hunter2hunter2", "[PASSWORD][PASSWORD]"},
    {"after a false start", "huhunter2hunter2", "hu[PASSWORD]"},
    {"begun and not ended", "hunter2hunter", "hunter2hunter"},
    {"begun, then another", "hunter2hunter sk-12345", "hunter2hunter [KEY]"},
    {"the beginning of a longer one", "sk-12345!", "[KEY]!"},
    {"the longer one", "sk-12345-long", "[LONG_KEY]"},
    {"the longer one, cut short", "sk-12345-lon", "[KEY]-lon"},
    {"one that repeats itself", "aabaabaac", "aab[REPEATING]"},
    {"several lines", "-\nline1\nline2\n-", "-\n[LINES]\n-"},
    {"short values stay", "abc", "abc"},
    {"without the blanks around it", "<padded-key>", "<[PADDED]>"},
    {"with the blanks around it", "  padded-key\n", "  [PADDED]\n"},
    {"all lines of one", "-BEGIN-\nMIIEvQ\n\n+x=\n-END-", "[PEM]"},
    {"a line of one", "> MIIEvQ\n", "> [PEM]\n"},
    {"lines of one in other words",
        "-BEGIN-\\nMIIEvQ\\n+x=", "[PEM]\\n[PEM]\\n+x="},
    {"its end and its beginning", "MIIEvQ-BEGIN-", "[PEM][PEM]"},
};

static void
fill(struct secrets *secrets)
{
	secrets_add(secrets, "PASSWORD", "hunter2hunter2");
	secrets_add(secrets, "KEY", "sk-12345");
	secrets_add(secrets, "LONG_KEY", "sk-12345-long");
	secrets_add(secrets, "REPEATING", "aabaac");
	secrets_add(secrets, "LINES", "line1\nline2");
	secrets_add(secrets, "SHORT", "abc");
	secrets_add(secrets, "PADDED", "\t padded-key\r\n");
	secrets_add(secrets, "PEM", "-BEGIN-\nMIIEvQ\n\n+x=\n-END-\n");
}

/* However the stream is cut into pieces, it comes out the same. */
START_TEST(taken_out)
{
	struct secrets secrets = {0};
	size_t length = strlen(cases[_i].text);

	fill(&secrets);
	for (size_t piece = 1; piece <= length + 1; piece++) {
		struct redactor redactor;
		struct text out = {0};

		text_addf(&out, "%s", "");
		redactor_init(&redactor, &secrets, collect, &out);
		for (size_t at = 0; at < length; at += piece)
			redactor_feed(&redactor, cases[_i].text + at,
			    length - at < piece ? length - at : piece);
		redactor_flush(&redactor);
		ck_assert_msg(strcmp(out.data, cases[_i].expected) == 0,
		    "%s, in pieces of %zu: %s", cases[_i].name, piece,
		    out.data);
		redactor_release(&redactor);
		free(out.data);
	}
	secrets_release(&secrets);
}
END_TEST

START_TEST(without_secrets_nothing_is_held_back)
{
	struct secrets none = {0};
	struct redactor redactor;
	struct text out = {0};

	redactor_init(&redactor, &none, collect, &out);
	redactor_feed(&redactor, "hunter2", 7);
	ck_assert_str_eq(out.data, "hunter2");
	redactor_flush(&redactor);
	ck_assert_str_eq(out.data, "hunter2");
	redactor_release(&redactor);
	free(out.data);
}
END_TEST

START_TEST(as_a_whole)
{
	struct secrets secrets = {0};
	char *text = xstrdup(cases[_i].text);
	size_t length = strlen(text);

	redact(&secrets, &text, &length);
	ck_assert_str_eq(text, cases[_i].text);
	fill(&secrets);
	redact(&secrets, &text, &length);
	ck_assert_str_eq(text, cases[_i].expected);
	ck_assert_uint_eq(length, strlen(cases[_i].expected));
	free(text);
	secrets_release(&secrets);
}
END_TEST

Suite *
redact_suite(void)
{
	Suite *suite = suite_create("redact");
	TCase *tcase = tcase_create("redact");

	tcase_add_loop_test(tcase, taken_out, 0, COUNT(cases));
	tcase_add_loop_test(tcase, as_a_whole, 0, COUNT(cases));
	tcase_add_test(tcase, without_secrets_nothing_is_held_back);
	suite_add_tcase(suite, tcase);
	return suite;
}
