/*
 * pooled_gradient.cuh - dA, the gradient of an activation that was max-pooled:
 *
 *   dA[n,i,j,k] = sum of dY[n,p,q,k] over the pooling windows (p, q) whose argmax is (i, j): u*V + v, i = p*stride + u
 *   - pad
 *
 * The products of a convolution want it several times, whole and in their order, so it is made, in scratch: for as
 * many samples at a time as take SLICE_BYTES for each multiprocessor, whatever the batch is. That fills a GPU with
 * tiles, and stays in the caches of a large one.
 */
#ifndef GRADUS_POOLED_GRADIENT_CUH
#define GRADUS_POOLED_GRADIENT_CUH

#include "kernels/cuda/image_operand.cuh"

enum {
    CLIPPED = 255,          /* argmax where the maximum is not above 0 */
    SLICE_BYTES = 128 << 10 /* of dA */
};

template <class E> struct pooled_gradient {
    const E *dy;           /* [N,P,Q,K] */
    const uint8_t *argmax; /* [N,P,Q,K] */
    int p, q, k;           /* extents of the activation */
    window pool;           /* over the activation; r, s: the window's extents, p, q: those of dY */
};

/* Places of four neighbouring filters, one in each byte; the first inside, at least one, exist. whole: all. */
GR_DEVICE uint32_t places_inside(const uint8_t *argmax, int inside, bool whole)
{
    uint32_t places = 0xFFFFFFFFu;
    if (whole)
        return *(const uint32_t *)argmax;
#pragma unroll
    for (int j = 0; j < QUAD; j++)
        if (j < inside)
            places = (places & ~(0xFFu << 8 * j)) | (uint32_t)argmax[j] << 8 * j;
    return places;
}

/* The last window of those along one axis that see element i + pad of the padded axis. */
GR_DEVICE int last_window(int padded, int stride, int windows)
{
    const int last = padded / stride;
    return last < windows ? last : windows - 1;
}

/* Filters k to k + 3 of dA[n,i,j], of which inside are wanted, 0 for the others. */
template <class E> GR_DEVICE quad pooled_quad(const pooled_gradient<E> *s, digits position, int k, int inside)
{
    const window *o = &s->pool;
    const int row = position.middle + o->pad_top, column = position.low + o->pad_left;
    const bool whole = s->k % QUAD == 0;
    quad sum = {{0, 0, 0, 0}};
    for (int p = last_window(row, o->stride_h, o->p); p >= 0 && row - p * o->stride_h < o->r; p--)
        for (int q = last_window(column, o->stride_w, o->q); q >= 0 && column - q * o->stride_w < o->s; q--) {
            const uint32_t here = (row - p * o->stride_h) * o->s + column - q * o->stride_w;
            const int64_t at = (((int64_t)position.high * o->p + p) * o->q + q) * s->k + k;
            const uint32_t places = places_inside(s->argmax + at, inside, whole);
            const quad v = quad_inside(s->dy + at, inside, whole);
#pragma unroll
            for (int f = 0; f < QUAD; f++)
                sum.at[f] += (places >> 8 * f & 0xFF) == here ? v.at[f] : 0;
        }
    return sum;
}

/* da[n,p,q,k], count quads */
template <class E> static __global__ void spread_gradient(E *da, pooled_gradient<E> s, int64_t count)
{
    const int across = (s.k + QUAD - 1) / QUAD; /* quads at a position */
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const int64_t position = i / across;
        const int k = (int)(i % across) * QUAD, inside = s.k - k;
        const quad v = pooled_quad(&s, digits_of(position, (radices){s.p, s.q}), k, inside);
        quad_put(da + position * s.k + k, inside, s.k % QUAD == 0, v);
    }
}

/* da of n samples */
template <class E> static void make_pooled_gradient(const gr_exec *exec, E *da, const pooled_gradient<E> &s, int64_t n)
{
    const int64_t count = n * s.p * s.q * divide_up(s.k, QUAD);
    GR_LAUNCH((spread_gradient<E>), quad_blocks(count * QUAD), QUAD_THREADS, 0, exec->queue, da, s, count);
}

/* Samples of a slice, the last of which may be smaller, where a sample of dA has so many elements. */
template <class E> static inline int64_t slice_samples(const gr_exec *exec, int64_t n, int64_t elements)
{
    const int64_t fit = (int64_t)SLICE_BYTES * exec->multiprocessors / ((int64_t)sizeof(E) * elements);
    return divide_up(n, divide_up(n, fit > 1 ? fit : 1));
}

/* dY where it was passed on at all: the gradient of the bias is the sum of its columns. */
template <class E> struct chosen_rows {
    const E *dy;
    const uint8_t *argmax;
    int64_t columns;
};

template <class E> GR_DEVICE float source_at(const chosen_rows<E> *s, int64_t row, int64_t column)
{
    const int64_t at = row * s->columns + column;
    return s->argmax[at] != CLIPPED ? float_of(s->dy[at]) : 0;
}

#endif
