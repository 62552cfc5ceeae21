/*
 * sigmoid_bce.c - front of the two-class loss from one logit: binary cross-entropy of the sigmoid, in the form that
 * neither overflows nor loses digits.
 *
 * z[N,1], labels[N] in 0..1, weight[N] or none -> loss, a scalar. Backward needs z alone.
 */
#include "kernels/ops/kernels.h"

gr_tensor *gr_sigmoid_bce(gr_tensor *z, gr_tensor *labels, gr_tensor *weight)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_sigmoid_bce], (gr_tensor *[]){z, labels, weight}, NULL, 0) ||
        !gr__check_labels(&call))
        return NULL;
    if (z->shape[1] != 1)
        return gr__op_fail(&call, "z must have one logit a row; for %lld classes use gr_softmax_cross_entropy",
                           (long long)z->shape[1]);
    if (!gr__op_output(&call, 0, 0, NULL))
        return NULL;
    return gr__op_run(&call);
}

/* Maximum, product, exponential, logarithm and their sums a row; backward a sigmoid, a difference and a product. */
double gr__sigmoid_bce_flops(const gr_call *call, gr_pass pass)
{
    return (pass == GR_FORWARD ? 8.0 : 6.0) * (double)call->in[0]->count;
}
