/*
 * result.cuh - the usual destination of a product: rows of a matrix, with bias and ReLU, or added to what is there.
 */
#ifndef GRADUS_RESULT_CUH
#define GRADUS_RESULT_CUH

#include "kernels/cuda/element.cuh"

/* Where a quad of sums goes to. */
typedef struct {
    int64_t row, column;
    int64_t inside; /* how many of the four columns exist */
    bool whole;     /* all or none of every four */
} spot;

/* Elements of c are E; the bias is float. */
template <class E> struct result {
    E *c;              /* [m][n] */
    const float *bias; /* [n] or NULL */
    int64_t n;
    bool relu, accumulate;
};

template <class E> GR_DEVICE E *spot_of(const result<E> *to, const spot &at)
{
    return to->c + at.row * to->n + at.column;
}

/* What is added to the sums. */
template <class E> GR_DEVICE quad recall(const result<E> *to, const spot &at)
{
    if (to->accumulate)
        return quad_inside(spot_of(to, at), at.inside, at.whole);
    return to->bias ? quad_inside(to->bias + at.column, at.inside, at.whole) : (quad){{0, 0, 0, 0}};
}

template <class E> GR_DEVICE void finish(const result<E> *to, const spot &at, const quad &add, quad v)
{
#pragma unroll
    for (int j = 0; j < QUAD; j++) {
        v.at[j] += add.at[j];
        v.at[j] = to->relu && v.at[j] < 0 ? 0 : v.at[j];
    }
    quad_put(spot_of(to, at), at.inside, at.whole, v);
}

#endif
