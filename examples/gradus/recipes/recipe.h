/*
 * recipe.h - the published experiments as data: what is read, how it is split, what is trained and for how long, and
 * what is odd about the publication.
 */
#ifndef GRADUS_RECIPE_H
#define GRADUS_RECIPE_H

#include <stdio.h>

#include "terminal/tool.h"

/* Samples per class of each part; all zero: the data set brings its own parts. */
typedef struct {
    int64_t train, val, test;
} recipe_split;

typedef struct {
    const char *name; /* "adam" */
    double lr;        /* of this recipe, as what follows */
    double momentum;  /* of sgd */
    bool nesterov;
    double weight_decay;
} recipe_optimizer;

enum { RECIPE_OPTIMIZERS = 2 };

typedef struct {
    const char *name, *title, *source;
    enum { RECIPE_IMAGE_FOLDER, RECIPE_CIFAR10, RECIPE_IDX, RECIPE_TABLE } format;
    const char *data;            /* the data set's name, as rows show it */
    const char *download;        /* what scripts/get_data.sh calls it; NULL: it does not know it */
    int height, width;           /* of the pictures as the network sees them; of a table, 1 and its features */
    gr_normalise_args normalise; /* zero: x/255 */
    recipe_split split;
    recipe_split procedural;       /* of the built-in pictures that may stand in */
    const char *augment;           /* the usual plan; NULL: none */
    const char *published_augment; /* what --augment published stands for; NULL: nothing was published */
    gr_module *(*net)(gr_context *ctx);
    const char *optimizer; /* the usual one */
    recipe_optimizer optimizers[RECIPE_OPTIMIZERS];
    const char *lr_schedule; /* one of lr_schedule_names; NULL: constant */
    int64_t batch, epochs;   /* the usual ones */
    const char *last_batch;
    const char *grid_batches, *grid_optimizers; /* of a sweep that names none */
    const char *words[8];                       /* the recipe told, ends with NULL */
    const char *oddities[10];                   /* ends with NULL */
} recipe;

extern const recipe recipes[];                /* ends with one without a name */
extern const char *const recipe_names[];      /* ends with NULL */
extern const char *const optimizer_names[];   /* ends with NULL */
extern const char *const lr_schedule_names[]; /* in the order of gr_schedule_kind, ends with NULL */
extern const char *const lr_rule_names[];     /* in the order of gr_lr_rule, ends with NULL */
extern const char *const last_batch_names[];  /* in the order of gr_last_batch, ends with NULL */

/* The recipe of that name. NULL, with a complaint on stderr, for another name or none. */
const recipe *recipe_find(const char *name, const char *command);

/* Channels of the pictures. */
int recipe_channels(const recipe *r);

/*
 * The recipe's numbers for an optimizer of optimizer_names. Recipes have sgd and adam; the others take their rates from
 * these: momentum and sam are sgd with momentum, 0.9 where the recipe has none.
 */
recipe_optimizer recipe_optimizer_of(const recipe *r, const char *name);

/* Which settings mean something to an optimizer. */
enum {
    TAKES_MOMENTUM = 1,
    TAKES_NESTEROV = 2,
    TAKES_DECAY = 4,
    TAKES_ADAM = 8,
    TAKES_TRUST = 16,
    TAKES_RHO = 32,
    TAKES_GAMMA = 64
};
unsigned optimizer_takes(const char *name);

gr_last_batch last_batch_of(const char *name);
gr_schedule_kind lr_schedule_of(const char *name); /* NULL: constant */
gr_lr_rule lr_rule_of(const char *name);

void recipe_list(void);
void recipe_explain(const recipe *r);
void recipe_print_oddities(const recipe *r, FILE *f);

#endif
