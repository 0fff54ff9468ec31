/*
 * Preloaded into the server: makes a chosen call fail, when the test says so.
 *
 * The test shares a file with us, INJECT_FILE: struct plan.  It writes which
 * call is to fail, the how manyth from now on, how often and with what error;
 * we count.  The server's children do not get LD_PRELOAD in their environment,
 * and between vfork and exec the C library does not come through here.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* All of it is the test's, but for seen and failed. */
struct plan {
	char call[48];
	int32_t skip;  /* let so many pass */
	int32_t times; /* and have so many fail */
	int32_t error;
	int32_t seen;   /* calls by this name */
	int32_t failed; /* of them, that we made fail */
};

static struct plan *plan;

__attribute__((constructor)) static void
map_plan(void)
{
	const char *path = getenv("INJECT_FILE");
	int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *shared;

	if (fd < 0)
		abort();
	shared = mmap(
	    NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (shared == MAP_FAILED)
		abort();
	plan = shared;
}

static int
fails(const char *call)
{
	int turn;

	if (plan == NULL || strcmp(plan->call, call) != 0)
		return 0;
	turn = plan->seen++ - plan->skip;
	if (turn < 0 || turn >= plan->times)
		return 0;
	plan->failed++;
	errno = plan->error;
	return 1;
}

/* A call that returns -1, or what is said, when it fails. */
#define WRAP_AS(type, failure, name, parameters, arguments) \
	type name parameters \
	{ \
		static __typeof__(&name) real; \
\
		if (fails(#name)) \
			return failure; \
		if (real == NULL) \
			*(void **)&real = dlsym(RTLD_NEXT, #name); \
		return real arguments; \
	}
#define WRAP(type, name, parameters, arguments) \
	WRAP_AS(type, -1, name, parameters, arguments)

WRAP(int, pipe2, (int fds[2], int flags), (fds, flags))
WRAP(ssize_t, read, (int fd, void *data, size_t size), (fd, data, size))
WRAP(ssize_t, writev, (int fd, const struct iovec *parts, int count),
    (fd, parts, count))
WRAP(pid_t, waitpid, (pid_t pid, int *status, int options),
    (pid, status, options))
WRAP(int, memfd_create, (const char *name, unsigned flags), (name, flags))
WRAP(int, epoll_create1, (int flags), (flags))
WRAP(int, epoll_ctl, (int epoll, int what, int fd, struct epoll_event *event),
    (epoll, what, fd, event))
WRAP(int, epoll_wait,
    (int epoll, struct epoll_event *events, int count, int wait),
    (epoll, events, count, wait))
WRAP(int, sigaction,
    (int number, const struct sigaction *action, struct sigaction *old),
    (number, action, old))
WRAP(
    int, socket, (int domain, int type, int protocol), (domain, type, protocol))
WRAP(int, accept4,
    (int fd, struct sockaddr *address, socklen_t *length, int flags),
    (fd, address, length, flags))
WRAP_AS(int, plan->error, posix_spawn,
    (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
        const posix_spawnattr_t *attributes, char *const argv[],
        char *const envp[]),
    (pid, path, actions, attributes, argv, envp))
WRAP_AS(int, plan->error, posix_spawn_file_actions_adddup2,
    (posix_spawn_file_actions_t * actions, int from, int to),
    (actions, from, to))
WRAP_AS(int, plan->error, posix_spawn_file_actions_addclosefrom_np,
    (posix_spawn_file_actions_t * actions, int from), (actions, from))
WRAP_AS(int, plan->error, posix_spawn_file_actions_addchdir_np,
    (posix_spawn_file_actions_t * actions, const char *path), (actions, path))

ssize_t
write(int fd, const void *data, size_t size)
{
	static __typeof__(&write) real;

	/* One byte is libevent's: from a signal's handler to its loop, through
	 * a pipe of its own, which is never full. */
	if (size > 1 && fails("write"))
		return -1;
	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "write");
	return real(fd, data, size);
}

int
fcntl(int fd, int what, ...)
{
	static int (*real)(int, int, ...);
	va_list ap;
	void *arg;

	va_start(ap, what);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (fails("fcntl"))
		return -1;
	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "fcntl");
	return real(fd, what, arg);
}

int
open(const char *path, int flags, ...)
{
	static int (*real)(const char *, int, ...);
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	if (fails("open"))
		return -1;
	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "open");
	return real(path, flags, mode);
}

/* dlsym allocates, so these know where to go.  One name for all of them: to
 * the server it is all memory. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *
malloc(size_t size)
{
	return fails("malloc") ? NULL : __libc_malloc(size);
}

void *
calloc(size_t count, size_t size)
{
	return fails("malloc") ? NULL : __libc_calloc(count, size);
}

void *
realloc(void *old, size_t size)
{
	return fails("malloc") ? NULL : __libc_realloc(old, size);
}
