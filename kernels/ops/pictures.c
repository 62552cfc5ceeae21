/*
 * pictures.c - fronts of what makes batches of u8 pictures: picking and normalising. Moving and turning them
 * is augment.c.
 */
#include <math.h>

#include "kernels/ops/kernels.h"

/*
 * Picking pictures from a set on the device.
 *
 * x[M,H,W,C] u8, index[N] -> y[N,H,W,C]: picture index[n] of x for each n; zeros where the index is not one of 0..M-1,
 * which is how padding is asked for.
 */
gr_tensor *gr_gather(gr_tensor *x, gr_tensor *index)
{
    gr_build call;
    if (!gr__begin(&call, gather, NULL, x, index))
        return NULL;
    if (x->ndim != 4)
        return gr__op_fail(&call, "x must be pictures [M,H,W,C]");
    if (index->ndim != 1)
        return gr__op_fail(&call, "index must be a vector, one number for each picture of the result");
    const int64_t shape[4] = {index->shape[0], x->shape[1], x->shape[2], x->shape[3]};
    return gr__op_output(&call, 0, 4, shape) ? gr__op_run(&call) : NULL;
}

/* U8 images to real ones: x[N,H,W,C] -> y[N,H,W,C], y = (x/255 - mean[c]) / std[c], C at most 4. */
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
    if (!gr__begin(&call, normalise, args, x))
        return NULL;
    if (x->ndim != 4 || x->shape[3] > 4)
        return gr__op_fail(&call, "x must be images [N,H,W,C] of at most 4 channels");
    if (!gr__normalise_resolve(&call, gr__op_args(&call)))
        return NULL;
    if (!gr__op_output(&call, 0, 4, x->shape))
        return NULL;
    return gr__op_run(&call);
}
