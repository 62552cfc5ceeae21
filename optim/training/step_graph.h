/*
 * step_graph.h - an update as a whole. On a device that can write down what is asked of it, the kernels of an update
 * are launched one by one the first time, written down the second, and from then on the device repeats them: the host
 * asks for one thing instead of hundreds. What changes from update to update, learning rate, counts and seeds, stands
 * in the step state on the device, and batches lie at fixed addresses: so the repetition is the same update, bit for
 * bit, as the kernels one by one.
 */
#ifndef GRADUS_STEP_GRAPH_H
#define GRADUS_STEP_GRAPH_H

#include "optim/optimizer.h"

enum { GR__STEP_GRAPHS = 4 /* shapes of batches that are kept */ };

/* What the kernels of an update were asked for with; another one needs a graph of its own. */
typedef struct {
    const void *x, *y, *weight; /* where the batch lies */
    int64_t rows;
    int64_t memory;   /* of the context: how often any of it was given back */
    gr_optimizer opt; /* its settings, without those that the step state carries */
} gr_step_key;

typedef struct {
    gr_step_key key;
    void *graph;       /* NULL: seen once, not written down yet */
    int64_t draws;     /* micro-batches that draw random numbers: 0 or 1 */
    bool halves_stale; /* half copies of the weights, which it wants up to date, are so no more behind it */
} gr_step_graph;

typedef struct {
    gr_step_graph entry[GR__STEP_GRAPHS];
    int next; /* entry to be given up for a new shape */
    int64_t captured, replayed;
} gr_step_graphs;

/*
 * Makes the update by step(user, batch), which must end with the optimizer's step, or by a repetition of it. False:
 * recorded. The caller ends the step.
 */
bool gr__step_graphs_run(gr_step_graphs *g, gr_optimizer *opt, const gr_batch *batch,
                         bool (*step)(void *user, const gr_batch *batch), void *user);

void gr__step_graphs_close(gr_step_graphs *g, gr_context *ctx);

#endif
