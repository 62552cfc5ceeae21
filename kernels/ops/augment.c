/*
 * augment.c - front of the augmentation of u8 images: x[N,H,W,C], map[N,16] -> y[N,P,Q,C], a resampling by one affine
 * map for each picture, fused with normalise.
 */
#include <math.h>

#include "kernels/ops/kernels.h"

/* The largest side: coordinates of larger pictures, with 32 binary places, could leave 64 bits. */
enum { SIDE = 16384 };

static bool check_shapes(gr_build *call, const gr_tensor *x, const gr_tensor *map)
{
    if (x->ndim != 4 || x->shape[3] > 4)
        return gr__op_fail(call, "x must be images [N,H,W,C] of at most 4 channels");
    if (map->ndim != 2 || map->shape[0] != x->shape[0] || map->shape[1] != GR_MAP)
        return gr__op_fail(call, "map must be [N,%d], a row for each of the %lld images", GR_MAP,
                           (long long)x->shape[0]);
    if (x->shape[1] > SIDE || x->shape[2] > SIDE)
        return gr__op_fail(call, "images of %lld x %lld; sides of at most %d can be mapped, resize them first",
                           (long long)x->shape[1], (long long)x->shape[2], SIDE);
    return true;
}

static bool check_args(gr_build *call, gr_augment_args *a, const gr_tensor *x)
{
    for (int i = 0; i < 2; i++) {
        if (a->size[i] < 0 || a->size[i] > SIDE)
            return gr__op_fail(call, "a result of %d x %d; sides must lie between 1 and %d", a->size[0], a->size[1],
                               SIDE);
        if (!a->size[i])
            a->size[i] = (int)x->shape[1 + i];
    }
    if ((unsigned)a->filter > GR_BICUBIC_RESIZE || (unsigned)a->fill > GR_FILL_REFLECT)
        return gr__op_fail(call, "filter number %d or fill number %d is unknown; see gr_resampling and gr_fill",
                           (int)a->filter, (int)a->fill);
    return gr__normalise_resolve(call, &a->normalise);
}

gr_tensor *gr_augment(gr_tensor *x, gr_tensor *map, const gr_augment_args *args)
{
    gr_build call;
    if (!gr__begin(&call, augment, args, x, map))
        return NULL;
    gr_augment_args *a = gr__op_args(&call);
    if (!check_shapes(&call, x, map) || !check_args(&call, a, x))
        return NULL;
    if (!gr__op_output(&call, 0, 4, (int64_t[]){x->shape[0], a->size[0], a->size[1], x->shape[3]}))
        return NULL;
    return gr__op_run(&call);
}
