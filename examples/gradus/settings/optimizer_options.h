/* optimizer_options.h - the table of optimizers as options. */
#ifndef GRADUS_OPTIMIZER_OPTIONS_H
#define GRADUS_OPTIMIZER_OPTIONS_H

#include "settings/optimizers.h"

enum { MAX_PARAMETERS = 32 }; /* of all optimizers together */

/* An option for every parameter, in the order of the table; their values lie in an option_value[MAX_PARAMETERS]. */
const option *parameter_options(void);

/* Its place in parameter_options and so in the values. */
int parameter_place(const char *name);

/* What --optimizer says of itself: all names, and a few words to some. */
const char *optimizer_help(void);

/* The names of the optimizers that take a parameter: "sgd, momentum and sam". */
const char *optimizers_with(const char *parameter_name, char text[256]);

#endif
