#include "mcp/tasks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bsd/sys/queue.h>

#include <event2/event.h>

#include "base/alloc.h"
#include "base/recent.h"
#include "base/token.h"

#define POLL_MS 1000
/* How long a result waits to be fetched from its end on, and how much may. */
#define KEEP_SECONDS 900
#define KEEP_MAX 256
#define KEEP_BYTES ((size_t)128 * 1024 * 1024)

enum task_status {
	TASK_WORKING,
	TASK_ASKING,
	TASK_COMPLETED, /* this and what follows is the end */
	TASK_FAILED,
	TASK_CANCELLED,
};

static const struct {
	const char *name;
	const char *key; /* of what there is to say then; NULL: nothing */
} statuses[] = {
    [TASK_WORKING] = {"working", NULL},
    [TASK_ASKING] = {"input_required", "inputRequests"},
    [TASK_COMPLETED] = {"completed", "result"},
    [TASK_FAILED] = {"failed", "error"},
    [TASK_CANCELLED] = {"cancelled", NULL},
};

struct task {
	TAILQ_ENTRY(task) entry;
	struct tasks *tasks;
	char id[TOKEN_LENGTH + 1];
	enum task_status status;
	time_t created, updated;
	int ttl_seconds; /* from its beginning */
	struct event *expiry;
	struct recent recent;
	char *text; /* what there is to say in this status, as JSON; or NULL */
	size_t text_length;
	const struct task_callbacks *callbacks;
	void *arg;
};

struct tasks {
	struct event_base *base;
	TAILQ_HEAD(task_list, task) list;
	int count;
	size_t bytes; /* of their texts */
};

struct tasks *
tasks_new(struct event_base *base)
{
	struct tasks *tasks = xcalloc(1, sizeof(*tasks));

	tasks->base = base;
	TAILQ_INIT(&tasks->list);
	return tasks;
}

static void
task_free(struct task *task)
{
	TAILQ_REMOVE(&task->tasks->list, task, entry);
	task->tasks->count--;
	task->tasks->bytes -= task->text_length;
	event_free(task->expiry);
	free(task->text);
	free(task);
}

void
tasks_free(struct tasks *tasks)
{
	struct task *task;

	while ((task = TAILQ_FIRST(&tasks->list)) != NULL)
		task_free(task);
	free(tasks);
}

static void
on_expiry(evutil_socket_t fd, short what, void *arg)
{
	struct task *task = arg;

	(void)fd;
	(void)what;
	task_free(task);
}

static bool
is_over(const struct task *task)
{
	return task->status >= TASK_COMPLETED;
}

/* Results that nobody fetches make room for new ones, the oldest first. */
static void
make_room(struct tasks *tasks)
{
	struct task *task, *next;

	TAILQ_FOREACH_SAFE (task, &tasks->list, entry, next)
		if ((tasks->count > KEEP_MAX || tasks->bytes > KEEP_BYTES) &&
		    is_over(task))
			task_free(task);
}

struct task *
task_new(struct tasks *tasks, int work_seconds,
    const struct task_callbacks *callbacks, void *arg)
{
	struct task *task = xcalloc(1, sizeof(*task));

	task->tasks = tasks;
	token_make(task->id);
	task->created = task->updated = time(NULL);
	task->ttl_seconds = work_seconds + KEEP_SECONDS;
	task->callbacks = callbacks;
	task->arg = arg;
	task->expiry = evtimer_new(tasks->base, on_expiry, task);
	TAILQ_INSERT_TAIL(&tasks->list, task, entry);
	tasks->count++;
	make_room(tasks);
	return task;
}

struct task *
task_find(struct tasks *tasks, const char *id)
{
	struct task *task;

	TAILQ_FOREACH (task, &tasks->list, entry)
		if (token_equal(id, task->id))
			return task;
	return NULL;
}

void
task_output(struct task *task, const char *data, size_t length)
{
	recent_add(&task->recent, data, length);
	task->updated = time(NULL);
}

static void
set_text(struct task *task, char *text)
{
	task->tasks->bytes -= task->text_length;
	free(task->text);
	task->text = text;
	task->text_length = text != NULL ? strlen(text) : 0;
	task->tasks->bytes += task->text_length;
	/* It makes room, and has its own. */
	make_room(task->tasks);
}

static void
enter(struct task *task, enum task_status status, char *text)
{
	static const struct timeval keep = {.tv_sec = KEEP_SECONDS};

	set_text(task, text);
	task->status = status;
	task->updated = time(NULL);
	if (!is_over(task))
		return;
	task->ttl_seconds = KEEP_SECONDS;
	if (task->updated > task->created)
		task->ttl_seconds += (int)(task->updated - task->created);
	evtimer_add(task->expiry, &keep);
}

void
task_complete(struct task *task, char *result)
{
	enter(task, TASK_COMPLETED, result);
}

void
task_fail(struct task *task, char *error)
{
	enter(task, TASK_FAILED, error);
}

void
task_ask(struct task *task, char *requests)
{
	enter(task, TASK_ASKING, requests);
}

void
task_update(struct task *task, yyjson_val *responses)
{
	if (task->status != TASK_ASKING)
		return;
	enter(task, TASK_WORKING, NULL);
	task->callbacks->update(task->arg, responses);
}

void
task_cancel(struct task *task)
{
	if (is_over(task))
		return;
	enter(task, TASK_CANCELLED, NULL);
	task->callbacks->cancel(task->arg);
}

static void
add_time(
    yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, time_t when)
{
	struct tm parts;
	char text[32];

	gmtime_r(&when, &parts);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
	yyjson_mut_obj_add_strcpy(doc, object, key, text);
}

void
task_describe(
    const struct task *task, yyjson_mut_doc *doc, yyjson_mut_val *object)
{
	yyjson_mut_obj_add_strcpy(doc, object, "taskId", task->id);
	yyjson_mut_obj_add_str(
	    doc, object, "status", statuses[task->status].name);
	if (task->status == TASK_WORKING) {
		char *text = task->recent.length > 0
		    ? recent_text(&task->recent)
		    : xstrdup("Nothing has been printed yet.");

		yyjson_mut_obj_add_strcpy(doc, object, "statusMessage", text);
		free(text);
	}
	add_time(doc, object, "createdAt", task->created);
	add_time(doc, object, "lastUpdatedAt", task->updated);
	yyjson_mut_obj_add_sint(
	    doc, object, "ttlMs", (int64_t)task->ttl_seconds * 1000);
	yyjson_mut_obj_add_int(doc, object, "pollIntervalMs", POLL_MS);
	if (statuses[task->status].key != NULL)
		yyjson_mut_obj_add_val(doc, object, statuses[task->status].key,
		    yyjson_mut_rawcpy(doc, task->text));
}
