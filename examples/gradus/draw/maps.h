/* maps.h - what pictures become in each layer of a trained network: its activations, for the page. */
#ifndef GRADUS_DRAW_MAPS_H
#define GRADUS_DRAW_MAPS_H

#include <jansson.h>

#include "gradus.h"

/*
 * Gives each of the page's layers that computes "maps": {"n" tiles in "columns", "size": [P, Q], "channels": 1, "of":
 * channels in all, "every": the points shown, 1: all, "low" and "high", "levels": [a text for each picture]}. A tile is
 * a channel; of a layer without width and height all values stand in one tile, row by row. Pictures are those of set,
 * a few. False: the context tells, or no memory.
 */
bool maps_add(gr_context *ctx, gr_module *net, gr_dataset *set, json_t *layers);

#endif
