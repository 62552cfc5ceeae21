/*
 * dense.c - a dense layer of bf16, or of floats in pieces of it, and its backward pass with the update by SGD or Adam
 * in it. All else - floats as they are, f16, gradients of floats - is for the kernels of ../dense.c and
 * ../dense_update.c.
 */
#include "kernels/cpu/amx/dense.h"

enum { X, DY, W, Y }; /* of an update's inputs */

void GR_TILED(dense_forward)(const gr_call *call)
{
    (pieces_of(call) ? GR_TILED(dense_forward_run) : GR_CPU(dense_forward))(call);
}

void GR_TILED(dense_backward)(const gr_call *call)
{
    const gr_dense_args *args = call->options;
    const gr_tensor *w = call->in[1];
    if (!pieces_of(call)) {
        GR_CPU(dense_backward)(call);
        return;
    }
    const tiled_dense job = {.pieces = pieces_of(call),
                             .n = call->in[0]->shape[0],
                             .in = w->shape[0],
                             .out = w->shape[1],
                             .x = call->in[0]->data,
                             .dy = call->d_out[0]->data,
                             .y = args->relu ? call->out[0]->data : NULL,
                             .w = w,
                             .dx = call->d_in[0] ? call->d_in[0]->data : NULL,
                             .dw = gr__f32(call->d_in[1]),
                             .db = gr__f32(call->d_in[2]),
                             .accumulate_x = call->accumulate & 1,
                             .accumulate_w = call->accumulate >> 1 & 1,
                             .accumulate_b = call->accumulate >> 2 & 1,
                             .change.use = call->d_in[1] ? DENSE_STORE : DENSE_FROZEN};
    GR_TILED(dense_sweep_run)(call->exec, &job);
}

size_t GR_TILED(dense_scratch)(const gr_call *call, gr_pass pass)
{
    const gr_tensor *w = call->in[1];
    if (!pieces_of(call))
        return GR_CPU(dense_scratch)(call, pass);
    return pass == GR_FORWARD
               ? GR_TILED(dense_forward_scratch)(call)
               : GR_TILED(dense_sweep_scratch)(pieces_of(call), call->in[0]->shape[0], w->shape[0], w->shape[1]);
}

bool GR_TILED(dense_halves)(const gr_call *call, gr_pass pass)
{
    return GR_CPU(dense_halves)(call, pass);
}

/* --- with the update ---------------------------------------------------------------------------------------------- */

static void update(const gr_call *call, dense_change change)
{
    const gr_tensor *w = call->in[W], *y = call->in[Y], *dx = call->out[0];
    const tiled_dense job = {.pieces = pieces_of(call),
                             .n = call->in[X]->shape[0],
                             .in = w->shape[0],
                             .out = w->shape[1],
                             .x = call->in[X]->data,
                             .dy = call->in[DY]->data,
                             .y = y ? y->data : NULL,
                             .w = w,
                             .dx = dx ? dx->data : NULL,
                             .db = gr__f32(call->out[1]),
                             .change = change};
    GR_TILED(dense_sweep_run)(call->exec, &job);
}

void GR_TILED(dense_sgd_forward)(const gr_call *call)
{
    if (pieces_of(call))
        update(call, dense_change_by_sgd(call));
    else
        GR_CPU(dense_sgd_forward)(call);
}

void GR_TILED(dense_adam_forward)(const gr_call *call)
{
    if (pieces_of(call))
        update(call, dense_change_by_adam(call));
    else
        GR_CPU(dense_adam_forward)(call);
}

static size_t update_scratch(const gr_call *call)
{
    const gr_tensor *w = call->in[W];
    return GR_TILED(dense_sweep_scratch)(pieces_of(call), call->in[X]->shape[0], w->shape[0], w->shape[1]);
}

size_t GR_TILED(dense_sgd_scratch)(const gr_call *call, gr_pass pass)
{
    return pieces_of(call) ? update_scratch(call) : GR_CPU(dense_sgd_scratch)(call, pass);
}

size_t GR_TILED(dense_adam_scratch)(const gr_call *call, gr_pass pass)
{
    return pieces_of(call) ? update_scratch(call) : GR_CPU(dense_adam_scratch)(call, pass);
}

bool GR_TILED(dense_sgd_halves)(const gr_call *call, gr_pass pass)
{
    return GR_CPU(dense_sgd_halves)(call, pass);
}

bool GR_TILED(dense_adam_halves)(const gr_call *call, gr_pass pass)
{
    return GR_CPU(dense_adam_halves)(call, pass);
}
