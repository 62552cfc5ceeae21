/*
 * dropout.c - reference of dropout: y[i] = x[i] f_i, dX[i] = dY[i] f_i with f_i = [u_i >= rate] / (1 - rate). A
 * product, not a choice: a NaN that is dropped is still seen.
 */
#include "kernels/ops/dropout.h"
#include "kernels/ref/ref.h"

static wide factor(const gr_call *call, int64_t i)
{
    const double rate = ((const gr__dropout_args *)call->options)->rate;
    uint32_t words[4];
    gr__dropout_words(call, i / 4, words);
    return (words[i % 4] >> 8) * 0x1p-24 >= rate ? 1 / (1 - rate) : 0;
}

void GR_REF(dropout_forward)(const gr_call *call)
{
    for (int64_t i = 0; i < call->in[0]->count; i++)
        reals(call->out[0])[i] = (real)((wide)reals(call->in[0])[i] * factor(call, i));
}

void GR_REF(dropout_backward)(const gr_call *call)
{
    for (int64_t i = 0; call->d_in[0] && i < call->in[0]->count; i++)
        give(call, 0, i, (wide)reals(call->d_out[0])[i] * factor(call, i));
}
