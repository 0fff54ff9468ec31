#include "sandbox/message.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/alloc.h"

static struct iovec
piece(const char *data, size_t length)
{
	return (struct iovec){(void *)(uintptr_t)data, length};
}

/* A line, and what it announces. */
static void
write_part(struct child *child, char *line, const char *data, size_t length)
{
	child_write(child,
	    (const struct iovec[]){
	        piece(line, strlen(line)), piece(data, length)},
	    2);
	free(line);
}

static void
write_line(struct child *child, char *line)
{
	write_part(child, line, "", 0);
}

void
message_hook(struct child *child, const struct hook_file *files)
{
	char *text = xstrdup("");

	for (; files->name != NULL; files++) {
		char *longer =
		    xasprintf("%s\036%s\n%s", text, files->name, files->text);

		free(text);
		text = longer;
	}
	write_part(
	    child, xasprintf("hook %zu\n", strlen(text)), text, strlen(text));
	free(text);
}

static void
write_extras(struct child *child, const struct job *job)
{
	write_line(child, xstrdup("call\n"));
	for (size_t i = 0; i < job->file_count; i++) {
		const struct job_file *file = &job->files[i];

		write_part(child,
		    xasprintf("file %zu %s\n", file->length, file->path),
		    file->data, file->length);
	}
	if (job->input != NULL)
		write_part(child, xasprintf("stdin %zu\n", job->input_length),
		    job->input, job->input_length);
	for (size_t i = 0; i < job->arguments.count; i++) {
		const char *argument = job->arguments.items[i];

		write_part(child, xasprintf("argument %zu\n", strlen(argument)),
		    argument, strlen(argument));
	}
	for (size_t i = 0; i < job->packages.count; i++)
		write_line(
		    child, xasprintf("package %s\n", job->packages.items[i]));
	if (job->session != NULL)
		write_line(child, xstrdup("session\n"));
}

void
message_call(struct child *child, const struct job *job)
{
	if (!job_is_plain(job))
		write_extras(child, job);
	write_part(child, xasprintf("code %zu\n", job->code_length), job->code,
	    job->code_length);
}

void
message_list(struct child *child)
{
	write_line(child, xstrdup("list\n"));
}

void
message_get(struct child *child, size_t limit, const char *path)
{
	write_line(child, xasprintf("get %zu %s\n", limit, path));
}

void
message_interrupt(struct child *child)
{
	write_line(child, xstrdup("interrupt\n"));
}
