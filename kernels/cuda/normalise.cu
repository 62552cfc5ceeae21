/*
 * normalise.cu - y[n,h,w,c] = (x[n,h,w,c] / 255 - mean[c]) / std[c], of bytes, as x scale[c] + shift[c] with
 * scale = 1 / (255 std) and shift = -mean / std: one multiply-add in place of two divisions, which memory would wait
 * for.
 *
 * Launch    a thread for four elements side by side, blocks of 256: one word is read, 16 bytes are written.
 * Limit     memory: one byte is read and four are written per element.
 * Measured  H200, 128 pictures of 200 x 200: 40 us, 1.9 TB/s.
 */
#include "kernels/cuda/quad.cuh"

enum { CHANNELS = 4 /* at most */ };

typedef struct {
    float scale[CHANNELS], shift[CHANNELS];
} line;

/* Bytes i to i + 3 of x[count], i a multiple of 4, the first in the lowest bits; 0 behind the end. */
GR_DEVICE uint32_t four_bytes(const uint8_t *x, int64_t i, int64_t count)
{
    uint32_t word = 0;
    if (i + QUAD <= count)
        return *(const uint32_t *)(x + i);
    for (int j = 0; j < QUAD; j++)
        word |= i + j < count ? (uint32_t)x[i + j] << 8 * j : 0;
    return word;
}

/* of[c]. An index that only the run knows would move the array from registers to memory. */
GR_DEVICE float pick(const float of[CHANNELS], int c)
{
    return c == 0 ? of[0] : c == 1 ? of[1] : c == 2 ? of[2] : of[3];
}

/* y[count], x[count]; element i is of channel i % C */
template <class E> static __global__ void normalise(E *y, const uint8_t *x, line a, int C, int64_t count)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        const uint32_t word = four_bytes(x, i, count);
        int c = (int)(i % C);
        quad v;
        for (int j = 0; j < QUAD; j++) {
            v.at[j] = (float)(word >> 8 * j & 255) * pick(a.scale, c) + pick(a.shift, c);
            c = c + 1 < C ? c + 1 : 0;
        }
        quad_store(y, i, count, v, false);
    }
}

template <class E> static void forward(const gr_call *call)
{
    const gr_normalise_args *args = (const gr_normalise_args *)call->options;
    const int64_t count = call->in[0]->count, C = call->in[0]->shape[3];
    line a = {{0}, {0}};
    for (int64_t c = 0; c < C; c++) {
        a.scale[c] = (float)(1 / (255 * (double)args->std[c]));
        a.shift[c] = (float)(-(double)args->mean[c] / (double)args->std[c]);
    }
    GR_LAUNCH((normalise<E>), quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, elements<E>(call->out[0]),
              gr__u8(call->in[0]), a, (int)C, count);
}

FORWARD_OF_ELEMENTS(normalise, forward)
