/*
 * surface.h - the grid that a landscape is looked at on, and what was found there.
 *
 *   two weights A, B      a line: (1 - x) A + x B
 *   three, A, B, C        a plane: (1 - x - y) A + x B + y C
 *   A alone               a plane of two random directions D, E: A + x D + y E
 */
#ifndef GRADUS_SURFACE_H
#define GRADUS_SURFACE_H

#include <jansson.h>
#include <stdio.h>

#include "gradus.h"

typedef enum { LINE, PLANE, RANDOM_PLANE } surface_kind;

typedef struct {
    double x, y;
    gr_metrics train, test; /* samples 0: there is no such part */
} surface_point;

typedef struct {
    surface_kind kind;
    int n;
    surface_point *points;      /* y turns slowest */
    const char *const *weights; /* the files, NULL behind the last */
    const char *recipe, *data, *statistics;
    int64_t batch, seed;
} surface;

/* How many places the grid has that surface_open would make. */
double surface_places(surface_kind kind, int steps, double reach);

/*
 * A grid of that kind, with so many steps from 0 to 1 (of a random plane: to its edge), to reach beyond 0 and 1. All of
 * A, B and C are on it. At most INT_MAX places. False: no memory.
 */
bool surface_open(surface *s, surface_kind kind, int steps, double reach);
void surface_close(surface *s);

/* What the terms of a place are to be multiplied by. */
void surface_factors(const surface *s, const surface_point *p, double factors[3]);

/* {"kind", "recipe", ..., "points", "barrier", "rows"}. A new reference; NULL: no memory. */
json_t *surface_json(const surface *s);

/* "x,y,train_loss,..." and a line for each point. */
void surface_write_csv(const surface *s, FILE *f);

void surface_print(const surface *s);

#endif
