#include "engine/descriptors.h"

#include <sys/resource.h>

/* The loop, the log, connections that have just been taken, ... */
#define OTHERS 256
/* A CLI has three pipes, and one that removes or copies runs beside it. */
#define PER_PROGRAM 6
/* With fewer there is no point in listening. */
#define CONNECTIONS_MIN 16

static rlim_t
for_programs(const struct settings *settings)
{
	size_t offered = 0;
	rlim_t spares;

	for (size_t i = 0; i < settings->languages.count; i++)
		offered += settings->languages.on[i];
	/* Spares are kept with and without a network, see pool.c. */
	spares = settings->pool == 0 ? 0
	                             : (rlim_t)settings->max_parallel +
	        2 * (rlim_t)settings->pool * offered;
	return OTHERS +
	    PER_PROGRAM *
	    ((rlim_t)settings->max_parallel + (rlim_t)settings->max_sessions +
	        spares);
}

int
descriptors_reserve(const struct settings *settings, int connections)
{
	rlim_t programs = for_programs(settings);
	rlim_t wanted = programs + (rlim_t)connections;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
		return connections;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < programs + CONNECTIONS_MIN)
		return CONNECTIONS_MIN;
	return (int)(limit.rlim_cur - programs);
}
