/*
 * losses.c - fronts of losses and metrics: z[N,C], labels[N], weight[N] or none -> a scalar, or what is counted.
 */
#include "kernels/ops/kernels.h"

/*
 * The multi-class loss from logits.
 *
 * z[N,C], labels[N] in 0..C-1, weight[N] or none -> loss, a scalar. For backward it saves prob[N,C], the softmax.
 */
gr_tensor *gr_smoothed_cross_entropy(gr_tensor *z, gr_tensor *labels, gr_tensor *weight, double smoothing)
{
    gr_build call;
    const gr_cross_entropy_args args = {smoothing};
    if (!gr__begin(&call, softmax_cross_entropy, &args, z, labels, weight))
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

/*
 * The two-class loss from one logit: binary cross-entropy of the sigmoid, in the form that neither overflows nor loses
 * digits.
 *
 * z[N,1], labels[N] in 0..1, weight[N] or none -> loss, a scalar. Backward needs z alone.
 */
gr_tensor *gr_sigmoid_bce(gr_tensor *z, gr_tensor *labels, gr_tensor *weight)
{
    gr_build call;
    if (!gr__begin(&call, sigmoid_bce, NULL, z, labels, weight) || !gr__check_labels(&call))
        return NULL;
    if (z->shape[1] != 1)
        return gr__op_fail(&call, "z must have one logit a row; for %lld classes use gr_softmax_cross_entropy",
                           (long long)z->shape[1]);
    if (!gr__op_output(&call, 0, 0, NULL))
        return NULL;
    return gr__op_run(&call);
}

/*
 * The count of right predictions.
 *
 * z[N,C], labels[N], weight[N] or none -> correct, a scalar: the sum of weights of the rows whose class is right. The
 * class is the first largest of C logits, or z > 0 for a single one.
 */
gr_tensor *gr_accuracy(gr_tensor *z, gr_tensor *labels, gr_tensor *weight)
{
    gr_build call;
    if (!gr__begin(&call, accuracy, NULL, z, labels, weight) || !gr__check_labels(&call) ||
        !gr__op_output(&call, 0, 0, NULL))
        return NULL;
    return gr__op_run(&call);
}

/*
 * The confusion matrix: for each true class, how the samples were taken.
 *
 * z[N,C], labels[N], weight[N] or none -> counts[K,K]: row the label, column the class that the logits say, each the
 * sum of weights. K is C, or 2 for a single logit; the class is that of accuracy. A row of logits with a NaN is no
 * class and a label outside 0..K-1 no label: such a sample is counted nowhere, so the sum of counts is then below that
 * of the weights.
 */
gr_tensor *gr_confusion(gr_tensor *z, gr_tensor *labels, gr_tensor *weight)
{
    gr_build call;
    if (!gr__begin(&call, confusion, NULL, z, labels, weight) || !gr__check_labels(&call))
        return NULL;
    const int64_t classes = z->shape[1] > 1 ? z->shape[1] : 2;
    return gr__op_output(&call, 0, 2, (int64_t[]){classes, classes}) ? gr__op_run(&call) : NULL;
}

/*
 * The running sums of a pass over a set: its loss and its counts, kept on the device.
 *
 * total[1+k,2], loss (a scalar), counts (k elements of any shape): row 0 of total gains the loss times the weight of
 * the update, so that losses of batches of different weights add up to the loss of all samples; row 1+i gains
 * counts[i]. A row is a sum and what rounding took from it: together they hold twice the digits of one number, enough
 * for any epoch. With finite, a loss that is infinite or NaN leaves its row alone, and one more row gains the weights
 * of the updates whose loss was added.
 */
bool gr_tally(gr_tensor *total, gr_tensor *loss, gr_tensor *counts, const gr_tally_args *args)
{
    gr_build call;
    if (!gr__begin(&call, tally, args, total, loss, counts))
        return false;
    if (loss->count != 1)
        return gr__op_fail(&call, "loss must have one element");
    const int64_t rows = counts->count + (args && args->finite ? 2 : 1);
    if (total->ndim != 2 || total->shape[0] != rows || total->shape[1] != 2)
        return gr__op_fail(&call, "total must be [%lld,2]: a row for the loss and one for each count", (long long)rows);
    return gr__op_run(&call);
}
