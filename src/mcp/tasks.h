#ifndef TASKS_H
#define TASKS_H

#include <stdbool.h>
#include <stddef.h>

#include <yyjson.h>

/*
 * Calls that outlast the request that began them: the extension
 * io.modelcontextprotocol/tasks.  A task is known by a random id, and whoever
 * has the id can poll and cancel it; it is kept for a while after its end.
 */

struct event_base;
struct tasks;
struct task;

struct tasks *tasks_new(struct event_base *base);
void tasks_free(struct tasks *tasks);

struct task_callbacks {
	/* Somebody wants the work ended. */
	void (*cancel)(void *arg);
	/* The client answers what was asked, or a part of it.  The task works
	 * on, unless this asks again.  NULL: it never asks. */
	void (*update)(void *arg, yyjson_val *responses);
};

struct task *task_new(struct tasks *tasks, int work_seconds,
    const struct task_callbacks *callbacks, void *arg);
/* NULL when there is none of that id. */
struct task *task_find(struct tasks *tasks, const char *id);
void task_output(struct task *task, const char *data, size_t length);
/* It is over, and this is what a response would have said: its result, or its
 * error.  JSON text, and taken over. */
void task_complete(struct task *task, char *result);
void task_fail(struct task *task, char *error);
/* It waits for its client to answer these requests, an object of them as JSON
 * text, which is taken over. */
void task_ask(struct task *task, char *requests);
/* Does nothing when it did not ask. */
void task_update(struct task *task, yyjson_val *responses);
/* Does nothing when it is over already. */
void task_cancel(struct task *task);
/* Adds the fields of a Task to an object. */
void task_describe(
    const struct task *task, yyjson_mut_doc *doc, yyjson_mut_val *object);

#endif
