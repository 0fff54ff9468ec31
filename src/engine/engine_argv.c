#include "engine/engine_argv.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "scripts.h"

/*
 * What each flag is for stands in code-sandbox-mcp-security(7).
 *
 * The sizes of the temporary file systems count against the memory limit.
 * noexec is written out: podman leaves it off by default, docker on.  Programs
 * install and load packages in the working directory, so it is exec there.
 */
static const struct {
	const char *flag;
	const char *name; /* for --loosen; NULL: always there */
} hardening[] = {
    {"--cap-drop=ALL", "capabilities"},
    {"--security-opt=no-new-privileges", "no-new-privileges"},
    {"--user=65534:65534", "user"},
    {"--tmpfs=/tmp:rw,nosuid,nodev,noexec,size=64m,mode=1777", NULL},
    {"--shm-size=64m", NULL},
    {"--ipc=private", NULL},
    {"--cgroupns=private", NULL},
    {"--hostname=sandbox", NULL},
    {"--log-driver=none", NULL},
    {"--stop-signal=SIGKILL", NULL},
    {"--stop-timeout=1", NULL},
    {"--no-healthcheck", NULL},
    {"--restart=no", NULL},
    {"--oom-score-adj=500", NULL},
    {"--workdir=" CONTAINER_WORKDIR, NULL},
    {"--env=HOME=" CONTAINER_HOME, NULL},
};
#define HARDENING_COUNT (sizeof(hardening) / sizeof(hardening[0]))

#define READ_ONLY "read-only"

/*
 * runc before 1.2 gives a tmpfs the owner and mode of the directory that the
 * image has in its place, so only directories that no image has are sure to be
 * writable: the home directory, in which the runner works if it cannot write
 * to the working directory, and its own.
 */
static const char *const file_systems[] = {
    "--tmpfs=" CONTAINER_WORKDIR ":rw,nosuid,nodev,exec,size=256m,mode=1777",
    "--tmpfs=" CONTAINER_HOME ":rw,nosuid,nodev,exec,size=256m,mode=1777",
    "--tmpfs=/run:rw,nosuid,nodev,noexec,size=1m,mode=755",
    "--tmpfs=" RUNNER_DIRECTORY ":rw,nosuid,nodev,noexec,size=1m,mode=1777",
    "--tmpfs=/var/tmp:rw,nosuid,nodev,noexec,size=1m,mode=1777",
    NULL,
};

#define NOFILE_LIMIT 1024
#define NPROC_LIMIT 4096
#define FILE_SIZE_LIMIT (256L * 1024 * 1024)

int
engine_argv_check_loosened(const char *name, struct err *err)
{
	bool known = strcmp(name, READ_ONLY) == 0;

	for (size_t i = 0; i < HARDENING_COUNT; i++)
		known |= hardening[i].name != NULL &&
		    strcmp(name, hardening[i].name) == 0;
	if (known)
		return 0;
	return err_set(err, ERR_ARGUMENT,
	    "--loosen: \"%s\" is none of capabilities, no-new-privileges, "
	    "user, read-only",
	    name);
}

/* The words every command begins with. */
static void
add_engine(struct strlist *argv, const struct engine_traits *traits)
{
	strlist_add(argv, traits->path);
	if (traits->kind == ENGINE_PODMAN && traits->runtime != NULL) {
		strlist_addf(argv, "--runtime=%s", traits->runtime);
	}
}

static void
add_command(struct strlist *argv, const struct engine_traits *traits,
    const char *const *words)
{
	add_engine(argv, traits);
	strlist_add_all(argv, words);
}

/* Never above our own hard limit. */
static void
add_ulimit(struct strlist *argv, const char *what, long wanted, rlim_t hard)
{
	long value = hard != RLIM_INFINITY && hard < (rlim_t)wanted ? (long)hard
	                                                            : wanted;

	strlist_addf(argv, "--ulimit=%s=%ld:%ld", what, value, value);
}

