/*
 * pooled_gradient.cuh - dA, the gradient of an activation that was max-pooled, as a source for the products of a
 * convolution:
 *
 *   dA[n,i,j,k] = sum of dY[n,p,q,k] over the pooling windows (p, q) whose argmax is (i, j): u*V + v, i = p*stride + u
 *   - pad
 *
 * computed where it is loaded, so the array of the activation's size never exists. Windows that do not overlap, the
 * usual ones, give one read of dY and argmax for each quad, and no sum that would have to be rounded to a half.
 */
#ifndef GRADUS_POOLED_GRADIENT_CUH
#define GRADUS_POOLED_GRADIENT_CUH

#include "kernels/cuda/image_operand.cuh"

enum { CLIPPED = 255 }; /* argmax where the maximum is not above 0 */

template <class E> struct pooled_gradient {
    enum { DIRECT = 0, HEAVY = sizeof(E) < sizeof(float) /* pieces of 8 */ };
    typedef E element;
    const E *dy;           /* [N,P,Q,K] */
    const uint8_t *argmax; /* [N,P,Q,K] */
    int p, q, k;           /* extents of the activation */
    window pool;           /* over the activation; r, s: the window's extents, p, q: those of dY */
};

/* Places of four neighbouring filters, one in each byte; the first inside exist. whole: argmax is a multiple of 4. */
GR_DEVICE uint32_t places_inside(const uint8_t *argmax, int inside, bool whole)
{
    uint32_t places = 0xFFFFFFFFu;
    if (whole && inside >= QUAD)
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

/* What a direct operand would ask for: dA lies nowhere. */
template <class E> GR_DEVICE bool gradient_direct(const pooled_gradient<E> *)
{
    return false;
}

/* Adds to sum[COUNT] what window element at hands back to its place here. */
template <class E>
GR_DEVICE void add_chosen(float *sum, const pooled_gradient<E> *s, int64_t at, uint32_t here, int inside, bool whole)
{
#pragma unroll
    for (int first = 0; first < piece<E>::COUNT; first += QUAD) {
        const uint32_t places = places_inside(s->argmax + at + first, inside - first, whole);
        const quad v = quad_inside(s->dy + at + first, inside - first, whole);
#pragma unroll
        for (int f = 0; f < QUAD; f++)
            sum[first + f] += (places >> 8 * f & 0xFF) == here ? v.at[f] : 0;
    }
}

template <class E>
GR_DEVICE piece<E> gradient_piece(const pooled_gradient<E> *s, int n, int i, int j, int k, int inside)
{
    const window *o = &s->pool;
    const int row = i + o->pad_top, column = j + o->pad_left;
    float sum[piece<E>::COUNT] = {0};
    for (int p = last_window(row, o->stride_h, o->p); p >= 0 && row - p * o->stride_h < o->r; p--)
        for (int q = last_window(column, o->stride_w, o->q); q >= 0 && column - q * o->stride_w < o->s; q--) {
            const uint32_t here = (row - p * o->stride_h) * o->s + column - q * o->stride_w;
            const int64_t at = (((int64_t)n * o->p + p) * o->q + q) * s->k + k;
            add_chosen(sum, s, at, here, inside, s->k % QUAD == 0);
        }
    piece<E> v;
#pragma unroll
    for (int f = 0; f < piece<E>::COUNT; f++)
        v.at[f] = element_of<E>(sum[f]);
    return v;
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
