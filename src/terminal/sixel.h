#ifndef SIXEL_H
#define SIXEL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Sixel pictures from PNGs, made by a program on PATH that can: img2sixel or
 * chafa.  It gets a few seconds, and what it makes must look like a sixel.
 * Has an event loop of its own; not to be used beside another that reaps
 * children.
 */

bool sixel_is_there(void);
/* NULL when there is no such program, or it failed. */
char *sixel_convert(char *png, size_t length, size_t *converted_length);

#endif
