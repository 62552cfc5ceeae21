/* checks.c - shape rules that several fronts share. */
#include <math.h>
#include <stdint.h>

#include "kernels/ops/kernels.h"

bool gr__check_labels(gr_build *b)
{
    const gr_tensor *z = b->call.in[0], *labels = b->call.in[1], *weight = b->call.in[2];
    if (z->ndim != 2)
        return gr__op_fail(b, "z must be logits [N,classes]");
    if (labels->ndim != 1 || labels->shape[0] != z->shape[0])
        return gr__op_fail(b, "there must be one label for each of the %lld rows", (long long)z->shape[0]);
    if (weight && (weight->ndim != 1 || weight->shape[0] != z->shape[0]))
        return gr__op_fail(b, "there must be one weight for each of the %lld rows, or none", (long long)z->shape[0]);
    return true;
}

bool gr__check_same_shape(gr_build *b, int i, const char *name)
{
    const gr_tensor *first = b->call.in[0], *t = b->call.in[i];
    bool same = t->ndim == first->ndim;
    for (int d = 0; d < GR_MAX_DIMS; d++)
        same &= t->shape[d] == first->shape[d];
    return same || gr__op_fail(b, "%s must have the shape of %s", name, b->op->in[0].name);
}

bool gr__check_same_count(gr_build *b, int i, const char *name)
{
    if (b->call.in[i]->count == b->call.in[0]->count)
        return true;
    return gr__op_fail(b, "%s has %lld elements, wanted are %lld", name, (long long)b->call.in[i]->count,
                       (long long)b->call.in[0]->count);
}

bool gr__check_scalar(gr_build *b, int i, const char *name)
{
    const gr_tensor *t = b->call.in[i];
    return t->count == 1 || gr__op_fail(b, "%s has %lld elements; it is one number", name, (long long)t->count);
}

bool gr__check_countable(gr_build *b, int64_t count, const char *name)
{
    const int64_t most = INT32_MAX - 1023;
    return count <= most ||
           gr__op_fail(b, "%lld %s, of which a product may have %lld; share them out over several calls",
                       (long long)count, name, (long long)most);
}

bool gr__check_decay(gr_build *b, double weight_decay)
{
    return (weight_decay >= 0 && isfinite(weight_decay)) ||
           gr__op_fail(b, "weight decay %g; it must be 0 or a positive number", weight_decay);
}

bool gr__check_scaler(gr_build *b, int i)
{
    return b->call.in[i]->count == GR_SCALER_VALUES ||
           gr__op_fail(b, "scaler has %lld elements, wanted are %d", (long long)b->call.in[i]->count,
                       (int)GR_SCALER_VALUES);
}
