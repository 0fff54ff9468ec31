#ifndef OPTION_VALUES_H
#define OPTION_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* The kinds of value that options have: each checks a word and puts what it
 * says into a field of the settings. */

struct option;
typedef int option_parse_fn(const struct option *option, void *field,
    const char *value, struct err *err);

struct option {
	const char *name;
	const char *argument; /* NULL: a switch */
	const char *environment[3];
	option_parse_fn *parse;
	size_t field;
	long long minimum, maximum;
	const char *initial;
	const char *help;
	bool http; /* only with --transport streamable-http */
	bool tcp;  /* not with a unix socket */
	bool run;  /* only with the command run */
};

option_parse_fn option_text;
option_parse_fn option_image;
option_parse_fn option_word;
option_parse_fn option_number;
option_parse_fn option_size;
option_parse_fn option_memory;
option_parse_fn option_cpus;
option_parse_fn option_switch;
option_parse_fn option_engine;
option_parse_fn option_interpreter;
option_parse_fn option_preload;
option_parse_fn option_transport;
option_parse_fn option_path;
option_parse_fn option_listen;
option_parse_fn option_seccomp;
/* These may be repeated: each value joins a struct strlist, that of a list as
 * all that is between its commas. */
option_parse_fn option_items;
option_parse_fn option_list;
option_parse_fn option_package;
option_parse_fn option_pattern;

/* A number of bytes, with k, m or g behind it if you like. */
int option_bytes(
    const char *value, long long minimum, long long maximum, long long *bytes);

#endif
