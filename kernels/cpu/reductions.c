/* reductions.c - global_norm: norm = sqrt(sum x^2), of a slab of gradients. */
#include "kernels/cpu/squares.h"

size_t GR_CPU(global_norm_scratch)(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return squares_bytes(call->in[0]->count);
}

void GR_CPU(global_norm_forward)(const gr_call *call)
{
    const gr_tensor *x = call->in[0];
    gr__f32(call->out[0])[0] = (float)sqrt(sum_of_squares(call->exec, gr__f32(x), x->count, call->exec->scratch));
}
