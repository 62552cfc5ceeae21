/*
 * trainer.h - what one update of gr_fit computes: passes over a batch (one; two with SAM), a pass being pieces of it.
 *
 *   gr_loader_next -> piece -> forward -> loss -> sums (first pass) -> backward -> last piece: the optimizer's step
 *                       ^                                                 |
 *                       +-------------- next piece, next pass ------------+
 *
 * With shards (shard_sum.h) every shard has gradients and sums of its own, which become the batch's before the step.
 */
#ifndef GRADUS_TRAINER_H
#define GRADUS_TRAINER_H

#include "core/group/meeting.h"
#include "optim/optimizer.h"
#include "optim/training/loss.h"
#include "optim/training/noise.h"
#include "optim/training/shard_sum.h"
#include "optim/training/step_graph.h"

typedef struct {
    gr_context *ctx;
    gr_module *net;
    gr_optimizer *opt;
    gr_loader *loader; /* of the set to train on; the caller's, who may change it between two updates */
    gr_tensor *total;  /* where loss and right answers of every piece are added, see score.h */
    bool no_graph;     /* ask the device for every kernel of every update */
    gr_loss_rule loss;
    gr_step_graphs graphs;
    gr_noise_meter meter;
    gr_shard_sum sum;   /* .shards, .first, .end: the caller's; 1, 0, 1 for a batch in one */
    gr_meeting meeting; /* .group: of synchronised batch normalisation, else NULL */
} gr_trainer;

/*
 * Every pass over every piece of the batch that begins with this piece, the optimizer's step behind each pass. Returns
 * the samples in it; on error the context tells.
 */
int64_t gr__trainer_update(gr_trainer *t, gr_batch *piece);

/* Dry-runs an update of n rows, in pieces as the loader gives them. False: recorded. */
bool gr__trainer_plan(gr_trainer *t, int64_t n);

/* Dry-runs all passes over a piece of n rows: the batch's only one, or one of several. False: recorded. */
bool gr__trainer_plan_piece(gr_trainer *t, int64_t n, bool only);

/* Forward and backward over a piece, to find where infinities first appear; text is "" if they do not. */
void gr__trainer_find_overflow(gr_trainer *t, const gr_batch *piece, char *text, size_t size);

#endif
