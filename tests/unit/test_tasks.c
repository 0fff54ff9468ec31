#include "mcp/tasks.h"

#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "helpers.h"
#include "suites.h"

static struct event_base *base;
static struct tasks *tasks;
static int cancelled;
static char *updated;

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
	free(updated);
	updated = NULL;
}

static void
on_cancel(void *arg)
{
	(void)arg;
	cancelled++;
}

static void
on_update(void *arg, yyjson_val *responses)
{
	(void)arg;
	free(updated);
	updated = yyjson_val_write(responses, 0, NULL);
}

static const struct task_callbacks callbacks = {on_cancel, on_update};

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
	struct task *task = task_new(tasks, 30, &callbacks, NULL);
	char *text = described(task);

	assert_json(text, "/status", "\"working\"");
	assert_json(
	    text, "/statusMessage", "\"Nothing has been printed yet.\"");
	assert_json(text, "/ttlMs", "930000");
	assert_json(text, "/result", "(none)");
	free(text);
}
END_TEST

START_TEST(output_is_the_message)
{
	struct task *task = task_new(tasks, 30, &callbacks, NULL);
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
	struct task *task = task_new(tasks, 30, &callbacks, NULL);
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

/* By an error of the protocol; what a tool says of a failure is a result. */
START_TEST(failed)
{
	struct task *task = task_new(tasks, 30, &callbacks, NULL);
	char *text;

	task_fail(task, xstrdup("{\"code\":-32603,\"message\":\"no\"}"));
	text = described(task);
	assert_json(text, "/status", "\"failed\"");
	assert_json(text, "/error", "{\"code\":-32603,\"message\":\"no\"}");
	assert_json(text, "/result", "(none)");
	free(text);
	task_cancel(task);
	ck_assert_int_eq(cancelled, 0);
	ck_assert_int_eq(
	    event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 1);
}
END_TEST

static void
update(struct task *task, const char *responses)
{
	yyjson_doc *doc = yyjson_read(responses, strlen(responses), 0);

	task_update(task, yyjson_doc_get_root(doc));
	yyjson_doc_free(doc);
}

START_TEST(asks_and_works_on)
{
	struct task *task = task_new(tasks, 30, &callbacks, NULL);
	char *text;

	task_ask(task, xstrdup("{\"a\":{\"method\":\"roots/list\"}}"));
	text = described(task);
	assert_json(text, "/status", "\"input_required\"");
	assert_json(text, "/inputRequests/a/method", "\"roots/list\"");
	free(text);
	update(task, "{\"a\":{\"roots\":[]}}");
	ck_assert_str_eq(updated, "{\"a\":{\"roots\":[]}}");
	text = described(task);
	assert_json(text, "/status", "\"working\"");
	assert_json(text, "/inputRequests", "(none)");
	free(text);
}
END_TEST

/* Who did not ask gets no answers, before or after the end. */
START_TEST(what_was_not_asked_is_ignored)
{
	struct task *task = task_new(tasks, 30, &callbacks, NULL);

	update(task, "{}");
	task_complete(task, xstrdup("{}"));
	update(task, "{}");
	ck_assert_ptr_null(updated);
}
END_TEST

START_TEST(cancelled_while_it_asks)
{
	struct task *task = task_new(tasks, 30, &callbacks, NULL);
	char *text;

	task_ask(task, xstrdup("{\"a\":{}}"));
	task_cancel(task);
	ck_assert_int_eq(cancelled, 1);
	text = described(task);
	assert_json(text, "/status", "\"cancelled\"");
	assert_json(text, "/inputRequests", "(none)");
	free(text);
}
END_TEST

START_TEST(cancelled_once)
{
	struct task *task = task_new(tasks, 30, &callbacks, NULL);
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
	struct task *first = task_new(tasks, 30, &callbacks, NULL);
	struct task *second = task_new(tasks, 30, &callbacks, NULL);
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

/* Results that nobody fetches make room; what is under way stays. */
START_TEST(the_oldest_results_make_room)
{
	struct task *working = task_new(tasks, 30, &callbacks, NULL);
	struct task *asking = task_new(tasks, 30, &callbacks, NULL);
	struct task *over = task_new(tasks, 30, &callbacks, NULL);
	char *working_id = id_of(working), *over_id = id_of(over);
	char *asking_id = id_of(asking);

	task_ask(asking, xstrdup("{}"));
	task_complete(over, xstrdup("{}"));
	for (int i = 0; i < 300; i++)
		task_complete(
		    task_new(tasks, 30, &callbacks, NULL), xstrdup("{}"));
	ck_assert_ptr_nonnull(task_find(tasks, working_id));
	ck_assert_ptr_nonnull(task_find(tasks, asking_id));
	ck_assert_ptr_null(task_find(tasks, over_id));
	ck_assert_int_eq(cancelled, 0);
	free(working_id);
	free(asking_id);
	free(over_id);
}
END_TEST

START_TEST(long_results_make_room)
{
	size_t length = (size_t)60 * 1024 * 1024;
	char *ids[3];

	for (size_t i = 0; i < COUNT(ids); i++) {
		struct task *task = task_new(tasks, 30, &callbacks, NULL);
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
	struct task *task = task_new(tasks, 30, &callbacks, NULL);

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
	tcase_add_test(tcase, failed);
	tcase_add_test(tcase, asks_and_works_on);
	tcase_add_test(tcase, what_was_not_asked_is_ignored);
	tcase_add_test(tcase, cancelled_while_it_asks);
	tcase_add_test(tcase, cancelled_once);
	tcase_add_test(tcase, found_by_its_id_only);
	tcase_add_test(tcase, the_oldest_results_make_room);
	tcase_add_test(tcase, long_results_make_room);
	tcase_add_test(tcase, only_what_is_over_expires);
	suite_add_tcase(suite, tcase);
	return suite;
}
