#include "terminal/cli_run.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/log.h"
#include "base/watch.h"
#include "sandbox/sandbox.h"
#include "sandbox/shutdown.h"
#include "terminal/cli_input.h"
#include "terminal/cli_output.h"
#include "terminal/cli_progress.h"
#include "terminal/cli_write.h"

#define STATUS_TIMED_OUT 124
#define STATUS_NOT_RUN 125

struct run {
	struct shutdown *shutdown;
	struct cli_progress *progress;
	struct cli_output *output;
	struct event *unheard; /* nobody reads what the program says */
	bool interrupted;      /* so, or by a signal in the middle of it */
	int status;
};

static void
on_unheard(evutil_socket_t fd, short what, void *arg)
{
	struct run *run = arg;

	(void)fd;
	(void)what;
	shutdown_begin(run->shutdown);
}

static void
on_output(void *arg, enum child_stream stream, const char *data, size_t length)
{
	int fd = stream == CHILD_STDOUT ? STDOUT_FILENO : STDERR_FILENO;
	struct run *run = arg;

	cli_progress_end(run->progress);
	if (run->interrupted || cli_write(fd, data, length) == 0)
		return;
	run->interrupted = true;
	if (errno == EINTR)
		return;
	/* As if by the signal that other programs get then. */
	run->status = 128 + SIGPIPE;
	if (errno != EPIPE) {
		log_warn("the program's output cannot be written: %s",
		    strerror(errno));
		run->status = STATUS_NOT_RUN;
	}
	/* From the loop, because the call is on the way here. */
	event_active(run->unheard, EV_TIMEOUT, 0);
}

static void
on_progress(void *arg, const char *text)
{
	struct run *run = arg;

	cli_progress_say(run->progress, text);
}

/* The exit status that says how the program ended; in words too, if it did not
 * end by itself. */
static int
status_of(const struct outcome *outcome)
{
	if (outcome->timed_out) {
		log_warn("stopped after %.1f seconds: --timeout sets the limit",
		    (double)outcome->duration_ms / 1000);
		return STATUS_TIMED_OUT;
	}
	if (outcome->lost) {
		log_warn("the container went away while the program ran: the "
		         "engine, or its command, was stopped");
		return STATUS_NOT_RUN;
	}
	if (outcome->signal == 0)
		return outcome->exit_code;
	log_warn("the program was ended by signal %d (%s)%s", outcome->signal,
	    strsignal(outcome->signal),
	    outcome->signal == SIGKILL
	        ? ", most likely for want of memory: --memory"
	        : "");
	return 128 + outcome->signal;
}

static void
on_done(void *arg, const struct outcome *outcome)
{
	struct run *run = arg;

	cli_progress_end(run->progress);
	if (outcome->err.code == ERR_SHUTDOWN)
		return; /* whoever began it knows why */
	if (!outcome->ran) {
		log_warn("%s", outcome->err.message);
		run->status = STATUS_NOT_RUN;
	} else if (!run->interrupted) {
		run->status = status_of(outcome);
		if (cli_output_take(run->output, &outcome->artifacts) != 0 &&
		    run->status == 0)
			run->status = STATUS_NOT_RUN;
	}
	shutdown_begin(run->shutdown);
}

static void
on_started(void *arg)
{
	struct run *run = arg;

	cli_progress_end(run->progress);
}

static const struct sandbox_callbacks callbacks = {
    .started = on_started,
    .output = on_output,
    .progress = on_progress,
    .done = on_done,
};

static int
run_job(
    const struct settings *settings, struct job *job, struct cli_output *output)
{
	struct event_base *base = watch_new();
	struct sandbox *sandbox = sandbox_new(base, settings);
	struct run run = {
	    .shutdown = shutdown_new(base, sandbox),
	    .progress = cli_progress_new(base, settings),
	    .output = output,
	    .status = STATUS_NOT_RUN,
	};
	int signal_number;

	run.unheard = evtimer_new(base, on_unheard, &run);
	sandbox_call(sandbox, job, &callbacks, &run);
	event_base_dispatch(base);
	signal_number = shutdown_signal(run.shutdown);
	event_free(run.unheard);
	cli_progress_free(run.progress);
	sandbox_free(sandbox);
	shutdown_free(run.shutdown);
	event_base_free(base);
	return signal_number != 0 ? 128 + signal_number : run.status;
}

int
cli_run(const struct settings *settings)
{
	struct cli_output *output = NULL;
	struct job job = {0};
	struct err err;
	int status = 2;

	log_set_write(cli_write);
	if (cli_input_read(&job, settings, &err) == 0)
		output = cli_output_new(settings, &err);
	if (output == NULL) {
		log_warn("%s", err.message);
	} else {
		status = run_job(settings, &job, output);
		if (cli_output_show(output) != 0 && status == 0)
			status = STATUS_NOT_RUN;
		cli_output_free(output);
	}
	job_release(&job);
	return status;
}
