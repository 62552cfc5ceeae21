/* walk.h - a landscape at work: weights, data, and the places one after the other. */
#ifndef GRADUS_WALK_H
#define GRADUS_WALK_H

#include "landscape/places.h"
#include "landscape/surface.h"
#include "train/weights_file.h"

#define LANDSCAPE "landscape" /* the command, in complaints */

extern const char *const statistics_names[];

/* What was asked. */
typedef struct {
    const char *out, *recipe;
    int64_t steps, samples, directions;
    double reach;
    choice statistics;
    settings run; /* data, device, threads, batch; size and augmentation from the weights */
} landscape_asks;

/* Everything at work. */
typedef struct {
    const landscape_asks *asks;
    gr_context *ctx;
    const char *files[MOST_TERMS + 1]; /* NULL behind the last */
    weights_notes notes[MOST_TERMS];
    resolved run;
    source data;
    gr_dataset *train, *test; /* test NULL: there is no such part */
    gr_module *net;
    gr_optimizer *still; /* of no rate: what estimates statistics */
    places places;
    surface surface;
} landscape;

/* Reads and looks, with asks, ctx and files given. Returns 0 or an exit code, complained of; close in either case. */
int walk(landscape *l);
void walk_close(landscape *l);

#endif
