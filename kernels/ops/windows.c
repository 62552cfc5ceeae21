/*
 * windows.c - fronts of poolings: x[N,H,W,C] -> y[N,P,Q,C], or y[N,C] of whole channels. Windows are checked in
 * geometry.c.
 */
#include "kernels/ops/kernels.h"

/*
 * 2-D max-pooling.
 *
 * x[N,H,W,C] -> y[N,P,Q,C]. For backward it saves argmax[N,P,Q,C]: the place r*S+s in the window of the first maximum,
 * one byte an output, so neither x nor y is needed again.
 */
gr_tensor *gr_max_pool2d(gr_tensor *x, const gr_max_pool2d_args *args)
{
    gr_build call;
    if (!gr__begin(&call, max_pool2d, args, x))
        return NULL;
    gr_geometry g;
    if (x->ndim != 4)
        return gr__op_fail(&call, "x must be images [N,H,W,C]");
    if (!gr__max_pool2d_check(&call, x, gr__op_args(&call), &g))
        return NULL;
    int64_t shape[4] = {g.n, g.p, g.q, g.c};
    if (!gr__op_output(&call, 0, 4, shape) || !gr__op_output(&call, 1, 4, shape))
        return NULL;
    return gr__op_run(&call);
}

bool gr__max_pool2d_check(gr_build *call, const gr_tensor *x, gr_max_pool2d_args *args, gr_geometry *g)
{
    int r = args->size[0], s = args->size[1];
    if (r < 1 || s < 1 || (int64_t)r * s > 255)
        return gr__op_fail(call, "a pooling window of %d x %d; it must have 1 to 255 elements", r, s);
    return gr__pool2d_check(call, x, args->size, &args->window, g);
}

/* 2-D average pooling: x[N,H,W,C] -> y[N,P,Q,C]. Backward needs x's shape. */
gr_tensor *gr_avg_pool2d(gr_tensor *x, const gr_avg_pool2d_args *args)
{
    gr_build call;
    if (!gr__begin(&call, avg_pool2d, args, x))
        return NULL;
    gr_avg_pool2d_args *a = gr__op_args(&call);
    gr_geometry g;
    if (x->ndim != 4)
        return gr__op_fail(&call, "x must be images [N,H,W,C]");
    if (!gr__pool2d_check(&call, x, a->size, &a->window, &g) ||
        !gr__op_output(&call, 0, 4, (int64_t[]){g.n, g.p, g.q, g.c}))
        return NULL;
    return gr__op_run(&call);
}

/* The mean over each channel of an image: x[N,H,W,C] -> y[N,C]. Backward needs x's shape. */
gr_tensor *gr_global_avg_pool(gr_tensor *x)
{
    gr_build call;
    if (!gr__begin(&call, global_avg_pool, NULL, x))
        return NULL;
    if (x->ndim != 4)
        return gr__op_fail(&call, "x must be images [N,H,W,C]");
    if (!gr__op_output(&call, 0, 2, (int64_t[]){x->shape[0], x->shape[3]}))
        return NULL;
    return gr__op_run(&call);
}
