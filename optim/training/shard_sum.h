/*
 * shard_sum.h - an update's gradients, and what else is a sum over its samples, as the sum over its shards by a binary
 * tree that is the same for any number of ranks.
 *
 *   8 shards      0   1   2   3   4   5   6   7        a shard's own forward and backward passes
 *                 |___|   |___|   |___|   |___|        level 0
 *                   |_______|       |_______|          level 1
 *                       |_______________|              level 2
 *
 * A rank, which has a subtree of its own, makes its shards one after the other, and puts a sum together as a binary
 * counter carries: what waits for its right neighbour lies in a level. So there is one slab of gradients for each level
 * beside the model's, and sums change places by their addresses. A shard without samples is no leaf: what stands beside
 * it goes up as it is. Above the ranks' subtrees the tree goes on over the ranks: gr_group_sum.
 */
#ifndef GRADUS_SHARD_SUM_H
#define GRADUS_SHARD_SUM_H

#include "core/group/buckets.h"
#include "optim/optimizer.h"

enum { GR__SHARD_LEVELS = 8 /* of GR_MAX_SHARDS */, GR__SHARD_SUMMANDS = 3 };

/* One thing that is summed: the memory of now is exchanged with that of a level. */
typedef struct {
    gr_slab *slab;  /* whose values or gradients now is; NULL: nobody's */
    gr_tensor *now; /* of the shard under way, then the sum; NULL: there is none such */
    gr_tensor *level[GR__SHARD_LEVELS];
} gr_shard_summand;

typedef struct {
    gr_context *ctx;
    gr_optimizer *opt;
    gr_group *group;        /* of the ranks; NULL: this one alone */
    int shards, first, end; /* of an update; this rank's */
    int levels;
    gr_shard_summand summand[GR__SHARD_SUMMANDS]; /* scores, gradients, the next running statistics */
    bool waits[GR__SHARD_LEVELS];                 /* in a level lies a sum */
    gr_buckets *buckets;                          /* of gradients; NULL: their sum over ranks is one */
    bool *written;                                /* [segments] which have a gradient; NULL before the first shard */
    bool begun;                                   /* the shard under way has had a piece */
    int put;                                      /* shards so far, empty ones included */
    int64_t updates, draws;                       /* of statistics and random numbers, when the pass began */
} gr_shard_sum;

/* Makes room for the sums of an update of a built model. Does nothing the second time. False: recorded. */
bool gr__shard_sum_prepare(gr_shard_sum *s, gr_optimizer *opt);
void gr__shard_sum_close(gr_shard_sum *s);

/* A pass over a batch begins. */
void gr__shard_sum_begin(gr_shard_sum *s);

/* A piece of a shard comes: what it draws depends on its place in the batch alone. False: recorded. */
bool gr__shard_sum_piece(gr_shard_sum *s, const gr_batch *piece);

/*
 * What the backward pass of a piece is run with. Behind this rank's only shard its gradients are final: sums over ranks
 * may begin within it. NULL: they do not.
 */
const gr_backward_hook *gr__shard_sum_hook(gr_shard_sum *s, const gr_batch *piece);

/* Adds a piece's loss and right answers. False: recorded. */
bool gr__shard_sum_score(gr_shard_sum *s, gr_tensor *loss, gr_tensor *correct);

/* The shard under way is whole. False: recorded. */
bool gr__shard_sum_put(gr_shard_sum *s);

/*
 * The pass is over: gradients are those of the whole batch, of which so many shards have samples; the next running
 * statistics are the mean over these. False: recorded.
 */
bool gr__shard_sum_finish(gr_shard_sum *s, const gr_batch *piece, int64_t batch);

/* Returns when no thread of this rank waits for another rank, before this one tells them that it has failed. */
void gr__shard_sum_rest(gr_shard_sum *s);

/* The sums of losses and of right answers, scalars of the step. NULL: recorded. */
gr_tensor *gr__shard_sum_loss(gr_shard_sum *s);
gr_tensor *gr__shard_sum_correct(gr_shard_sum *s);

#endif
