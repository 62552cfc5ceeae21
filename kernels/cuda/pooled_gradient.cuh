/*
 * pooled_gradient.cuh - dA, the gradient of an activation that was max-pooled, as a source for the products of a
 * convolution:
 *
 *   dA[n,i,j,k] = sum of dY[n,p,q,k] over the pooling windows (p, q) whose argmax is (i, j): u*V + v, i = p*stride + u - pad
 *
 * computed where it is loaded, so the array of the activation's size never exists. Windows that do not overlap, the usual
 * ones, give one read of dY and argmax for each quad.
 */
#ifndef GRADUS_POOLED_GRADIENT_CUH
#define GRADUS_POOLED_GRADIENT_CUH

#include "kernels/cuda/image_operand.cuh"

enum { CLIPPED = 255 }; /* argmax where the maximum is not above 0 */

typedef struct {
    const float *dy;       /* [N,P,Q,K] */
    const uint8_t *argmax; /* [N,P,Q,K] */
    int p, q, k;           /* extents of the activation */
    window pool;           /* over the activation; r, s: the window's extents, p, q: those of dY */
} pooled_gradient;

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

GR_DEVICE quad gradient_quad(const pooled_gradient *s, int n, int i, int j, int k, int inside)
{
    const window *o = &s->pool;
    const int row = i + o->pad_top, column = j + o->pad_left;
    const bool whole = s->k % QUAD == 0;
    quad sum = {{0, 0, 0, 0}};
    for (int p = last_window(row, o->stride_h, o->p); p >= 0 && row - p * o->stride_h < o->r; p--)
        for (int q = last_window(column, o->stride_w, o->q); q >= 0 && column - q * o->stride_w < o->s; q--) {
            const uint32_t here = (row - p * o->stride_h) * o->s + column - q * o->stride_w;
            const int64_t at = (((int64_t)n * o->p + p) * o->q + q) * s->k + k;
            const uint32_t places = places_inside(s->argmax + at, inside, whole);
            const quad v = quad_inside(s->dy + at, inside, whole);
#pragma unroll
            for (int f = 0; f < QUAD; f++)
                sum.at[f] += (places >> 8 * f & 0xFF) == here ? v.at[f] : 0;
        }
    return sum;
}

/* dY where it was passed on at all: the gradient of the bias is the sum of its columns. */
typedef struct {
    const float *dy;
    const uint8_t *argmax;
    int64_t columns;
} chosen_rows;

GR_DEVICE float source_at(const chosen_rows *s, int64_t row, int64_t column)
{
    const int64_t at = row * s->columns + column;
    return s->argmax[at] != CLIPPED ? s->dy[at] : 0;
}

#endif
