#include "engine/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bsd/string.h>
#include <bsd/sys/queue.h>

#include <event2/buffer.h>
#include <event2/event.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/watch.h"

#define READ_SIZE ((size_t)256 * 1024)
#define PIPE_BYTES (256 * 1024)

/* A reaped child whose streams stay open has left them to a process that we
 * do not know; we do not wait for it longer than this, nor for one that was
 * asked to end. */
static const struct timeval linger = {.tv_sec = 2};
/* ... and less when there is no loop any more. */
#define ASKED_MS 1000
#define ASKED_STEP_MS 10

struct children {
	struct event_base *base;
	struct event *sigchld;
	TAILQ_HEAD(child_list, child) list;
	char *read_buffer;
};

struct stream {
	struct child *child;
	enum child_stream which;
	struct event *readable;
	int fd;
};

struct child {
	TAILQ_ENTRY(child) entry;
	struct children *children;
	const struct child_callbacks *callbacks;
	void *arg;
	pid_t pid;
	bool asked; /* to end */
	bool reaped;
	int status;
	struct stream streams[CHILD_STREAMS];
	struct event *linger;
	struct event *writable;
	struct evbuffer *input;
	int input_fd;
	bool input_ends;
};

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void
stream_close(struct stream *stream)
{
	if (stream->readable != NULL)
		event_free(stream->readable);
	stream->readable = NULL;
	close_fd(&stream->fd);
}

void
child_close_stdin(struct child *child)
{
	if (child->writable != NULL)
		event_free(child->writable);
	child->writable = NULL;
	close_fd(&child->input_fd);
	if (child->input != NULL)
		evbuffer_free(child->input);
	child->input = NULL;
}

static void
child_free(struct child *child)
{
	TAILQ_REMOVE(&child->children->list, child, entry);
	child_close_stdin(child);
	for (size_t i = 0; i < CHILD_STREAMS; i++)
		stream_close(&child->streams[i]);
	if (child->linger != NULL)
		event_free(child->linger);
	free(child);
}

static bool
streams_open(const struct child *child)
{
	return child->streams[0].fd >= 0 || child->streams[1].fd >= 0;
}

static void
finish_if_over(struct child *child)
{
	if (!child->reaped || streams_open(child))
		return;
	if (child->callbacks != NULL)
		child->callbacks->done(child->arg, child->status);
	child_free(child);
}

static void
on_linger(evutil_socket_t fd, short what, void *arg)
{
	struct child *child = arg;

	(void)fd;
	(void)what;
	if (!child->reaped) {
		child_kill(child);
		return;
	}
	for (size_t i = 0; i < CHILD_STREAMS; i++)
		stream_close(&child->streams[i]);
	finish_if_over(child);
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct stream *stream = arg;
	struct child *child = stream->child;
	ssize_t got;

	(void)what;
	got = read(fd, child->children->read_buffer, READ_SIZE);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0) {
		if (child->callbacks != NULL)
			child->callbacks->output(child->arg, stream->which,
			    child->children->read_buffer, (size_t)got);
		return;
	}
	if (got < 0) {
		/* Nobody could tell what it says: it is as good as dead. */
		log_warn("cannot read from a child: %s", strerror(errno));
		child_kill(child);
	}
	stream_close(stream);
	finish_if_over(child);
}

static void
on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct child *child = arg;
	int sent = 0;

	(void)what;
	if (evbuffer_get_length(child->input) > 0)
		sent = evbuffer_write(child->input, fd);
	if (sent < 0 && (errno == EAGAIN || errno == EINTR))
		sent = 0;
	if (sent < 0) {
		/* It does not want more; what it does next we will see. */
		child_close_stdin(child);
		return;
	}
	if (evbuffer_get_length(child->input) > 0)
		watch(child->writable, NULL);
	else if (child->input_ends)
		child_close_stdin(child);
}

/* Only pids that we know: nobody else's child is taken away. */
static void
reap(struct children *children)
{
	struct child *child;

	TAILQ_FOREACH (child, &children->list, entry)
		if (!child->reaped &&
		    waitpid(child->pid, &child->status, WNOHANG) == child->pid)
			child->reaped = true;
}

static void
on_sigchld(evutil_socket_t fd, short what, void *arg)
{
	struct children *children = arg;
	struct child *child, *next;

	(void)fd;
	(void)what;
	/* First, because a callback may start or end other children. */
	reap(children);
	TAILQ_FOREACH_SAFE (child, &children->list, entry, next) {
		if (!child->reaped)
			continue;
		if (!streams_open(child))
			finish_if_over(child);
		else if (!evtimer_pending(child->linger, NULL))
			evtimer_add(child->linger, &linger);
	}
}

