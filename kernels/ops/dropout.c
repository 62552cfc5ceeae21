/*
 * dropout.c - front of dropout, element by element, any shape. Backward draws again what forward has drawn: nothing is
 * kept.
 */
#include "kernels/ops/dropout.h"

gr_tensor *gr_dropout(gr_tensor *x, double rate)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_dropout], (gr_tensor *[]){x}, &(gr__dropout_args){.rate = rate},
                      sizeof(gr__dropout_args)))
        return NULL;
    if (!(rate >= 0 && rate < 1))
        return gr__op_fail(&call, "rate %g; it lies in [0, 1)", rate);
    ((gr__dropout_args *)gr__op_args(&call))->draw = gr__op_draw(&call);
    if (!gr__op_output(&call, 0, x->ndim, x->shape))
        return NULL;
    return gr__op_run(&call);
}

/* One product an element; the integers of the generator do not count. */
double gr__dropout_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return (double)call->in[0]->count;
}
