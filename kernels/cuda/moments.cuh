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

/* Takes one more value of each column in (Welford 1962). */
template <int V> GR_DEVICE void moments_take(moments<V> *a, pack<V> x)
{
    a->count += 1;
    const float share = 1 / a->count;
    for (int j = 0; j < V; j++) {
        const float delta = x.at[j] - a->mean.at[j];
        a->mean.at[j] += delta * share;
        a->squares.at[j] += delta * (x.at[j] - a->mean.at[j]);
    }
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

/*
 * Moments of all rows of the block, in those who speak; a tree over the rows. All threads must come, idle ones with 0.
 */
template <int V> GR_DEVICE moments<V> columns_moments(const columns *m, moments<V> a)
{
    GR_SHARED(float, of_thread, [1 + 2 * V][COLUMNS_THREADS]);
    const int t = threadIdx.x, row = t / m->width;
    for (int step = COLUMNS_THREADS / 2; step > 0; step /= 2) {
        of_thread[0][t] = a.count;
        for (int j = 0; j < V; j++) {
            of_thread[1 + j][t] = a.mean.at[j];
            of_thread[1 + V + j][t] = a.squares.at[j];
        }
        __syncthreads();
        if (row < step && row + step < m->height) {
            const int other = t + step * m->width;
            moments<V> b;
            b.count = of_thread[0][other];
            for (int j = 0; j < V; j++) {
                b.mean.at[j] = of_thread[1 + j][other];
                b.squares.at[j] = of_thread[1 + V + j][other];
            }
            moments_join<V>(&a, &b);
        }
        __syncthreads();
    }
    return a;
}

#endif
