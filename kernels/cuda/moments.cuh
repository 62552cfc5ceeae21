/*
 * moments.cuh - mean and spread of many values without cancellation: how many there are, their mean, and the sum of
 * their squared deviations from it.
 */
#ifndef GRADUS_MOMENTS_CUH
#define GRADUS_MOMENTS_CUH

#include "kernels/cuda/columns.cuh"

/* Of V columns; all of them have as many values. */
template <int V> struct moments {
    float count;
    pack<V> mean, squares;
};

/*
 * Of ROWS rows as rows_load brings them, of which those that are left rows away or more do not count: the mean first,
 * then the deviations from it.
 */
template <int ROWS, int V, class E> GR_DEVICE moments<V> moments_of(const few<V, E> *x, int height, int left)
{
    moments<V> a = {0, {{0}}, {{0}}};
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        a.count += row * height < left ? 1 : 0;
#pragma unroll
        for (int j = 0; j < V; j++)
            a.mean.at[j] += few_at(x[row], j);
    }
    const float share = a.count > 0 ? 1 / a.count : 0;
#pragma unroll
    for (int j = 0; j < V; j++)
        a.mean.at[j] *= share;
#pragma unroll
    for (int row = 0; row < ROWS; row++)
        if (row * height < left)
#pragma unroll
            for (int j = 0; j < V; j++) {
                const float delta = few_at(x[row], j) - a.mean.at[j];
                a.squares.at[j] += delta * delta;
            }
    return a;
}

/* Takes the values of b in (Chan, Golub and LeVeque 1983, equation 2.1). */
template <int V> GR_DEVICE void moments_join(moments<V> *a, const moments<V> *b)
{
    const float count = a->count + b->count, share = count > 0 ? b->count / count : 0;
    for (int j = 0; j < V; j++) {
        const float delta = b->mean.at[j] - a->mean.at[j];
        a->mean.at[j] += delta * share;
        a->squares.at[j] += b->squares.at[j] + delta * (delta * a->count * share);
    }
    a->count = count;
}

/* Moments of several groups in arrays, where fold_moments folds them. */
typedef struct {
    float *count, *mean, *squares;
} folding;

/*
 * As fold_sums: those of i, i + some, ... are joined, all at once: the mean of all, then each one's squares and its
 * mean's deviation from that. Means are added as differences from the first, so no large numbers are.
 */
GR_DEVICE void fold_moments(folding of, int some, int all)
{
    for (int i = threadIdx.x; i < some; i += COLUMNS_THREADS) {
        const float first = of.mean[i];
        float count = 0, shift = 0, squares = 0;
        for (int j = i; j < all; j += some) {
            count += of.count[j];
            shift += of.count[j] * (of.mean[j] - first);
        }
        shift = count > 0 ? shift / count : 0;
        for (int j = i; j < all; j += some) {
            const float delta = of.mean[j] - first - shift;
            squares += of.squares[j] + of.count[j] * delta * delta;
        }
        of.count[i] = count, of.mean[i] = first + shift, of.squares[i] = squares;
    }
    __syncthreads();
}

/* Moments of all rows of the block, in those who speak; as columns_sum. */
template <int V> GR_DEVICE moments<V> columns_moments(const columns *m, moments<V> a)
{
    GR_SHARED(float, of_thread, [3][V * COLUMNS_THREADS]);
    const folding of = {of_thread[0], of_thread[1], of_thread[2]};
    const int mine = threadIdx.x * V, lines = m->width * V, folded = columns_folded<V>(m);
    for (int j = 0; j < V; j++)
        of.count[mine + j] = a.count, of.mean[mine + j] = a.mean.at[j], of.squares[mine + j] = a.squares.at[j];
    __syncthreads();
    fold_moments(of, folded, m->height * lines);
    if (folded > lines)
        fold_moments(of, lines, folded);
    for (int j = 0; j < V; j++)
        a.mean.at[j] = of.mean[mine + j], a.squares.at[j] = of.squares[mine + j];
    return a;
}

#endif
