/*
 * cast.cu - y = x in another type: float, f16, bf16, on any shape; rounded to the nearest, ties to even.
 *
 * Launch    a thread for four elements side by side, blocks of 256: a warp moves 512 bytes of float or 256 of a half.
 * Limit     memory: each element is read and written once.
 * Measured  not yet.
 */
#include "kernels/cuda/quad.cuh"

typedef enum { FLOAT, F16, BF16 } element;

/* Elements i to i + 3 of x[count] as floats; 0 behind the end. */
GR_DEVICE quad load_as(element type, const void *x, int64_t i, int64_t count)
{
    if (type == FLOAT)
        return quad_load((const float *)x, i, count);
    quad v = {{0, 0, 0, 0}};
    uint16_t bits[QUAD] = {0, 0, 0, 0};
    const uint16_t *from = (const uint16_t *)x + i;
    if (i + QUAD <= count) {
        const uint2 whole = *(const uint2 *)from;
        bits[0] = (uint16_t)whole.x, bits[1] = (uint16_t)(whole.x >> 16);
        bits[2] = (uint16_t)whole.y, bits[3] = (uint16_t)(whole.y >> 16);
    } else {
        for (int j = 0; j < QUAD; j++)
            if (i + j < count)
                bits[j] = from[j];
    }
    for (int j = 0; j < QUAD; j++)
        v.at[j] = type == F16 ? gr_f16_float(bits[j]) : gr_bf16_float(bits[j]);
    return v;
}

GR_DEVICE void store_as(element type, void *y, int64_t i, int64_t count, quad v)
{
    if (type == FLOAT) {
        quad_store((float *)y, i, count, v, false);
        return;
    }
    uint16_t bits[QUAD];
    for (int j = 0; j < QUAD; j++)
        bits[j] = type == F16 ? gr_f16_bits(v.at[j]) : gr_bf16_bits(v.at[j]);
    uint16_t *to = (uint16_t *)y + i;
    if (i + QUAD <= count) {
        uint2 whole;
        whole.x = bits[0] | (uint32_t)bits[1] << 16, whole.y = bits[2] | (uint32_t)bits[3] << 16;
        *(uint2 *)to = whole;
    } else {
        for (int j = 0; j < QUAD; j++)
            if (i + j < count)
                to[j] = bits[j];
    }
}

/* y[count], x[count] */
static __global__ void cast_forward(void *y, element to, const void *x, element from, int64_t count)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride())
        store_as(to, y, i, count, load_as(from, x, i, count));
}

static element element_of(const gr_tensor *t)
{
    return t->type == GR_F16 ? F16 : t->type == GR_BF16 ? BF16 : FLOAT;
}

extern "C" void GR_CUDA(cast_forward)(const gr_call *call)
{
    const gr_tensor *x = call->in[0], *y = call->out[0];
    GR_LAUNCH(cast_forward, quad_blocks(x->count), QUAD_THREADS, 0, call->exec->queue, y->data, element_of(y), x->data,
              element_of(x), x->count);
}