struct children *
children_new(struct event_base *base)
{
	struct children *children = xcalloc(1, sizeof(*children));

	children->base = base;
	TAILQ_INIT(&children->list);
	children->read_buffer = xcalloc(1, READ_SIZE);
	children->sigchld = evsignal_new(base, SIGCHLD, on_sigchld, children);
	watch(children->sigchld, NULL);
	return children;
}

static bool
any_is_asked(struct children *children)
{
	const struct child *child;

	reap(children);
	TAILQ_FOREACH (child, &children->list, entry)
		if (child->asked && !child->reaped)
			return true;
	return false;
}

void
children_free(struct children *children)
{
	struct child *child;

	for (int ms = 0; ms < ASKED_MS && any_is_asked(children);
	    ms += ASKED_STEP_MS)
		usleep(ASKED_STEP_MS * 1000);
	while ((child = TAILQ_FIRST(&children->list)) != NULL) {
		if (!child->reaped) {
			child_kill(child);
			waitpid(child->pid, &child->status, 0);
		}
		child_free(child);
	}
	event_free(children->sigchld);
	free(children->read_buffer);
	free(children);
}

/* The descriptors of one spawn: ours[i] is our end of the child's fd i. */
struct plumbing {
	int ours[3];
	int theirs[3];
};

static void
plumbing_close(int fds[3])
{
	for (size_t i = 0; i < 3; i++)
		close_fd(&fds[i]);
}

static int
plumbing_open(struct plumbing *plumbing, bool with_stdin, struct err *err)
{
	*plumbing = (struct plumbing){{-1, -1, -1}, {-1, -1, -1}};
	for (size_t i = 0; i < 3; i++) {
		int ends[2];

		if (i == 0 && !with_stdin) {
			plumbing->theirs[0] =
			    open("/dev/null", O_RDONLY | O_CLOEXEC);
			if (plumbing->theirs[0] < 0)
				return err_system(err, errno, "/dev/null");
			continue;
		}
		if (pipe2(ends, O_CLOEXEC) != 0)
			return err_system(err, errno, "pipe");
		plumbing->ours[i] = ends[i == 0];
		plumbing->theirs[i] = ends[i != 0];
		if (fcntl(plumbing->ours[i], F_SETFL, O_NONBLOCK) != 0)
			return err_system(err, errno, "pipe");
		/* Fewer wake-ups for a program that says much; a wish. */
		fcntl(plumbing->ours[i], F_SETPIPE_SZ, PIPE_BYTES);
	}
	return 0;
}

/*
 * A directory in which nobody can make a file: conmon, podman's monitor, leaves
 * one called "oom" in the directory that it was started from.
 */
static const char *
neutral_directory(void)
{
	return access("/proc/self", X_OK) == 0 ? "/proc" : "/";
}

/* Each of them matters: a child without them would have our own stdout. */
static int
add_actions(posix_spawn_file_actions_t *actions, const int theirs[3])
{
	int errnum = 0;

	for (int i = 0; i < 3 && errnum == 0; i++)
		errnum =
		    posix_spawn_file_actions_adddup2(actions, theirs[i], i);
	if (errnum == 0)
		errnum = posix_spawn_file_actions_addclosefrom_np(actions, 3);
	if (errnum == 0)
		errnum = posix_spawn_file_actions_addchdir_np(
		    actions, neutral_directory());
	return errnum;
}

static int
spawn(pid_t *pid, const struct child_spec *spec, const int theirs[3])
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t all, none;
	int errnum;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setsigmask(&attributes, &none);
	/* A group of its own: Ctrl-C at a terminal is for us, and we end our
	 * containers in order. */
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes,
	    POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
	        POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_init(&actions);
	errnum = add_actions(&actions, theirs);
	if (errnum == 0)
		errnum = posix_spawn(pid, spec->argv[0], &actions, &attributes,
		    spec->argv, spec->envp);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return errnum;
}

static struct child *
child_new(
    struct children *children, const struct child_spec *spec, const int ours[3])
{
	struct child *child = xcalloc(1, sizeof(*child));

