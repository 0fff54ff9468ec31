#ifndef REAP_H
#define REAP_H

/*
 * Removes containers whose server is dead: what a reboot, a broken engine or
 * an engine killed at the wrong moment left behind.  Runs once, beside the
 * first calls; a failure is only logged.
 */

struct engine;
struct reap;

struct reap *reap_start(struct engine *engine);
void reap_free(struct reap *reap);

#endif
