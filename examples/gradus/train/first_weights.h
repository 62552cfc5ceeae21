/* first_weights.h - what a run starts from: weights of a file, and what of them is left as it is. */
#ifndef GRADUS_FIRST_WEIGHTS_H
#define GRADUS_FIRST_WEIGHTS_H

#include "settings/resolved.h"

/*
 * Loads --init-weights, by whichever tool, or whitens filters by the pictures of set, and tells on stderr what was done
 * to them and what is frozen. Returns 0 or an exit code, complained of: with a table of both sides where names or
 * shapes do not fit.
 */
int first_weights(gr_module *net, gr_context *ctx, const resolved *s, gr_dataset *set, const char *command);

#endif
