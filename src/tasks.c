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
/* How long a result waits to be fetched, and how much may wait. */
#define KEEP_SECONDS 900
#define KEEP_MAX 256
#define KEEP_BYTES ((size_t)128 * 1024 * 1024)

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
	int keep_seconds, ttl_seconds; /* from its end; from its beginning */
	struct event *expiry;
	struct recent recent;
	char *result;
	size_t result_length;
	void (*cancel)(void *arg);
	void *arg;
};

struct tasks {
	struct event_base *base;
	TAILQ_HEAD(task_list, task) list;
	int count;
	size_t bytes; /* of results */
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
	task->tasks->bytes -= task->result_length;
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
	task_free(task);
}

/* Results that nobody fetches make room for new ones, the oldest first. */
static void
make_room(struct tasks *tasks)
{
	struct task *task, *next;

	TAILQ_FOREACH_SAFE (task, &tasks->list, entry, next)
		if ((tasks->count > KEEP_MAX || tasks->bytes > KEEP_BYTES) &&
		    task->status != TASK_WORKING)
			task_free(task);
}

struct task *
task_new(
    struct tasks *tasks, int work_seconds, void (*cancel)(void *arg), void *arg)
{
	struct task *task = xcalloc(1, sizeof(*task));

	task->tasks = tasks;
	token_make(task->id);
	task->created = task->updated = time(NULL);
	task->keep_seconds = task->ttl_seconds = work_seconds + KEEP_SECONDS;
	task->cancel = cancel;
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

/* What it waited for a place in the queue is not taken from the time in which
 * its result can be fetched. */
static void
end(struct task *task, enum task_status status)
{
	struct timeval keep = {.tv_sec = task->keep_seconds};

	task->status = status;
	task->updated = time(NULL);
	if (task->updated > task->created)
		task->ttl_seconds += (int)(task->updated - task->created);
	evtimer_add(task->expiry, &keep);
}

void
task_complete(struct task *task, char *result)
{
	task->result = result;
	task->result_length = strlen(result);
	task->tasks->bytes += task->result_length;
	/* It makes room, and has its own. */
	make_room(task->tasks);
	end(task, TASK_COMPLETED);
}

void
task_cancel(struct task *task)
{
	if (task->status != TASK_WORKING)
		return;
	end(task, TASK_CANCELLED);
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
