#include "sandbox/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

char *
job_copy(const char *data, size_t length)
{
	char *copy = xcalloc(1, length + 1);

	if (length > 0)
		memcpy(copy, data, length);
	return copy;
}

void
job_add_file(struct job *job, const char *path, const char *data, size_t length)
{
	job->files =
	    xrealloc(job->files, (job->file_count + 1) * sizeof(*job->files));
	job->files[job->file_count++] = (struct job_file){
	    .path = xstrdup(path),
	    .data = job_copy(data, length),
	    .length = length,
	};
}

size_t
job_size(const struct job *job)
{
	size_t size = job->code_length + job->input_length;

	for (size_t i = 0; i < job->file_count; i++)
		size += job->files[i].length;
	return size;
}

bool
job_is_plain(const struct job *job)
{
	return job->file_count == 0 && job->input == NULL &&
	    job->arguments.count == 0 && job->packages.count == 0 &&
	    job->session == NULL;
}

void
job_release(struct job *job)
{
	for (size_t i = 0; i < job->file_count; i++) {
		free(job->files[i].path);
		free(job->files[i].data);
	}
	free(job->files);
	free(job->code);
	free(job->input);
	strlist_release(&job->arguments);
	strlist_release(&job->packages);
	strlist_release(&job->outputs);
	free(job->session);
	free(job->fetch);
	*job = (struct job){0};
}
