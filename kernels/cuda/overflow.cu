/*
 * overflow.cu - skip = 1 if an element of x, float, f16 or bf16, is not finite: one whose exponent has all its bits
 * set.
 *
 * Launch    a thread for four elements side by side, blocks of 256; one that finds something puts a 1 where skip
 *           stands, as in unscale.cu.
 * Limit     memory: each element is read once.
 * Measured  not yet.
 */
#include "kernels/cuda/quad.cuh"

enum { FLOAT_EXPONENT = 0x7F800000, F16_EXPONENT = 0x7C00, BF16_EXPONENT = 0x7F80 };

/* Whether one of elements i to i + 3 of x[count] has the exponent. */
template <typename T> GR_DEVICE bool any_of_four(const T *x, int64_t i, int64_t count, T exponent)
{
    bool found = false;
    for (int j = 0; j < QUAD; j++)
        found |= i + j < count && (x[i + j] & exponent) == exponent;
    return found;
}

/* x[count] as words of its size, scaler[GR_SCALER_VALUES] */
template <typename T> static __global__ void overflow(const T *x, float *scaler, T exponent, int64_t count)
{
    bool found = false;
    for (int64_t i = quad_first(); i < count; i += quad_stride())
        found |= any_of_four(x, i, count, exponent);
    if (found)
        atomicExch(&scaler[GR_SCALER_SKIP], 1.0f);
}

extern "C" void GR_CUDA(overflow_forward)(const gr_call *call)
{
    const gr_tensor *x = call->in[0];
    float *scaler = gr__f32(call->in[1]);
    const unsigned blocks = quad_blocks(x->count);
    if (x->type == GR_F32)
        GR_LAUNCH((overflow<uint32_t>), blocks, QUAD_THREADS, 0, call->exec->queue, (const uint32_t *)x->data, scaler,
                  (uint32_t)FLOAT_EXPONENT, x->count);
    else
        GR_LAUNCH((overflow<uint16_t>), blocks, QUAD_THREADS, 0, call->exec->queue, (const uint16_t *)x->data, scaler,
                  (uint16_t)(x->type == GR_F16 ? F16_EXPONENT : BF16_EXPONENT), x->count);
}
