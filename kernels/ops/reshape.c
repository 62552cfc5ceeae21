/*
 * reshape.c - front of reshape: x under another shape of as many elements, the same storage. As with flatten no kernel
 * runs forward, and the backward kernel only where x has another gradient already.
 */
#include "kernels/ops/kernels.h"

gr_tensor *gr_reshape(gr_tensor *x, int ndim, const int64_t *shape)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_reshape], (gr_tensor *[]){x}, NULL, 0) ||
        !gr__shape_check(call.ctx, x->type, ndim, shape))
        return NULL;
    int64_t count = 1;
    for (int i = 0; i < ndim; i++)
        count *= shape[i];
    if (count != x->count)
        return gr__op_fail(&call, "x has %lld elements, the new shape %lld; they must be as many", (long long)x->count,
                           (long long)count);
    return gr__op_run_alias(&call, ndim, shape);
}

double gr__reshape_flops(const gr_call *call, gr_pass pass)
{
    (void)call, (void)pass;
    return 0;
}
