/* times.h - how long each layer took in updates that were profiled, for the page. */
#ifndef GRADUS_DRAW_TIMES_H
#define GRADUS_DRAW_TIMES_H

#include <jansson.h>

/*
 * From the folder of a profile: gives each of the page's layers "times": {"forward", "backward", "update": ms}, what
 * the profile has of them, and data "profile": {"ms" (of an update), "updates", "device", "isa", "threads", "layers"
 * (their ms together)}. The profile must be of the same recipe, batch size, optimizer and precision as data, and know
 * no other layers. Returns 0 or an exit code, complained of.
 */
int times_add(const char *folder, json_t *data, const char *command);

#endif
