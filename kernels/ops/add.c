/* add.c - front of the sum of two tensors of one shape, the end of a residual block. Backward needs, with relu, y. */
#include "kernels/ops/kernels.h"

gr_tensor *gr_add(gr_tensor *a, gr_tensor *b, const gr_add_args *args)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_add], (gr_tensor *[]){a, b}, args, sizeof *args) ||
        !gr__check_same_shape(&call, 1, "b") || !gr__op_output(&call, 0, a->ndim, a->shape))
        return NULL;
    return gr__op_run(&call);
}

double gr__add_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return (double)call->in[0]->count;
}
