/*
 * normalise.c - front of u8 images to real ones: x[N,H,W,C] -> y[N,H,W,C], y = (x/255 - mean[c]) / std[c], C at most 4.
 */
#include <math.h>

#include "kernels/ops/kernels.h"

bool gr__normalise_resolve(gr_build *b, gr_normalise_args *a)
{
    for (int c = 0; c < 4; c++) {
        if (!isfinite(a->mean[c]) || !isfinite(a->std[c]) || a->std[c] < 0) {
            gr__op_fail(b, "channel %d has mean %g and std %g; both must be finite, std positive", c,
                        (double)a->mean[c], (double)a->std[c]);
            return false;
        }
        if (a->std[c] == 0)
            a->std[c] = 1;
    }
    return true;
}

gr_tensor *gr_normalise(gr_tensor *x, const gr_normalise_args *args)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_normalise], (gr_tensor *[]){x}, args, sizeof *args))
        return NULL;
    if (x->ndim != 4 || x->shape[3] > 4)
        return gr__op_fail(&call, "x must be images [N,H,W,C] of at most 4 channels");
    if (!gr__normalise_resolve(&call, gr__op_args(&call)))
        return NULL;
    if (!gr__op_output(&call, 0, 4, x->shape))
        return NULL;
    return gr__op_run(&call);
}

double gr__normalise_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return 3.0 * (double)call->in[0]->count;
}
