/* relu.c - ReLU: y = max(0, x), dX = dY [y > 0]. */
#include "kernels/cpu/cpu.h"

enum { CHUNK = 16384 }; /* elements */

static void forward_chunk(void *arg, int64_t chunk)
{
    const gr_call *call = arg;
    const float *x = gr__f32(call->in[0]); /* [count] */
    float *y = gr__f32(call->out[0]);      /* [count] */
    const int64_t end = min64(call->in[0]->count, (chunk + 1) * CHUNK);
    for (int64_t i = chunk * CHUNK; i < end; i += VL)
        vec_store_n(y + i, vec_relu(vec_load_n(x + i, min64(VL, end - i))), min64(VL, end - i));
}

void GR_CPU(relu_forward)(const gr_call *call)
{
    gr_parallel_for(call->exec, ceil_div(call->in[0]->count, CHUNK), forward_chunk, (void *)call);
}

static void backward_chunk(void *arg, int64_t chunk)
{
    const gr_call *call = arg;
    const float *y = gr__f32(call->out[0]), *dy = gr__f32(call->d_out[0]); /* [count] */
    float *dx = gr__f32(call->d_in[0]);                                    /* [count] */
    const int64_t end = min64(call->in[0]->count, (chunk + 1) * CHUNK);
    for (int64_t i = chunk * CHUNK; i < end; i += VL) {
        const int64_t n = min64(VL, end - i);
        const vec d = vec_gate(vec_load_n(y + i, n), vec_load_n(dy + i, n));
        vec_store_n(dx + i, call->accumulate & 1 ? vec_load_n(dx + i, n) + d : d, n);
    }
}

void GR_CPU(relu_backward)(const gr_call *call)
{
    if (call->d_in[0])
        gr_parallel_for(call->exec, ceil_div(call->in[0]->count, CHUNK), backward_chunk, (void *)call);
}
