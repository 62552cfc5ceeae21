/*
 * confusion.c - front of the confusion matrix: for each true class, how the samples were taken.
 *
 * z[N,C], labels[N], weight[N] or none -> counts[K,K]: row the label, column the class that the logits say, each the
 * sum of weights. K is C, or 2 for a single logit; the class is that of accuracy. A row of logits with a NaN is no
 * class and a label outside 0..K-1 no label: such a sample is counted nowhere, so the sum of counts is then below that
 * of the weights.
 */
#include "kernels/ops/kernels.h"

gr_tensor *gr_confusion(gr_tensor *z, gr_tensor *labels, gr_tensor *weight)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_confusion], (gr_tensor *[]){z, labels, weight}, NULL, 0) ||
        !gr__check_labels(&call))
        return NULL;
    const int64_t classes = z->shape[1] > 1 ? z->shape[1] : 2;
    return gr__op_output(&call, 0, 2, (int64_t[]){classes, classes}) ? gr__op_run(&call) : NULL;
}

double gr__confusion_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return (double)call->in[0]->count;
}
