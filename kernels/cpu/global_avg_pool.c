/* global_avg_pool.c - the mean of each channel of an image, one image a chunk. */
#include "kernels/cpu/cpu.h"

typedef struct {
    int64_t P, C;        /* pixels of an image, channels */
    const float *x, *dy; /* [N,P,C], [N,C] */
    float *y, *dx;       /* [N,C], [N,P,C] */
    bool accumulate;
} plan;

static plan plan_of(const gr_call *call)
{
    const int64_t *shape = call->in[0]->shape;
    return (plan){.P = shape[1] * shape[2],
                  .C = shape[3],
                  .x = gr__f32(call->in[0]),
                  .y = gr__f32(call->out[0]),
                  .dy = gr__f32(call->d_out[0]),
                  .dx = gr__f32(call->d_in[0]),
                  .accumulate = call->accumulate & 1};
}

INLINE void mean(const plan *f, int64_t n, int64_t c, int64_t width)
{
    vec sum = {0};
    for (int64_t i = 0; i < f->P; i++)
        sum += vec_load_n(f->x + (n * f->P + i) * f->C + c, width);
    vec_store_n(f->y + n * f->C + c, sum / (float)f->P, width);
}

static void forward_image(void *arg, int64_t n)
{
    const plan *f = arg;
    int64_t c = 0;
    for (; c + VL <= f->C; c += VL)
        mean(f, n, c, VL);
    if (c < f->C)
        mean(f, n, c, f->C - c);
}

void GR_CPU(global_avg_pool_forward)(const gr_call *call)
{
    plan f = plan_of(call);
    gr_parallel_for(call->exec, call->in[0]->shape[0], forward_image, &f);
}

INLINE void spread(const plan *f, int64_t n, int64_t c, int64_t width)
{
    const vec share = vec_load_n(f->dy + n * f->C + c, width) / (float)f->P;
    for (int64_t i = 0; i < f->P; i++) {
        float *dx = f->dx + (n * f->P + i) * f->C + c;
        vec_store_n(dx, f->accumulate ? vec_load_n(dx, width) + share : share, width);
    }
}

static void backward_image(void *arg, int64_t n)
{
    const plan *f = arg;
    int64_t c = 0;
    for (; c + VL <= f->C; c += VL)
        spread(f, n, c, VL);
    if (c < f->C)
        spread(f, n, c, f->C - c);
}

void GR_CPU(global_avg_pool_backward)(const gr_call *call)
{
    plan f = plan_of(call);
    if (f.dx)
        gr_parallel_for(call->exec, call->in[0]->shape[0], backward_image, &f);
}
