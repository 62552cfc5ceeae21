/*
 * flatten.c - front of flatten: x[N, ...] -> y[N, rest], the same storage. No kernel runs forward; the engine hands the
 * gradient through, and the backward kernel is needed only where x has another gradient already.
 */
#include "kernels/ops/kernels.h"

gr_tensor *gr_flatten(gr_tensor *x)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_flatten], (gr_tensor *[]){x}, NULL, 0))
        return NULL;
    if (x->ndim < 1)
        return gr__op_fail(&call, "a scalar has no batch dimension to keep");
    return gr__op_run_alias(&call, 2, (int64_t[]){x->shape[0], x->count / x->shape[0]});
}

double gr__flatten_flops(const gr_call *call, gr_pass pass)
{
    (void)call, (void)pass;
    return 0;
}
