/*
 * published.h - whether published values belong beside a sweep: only where it does what the publication says it did.
 * The pictures' size, filter and split, the number of epochs, rates, augmentation, precision: what a sweep has set
 * otherwise than its recipe is a departure, and any departure keeps published values out of its pictures.
 */
#ifndef GRADUS_PUBLISHED_H
#define GRADUS_PUBLISHED_H

#include <jansson.h>

#include "recipes/recipe.h"

#define DEPARTURES_NOTE "departures" /* key of the note in sweep.json by which scripts/plot_sweep.py decides */

/* What identity, a sweep.json, has set otherwise than recipe r: ["--resize 16"]. A new reference. */
json_t *published_departures(const json_t *identity, const recipe *r);

/*
 * The lines of published.csv that a recipe's results may stand beside: [{"source", "series", "batch", "value",
 * "approximate", "rerun"}], rerun true for other programs' runs of this recipe. Empty where there are none, or no such
 * file beside the program. A new reference.
 */
json_t *published_values(const recipe *r);

#endif
