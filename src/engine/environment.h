#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include "base/strlist.h"

/*
 * The environment that the engine's CLI starts with: what it needs to find and
 * reach its engine, the variables the user passes through to the program, and
 * one that makes it faster.  Nothing else of ours: a CLI may hand on what it
 * finds.
 */
void environment_for_engine(
    struct strlist *env, const struct strlist *pass_env);
/* With the proxy settings as well, for commands that talk to a registry. */
void environment_for_pull(struct strlist *env);

#endif
