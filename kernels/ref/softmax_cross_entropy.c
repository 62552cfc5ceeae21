/*
 * softmax_cross_entropy.c - reference of the multi-class loss.
 *
 *   prob[n,j] = exp(z[n,j] - max_n) / sum_j exp(z[n,j] - max_n)     the maximum keeps exp from overflowing
 *   t[n,j]    = (1 - e) [j = label_n] + e / C                       the target, with smoothing e
 *   loss      = sum_n weight_n (log sum_j exp(z[n,j] - max_n) + max_n - sum_j t[n,j] z[n,j])
 *   dZ[n,j]   = dL weight_n (prob[n,j] - t[n,j])
 */
#include "kernels/ref/ref.h"

/* sum_j t[j] z[j]; a class of no weight may have the logit -infinity. */
static wide expected(const real *z, int64_t C, int64_t label, wide smoothing)
{
    wide sum = 0;
    for (int64_t j = 0; smoothing > 0 && j < C; j++)
        sum += (wide)z[j];
    return (1 - smoothing) * (wide)z[label] + smoothing * sum / (wide)C;
}

/* Loss of row n without its weight; fills prob (or not: NULL). NaN where the label is none. */
static wide row_loss(const real *z, int64_t C, int64_t label, wide smoothing, real *prob)
{
    wide largest = (wide)z[0], sum = 0;
    for (int64_t j = 1; j < C; j++)
        largest = (wide)z[j] > largest || isnan(z[j]) ? (wide)z[j] : largest;
    for (int64_t j = 0; j < C; j++)
        sum += exp((wide)z[j] - largest);
    for (int64_t j = 0; prob && j < C; j++)
        prob[j] = (real)(exp((wide)z[j] - largest) / sum);
    return label < 0 || label >= C ? (wide)NAN : log(sum) + largest - expected(z, C, label, smoothing);
}

void GR_REF(softmax_cross_entropy_forward)(const gr_call *call)
{
    const int64_t N = call->in[0]->shape[0], C = call->in[0]->shape[1];
    const real *z = reals(call->in[0]);           /* [N,C] */
    const int32_t *labels = gr__i32(call->in[1]); /* [N] */
    real *prob = reals(call->out[1]);             /* [N,C] or NULL */
    const gr_cross_entropy_args *args = call->options;
    wide loss = 0;
    for (int64_t n = 0; n < N; n++)
        loss += sample_weight(call, n) * row_loss(z + n * C, C, labels[n], args->smoothing, prob ? prob + n * C : NULL);
    reals(call->out[0])[0] = (real)loss;
}

void GR_REF(softmax_cross_entropy_backward)(const gr_call *call)
{
    const int64_t N = call->in[0]->shape[0], C = call->in[0]->shape[1];
    const real *prob = reals(call->out[1]);       /* [N,C] */
    const int32_t *labels = gr__i32(call->in[1]); /* [N] */
    wide seed = (wide)reals(call->d_out[0])[0] * call->exec->state->loss_scale;
    const wide smoothing = ((const gr_cross_entropy_args *)call->options)->smoothing;
    for (int64_t n = 0; call->d_in[0] && n < N; n++)
        for (int64_t j = 0; j < C; j++) {
            const wide target = (1 - smoothing) * (j == labels[n]) + smoothing / (wide)C;
            give(call, 0, n * C + j, seed * sample_weight(call, n) * ((wide)prob[n * C + j] - target));
        }
}
