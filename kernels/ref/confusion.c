/* confusion.c - reference: counts[i,j] = sum_n weight[n] [labels[n] = i] [class(z[n]) = j]; a NaN is no class. */
#include "kernels/ref/class_of.h"

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
