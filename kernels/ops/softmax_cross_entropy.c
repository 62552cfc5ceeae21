/*
 * softmax_cross_entropy.c - front of the multi-class loss from logits.
 *
 * z[N,C], labels[N] in 0..C-1, weight[N] or none -> loss, a scalar. For backward it saves prob[N,C], the softmax.
 */
#include "kernels/ops/kernels.h"

gr_tensor *gr_smoothed_cross_entropy(gr_tensor *z, gr_tensor *labels, gr_tensor *weight, double smoothing)
{
    gr_build call;
    const gr_cross_entropy_args args = {smoothing};
    if (!gr__op_begin(&call, &gr__ops[GR_OP_softmax_cross_entropy], (gr_tensor *[]){z, labels, weight}, &args,
                      sizeof args))
        return NULL;
    if (!(smoothing >= 0 && smoothing < 1))
        return gr__op_fail(&call, "smoothing %g; it lies in [0, 1)", smoothing);
    if (!gr__check_labels(&call) || !gr__op_output(&call, 0, 0, NULL) || !gr__op_output(&call, 1, 2, z->shape))
        return NULL;
    return gr__op_run(&call);
}

gr_tensor *gr_softmax_cross_entropy(gr_tensor *z, gr_tensor *labels, gr_tensor *weight)
{
    return gr_smoothed_cross_entropy(z, labels, weight, 0);
}

/* Maximum, difference, exponential, sum, division an element; backward a difference and a product. */
double gr__softmax_cross_entropy_flops(const gr_call *call, gr_pass pass)
{
    return (pass == GR_FORWARD ? 5.0 : 2.0) * (double)call->in[0]->count;
}
