/*
 * optimizers.h - every optimizer of the program, an entry each. --optimizer and its help, the options that go with one
 * and who is refused which, what a sweep holds against another, the columns of results and the colours of pictures are
 * all made of these entries: docs/adding-an-optimizer.md.
 */
#ifndef GRADUS_OPTIMIZERS_H
#define GRADUS_OPTIMIZERS_H

#include "terminal/options.h"

enum { OPTIMIZER_PARAMETERS = 6 };

/*
 * A number beside the learning rate. Several optimizers may take the same one; its name is that of the option and, with
 * underscores, of the row's key.
 */
typedef struct {
    const char *name, *metavar;
    option_type type;
    const char *help;   /* without the optimizers and the default, which are added */
    double below;       /* it must be smaller; 0: it need not */
    int64_t high;       /* of a count: from 1 to this */
    name_list names;    /* of a choice */
    const char *beside; /* it means nothing without this one above 0, and a recipe's or usual value goes without it */
    bool of_recipe;     /* recipes have values of their own */
    const char *default_help; /* in place of the usual value: what the method does where it is 0 */
} parameter;

/* A parameter as one optimizer takes it. */
typedef struct {
    const parameter *parameter;
    double usual; /* where neither the user nor the recipe says otherwise */
} optimizer_parameter;

typedef struct {
    const char *name;           /* as --optimizer takes it */
    const char *help;           /* a few words behind the name; "": none */
    const char *label, *colour; /* in pictures; the colours can be told apart by colour-blind readers too */
    const char *like;           /* the optimizer of a recipe whose numbers it takes, unless the recipe knows it by name:
                                   sgd or adam */
    double lr;                  /* its learning rate where the recipe does not know it by name; 0: that for like */
    optimizer_parameter parameters[OPTIMIZER_PARAMETERS + 1]; /* ends with one without a parameter */
    /* Makes it; values in the order of parameters. */
    gr_optimizer *(*make)(gr_context *ctx, gr_module *net, double lr, const double *values);
} optimizer;

extern const optimizer optimizers[]; /* ends with one without a name */

/* The optimizer of that name, which there is. */
const optimizer *optimizer_named(const char *name);

/* Place of a parameter among an optimizer's; -1: it does not take it. */
int optimizer_takes(const optimizer *o, const char *parameter_name);

/* How many optimizers take it. */
int optimizers_taking(const char *parameter_name);

#endif
