#ifndef IMAGE_H
#define IMAGE_H

#include "engine/engine.h"

/*
 * Images that were found missing.  Nobody asks the engine before a container
 * is started; when the start fails, image_ensure() finds out whether the image
 * is there and pulls it if not, once for all calls that wait for it.
 */

struct images;

struct image_callbacks {
	void (*progress)(void *arg, const char *text);
	/* present: it was there all along; otherwise it has been pulled, or
	 * err says why not. */
	void (*done)(void *arg, bool present, const struct err *err);
};

struct images *images_new(struct engine *engine);
void images_free(struct images *images);
void image_ensure(struct images *images, const char *name,
    const struct image_callbacks *callbacks, void *arg);
void image_forget(struct images *images, void *arg);

#endif