static void
add_limits(struct strlist *argv, const struct engine_traits *traits,
    const struct container_spec *spec)
{
	const struct container_limits *limits = &spec->limits;
	long processes = NPROC_LIMIT;

	if (traits->lacks[CONTROLLER_MEMORY]) {
		add_ulimit(argv, "data",
		    limits->memory_bytes + spec->language->reserved_bytes,
		    traits->hard_data);
	} else {
		strlist_addf(argv, "--memory=%s", limits->memory);
		strlist_addf(argv, "--memory-swap=%s", limits->memory);
	}
	/* Left out, because an engine may refuse what it cannot hold. */
	if (!traits->lacks[CONTROLLER_CPU])
		strlist_addf(argv, "--cpus=%s", limits->cpus);
	if (traits->lacks[CONTROLLER_PIDS])
		processes = limits->pids;
	else
		strlist_addf(argv, "--pids-limit=%d", limits->pids);
	/* nofile and nproc together: with one of them alone podman asks for
	 * its own default of the other, which may be more than it can get. */
	add_ulimit(argv, "nofile", NOFILE_LIMIT, traits->hard_nofile);
	add_ulimit(argv, "nproc", processes, traits->hard_nproc);
	add_ulimit(argv, "core", 0, 0);
	add_ulimit(argv, "fsize", FILE_SIZE_LIMIT, traits->hard_fsize);
	if (limits->network != NULL)
		strlist_addf(argv, "--network=%s", limits->network);
}

static bool
is_loosened(const struct container_spec *spec, const char *name)
{
	return name != NULL && strlist_contains(spec->loosened, name);
}

/*
 * Otherwise podman hands the proxy settings of its own environment, and docker
 * those of its config.json, passwords included, to the program.  docker leaves
 * those alone that are asked for, and a name without a value, which the CLI's
 * environment has for what is passed through only, is no variable at all.
 */
static void
add_no_proxy(struct strlist *argv, const struct engine_traits *traits)
{
	static const char *const flags[] = {"--env=HTTP_PROXY",
	    "--env=http_proxy", "--env=HTTPS_PROXY", "--env=https_proxy",
	    "--env=FTP_PROXY", "--env=ftp_proxy", "--env=ALL_PROXY",
	    "--env=all_proxy", "--env=NO_PROXY", "--env=no_proxy", NULL};

	if (traits->kind == ENGINE_PODMAN)
		strlist_add(argv, "--http-proxy=false");
	else
		strlist_add_all(argv, flags);
}

/* All that run and create have in common, up to the image. */
static void
add_container(struct strlist *argv, const struct engine_traits *traits,
    const struct container_spec *spec)
{
	strlist_add(argv, "--interactive");
	strlist_addf(argv, "--name=%s", spec->name);
	strlist_addf(argv, "--label=" OWNER_LABEL "=%s", spec->owner);
	strlist_add(argv, "--pull=never");
	if (traits->kind == ENGINE_DOCKER && traits->runtime != NULL) {
		strlist_addf(argv, "--runtime=%s", traits->runtime);
	}
	add_no_proxy(argv, traits);
	/* A volume of the image would be a place on the host's disk. */
	if (traits->kind == ENGINE_PODMAN)
		strlist_add(argv, "--image-volume=ignore");
	for (size_t i = 0; i < HARDENING_COUNT; i++)
		if (!is_loosened(spec, hardening[i].name))
			strlist_add(argv, hardening[i].flag);
	if (traits->seccomp != NULL)
		strlist_addf(
		    argv, "--security-opt=seccomp=%s", traits->seccomp);
	add_limits(argv, traits, spec);
	for (size_t i = 0; i < spec->pass_env->count; i++) {
		strlist_addf(argv, "--env=%s", spec->pass_env->items[i]);
	}
}

/* One word a line. */
static void
add_lines(struct strlist *argv, const char *const *words)
{
	char *text = xstrdup("");

	for (; words != NULL && *words != NULL; words++) {
		char *longer = xasprintf("%s%s\n", text, *words);

		free(text);
		text = longer;
	}
	strlist_add(argv, text);
	free(text);
}

static void
add_runner(struct strlist *argv, const struct container_spec *spec)
{
	const struct language *language = spec->language;
	bool hooked = spec->mode == CONTAINER_WARM && language->hook != NULL;

	strlist_add_all(argv,
	    (const char *[]){"-c", script_runner_sh, "runner", spec->nonce,
	        language->file, spec->preload, NULL});
	add_lines(argv, language->install);
	strlist_add(argv, hooked ? language->hook_variable : "");
	strlist_add(argv, hooked ? language->hook_value : "");
	strlist_add(argv, hooked ? language->hook_separator : "");
	/* The other files come on stdin. */
	if (hooked) {
		strlist_add(argv, language->hook->name);
		strlist_add(argv, language->hook->text);
	}
	strlist_add(argv, "--");
	strlist_add_all(argv, language->command);
}

static void
add_loader(struct strlist *argv, const struct container_spec *spec)
{
	const struct language *language = spec->language;

	strlist_add_all(argv, language->loader + 1);
	strlist_add(argv, spec->nonce);
	strlist_add(argv, language->file);
	strlist_add_all(argv, language->command);
}

