/*
 * dense_backward.h - the backward pass of a dense layer as one sweep over w, for dense, dense_sgd and dense_adam.
 *
 * A block of rows of w is all that the same columns of dX and the same rows of dW need. So each block is read once;
 * what happens to its dW depends on the operation: it is stored, or it updates the block at once and is never stored.
 */
#ifndef GRADUS_CPU_DENSE_BACKWARD_H
#define GRADUS_CPU_DENSE_BACKWARD_H

#include "kernels/cpu/adam.h"
#include "kernels/cpu/tile.h"

typedef enum { DENSE_STORE, DENSE_SGD, DENSE_ADAM, DENSE_FROZEN /* no dW wanted */ } dense_use;

/* What becomes of dW. */
typedef struct {
    dense_use use;
    float alpha;       /* DENSE_SGD, DENSE_ADAM: factor of dW where it is used up: -lr or 1, over the loss scale */
    adam_numbers adam; /* DENSE_ADAM */
    float *m, *v;      /* [in,out] */
} dense_change;

/* Of dense_sgd, and of dense_adam, whose moments are in[4] and in[5]: an update that is skipped leaves w alone. */
INLINE dense_change dense_change_by_sgd(const gr_call *call)
{
    const gr_step_state *state = call->exec->state;
    return state->skip ? (dense_change){.use = DENSE_FROZEN}
                       : (dense_change){.use = DENSE_SGD, .alpha = -(float)state->lr / state->loss_scale};
}

INLINE dense_change dense_change_by_adam(const gr_call *call)
{
    const gr_step_state *state = call->exec->state;
    return state->skip ? (dense_change){.use = DENSE_FROZEN}
                       : (dense_change){.use = DENSE_ADAM,
                                        .alpha = 1 / state->loss_scale,
                                        .adam = adam_at(call->options, state),
                                        .m = gr__f32(call->in[4]),
                                        .v = gr__f32(call->in[5])};
}

typedef struct {
    int64_t n, in, out;
    const float *x;      /* [N,in] */
    const float *dy;     /* [N,out] */
    const float *y;      /* [N,out]: dz = dy [y > 0]; NULL: dz = dy */
    float *w;            /* [in,out], written only by updates */
    float *dx, *dw, *db; /* [N,in], [in,out], [out]; NULL: not wanted */
    bool accumulate_x, accumulate_w, accumulate_b;
    dense_change change;
} dense_job;

size_t GR_CPU(dense_backward_scratch)(int64_t n, int64_t in, int64_t out, dense_use use);
#define dense_backward_scratch GR_CPU(dense_backward_scratch)

void GR_CPU(dense_backward_run)(const gr_exec *exec, const dense_job *job);
#define dense_backward_run GR_CPU(dense_backward_run)

#endif
