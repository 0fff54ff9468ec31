#include "mcp/revision.h"

#include "helpers.h"
#include "suites.h"

static const struct {
	enum revision revision;
	const char *name;
} known[] = {
    {REVISION_2024_11_05, "2024-11-05"},
    {REVISION_2025_03_26, "2025-03-26"},
    {REVISION_2025_06_18, "2025-06-18"},
    {REVISION_2025_11_25, "2025-11-25"},
    {REVISION_2026_07_28, "2026-07-28"},
};

START_TEST(name_and_back)
{
	enum revision revision = (enum revision) - 1;

	ck_assert_str_eq(revision_name(known[_i].revision), known[_i].name);
	ck_assert(revision_parse(known[_i].name, &revision));
	ck_assert_int_eq(revision, known[_i].revision);
}
END_TEST

START_TEST(order_of_dates)
{
	for (size_t i = 1; i < COUNT(known); i++)
		ck_assert_int_lt(known[i - 1].revision, known[i].revision);
}
END_TEST

START_TEST(all_are_counted)
{
	ck_assert_uint_eq(COUNT(known), REVISION_COUNT);
}
END_TEST

/* initialize exists in the older revisions only. */
START_TEST(eras)
{
	for (int i = 0; i < REVISION_COUNT; i++)
		ck_assert_int_eq(revision_is_modern((enum revision)i),
		    i >= REVISION_2026_07_28);
	ck_assert(!revision_is_modern(REVISION_NEWEST_LEGACY));
	ck_assert(
	    revision_is_modern((enum revision)(REVISION_NEWEST_LEGACY + 1)));
	ck_assert(!revision_is_modern(REVISION_UNSAID));
}
END_TEST

static const char *const unknown[] = {NULL, "", "2024-10-07", "2026-07-29",
    "2025-11-25 ", "2025-11-2", "2025-11-255", "latest", "1.0"};

START_TEST(unknown_is_refused_and_changes_nothing)
{
	enum revision revision = REVISION_2025_03_26;

	ck_assert(!revision_parse(unknown[_i], &revision));
	ck_assert_int_eq(revision, REVISION_2025_03_26);
}
END_TEST

Suite *
revision_suite(void)
{
	Suite *suite = suite_create("revision");
	TCase *tcase = tcase_create("revision");

	tcase_add_loop_test(tcase, name_and_back, 0, COUNT(known));
	tcase_add_test(tcase, order_of_dates);
	tcase_add_test(tcase, all_are_counted);
	tcase_add_test(tcase, eras);
	tcase_add_loop_test(
	    tcase, unknown_is_refused_and_changes_nothing, 0, COUNT(unknown));
	suite_add_tcase(suite, tcase);
	return suite;
}
