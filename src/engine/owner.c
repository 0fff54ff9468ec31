#include "engine/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bsd/string.h>

static const char boot_id[] = "/proc/sys/kernel/random/boot_id";

struct owner {
	char machine[17];
	char boot[17];
	unsigned long long pid_namespace;
	int pid;
	unsigned long long start;
};

static void
read_text(const char *path, char *text, size_t size)
{
	ssize_t got = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		got = read(fd, text, size - 1);
		close(fd);
	}
	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

/* FNV-1a: enough to tell machines apart without naming them. */
static void
hash_hex(const char *text, char hex[17])
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	snprintf(hex, 17, "%016llx", (unsigned long long)hash);
}

/* When a process started, in ticks since boot; 0 when there is none. */
static unsigned long long
start_of(int pid)
{
	unsigned long long start = 0;
	char path[64], stat[1024];
	const char *rest;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	read_text(path, stat, sizeof(stat));
	/* The second field, the name, may hold anything: skip past it. */
	rest = strrchr(stat, ')');
	if (rest == NULL)
		return 0;
	/* The kernel writes numbers that fit. NOLINTNEXTLINE(cert-err34-c) */
	sscanf(rest + 1,
	    " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d"
	    " %*d %*d %*d %llu",
	    &start);
	return start;
}

static void
identify(struct owner *self)
{
	char text[256], host[128];
	struct stat status;

	*self = (struct owner){.pid = (int)getpid()};
	/* A machine without a name is another one after each boot: its orphans
	 * are left alone rather than those of its namesakes removed. */
	read_text("/etc/machine-id", text, sizeof(text));
	if (*text == '\0')
		read_text(boot_id, text, sizeof(text));
	if (gethostname(host, sizeof(host)) == 0) {
		host[sizeof(host) - 1] = '\0';
		strlcat(text, host, sizeof(text));
	}
	hash_hex(text, self->machine);
	read_text(boot_id, text, sizeof(text));
	hash_hex(text, self->boot);
	if (stat("/proc/self/ns/pid", &status) == 0)
		self->pid_namespace = status.st_ino;
	self->start = start_of(self->pid);
}

void
owner_self(char owner[OWNER_LENGTH])
{
	struct owner self;

	identify(&self);
	snprintf(owner, OWNER_LENGTH, "%s:%s:%llu:%d:%llu", self.machine,
	    self.boot, self.pid_namespace, self.pid, self.start);
}

bool
owner_is_dead(const char *owner)
{
	struct owner other, self;
	unsigned long long start;

	/* A number too large is nobody's. NOLINTNEXTLINE(cert-err34-c) */
	if (sscanf(owner, "%16[0-9a-f]:%16[0-9a-f]:%llu:%d:%llu", other.machine,
	        other.boot, &other.pid_namespace, &other.pid,
	        &other.start) != 5)
		return false;
	identify(&self);
	if (strcmp(other.machine, self.machine) != 0)
		return false;
	if (strcmp(other.boot, self.boot) != 0)
		return true;
	if (other.pid_namespace != self.pid_namespace)
		return false;
	start = start_of(other.pid);
	/* Where /proc hides the processes of others, it may be there. */
	if (start == 0)
		return kill(other.pid, 0) != 0 && errno == ESRCH;
	return start != other.start;
}
