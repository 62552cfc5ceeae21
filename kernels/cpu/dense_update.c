/* dense_update.c - dense_sgd and dense_adam: dX and db of a dense layer and the update of w in one sweep over w. */
#include "kernels/cpu/dense_backward.h"

enum { X, DY, W, Y, M, V };

static dense_job job_of(const gr_call *call)
{
    const gr_tensor *w = call->in[W];
    return (dense_job){.n = call->in[X]->shape[0], .in = w->shape[0], .out = w->shape[1], .x = gr__f32(call->in[X]),
                       .dy = gr__f32(call->in[DY]), .y = gr__f32(call->in[Y]), .w = gr__f32(w),
                       .dx = gr__f32(call->out[0]), .db = gr__f32(call->out[1]), .use = DENSE_FROZEN};
}

void GR_CPU(dense_sgd_forward)(const gr_call *call)
{
    dense_job job = job_of(call);
    if (!call->exec->state->skip) {
        job.use = DENSE_SGD;
        job.lr = (float)call->exec->state->lr;
    }
    dense_backward_run(call->exec, &job);
}

void GR_CPU(dense_adam_forward)(const gr_call *call)
{
    dense_job job = job_of(call);
    if (!call->exec->state->skip) {
        job.use = DENSE_ADAM;
        job.adam = adam_at(call->options, call->exec->state);
        job.m = gr__f32(call->in[M]);
        job.v = gr__f32(call->in[V]);
    }
    dense_backward_run(call->exec, &job);
}

static size_t scratch_of(const gr_call *call, dense_use use)
{
    const gr_tensor *w = call->in[W];
    return dense_backward_scratch(call->in[X]->shape[0], w->shape[0], w->shape[1], use);
}

size_t GR_CPU(dense_sgd_scratch)(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return scratch_of(call, DENSE_SGD);
}

size_t GR_CPU(dense_adam_scratch)(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return scratch_of(call, DENSE_ADAM);
}
