/*
 * sigmoid_bce.c - reference of the two-class loss; t is the label.
 *
 *   loss  = sum_n weight_n (max(z, 0) - z t + log(1 + exp(-|z|)))     = -t log s - (1 - t) log(1 - s), s = sigmoid(z)
 *   dZ[n] = dL weight_n (sigmoid(z) - t)
 */
#include "kernels/ref/ref.h"

void GR_REF(sigmoid_bce_forward)(const gr_call *call)
{
    const real *z = reals(call->in[0]);           /* [N,1] */
    const int32_t *labels = gr__i32(call->in[1]); /* [N] */
    wide loss = 0;
    for (int64_t n = 0; n < call->in[0]->shape[0]; n++) {
        wide v = (wide)z[n], t = labels[n] == 0 || labels[n] == 1 ? (wide)labels[n] : (wide)NAN;
        loss += sample_weight(call, n) * (relu(v) - v * t + log1p(exp(-fabs(v))));
    }
    reals(call->out[0])[0] = (real)loss;
}

void GR_REF(sigmoid_bce_backward)(const gr_call *call)
{
    const real *z = reals(call->in[0]);           /* [N,1] */
    const int32_t *labels = gr__i32(call->in[1]); /* [N] */
    wide seed = (wide)reals(call->d_out[0])[0] * call->exec->state->loss_scale;
    for (int64_t n = 0; call->d_in[0] && n < call->in[0]->shape[0]; n++)
        give(call, 0, n, seed * sample_weight(call, n) * (1 / (1 + exp(-(wide)z[n])) - (wide)labels[n]));
}
