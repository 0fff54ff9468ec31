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

/* cancel(arg) is called when somebody wants the work ended. */
struct task *task_new(struct tasks *tasks, int work_seconds,
    void (*cancel)(void *arg), void *arg);
/* NULL when there is none of that id. */
struct task *task_find(struct tasks *tasks, const char *id);
void task_output(struct task *task, const char *data, size_t length);
/* It is over; result is JSON text, and taken over. */
void task_complete(struct task *task, char *result);
/* Does nothing when it is over already. */
void task_cancel(struct task *task);
/* Adds the fields of a Task to an object. */
void task_describe(
    const struct task *task, yyjson_mut_doc *doc, yyjson_mut_val *object);

#endif
