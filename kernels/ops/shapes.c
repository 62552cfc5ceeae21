/*
 * shapes.c - fronts of other shapes for the same storage. No kernel runs forward; the engine hands the
 * gradient through, and the backward kernel is needed only where x has another gradient already.
 */
#include "kernels/ops/kernels.h"

/*
 * Flatten: x[N, ...] -> y[N, rest], the same storage. No kernel runs forward; the engine hands the
 * gradient through, and the backward kernel is needed only where x has another gradient already.
 */
gr_tensor *gr_flatten(gr_tensor *x)
{
    gr_build call;
    if (!gr__begin(&call, flatten, NULL, x))
        return NULL;
    if (x->ndim < 1)
        return gr__op_fail(&call, "a scalar has no batch dimension to keep");
    return gr__op_run_alias(&call, 2, (int64_t[]){x->shape[0], x->count / x->shape[0]});
}

/*
 * Reshape: x under another shape of as many elements, the same storage. As with flatten no kernel runs forward, and
 * the backward kernel only where x has another gradient already.
 */
gr_tensor *gr_reshape(gr_tensor *x, int ndim, const int64_t *shape)
{
    gr_build call;
    if (!gr__begin(&call, reshape, NULL, x) || !gr__shape_check(call.ctx, x->type, ndim, shape))
        return NULL;
    int64_t count = 1;
    for (int i = 0; i < ndim; i++)
        count *= shape[i];
    if (count != x->count)
        return gr__op_fail(&call, "x has %lld elements, the new shape %lld; they must be as many", (long long)x->count,
                           (long long)count);
    return gr__op_run_alias(&call, ndim, shape);
}
