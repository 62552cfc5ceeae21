/*
 * softmax_cross_entropy.c - front of the multi-class loss from logits.
 *
 * z[N,C], labels[N] in 0..C-1, weight[N] or none -> loss, a scalar. For backward it saves prob[N,C], the softmax.
 */
#include "kernels/kernels.h"

gr_tensor *gr_softmax_cross_entropy(gr_tensor *z, gr_tensor *labels, gr_tensor *weight)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_softmax_cross_entropy], (gr_tensor *[]){z, labels, weight}, NULL, 0) ||
        !gr__check_labels(&call) || !gr__op_output(&call, 0, 0, NULL) || !gr__op_output(&call, 1, 2, z->shape))
        return NULL;
    return gr__op_run(&call);
}

/* Maximum, difference, exponential, sum, division an element; backward a difference and a product. */
double gr__softmax_cross_entropy_flops(const gr_call *call, gr_pass pass)
{
    return (pass == GR_FORWARD ? 5.0 : 2.0) * (double)call->in[0]->count;
}
