/*
 * adam_step.cu - Adam over a whole slab; the formula is in adam.cuh.
 *
 * Launch    one thread for the numbers that all elements share; then a thread for four elements side by side, blocks of
 *           256.
 * Scratch   those numbers.
 * Limit     memory: four arrays are read, three are written.
 * Measured  not yet.
 */
#include "kernels/cuda/adam.cuh"
#include "kernels/cuda/quad.cuh"

/* p[count], g[count], m[count], v[count] */
static __global__ void adam_step(float *p, const float *g, float *m, float *v, const adam_numbers *numbers,
                                 const gr_step_state *state, int64_t count)
{
    const adam_numbers a = *numbers;
    const int64_t end = state->skip ? 0 : count;
    for (int64_t i = quad_first(); i < end; i += quad_stride()) {
        quad weight = quad_load(p, i, count), first = quad_load(m, i, count), second = quad_load(v, i, count);
        const quad gradient = quad_load(g, i, count);
        for (int j = 0; j < QUAD; j++)
            adam_element(&a, gradient.at[j], &weight.at[j], &first.at[j], &second.at[j]);
        quad_store(m, i, count, first, false);
        quad_store(v, i, count, second, false);
        quad_store(p, i, count, weight, false);
    }
}

extern "C" size_t GR_CUDA(adam_step_scratch)(const gr_call *call, gr_pass pass)
{
    (void)call, (void)pass;
    return sizeof(adam_numbers);
}

extern "C" void GR_CUDA(adam_step_forward)(const gr_call *call)
{
    const gr_adam_args *args = (const gr_adam_args *)call->options;
    adam_numbers *numbers = (adam_numbers *)call->exec->scratch;
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(adam_prepare, 1, 1, 0, call->exec->queue, numbers, *args, call->exec->state);
    GR_LAUNCH(adam_step, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), gr__f32(call->in[2]), gr__f32(call->in[3]), numbers, call->exec->state, count);
}
