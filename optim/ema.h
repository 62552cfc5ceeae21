/*
 * ema.h - averages of a model's weights, for the optimizer that keeps them and for checkpoints; see gr_set_ema.
 */
#ifndef GRADUS_EMA_H
#define GRADUS_EMA_H

#include "optim/optimizer.h"

/* What average i is of, 1-D: 0 the weights, 1 the running statistics. NULL: there is no such average. */
gr_tensor *gr__ema_source(const gr_optimizer *opt, int i);

/* Makes the averages, zero-filled. False: recorded. */
bool gr__ema_prepare(gr_optimizer *opt);

/* Behind an update and its statistics. False: recorded. */
bool gr__ema_update(gr_optimizer *opt);

/* Whether the model holds its weights and not their averages. False: recorded, as refused by what. */
bool gr__ema_check(const gr_optimizer *opt, const char *what);

#endif
