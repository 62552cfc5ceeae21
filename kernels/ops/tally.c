/*
 * tally.c - front of the running sums of a pass over a set: its loss and its counts, kept on the device.
 *
 * total[1+k,2], loss (a scalar), counts (k elements of any shape): row 0 of total gains the loss times the weight of
 * the update, so that losses of batches of different weights add up to the loss of all samples; row 1+i gains
 * counts[i]. A row is a sum and what rounding took from it: together they hold twice the digits of one number, enough
 * for any epoch. With finite, a loss that is infinite or NaN leaves its row alone, and one more row gains the weights
 * of the updates whose loss was added.
 */
#include "kernels/ops/kernels.h"

bool gr_tally(gr_tensor *total, gr_tensor *loss, gr_tensor *counts, const gr_tally_args *args)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_tally], (gr_tensor *[]){total, loss, counts}, args, sizeof *args))
        return false;
    if (loss->count != 1)
        return gr__op_fail(&call, "loss must have one element");
    const int64_t rows = counts->count + (args && args->finite ? 2 : 1);
    if (total->ndim != 2 || total->shape[0] != rows || total->shape[1] != 2)
        return gr__op_fail(&call, "total must be [%lld,2]: a row for the loss and one for each count", (long long)rows);
    return gr__op_run(&call);
}

double gr__tally_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return (double)call->in[0]->count;
}
