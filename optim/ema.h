/*
 * ema.h - averages of a model's weights, for the optimizer that keeps them and for checkpoints; see gr_set_ema.
 */
#ifndef GRADUS_EMA_H
#define GRADUS_EMA_H

#include "optim/optimizer.h"

/* What an average is of, 1-D: 0 the weights, 1 the running statistics. NULL: the model has none. */
gr_tensor *gr__averaged_slab(const gr_optimizer *opt, int i);

/* Makes those that are not there, zero-filled. False: recorded. */
bool gr__averages_make(const gr_optimizer *opt, gr_tensor *averages[GR__AVERAGES]);

/* Makes the averages, zero-filled. False: recorded. */
bool gr__ema_prepare(gr_optimizer *opt);

/* Behind an update and its statistics. False: recorded. */
bool gr__ema_update(gr_optimizer *opt);

/* Whether the model holds its weights and not their averages. False: recorded, as refused by what. */
bool gr__ema_check(const gr_optimizer *opt, const char *what);

#endif
