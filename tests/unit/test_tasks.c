#include "tasks.h"

#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "alloc.h"
#include "helpers.h"
#include "suites.h"

static struct event_base *base;
static struct tasks *tasks;
static int cancelled;

static void
set_up(void)
{
	base = event_base_new();
	tasks = tasks_new(base);
	cancelled = 0;
}

static void
tear_down(void)
{
	tasks_free(tasks);
	event_base_free(base);
}

static void
on_cancel(void *arg)
{
	(void)arg;
	cancelled++;
}

static char *
described(const struct task *task)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *object = yyjson_mut_obj(doc);
	char *text;

	task_describe(task, doc, object);
	text = json_text(object);
	yyjson_mut_doc_free(doc);
	return text;
}

/* The id of a task, to be freed. */
static char *
id_of(const struct task *task)
{
	char *text = described(task), *quoted = json_at(text, "/taskId");
	char *id = xstrndup(quoted + 1, strlen(quoted) - 2);

	free(quoted);
	free(text);
	return id;
}

START_TEST(described_while_it_works)
{
	struct task *task = task_new(tasks, 30, on_cancel, NULL);
	char *text = described(task);

	assert_json(text, "/status", "\"working\"");
	assert_json(text, "/statusMessage", "\"The program is running.\"");
	assert_json(text, "/ttlMs", "930000");
	assert_json(text, "/result", "(none)");
	free(text);
}
END_TEST

START_TEST(output_is_the_message)
{
	struct task *task = task_new(tasks, 30, on_cancel, NULL);
	char *text;

	task_output(task, BYTES("step 1\n"));
	task_output(task, BYTES("step 2 \xFF\n"));
	text = described(task);
	assert_json(
	    text, "/statusMessage", "\"step 1\\nstep 2 \xEF\xBF\xBD\\n\"");
	free(text);
}
END_TEST

START_TEST(completed)
{
	struct task *task = task_new(tasks, 30, on_cancel, NULL);
	char *text;

	task_complete(task, xstrdup("{\"isError\":false}"));
	text = described(task);
	assert_json(text, "/status", "\"completed\"");
	assert_json(text, "/result", "{\"isError\":false}");
	assert_json(text, "/statusMessage", "(none)");
	free(text);
	task_cancel(task);
	ck_assert_int_eq(cancelled, 0);
}
END_TEST

START_TEST(cancelled_once)
{
	struct task *task = task_new(tasks, 30, on_cancel, NULL);
	char *text;

	task_cancel(task);
	task_cancel(task);
	ck_assert_int_eq(cancelled, 1);
	text = described(task);
	assert_json(text, "/status", "\"cancelled\"");
	free(text);
}
END_TEST

START_TEST(found_by_its_id_only)
{
	struct task *first = task_new(tasks, 30, on_cancel, NULL);
	struct task *second = task_new(tasks, 30, on_cancel, NULL);
	char *first_id = id_of(first), *second_id = id_of(second);

	ck_assert_str_ne(first_id, second_id);
	ck_assert_ptr_eq(task_find(tasks, first_id), first);
	ck_assert_ptr_eq(task_find(tasks, second_id), second);
	ck_assert_ptr_null(task_find(tasks, ""));
	first_id[5] = '\0';
	ck_assert_ptr_null(task_find(tasks, first_id));
	free(first_id);
	free(second_id);
}
END_TEST

/* Results that nobody fetches make room; what is working stays. */
START_TEST(the_oldest_results_make_room)
{
	struct task *working = task_new(tasks, 30, on_cancel, NULL);
	struct task *over = task_new(tasks, 30, on_cancel, NULL);
	char *working_id = id_of(working), *over_id = id_of(over);

	task_complete(over, xstrdup("{}"));
	for (int i = 0; i < 300; i++)
		task_complete(
		    task_new(tasks, 30, on_cancel, NULL), xstrdup("{}"));
	ck_assert_ptr_nonnull(task_find(tasks, working_id));
	ck_assert_ptr_null(task_find(tasks, over_id));
	ck_assert_int_eq(cancelled, 0);
	free(working_id);
	free(over_id);
}
END_TEST

START_TEST(long_results_make_room)
{
	size_t length = (size_t)60 * 1024 * 1024;
	char *ids[3];

	for (size_t i = 0; i < COUNT(ids); i++) {
		struct task *task = task_new(tasks, 30, on_cancel, NULL);
		char *result = xcalloc(1, length + 1);

		ids[i] = id_of(task);
		memset(result, '1', length);
		task_complete(task, result);
	}
	ck_assert_ptr_null(task_find(tasks, ids[0]));
	ck_assert_ptr_nonnull(task_find(tasks, ids[1]));
	ck_assert_ptr_nonnull(task_find(tasks, ids[2]));
	for (size_t i = 0; i < COUNT(ids); i++)
		free(ids[i]);
}
END_TEST

/* However long it waits for a place: the time to fetch it begins at its end. */
START_TEST(only_what_is_over_expires)
{
	struct task *task = task_new(tasks, 30, on_cancel, NULL);

	ck_assert_int_eq(
	    event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 0);
	task_complete(task, xstrdup("{}"));
	ck_assert_int_eq(
	    event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 1);
}
END_TEST

Suite *
tasks_suite(void)
{
	Suite *suite = suite_create("tasks");
	TCase *tcase = tcase_create("tasks");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, described_while_it_works);
	tcase_add_test(tcase, output_is_the_message);
	tcase_add_test(tcase, completed);
	tcase_add_test(tcase, cancelled_once);
	tcase_add_test(tcase, found_by_its_id_only);
	tcase_add_test(tcase, the_oldest_results_make_room);
	tcase_add_test(tcase, long_results_make_room);
	tcase_add_test(tcase, only_what_is_over_expires);
	suite_add_tcase(suite, tcase);
	return suite;
}
