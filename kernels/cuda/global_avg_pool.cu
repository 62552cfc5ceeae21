/*
 * global_avg_pool.cu - y[n,c] = sum_i x[n,i,c] / P over the P pixels of an image; dX[n,i,c] = dY[n,c] / P.
 *
 * Launch    forward: a block of 256 threads for the pixels of one image and up to 1024 channels (columns.cuh).
 *           Backward: the same places, each thread with one value of dY and its share of the pixels to write it to.
 * Order     each thread adds its pixels one after the other, then the block its threads in a tree.
 * Shared    4 KiB, for the tree.
 * Limit     memory: forward reads x once, backward writes dX once.
 * Measured  not yet.
 */
#include "kernels/cuda/columns.cuh"

/* y[N,C]; x[N,P,C] as x[N*P,C] in chunks of P */
template <int V, class E> static __global__ void global_avg_pool_forward(E *y, const E *x, columns m)
{
    const place at = columns_place<V>(&m);
    pack<V> sum = {{0}};
    for (int64_t i = at.first; i < at.end; i += m.height) {
        const pack<V> v = pack_load<V>(x + i * m.C + at.c);
        for (int j = 0; j < V; j++)
            sum.at[j] += v.at[j];
    }
    sum = columns_sum<V>(&m, sum);
    for (int j = 0; j < V; j++)
        sum.at[j] /= (float)m.chunk;
    if (columns_speaks(&m, &at))
        pack_store<V>(y + at.chunk * m.C + at.c, sum, false);
}

/* dx[N,P,C] as dx[N*P,C] in chunks of P; dy[N,C] */
template <int V, class E>
static __global__ void global_avg_pool_backward(E *dx, const E *dy, columns m, bool accumulate)
{
    const place at = columns_place<V>(&m);
    if (at.first >= at.end)
        return;
    pack<V> share = pack_load<V>(dy + at.chunk * m.C + at.c);
    for (int j = 0; j < V; j++)
        share.at[j] /= (float)m.chunk;
    for (int64_t i = at.first; i < at.end; i += m.height)
        pack_store<V>(dx + i * m.C + at.c, share, accumulate);
}

static columns columns_of(const gr_call *call)
{
    const int64_t *shape = call->in[0]->shape, P = shape[1] * shape[2], C = shape[3];
    return columns_of_chunks(shape[0] * P, C, columns_per_thread(C), COLUMNS_THREADS, P);
}

template <class E> static void forward(const gr_call *call)
{
    const columns m = columns_of(call);
    COLUMNS_LAUNCH(global_avg_pool_forward, E, m, call->exec->queue, elements<E>(call->out[0]),
                   elements<E>(call->in[0]), m);
}

template <class E> static void backward(const gr_call *call)
{
    const columns m = columns_of(call);
    if (call->d_in[0])
        COLUMNS_LAUNCH(global_avg_pool_backward, E, m, call->exec->queue, elements<E>(call->d_in[0]),
                       elements<E>(call->d_out[0]), m, call->accumulate & 1);
}

FORWARD_OF_ELEMENTS(global_avg_pool, forward)
BACKWARD_OF_ELEMENTS(global_avg_pool, backward)
