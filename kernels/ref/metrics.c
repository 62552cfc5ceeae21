/*
 * metrics.c - reference of what is counted beside the loss.
 *
 *   accuracy   correct = sum_n weight[n] [class(z[n]) = labels[n]]; a NaN is no class
 *   confusion  counts[i,j] = sum_n weight[n] [labels[n] = i] [class(z[n]) = j]
 *   tally      total[0] += W loss, total[1+i] += counts[i]; W the weight of the update, 1 where none is set. With
 *              finite total[1+k] += W, and a loss that is not finite adds nothing to either.
 */
#include "kernels/ref/ref.h"

/* The first largest of C logits, or z > 0 for a single one; INT64_MIN, which no label is, where a logit is NaN. */
static int64_t class_of(const real *z, int64_t C)
{
    int64_t best = C == 1 ? z[0] > 0 : 0;
    for (int64_t j = 0; j < C; j++) {
        if (isnan(z[j]))
            return INT64_MIN;
        if (C > 1 && z[j] > z[best])
            best = j;
    }
    return best;
}

void GR_REF(accuracy_forward)(const gr_call *call)
{
    const int64_t N = call->in[0]->shape[0], C = call->in[0]->shape[1];
    const real *z = reals(call->in[0]);           /* [N,C] */
    const int32_t *labels = gr__i32(call->in[1]); /* [N] */
    const real *weight = reals(call->in[2]);      /* [N] or NULL */
    wide correct = 0;
    for (int64_t n = 0; n < N; n++)
        if (class_of(z + n * C, C) == labels[n])
            correct += weight ? (wide)weight[n] : 1;
    reals(call->out[0])[0] = (real)correct;
}

void GR_REF(confusion_forward)(const gr_call *call)
{
    const int64_t N = call->in[0]->shape[0], C = call->in[0]->shape[1], K = call->out[0]->shape[0];
    const real *z = reals(call->in[0]);           /* [N,C] */
    const int32_t *labels = gr__i32(call->in[1]); /* [N] */
    const real *weight = reals(call->in[2]);      /* [N] or NULL */
    real *counts = reals(call->out[0]);           /* [K,K] */
    for (int64_t i = 0; i < K * K; i++)
        counts[i] = 0;
    for (int64_t n = 0; n < N; n++) {
        const int64_t class = class_of(z + n * C, C);
        if (class >= 0 && labels[n] >= 0 && labels[n] < K)
            counts[labels[n] * K + class] += weight ? weight[n] : 1;
    }
}

/* sum[2] += v: the sum and what rounding took from it. */
static void gain(real *sum, wide v)
{
    const wide exact = (wide)sum[0] + (wide)sum[1] + v;
    sum[0] = (real)exact;
    sum[1] = (real)(exact - (wide)sum[0]);
}

void GR_REF(tally_forward)(const gr_call *call)
{
    const double inv = call->exec->state->inv_weight;
    real *total = reals(call->in[0]);        /* [1+k,2] */
    const real *loss = reals(call->in[1]);   /* one */
    const real *counts = reals(call->in[2]); /* [k] */
    const gr_tally_args *args = call->options;
    const int64_t k = call->in[2]->count;
    const bool lost = args->finite && !isfinite(loss[0]);
    const wide weight = lost ? 0 : inv > 0 ? 1 / inv : 1;
    gain(total, lost ? 0 : inv > 0 ? (wide)loss[0] / inv : (wide)loss[0]);
    for (int64_t i = 0; i < k; i++)
        gain(total + 2 * (i + 1), (wide)counts[i]);
    if (args->finite)
        gain(total + 2 * (k + 1), weight);
}
