/*
 * result.cuh - the usual destination of a product: rows of a matrix, with bias and ReLU, or added to what is there.
 */
#ifndef GRADUS_RESULT_CUH
#define GRADUS_RESULT_CUH

#include "kernels/cuda/gemm_tile.cuh"

typedef struct {
    float *c;          /* [m][n] */
    const float *bias; /* [n] or NULL */
    int64_t n;
    bool relu, accumulate;
} result;

/* Writes the first inside of four neighbours; whole: c is a multiple of 16 bytes. */
GR_DEVICE void quad_put(float *c, int64_t inside, bool whole, quad v)
{
    if (whole && inside >= QUAD) {
        *(float4 *)c = make_float4(v.at[0], v.at[1], v.at[2], v.at[3]);
    } else {
#pragma unroll
        for (int j = 0; j < QUAD; j++)
            if (j < inside)
                c[j] = v.at[j];
    }
}

GR_DEVICE void finish(const result *to, int64_t row, int64_t column, int64_t inside, quad v)
{
    const bool whole = to->n % QUAD == 0;
    float *c = to->c + row * to->n + column;
    quad add = {{0, 0, 0, 0}};
    if (to->bias)
        add = quad_inside(to->bias + column, inside, whole);
    if (to->accumulate)
        add = quad_inside(c, inside, whole);
#pragma unroll
    for (int j = 0; j < QUAD; j++) {
        v.at[j] += add.at[j];
        v.at[j] = to->relu && v.at[j] < 0 ? 0 : v.at[j];
    }
    quad_put(c, inside, whole, v);
}

#endif
