/*
 * elementwise.c - relu: y = max(0, x), dX = dY [y > 0]; and add: y = a + b or max(0, a + b), da = db = dY, with the
 * ReLU only where y > 0.
 */
#include "kernels/cpu/elements.h"

typedef struct {
    int64_t count;
    bool relu;
    const float *a, *b, *gate, *dy; /* [count]; gate: y, or NULL without the ReLU */
    float *y, *d[2];                /* [count]; d[i] NULL: not wanted */
    bool accumulate[2];
} plan;

INLINE void rectify(const void *arg, int64_t i, int64_t n)
{
    const plan *f = arg;
    vec_store_n(f->y + i, vec_relu(vec_load_n(f->a + i, n)), n);
}

static void relu_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    each_vector(rectify, f, f->count, chunk);
}

void GR_CPU(relu_forward)(const gr_call *call)
{
    plan f = {.count = call->in[0]->count, .a = gr__f32(call->in[0]), .y = gr__f32(call->out[0])};
    gr_parallel_for(call->exec, ceil_div(f.count, CHUNK), relu_chunk, &f);
}

INLINE void add(const void *arg, int64_t i, int64_t n)
{
    const plan *f = arg;
    const vec sum = vec_load_n(f->a + i, n) + vec_load_n(f->b + i, n);
    vec_store_n(f->y + i, f->relu ? vec_relu(sum) : sum, n);
}

static void add_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    each_vector(add, f, f->count, chunk);
}

void GR_CPU(add_forward)(const gr_call *call)
{
    const gr_add_args *args = call->options;
    plan f = {.count = call->in[0]->count,
              .relu = args->relu,
              .a = gr__f32(call->in[0]),
              .b = gr__f32(call->in[1]),
              .y = gr__f32(call->out[0])};
    gr_parallel_for(call->exec, ceil_div(f.count, CHUNK), add_chunk, &f);
}

INLINE void hand_on(const void *arg, int64_t i, int64_t n)
{
    const plan *f = arg;
    const vec dy = vec_load_n(f->dy + i, n), dz = f->gate ? vec_gate(vec_load_n(f->gate + i, n), dy) : dy;
    for (int slot = 0; slot < 2; slot++)
        if (f->d[slot])
            vec_store_n(f->d[slot] + i, f->accumulate[slot] ? vec_load_n(f->d[slot] + i, n) + dz : dz, n);
}

static void backward_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    each_vector(hand_on, f, f->count, chunk);
}

void GR_CPU(relu_backward)(const gr_call *call)
{
    plan f = {.count = call->in[0]->count,
              .dy = gr__f32(call->d_out[0]),
              .gate = gr__f32(call->out[0]),
              .d = {gr__f32(call->d_in[0])},
              .accumulate = {call->accumulate & 1}};
    if (f.d[0])
        gr_parallel_for(call->exec, ceil_div(f.count, CHUNK), backward_chunk, &f);
}

void GR_CPU(add_backward)(const gr_call *call)
{
    const gr_add_args *args = call->options;
    plan f = {.count = call->in[0]->count,
              .dy = gr__f32(call->d_out[0]),
              .gate = args->relu ? gr__f32(call->out[0]) : NULL,
              .d = {gr__f32(call->d_in[0]), gr__f32(call->d_in[1])},
              .accumulate = {call->accumulate & 1, call->accumulate >> 1 & 1}};
    gr_parallel_for(call->exec, ceil_div(f.count, CHUNK), backward_chunk, &f);
}
