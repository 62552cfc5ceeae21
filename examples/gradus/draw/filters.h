/* filters.h - the filters of trained convolutions for the page. */
#ifndef GRADUS_DRAW_FILTERS_H
#define GRADUS_DRAW_FILTERS_H

#include <jansson.h>

#include "gradus.h"

/*
 * Gives each of the page's layers that has filters [K, R, S, C] "filters": {"n" tiles in "columns", "size": [R, S],
 * "channels": 3 (colours) or 1, "of": [K, C], "high": the largest weight by its size, "levels": from -high to high}. On
 * three channels a tile is a filter; on others a row of tiles is a filter, a tile what it does with a channel. False:
 * the context tells, or no memory.
 */
bool filters_add(gr_module *net, json_t *layers);

#endif
