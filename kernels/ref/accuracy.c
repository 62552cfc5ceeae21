/* accuracy.c - reference: correct = sum_n weight[n] [class(z[n]) = labels[n]]; a NaN is no class. */
#include "kernels/ref/class_of.h"

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