	child->children = children;
	child->callbacks = spec->callbacks;
	child->arg = spec->arg;
	child->input_fd = ours[0];
	child->linger = evtimer_new(children->base, on_linger, child);
	if (ours[0] >= 0) {
		child->input = evbuffer_new();
		child->writable = event_new(
		    children->base, ours[0], EV_WRITE, on_writable, child);
	}
	for (size_t i = 0; i < CHILD_STREAMS; i++) {
		struct stream *stream = &child->streams[i];

		stream->child = child;
		stream->which = (enum child_stream)i;
		stream->fd = ours[1 + i];
		stream->readable = event_new(children->base, stream->fd,
		    EV_READ | EV_PERSIST, on_readable, stream);
		watch(stream->readable, NULL);
	}
	TAILQ_INSERT_TAIL(&children->list, child, entry);
	return child;
}

/* Scripts that travel as one word are left out; there are no secrets here. */
static void
log_command(char *const *argv)
{
	char line[3000] = "";

	if (!log_is_verbose())
		return;
	for (; *argv != NULL; argv++) {
		strlcat(line, strchr(*argv, '\n') != NULL ? "..." : *argv,
		    sizeof(line));
		strlcat(line, " ", sizeof(line));
	}
	log_debug("%s", line);
}

struct child *
child_spawn(
    struct children *children, const struct child_spec *spec, struct err *err)
{
	struct plumbing plumbing;
	struct child *child;
	pid_t pid;
	int errnum;

	log_command(spec->argv);
	if (plumbing_open(&plumbing, spec->with_stdin, err) != 0)
		goto fail;
	errnum = spawn(&pid, spec, plumbing.theirs);
	if (errnum != 0) {
		err_system(err, errnum, "cannot start %s", spec->argv[0]);
		goto fail;
	}
	plumbing_close(plumbing.theirs);
	child = child_new(children, spec, plumbing.ours);
	child->pid = pid;
	return child;
fail:
	plumbing_close(plumbing.theirs);
	plumbing_close(plumbing.ours);
	return NULL;
}

void
child_write(struct child *child, const struct iovec *pieces, size_t count)
{
	if (child->input == NULL || child->input_ends)
		return;
	for (size_t i = 0; i < count; i++)
		evbuffer_add(
		    child->input, pieces[i].iov_base, pieces[i].iov_len);
	/* Now, rather than at the next turn of the loop: it mostly fits. */
	on_writable(child->input_fd, EV_WRITE, child);
}

void
child_finish_stdin(struct child *child)
{
	child->input_ends = true;
	if (child->input != NULL && evbuffer_get_length(child->input) == 0)
		child_close_stdin(child);
}

void
child_limit(struct child *child, int resource, size_t limit)
{
	const struct rlimit both = {.rlim_cur = limit, .rlim_max = limit};

	prlimit(child->pid, (enum __rlimit_resource)resource, &both, NULL);
}

/* With its whole group: the engine may be a script around another. */
static void
send_signal(const struct child *child, int number)
{
	if (!child->reaped)
		kill(-child->pid, number);
}

void
child_kill(struct child *child)
{
	send_signal(child, SIGKILL);
}

void
child_ask(struct child *child)
{
	send_signal(child, SIGTERM);
	if (!child->asked)
		evtimer_add(child->linger, &linger);
	child->asked = true;
}

void
child_abandon(struct child *child)
{
	child->callbacks = NULL;
}

static bool
is_program(const char *path)
{
	struct stat status;

	return access(path, X_OK) == 0 && stat(path, &status) == 0 &&
	    S_ISREG(status.st_mode);
}

/* Children are started from another directory.  Links are left alone: some
 * programs go by the name that they are called by. */
static char *
absolute(const char *path)
{
	char *directory, *result;

	if (*path == '/')
		return xstrdup(path);
	directory = get_current_dir_name();
	result = xasprintf("%s/%s", directory != NULL ? directory : "", path);
	free(directory);
	return result;
}

char *
child_find_program(const char *name)
{
	const char *path = getenv("PATH"), *end;

	if (strchr(name, '/') != NULL)
		return is_program(name) ? absolute(name) : NULL;
	for (; path != NULL && *path != '\0'; path = end + (*end == ':')) {
		char *candidate, *found;

		end = strchrnul(path, ':');
		candidate = xasprintf("%.*s/%s", (int)(end - path), path, name);
		found = end > path && is_program(candidate)
		    ? absolute(candidate)
		    : NULL;
		free(candidate);
		if (found != NULL)
			return found;
	}
	return NULL;
}
