/*
 * recipe.h - the published experiments as data: what is read, how it is split, what is trained and for how long, and
 * what is odd about the publication.
 */
#ifndef GRADUS_RECIPE_H
#define GRADUS_RECIPE_H

#include <stdio.h>

#include "gradus.h"

typedef struct format format; /* sources/format.h: what its data lie in */

/* Samples per class of each part; all zero: the data set brings its own parts. */
typedef struct {
    int64_t train, val, test;
} recipe_split;

/* A recipe's value for a parameter of settings/optimizers.h. */
typedef struct {
    const char *parameter;
    double value;
} recipe_setting;

/* A recipe's value for an option of the protocol, by its name without dashes. */
typedef struct {
    const char *option, *value;
} recipe_option;

/* What a recipe has for an optimizer; the others take theirs from the one that they are like. */
typedef struct {
    const char *name;
    double lr;
    recipe_setting numbers[6]; /* ends with one without a name */
    const char *lr_scale;      /* what --lr-scale is beside this rate, not with --model; NULL: nothing */
} recipe_optimizer;

enum { RECIPE_OPTIMIZERS = 3 };

typedef struct {
    const char *name, *title, *source;
    const format *format;
    const char *data;            /* the data set's name, as rows show it */
    const char *download;        /* what scripts/get_data.sh calls it; NULL: it does not know it */
    int height, width;           /* of the pictures as the network sees them; of a table, 1 and its features */
    gr_normalise_args normalise; /* zero: x/255 */
    recipe_split split;
    recipe_split procedural;       /* of the built-in pictures that may stand in */
    const char *augment;           /* the usual plan; NULL: none */
    const char *published_augment; /* what --augment published stands for; NULL: nothing was published */
    int classes;                   /* that its network tells apart; 0: as many as the data have */
    gr_module *(*net)(gr_context *ctx, int classes);
    const char *optimizer;                          /* the usual one */
    recipe_optimizer optimizers[RECIPE_OPTIMIZERS]; /* sgd and adam at least */
    gr_schedule_kind lr_schedule;
    recipe_option options[8];     /* for what nobody asks otherwise; ends with one without a name */
    recipe_option net_options[5]; /* the same of options that name parameters: not with --model */
    int64_t batch, epochs;        /* the usual ones */
    gr_last_batch last_batch;
    const char *grid_batches, *grid_optimizers; /* of a sweep that names none */
    const char *words[8];                       /* the recipe told, ends with NULL */
    const char *oddities[10];                   /* ends with NULL */
    const char *unequal_updates; /* what epochs hide, and how many updates they are; NULL: nothing to tell */
} recipe;

extern const recipe recipes[]; /* ends with one without a name */

/* The recipe of that name. NULL, with a complaint on stderr, for another name or none. */
const recipe *recipe_find(const char *name, const char *command);

/* What it has for the optimizer of that name: sgd and adam always; NULL: nothing. */
const recipe_optimizer *recipe_optimizer_named(const recipe *r, const char *name);

/* Its value for a parameter; NULL: it has none. */
const double *recipe_number(const recipe_optimizer *o, const char *parameter);

/* Name of recipe i; NULL behind the last. */
const char *recipe_name(int i);

void recipe_list(void);
void recipe_explain(const recipe *r);

/* What to keep in mind of results; by_epochs: of runs of as many epochs each, and so of fewer updates at a larger
 * batch. */
void recipe_print_oddities(const recipe *r, bool by_epochs, FILE *f);

#endif
