/*
 * layout.c - where an element of a parameter lies on disk and in memory. The only place that knows both.
 *
 *                 as PyTorch has it                         as Keras has it    in memory
 *   filters       [K, C, R, S]                              [R, S, C, K]       [K, R, S, C]
 *   dense weight  [out, in], in = (C, H, W) after flatten   as in memory       [in, out], in = (H, W, C)
 *   vector        [n]                                       [n]                [n]
 *
 * Gradus' own files have PyTorch's order.
 */
#include "nn/module.h"

/* Copies the sizes that stand at these places of from. */
static void permute(const int64_t *from, int64_t *to, int a, int b, int c, int d)
{
    const int places[GR_MAX_DIMS] = {a, b, c, d};
    for (int i = 0; i < GR_MAX_DIMS; i++)
        to[i] = from[places[i]];
}

void gr__disk_shape(const gr_parameter_plan *p, gr_disk_order order, int64_t shape[GR_MAX_DIMS])
{
    permute(p->shape, shape, 0, 1, 2, 3);
    if (p->role == GR__FILTERS && order == GR__AS_TORCH)
        permute(p->shape, shape, 0, 3, 1, 2);
    else if (p->role == GR__FILTERS)
        permute(p->shape, shape, 1, 2, 3, 0);
    else if (p->role == GR__DENSE_WEIGHT && order == GR__AS_TORCH)
        permute(p->shape, shape, 1, 0, 2, 3);
}

/* [K, C, R, S] */
static int64_t torch_filter_index(const gr_parameter_plan *p, int64_t disk)
{
    int64_t R = p->shape[1], S = p->shape[2], C = p->shape[3];
    int64_t s = disk % S, r = disk / S % R, c = disk / (S * R) % C, k = disk / (S * R * C);
    return ((k * R + r) * S + s) * C + c;
}

/* [R, S, C, K] */
static int64_t keras_filter_index(const gr_parameter_plan *p, int64_t disk)
{
    int64_t K = p->shape[0], RSC = p->shape[1] * p->shape[2] * p->shape[3];
    return disk % K * RSC + disk / K;
}

static int64_t torch_dense_index(const gr_parameter_plan *p, int64_t disk)
{
    int64_t in = p->shape[0], out = p->shape[1];
    int64_t i = disk % in, o = disk / in;
    if (p->flat[0]) {
        int64_t H = p->flat[0], W = p->flat[1], C = p->flat[2];
        int64_t w = i % W, h = i / W % H, c = i / (W * H);
        i = (h * W + w) * C + c;
    }
    return i * out + o;
}

int64_t gr__memory_index(const gr_parameter_plan *p, gr_disk_order order, int64_t disk)
{
    if (p->role == GR__FILTERS)
        return order == GR__AS_TORCH ? torch_filter_index(p, disk) : keras_filter_index(p, disk);
    return p->role == GR__DENSE_WEIGHT && order == GR__AS_TORCH ? torch_dense_index(p, disk) : disk;
}
