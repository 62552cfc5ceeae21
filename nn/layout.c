/*
 * layout.c - where an element of a parameter lies on disk and in memory. The only place that knows both.
 *
 *                 on disk (as PyTorch has it)               in memory
 *   filters       [K, C, R, S]                              [K, R, S, C]
 *   dense weight  [out, in], in = (C, H, W) after flatten   [in, out], in = (H, W, C)
 *   vector        [n]                                       [n]
 */
#include "nn/module.h"

void gr__disk_shape(const gr_parameter_plan *p, int64_t shape[GR_MAX_DIMS])
{
    for (int i = 0; i < GR_MAX_DIMS; i++)
        shape[i] = p->shape[i];
    if (p->role == GR__FILTERS) {
        shape[1] = p->shape[3];
        shape[2] = p->shape[1];
        shape[3] = p->shape[2];
    } else if (p->role == GR__DENSE_WEIGHT) {
        shape[0] = p->shape[1];
        shape[1] = p->shape[0];
    }
}

static int64_t filter_index(const gr_parameter_plan *p, int64_t disk)
{
    int64_t R = p->shape[1], S = p->shape[2], C = p->shape[3];
    int64_t s = disk % S, r = disk / S % R, c = disk / (S * R) % C, k = disk / (S * R * C);
    return ((k * R + r) * S + s) * C + c;
}

static int64_t dense_index(const gr_parameter_plan *p, int64_t disk)
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

int64_t gr__memory_index(const gr_parameter_plan *p, int64_t disk)
{
    switch (p->role) {
    case GR__FILTERS:
        return filter_index(p, disk);
    case GR__DENSE_WEIGHT:
        return dense_index(p, disk);
    default:
        return disk;
    }
}
