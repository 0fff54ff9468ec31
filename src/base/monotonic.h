#ifndef MONOTONIC_H
#define MONOTONIC_H

#include <stdint.h>

/* Milliseconds on a clock that nobody sets. */
uint64_t monotonic_ms(void);

#endif
