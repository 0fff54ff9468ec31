#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "options/options.h"
#include "server.h"
#include "terminal/cli_run.h"

/* A descriptor from 0 to 2 that is closed would be taken by the next file that
 * is opened, and written to by mistake. */
static void
fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* What the client has blocked would stay so, and no child be heard of. */
static void
unblock_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int
finish_stdout(void)
{
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

static int
act(const struct settings *settings)
{
	switch (settings->action) {
	case ACTION_HELP:
		options_help(stdout);
		return finish_stdout();
	case ACTION_VERSION:
		printf("code-sandbox-mcp %s\n", VERSION);
		return finish_stdout();
	case ACTION_RUN:
		return cli_run(settings);
	case ACTION_SERVE:
		break;
	}
	return server_serve(settings);
}

int
main(int argc, char **argv)
{
	struct settings settings;
	struct err err;
	int status = 2;

	fill_standard_descriptors();
	unblock_signals();
	/* Left to itself, malloc keeps up to 64 MB that were freed once it has
	 * seen large buffers.  The default, when set, stays what it is. */
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	signal(SIGPIPE, SIG_IGN);
	if (options_parse(&settings, argc, argv, &err) == 0) {
		log_set_verbose(settings.verbose);
		status = act(&settings);
	} else {
		log_warn("%s", err.message);
	}
	settings_release(&settings);
	return status;
}
