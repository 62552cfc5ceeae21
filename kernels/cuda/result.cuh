/*
 * result.cuh - the usual destination of a product: rows of a matrix, with bias and ReLU, or added to what is there.
 */
#ifndef GRADUS_RESULT_CUH
#define GRADUS_RESULT_CUH

#include "kernels/cuda/element.cuh"

/* Elements of c are E; the bias is float. */
template <class E> struct result {
    E *c;              /* [m][n] */
    const float *bias; /* [n] or NULL */
    int64_t n;
    bool relu, accumulate;
};

template <class E>
GR_DEVICE void finish(const result<E> *to, int64_t row, int64_t column, int64_t inside, bool whole, quad v)
{
    E *c = to->c + row * to->n + column;
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