void
engine_argv_run(struct strlist *argv, const struct engine_traits *traits,
    const struct container_spec *spec)
{
	add_engine(argv, traits);
	strlist_add(argv, "run");
	strlist_add(argv, "--rm");
	add_container(argv, traits, spec);
	if (!is_loosened(spec, READ_ONLY))
		strlist_add(argv, "--" READ_ONLY);
	strlist_add_all(argv, file_systems);
	strlist_addf(argv, "--entrypoint=%s",
	    spec->mode == CONTAINER_LOADED ? *spec->language->loader : "sh");
	strlist_add(argv, "--");
	strlist_add(argv, spec->image);
	if (spec->mode == CONTAINER_LOADED)
		add_loader(argv, spec);
	else
		add_runner(argv, spec);
}

void
engine_argv_create(struct strlist *argv, const struct engine_traits *traits,
    const struct container_spec *spec)
{
	const char *const *command = spec->language->command;

	add_engine(argv, traits);
	strlist_add(argv, "create");
	strlist_add(argv, "--rm");
	add_container(argv, traits, spec);
	/* Not read-only: docker cannot copy into a container that is, none can
	 * copy into a tmpfs that is not mounted yet, and the program would have
	 * no directory of its own to write to. */
	strlist_addf(argv, "--entrypoint=%s", *command++);
	strlist_add(argv, "--");
	strlist_add(argv, spec->image);
	strlist_add_all(argv, command);
}

void
engine_argv_copy_in(
    struct strlist *argv, const struct engine_traits *traits, const char *name)
{
	add_command(argv, traits, (const char *[]){"cp", "-", NULL});
	strlist_addf(argv, "%s:/", name);
}

void
engine_argv_start(
    struct strlist *argv, const struct engine_traits *traits, const char *name)
{
	add_command(argv, traits,
	    (const char *[]){"start", "--attach", "--interactive", name, NULL});
}

void
engine_argv_remove(
    struct strlist *argv, const struct engine_traits *traits, const char *name)
{
	add_command(argv, traits,
	    (const char *[]){"rm", "--force", "--volumes", name, NULL});
}

void
engine_argv_info(struct strlist *argv, const struct engine_traits *traits)
{
	static const char *const formats[] = {
	    [ENGINE_PODMAN] =
	        "{{.Host.OCIRuntime.Name}} {{.Host.CgroupsVersion}} "
	        "{{.Host.CgroupControllers}}",
	    [ENGINE_DOCKER] = "{{.DefaultRuntime}} v{{.CgroupVersion}} "
	                      "[{{if .MemoryLimit}}memory{{end}}{{if "
	                      ".PidsLimit}} pids{{end}}{{if "
	                      ".CPUCfsQuota}} cpu{{end}}]",
	};

	add_command(argv, traits,
	    (const char *[]){"info", "--format", formats[traits->kind], NULL});
}

void
engine_argv_image_inspect(
    struct strlist *argv, const struct engine_traits *traits, const char *image)
{
	add_command(argv, traits,
	    (const char *[]){
	        "image", "inspect", "--format", "{{.Id}}", "--", image, NULL});
}

/* A name whose first part looks like that of a machine. */
static bool
has_registry(const char *image)
{
	size_t first = strcspn(image, "/");

	return image[first] == '/' &&
	    (memchr(image, '.', first) != NULL ||
	        memchr(image, ':', first) != NULL ||
	        (first == 9 && strncmp(image, "localhost", first) == 0));
}

void
engine_argv_pull(
    struct strlist *argv, const struct engine_traits *traits, const char *image)
{
	bool local = !has_registry(image) && traits->kind == ENGINE_PODMAN;

	add_command(argv, traits, (const char *[]){"pull", "--", NULL});
	/* What docker takes a short name for; podman would ask, or refuse. */
	strlist_addf(argv, "%s%s%s", local ? "docker.io/" : "",
	    local && strchr(image, '/') == NULL ? "library/" : "", image);
}

void
engine_argv_list_owned(struct strlist *argv, const struct engine_traits *traits)
{
	add_command(argv, traits,
	    (const char *[]){"ps", "--all", "--quiet", "--no-trunc", "--filter",
	        "label=" OWNER_LABEL, NULL});
}

void
engine_argv_inspect_owners(struct strlist *argv,
    const struct engine_traits *traits, const struct strlist *ids)
{
	add_command(argv, traits,
	    (const char *[]){"container", "inspect", "--format",
	        "{{index .Config.Labels \"" OWNER_LABEL "\"}} {{.Id}}", NULL});
	strlist_add_all(argv, (const char *const *)ids->items);
}
