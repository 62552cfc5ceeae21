/*
 * accuracy.c - front of the count of right predictions.
 *
 * z[N,C], labels[N], weight[N] or none -> correct, a scalar: the sum of weights of the rows whose class is right. The
 * class is the first largest of C logits, or z > 0 for a single one.
 */
#include "kernels/ops/kernels.h"

gr_tensor *gr_accuracy(gr_tensor *z, gr_tensor *labels, gr_tensor *weight)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_accuracy], (gr_tensor *[]){z, labels, weight}, NULL, 0) ||
        !gr__check_labels(&call) || !gr__op_output(&call, 0, 0, NULL))
        return NULL;
    return gr__op_run(&call);
}

double gr__accuracy_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return (double)call->in[0]->count;
}
