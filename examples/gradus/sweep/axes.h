/*
 * axes.h - options of the protocol that a sweep varies: "--lr 0.01,0.03 --precision fp32,bf16" are two axes of two
 * values, four variants of the protocol. A variant has a name, "lr=0.01 precision=fp32", by which rows are known.
 */
#ifndef GRADUS_AXES_H
#define GRADUS_AXES_H

#include "settings/settings.h"

enum { MAX_AXES = 6, AXIS_MAX = 16, AXIS_WORD = 64, VARIANT_NAME = MAX_AXES * (AXIS_WORD + 24) };

typedef struct {
    const option *option;
    int n;
    char words[AXIS_MAX][AXIS_WORD]; /* values, as they were given */
} axis;

typedef struct {
    axis list[MAX_AXES];
    int n;
} axes;

/*
 * Finds the lists on a command line and cuts each off behind its first value. Their order is always that of the
 * options, so that a sweep is the same one however its command is typed. What the pictures are
 * (their size, split and filter) is the same for all cells and cannot be a list. The values of --augment, which have
 * commas of their own, have semicolons between them, unless all are none and published. Returns 0 or GR_USAGE,
 * complained of.
 */
int axes_take(axes *a, int argc, char **argv);

int axes_count(const axes *a); /* variants; 1: no list */

/* Puts the values of a variant into settings; they are known to be good. */
void axes_apply(const axes *a, int variant, settings *s);

/* Its name into text, which is returned; "" without axes. */
const char *axes_name(const axes *a, int variant, char text[VARIANT_NAME]);

/*
 * A variant's name with its values in the order that axes_take() gives them, whatever order they stand in: text, or
 * name itself where it is no variant's.
 */
const char *axes_ordered(const char *name, char text[VARIANT_NAME]);

/* Adds the values of a variant by its name. Returns 0 or GR_BAD_DATA, complained of. */
int axes_add(axes *a, const char *name);

#endif
