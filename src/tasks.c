#include "tasks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bsd/sys/queue.h>

#include <event2/event.h>

#include "alloc.h"
#include "recent.h"
#include "token.h"

#define POLL_MS 1000
/* How long a result waits to be fetched, and how many may wait. */
#define KEEP_SECONDS 900
#define KEEP_MAX 256

enum task_status { TASK_WORKING, TASK_COMPLETED, TASK_CANCELLED };

static const char *const status_names[] = {
    [TASK_WORKING] = "working",
    [TASK_COMPLETED] = "completed",
    [TASK_CANCELLED] = "cancelled",
};

struct task {
	TAILQ_ENTRY(task) entry;
	struct tasks *tasks;
	char id[TOKEN_LENGTH + 1];
	enum task_status status;
	time_t created, updated;
	int ttl_seconds;
	struct event *expiry;
	struct recent recent;
	char *result;
	void (*cancel)(void *arg);
	void *arg;
};

struct tasks {
	struct event_base *base;
	TAILQ_HEAD(task_list, task) list;
	int count;
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
	event_free(task->expiry);
	free(task->result);
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
	task_cancel(task);
	task_free(task);
}

/* Results that nobody fetches make room for new ones, the oldest first. */
static void
make_room(struct tasks *tasks)
{
	struct task *task, *next;

	TAILQ_FOREACH_SAFE (task, &tasks->list, entry, next)
		if (tasks->count >= KEEP_MAX && task->status != TASK_WORKING)
			task_free(task);
}

struct task *
task_new(
    struct tasks *tasks, int work_seconds, void (*cancel)(void *arg), void *arg)
{
	struct task *task = xcalloc(1, sizeof(*task));
	struct timeval ttl = {.tv_sec = work_seconds + KEEP_SECONDS};

	make_room(tasks);
	task->tasks = tasks;
	token_make(task->id);
	task->created = task->updated = time(NULL);
	task->ttl_seconds = work_seconds + KEEP_SECONDS;
	task->cancel = cancel;
	task->arg = arg;
	task->expiry = evtimer_new(tasks->base, on_expiry, task);
	evtimer_add(task->expiry, &ttl);
	TAILQ_INSERT_TAIL(&tasks->list, task, entry);
	tasks->count++;
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

void
task_complete(struct task *task, char *result)
{
	task->status = TASK_COMPLETED;
	task->updated = time(NULL);
	task->result = result;
}

void
task_cancel(struct task *task)
{
	if (task->status != TASK_WORKING)
		return;
	task->status = TASK_CANCELLED;
	task->updated = time(NULL);
	task->cancel(task->arg);
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
	    doc, object, "status", status_names[task->status]);
	if (task->status == TASK_WORKING) {
		char *text = task->recent.length > 0
		    ? recent_text(&task->recent)
		    : xstrdup("The program is running.");

		yyjson_mut_obj_add_strcpy(doc, object, "statusMessage", text);
		free(text);
	}
	add_time(doc, object, "createdAt", task->created);
	add_time(doc, object, "lastUpdatedAt", task->updated);
	yyjson_mut_obj_add_sint(
	    doc, object, "ttlMs", (int64_t)task->ttl_seconds * 1000);
	yyjson_mut_obj_add_int(doc, object, "pollIntervalMs", POLL_MS);
	if (task->status == TASK_COMPLETED)
		yyjson_mut_obj_add_val(doc, object, "result",
		    yyjson_mut_rawcpy(doc, task->result));
}
