/*
 * loss.h - the loss of a batch, from a model's answer to it.
 */
#ifndef GRADUS_LOSS_H
#define GRADUS_LOSS_H

#include "optim/optim.h"

/* What a run's loss is. */
typedef struct {
    gr_loss_function function; /* the program's own; NULL: gr_loss */
    void *user;                /* for function */
    double smoothing;          /* of the labels, for gr_loss */
} gr_loss_rule;

/*
 * The loss of net's answer z to a piece of a batch, with the penalty on net's weights in the batch's first piece. NULL:
 * recorded.
 */
gr_tensor *gr__piece_loss(gr_module *net, gr_tensor *z, const gr_batch *piece, const gr_loss_rule *rule);

#endif
