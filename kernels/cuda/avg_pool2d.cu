/*
 * avg_pool2d.cu - average pooling of images. k[p,q]: how many elements of window (p, q) lie in the image.
 *
 *   y[n,p,q,c]  = sum_{r,s} x[n,h,w,c] / k[p,q]     h = p*stride + r - pad, w likewise, inside the image
 *   dX[n,h,w,c] = sum of dY[n,p,q,c] / k[p,q] over the windows that see it
 *
 * Launch    blocks of 256 threads over y[N*P*Q, C], backward over dX[N*H*W, C] (columns.cuh); a thread makes one or
 *           four channels of a pixel at a time. Backward gathers: each element of dX is written once, by one thread,
 *           without atomics.
 * Order     of the sums: by h, then w; by p, then q.
 * Limit     memory: each array is read or written once; where windows overlap, what is read again comes from the
 *           caches.
 * Measured  not yet.
 */
#include "kernels/cuda/pooling.cuh"

/* y[N,P,Q,C], x[N,H,W,C] */
template <int V, class E> static __global__ void avg_pool2d_forward(E *y, const E *x, axis down, axis across, columns m)
{
    const place at = columns_place<V>(&m);
    for (int64_t i = at.first; i < at.end; i += m.height) {
        const pixel o = pixel_at(i, down.positions, across.positions);
        const span hs = window_sees(&down, o.row), ws = window_sees(&across, o.column);
        const float k = (float)((hs.end - hs.begin) * (ws.end - ws.begin));
        pack<V> sum = {{0}};
        for (int64_t h = hs.begin; h < hs.end; h++)
            for (int64_t w = ws.begin; w < ws.end; w++) {
                const pack<V> value = pack_load<V>(x + ((o.n * down.size + h) * across.size + w) * m.C + at.c);
                for (int j = 0; j < V; j++)
                    sum.at[j] += value.at[j];
            }
        for (int j = 0; j < V; j++)
            sum.at[j] /= k;
        pack_store<V>(y + i * m.C + at.c, sum, false);
    }
}

/* dx[N,H,W,C], dy[N,P,Q,C] */
template <int V, class E>
static __global__ void avg_pool2d_backward(E *dx, const E *dy, axis down, axis across, columns m, bool accumulate)
{
    const place at = columns_place<V>(&m);
    for (int64_t i = at.first; i < at.end; i += m.height) {
        const pixel o = pixel_at(i, down.size, across.size);
        const span ps = seen_by(&down, o.row), qs = seen_by(&across, o.column);
        pack<V> sum = {{0}};
        for (int64_t p = ps.begin; p < ps.end; p++)
            for (int64_t q = qs.begin; q < qs.end; q++) {
                const span hs = window_sees(&down, p), ws = window_sees(&across, q);
                const float share = 1 / (float)((hs.end - hs.begin) * (ws.end - ws.begin));
                const pack<V> value =
                    pack_load<V>(dy + ((o.n * down.positions + p) * across.positions + q) * m.C + at.c);
                for (int j = 0; j < V; j++)
                    sum.at[j] += value.at[j] * share;
            }
        pack_store<V>(dx + i * m.C + at.c, sum, accumulate);
    }
}

static gr_geometry geometry(const gr_call *call)
{
    const gr_avg_pool2d_args *args = (const gr_avg_pool2d_args *)call->options;
    return gr__geometry(call->in[0], args->size[0], args->size[1], &args->window, true);
}

template <class E> static void forward(const gr_call *call)
{
    const gr_geometry g = geometry(call);
    const columns m = columns_over(g.n * g.p * g.q, g.c, columns_per_thread(g.c), POOLING_ROWS, INT32_MAX);
    COLUMNS_LAUNCH(avg_pool2d_forward, E, m, call->exec->queue, elements<E>(call->out[0]), elements<E>(call->in[0]),
                   axis_down(&g), axis_across(&g), m);
}

template <class E> static void backward(const gr_call *call)
{
    const gr_geometry g = geometry(call);
    const columns m = columns_over(g.n * g.h * g.w, g.c, columns_per_thread(g.c), POOLING_ROWS, INT32_MAX);
    if (call->d_in[0])
        COLUMNS_LAUNCH(avg_pool2d_backward, E, m, call->exec->queue, elements<E>(call->d_in[0]),
                       elements<E>(call->d_out[0]), axis_down(&g), axis_across(&g), m, call->accumulate & 1);
}

FORWARD_OF_ELEMENTS(avg_pool2d, forward)
BACKWARD_OF_ELEMENTS(avg_pool2d, backward)
