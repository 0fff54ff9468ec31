#include "transport/http_listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <bsd/string.h>

#include <event2/event.h>
#include <event2/listener.h>

#include "base/alloc.h"

#define BACKLOG 128
#define LISTENER_FLAGS \
	(LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE)

static bool
is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET) {
		struct sockaddr_in v4;

		memcpy(&v4, address, sizeof(v4));
		return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
	}
	if (address->sa_family == AF_INET6) {
		struct sockaddr_in6 v6;

		memcpy(&v6, address, sizeof(v6));
		return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
	}
	return false;
}

/* With --port 0 the system has chosen one. */
static int
bound_port(struct evconnlistener *listener)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);
	char port[16] = "0";

	if (getsockname(evconnlistener_get_fd(listener),
	        (struct sockaddr *)&address, &length) == 0)
		getnameinfo((struct sockaddr *)&address, length, NULL, 0, port,
		    sizeof(port), NI_NUMERICSERV);
	return (int)strtol(port, NULL, 10);
}

static int
open_tcp(struct http_listen *listen, struct event_base *base,
    const struct settings *settings, struct err *err)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC,
	    .ai_socktype = SOCK_STREAM,
	    .ai_flags = AI_PASSIVE};
	struct addrinfo *found;
	char port[16];
	int problem;

	snprintf(port, sizeof(port), "%d", settings->port);
	problem = getaddrinfo(settings->host, port, &hints, &found);
	if (problem != 0)
		return err_set(err, ERR_SYSTEM, "--host %s: %s", settings->host,
		    gai_strerror(problem));
	listen->loopback = is_loopback(found->ai_addr);
	listen->listener = evconnlistener_new_bind(base, NULL, NULL,
	    LISTENER_FLAGS, BACKLOG, found->ai_addr, (int)found->ai_addrlen);
	problem = errno;
	freeaddrinfo(found);
	if (listen->listener == NULL)
		return err_system(err, problem, "cannot listen on %s port %d",
		    settings->host, settings->port);
	listen->address =
	    xasprintf(strchr(settings->host, ':') != NULL ? "http://[%s]:%d%s"
	                                                  : "http://%s:%d%s",
	        settings->host, bound_port(listen->listener), settings->path);
	return 0;
}

/* What connect() to it gives: 0, or an errno. */
static int
try_socket(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int problem = 0;

	if (fd < 0 ||
	    connect(fd, (const struct sockaddr *)address, sizeof(*address)) !=
	        0)
		problem = errno;
	if (fd >= 0)
		close(fd);
	return problem;
}

/* A socket that a server left behind is in the way.  One that answers is
 * somebody's, and so is one with too many at its door. */
static int
clear_stale_socket(const struct sockaddr_un *address, struct err *err)
{
	struct stat status;
	int problem;

	if (lstat(address->sun_path, &status) != 0)
		return 0;
	if (!S_ISSOCK(status.st_mode))
		return err_set(err, ERR_SYSTEM,
		    "%s is there already, and is not a socket",
		    address->sun_path);
	problem = try_socket(address);
	if (problem == 0 || problem == EAGAIN)
		return err_set(err, ERR_SYSTEM,
		    "another server listens on %s already", address->sun_path);
	if (problem != ECONNREFUSED)
		return err_system(err, problem, "%s", address->sun_path);
	unlink(address->sun_path);
	return 0;
}

static int
open_unix(struct http_listen *listen, struct event_base *base, const char *path,
    struct err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status;
	mode_t old_mask;
	int problem;

	if (strlcpy(address.sun_path, path, sizeof(address.sun_path)) >=
	    sizeof(address.sun_path))
		return err_set(err, ERR_SYSTEM,
		    "the path of a socket has at most %zu bytes: %s",
		    sizeof(address.sun_path) - 1, path);
	if (clear_stale_socket(&address, err) != 0)
		return -1;
	old_mask = umask(0177);
	listen->listener =
	    evconnlistener_new_bind(base, NULL, NULL, LISTENER_FLAGS, BACKLOG,
	        (struct sockaddr *)&address, sizeof(address));
	problem = errno;
	umask(old_mask);
	if (listen->listener == NULL)
		return err_system(err, problem, "cannot listen on %s", path);
	listen->loopback = true;
	listen->socket = xstrdup(path);
	if (lstat(path, &status) == 0) {
		listen->device = status.st_dev;
		listen->inode = status.st_ino;
	}
	listen->address = xasprintf("unix:%s", path);
	return 0;
}

int
http_listen_open(struct http_listen *listen, struct event_base *base,
    const struct settings *settings, struct err *err)
{
	*listen = (struct http_listen){0};
	if (settings->listen != NULL)
		return open_unix(
		    listen, base, settings->listen + strlen("unix:"), err);
	return open_tcp(listen, base, settings, err);
}

void
http_listen_release(struct http_listen *listen)
{
	struct stat status;

	/* Somebody may have put another one in its place. */
	if (listen->socket != NULL && lstat(listen->socket, &status) == 0 &&
	    status.st_dev == listen->device && status.st_ino == listen->inode)
		unlink(listen->socket);
	free(listen->socket);
	free(listen->address);
	*listen = (struct http_listen){0};
}
