/*
 * loss.h - the loss of a batch, from a model's answer to it.
 */
#ifndef GRADUS_LOSS_H
#define GRADUS_LOSS_H

#include "optim/optim.h"

/*
 * The loss of net's answer z to a piece of a batch, by function or, where that is NULL, by gr_loss; with the penalty on
 * net's weights in the batch's first piece. NULL: recorded.
 */
gr_tensor *gr__piece_loss(gr_module *net, gr_tensor *z, const gr_batch *piece, gr_loss_function function, void *user);

#endif
