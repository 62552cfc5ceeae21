/*
 * loss.h - the loss of a batch, from a model's answer to it.
 */
#ifndef GRADUS_LOSS_H
#define GRADUS_LOSS_H

#include "optim/optim.h"

/* The loss of z by function, or by gr_loss where that is NULL. NULL: recorded. */
gr_tensor *gr__loss_by(gr_loss_function function, void *user, gr_tensor *z, const gr_batch *batch);

#endif
