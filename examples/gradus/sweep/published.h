/*
 * published.h - whether published values belong beside a sweep: only where it does what the publication says it did.
 * The pictures' size, filter and split, the number of epochs, rates, augmentation, precision: what a sweep has set
 * otherwise than its recipe is a departure, and any departure keeps published values out of its pictures.
 */
#ifndef GRADUS_PUBLISHED_H
#define GRADUS_PUBLISHED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "recipes/recipe.h"

#define DEPARTURES_NOTE "departures" /* key of the note in sweep.json by which scripts/plot_sweep.py decides */

/* What identity, a sweep.json, has set otherwise than recipe r: ["--resize 16"]. A new reference. */
json_t *published_departures(const json_t *identity, const recipe *r);

/* A line of examples/published.csv. */
typedef struct {
    char text[1024]; /* which the others lie in */
    const char *source, *experiment, *quantity, *series;
    int64_t batch;
    double value;
    bool approximate; /* "around 62" */
} published_line;

/* Opens the file that belongs to the program. NULL: complained of in command's name, and *code is set. */
FILE *published_open(const char *command, int *code);

/* The next line. False: there is none. */
bool published_next(FILE *f, published_line *line);

/* Returns 0, or GR_IO_ERROR where not all could be read, complained of in command's name. */
int published_close(FILE *f, const char *command);

/*
 * The accuracies that a recipe's results may stand beside: [{"source", "series", "batch", "value", "approximate",
 * "rerun"}], rerun true for other programs' runs of this recipe. Empty where there are none. A new reference; NULL:
 * complained of in command's name, with the exit code in *code.
 */
json_t *published_values(const recipe *r, const char *command, int *code);

#endif
