#ifndef BATCH_H
#define BATCH_H

#include "mcp/outlet.h"

/*
 * A JSON-RPC batch: the responses to its requests are gathered, and sent as
 * one array when the last of them is there.
 */

struct batch;

struct batch *batch_new(const struct outlet *outlet);
/* One more of its messages will be answered. */
void batch_expect(struct batch *batch);
/* Where the responses of its requests are to go. */
void batch_outlet(struct batch *batch, struct outlet *outlet);
/* All its messages have been handled; it sends the array, now or later, and
 * frees itself. */
void batch_close(struct batch *batch);

#endif
