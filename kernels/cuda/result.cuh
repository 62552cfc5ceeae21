/*
 * result.cuh - the usual destinations of a product, rows of a matrix c[m][n]:
 *
 *   result           with bias and ReLU: forward passes
 *   gradient_result  as it is, or added to what is there: backward passes
 *   plain_result     as it is
 */
#ifndef GRADUS_RESULT_CUH
#define GRADUS_RESULT_CUH

#include "kernels/cuda/element.cuh"

/* Where a quad of sums goes to. */
typedef struct {
    int64_t row, column;
    int64_t inside; /* how many of the four columns exist */
    bool whole;     /* if one does, all four do */
} spot;

/* Elements of c are E; the bias is float. */
template <class E> struct result {
    E *c;              /* [m][n] */
    const float *bias; /* [n] or NULL */
    int64_t n;
    bool relu;
};

template <class E> GR_DEVICE quad recall(const result<E> *to, const spot &at)
{
    return to->bias ? quad_inside(to->bias + at.column, at.inside, at.whole) : (quad){{0, 0, 0, 0}};
}

template <class E> GR_DEVICE void finish(const result<E> *to, const spot &at, const quad &bias, quad v)
{
#pragma unroll
    for (int j = 0; j < QUAD; j++) {
        v.at[j] += bias.at[j];
        v.at[j] = to->relu && v.at[j] < 0 ? 0 : v.at[j];
    }
    quad_put(to->c + at.row * to->n + at.column, at.inside, at.whole, v);
}

template <class E> struct plain_result {
    E *c; /* [m][n] */
    int64_t n;
};

typedef struct {
} nothing;

template <class E> GR_DEVICE nothing recall(const plain_result<E> *, const spot &)
{
    return {};
}

template <class E> GR_DEVICE void finish(const plain_result<E> *to, const spot &at, nothing, const quad &v)
{
    quad_put(to->c + at.row * to->n + at.column, at.inside, at.whole, v);
}

template <class E> struct gradient_result {
    E *c; /* [m][n] */
    int64_t n;
    bool accumulate;
};

template <class E> GR_DEVICE quad recall(const gradient_result<E> *to, const spot &at)
{
    return to->accumulate ? quad_inside(to->c + at.row * to->n + at.column, at.inside, at.whole) : (quad){{0, 0, 0, 0}};
}

template <class E> GR_DEVICE void finish(const gradient_result<E> *to, const spot &at, const quad &old, quad v)
{
#pragma unroll
    for (int j = 0; j < QUAD; j++)
        v.at[j] = to->accumulate ? v.at[j] + old.at[j] : v.at[j];
    quad_put(to->c + at.row * to->n + at.column, at.inside, at.whole, v);
}

#endif
