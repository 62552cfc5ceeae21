/*
 * windows.cu - poolings of images. h = p*stride + r - pad, w likewise, inside the image.
 *
 *   max_pool2d       y[n,p,q,c]  = max_{r,s} x[n,h,w,c]     padding never wins; a NaN counts as larger than anything
 *                    argmax      = r*S + s of the first maximum, a byte
 *                    dX[n,h,w,c] = sum of dY[n,p,q,c] over the windows that chose it
 *   avg_pool2d       y[n,p,q,c]  = sum_{r,s} x[n,h,w,c] / k[p,q]    k: how many elements of the window lie in the image
 *                    dX[n,h,w,c] = sum of dY[n,p,q,c] / k[p,q] over the windows that see it
 *   global_avg_pool  y[n,c] = sum_i x[n,i,c] / P over the P pixels of an image     dX[n,i,c] = dY[n,c] / P
 *
 * Launch    max_pool2d, avg_pool2d: blocks of 256 threads over y[N*P*Q, C], backward over dX[N*H*W, C] (columns.cuh); a
 *           thread makes one or four channels of a pixel at a time. Backward gathers: each element of dX is written
 *           once, by one thread, without atomics.
 *           global_avg_pool: a block of 256 threads for the pixels of one image and up to 1024 channels. Backward: the
 *           same places, each thread with one value of dY and its share of the pixels to write it to.
 * Shared    global_avg_pool 4 KiB, for the tree of its sums.
 * Order     of sums over a window: by h, then w; over the windows of a pixel: by p, then q. Over an image: each thread
 *           adds its pixels one after the other, then the block its threads in a tree.
 * Limit     memory: each array is read or written once. Where windows overlap, what is read again comes from the
 *           caches.
 * Measured  H200, batch 128, floats: 2 x 2 of 30 x 30 x 32 1.1 TB/s forward, 0.6 backward; 3 x 3 of 112 x 112 x 64 1.9
 *           and 0.7.
 */
#include "kernels/cuda/pooling.cuh"

/* --- max_pool2d --------------------------------------------------------------------------------------------------- */

/* V places in a window, a byte each. */
template <int V> struct places {
    uint8_t at[V];
};

template <int V> GR_DEVICE places<V> places_load(const uint8_t *argmax)
{
    places<V> a;
    uint32_t word;
    if constexpr (V == COLUMNS_WIDE)
        word = *(const uint32_t *)argmax;
    else
        word = *argmax;
    for (int j = 0; j < V; j++)
        a.at[j] = (uint8_t)(word >> 8 * j);
    return a;
}

template <int V> GR_DEVICE void places_store(uint8_t *argmax, const int at[V])
{
    uint32_t word = 0;
    for (int j = 0; j < V; j++)
        word |= (uint32_t)at[j] << 8 * j;
    if constexpr (V == COLUMNS_WIDE)
        *(uint32_t *)argmax = word;
    else
        *argmax = (uint8_t)word;
}

/* y[N,P,Q,C], argmax[N,P,Q,C] or NULL; x[N,H,W,C] */
template <int V, class E>
static __global__ void max_pool2d_forward(E *y, uint8_t *argmax, const E *x, axis down, axis across, columns m)
{
    const place at = columns_place<V>(&m, blockIdx.x);
    for (int64_t i = at.first; i < at.end; i += m.height) {
        const pixel o = pixel_at(i, down.positions, across.positions);
        const span hs = window_sees(&down, o.row), ws = window_sees(&across, o.column);
        pack<V> best;
        int where[V];
        for (int j = 0; j < V; j++)
            best.at[j] = -INFINITY, where[j] = -1;
        for (int64_t h = hs.begin; h < hs.end; h++)
            for (int64_t w = ws.begin; w < ws.end; w++) {
                const int tap = tap_of(&down, o.row, h) * (int)across.taps + tap_of(&across, o.column, w);
                const pack<V> value = pack_load<V>(x + ((o.n * down.size + h) * across.size + w) * m.C + at.c);
                for (int j = 0; j < V; j++) {
                    const bool larger = !(value.at[j] <= best.at[j] || isnan(best.at[j])); /* or a NaN */
                    const bool taken = where[j] < 0 || larger;
                    best.at[j] = taken ? value.at[j] : best.at[j];
                    where[j] = taken ? tap : where[j];
                }
            }
        pack_store<V>(y + i * m.C + at.c, best, false);
        if (argmax)
            places_store<V>(argmax + i * m.C + at.c, where);
    }
}

/* dx[N,H,W,C]; argmax[N,P,Q,C], dy[N,P,Q,C] */
template <int V, class E>
static __global__ void max_pool2d_backward(E *dx, const uint8_t *argmax, const E *dy, axis down, axis across, columns m,
                                           bool accumulate)
{
    const place at = columns_place<V>(&m, blockIdx.x);
    for (int64_t i = at.first; i < at.end; i += m.height) {
        const pixel o = pixel_at(i, down.size, across.size);
        const span ps = seen_by(&down, o.row), qs = seen_by(&across, o.column);
        pack<V> sum = {{0}};
        for (int64_t p = ps.begin; p < ps.end; p++)
            for (int64_t q = qs.begin; q < qs.end; q++) {
                const int tap = tap_of(&down, p, o.row) * (int)across.taps + tap_of(&across, q, o.column);
                const int64_t from = ((o.n * down.positions + p) * across.positions + q) * m.C + at.c;
                const places<V> chosen = places_load<V>(argmax + from);
                const pack<V> value = pack_load<V>(dy + from);
                for (int j = 0; j < V; j++)
                    sum.at[j] += chosen.at[j] == tap ? value.at[j] : 0;
            }
        pack_store<V>(dx + i * m.C + at.c, sum, accumulate);
    }
}

static gr_geometry max_pool2d_geometry(const gr_call *call)
{
    const gr_max_pool2d_args *args = (const gr_max_pool2d_args *)call->options;
    return gr__geometry(call->in[0], args->size[0], args->size[1], &args->window, true);
}

template <class E> static void max_pool2d(const gr_call *call)
{
    const gr_geometry g = max_pool2d_geometry(call);
    const columns m =
        columns_over(g.n * g.p * g.q, g.c, columns_per_thread(g.c), COLUMNS_THREADS, POOLING_ROWS, INT32_MAX);
    COLUMNS_LAUNCH(max_pool2d_forward, E, m, call->exec->queue, elements<E>(call->out[0]), gr__u8(call->out[1]),
                   elements<E>(call->in[0]), axis_down(&g), axis_across(&g), m);
}

template <class E> static void max_pool2d_gradient(const gr_call *call)
{
    const gr_geometry g = max_pool2d_geometry(call);
    const columns m =
        columns_over(g.n * g.h * g.w, g.c, columns_per_thread(g.c), COLUMNS_THREADS, POOLING_ROWS, INT32_MAX);
    if (call->d_in[0])
        COLUMNS_LAUNCH(max_pool2d_backward, E, m, call->exec->queue, elements<E>(call->d_in[0]), gr__u8(call->out[1]),
                       elements<E>(call->d_out[0]), axis_down(&g), axis_across(&g), m, call->accumulate & 1);
}

FORWARD_OF_ELEMENTS(max_pool2d, max_pool2d)
BACKWARD_OF_ELEMENTS(max_pool2d, max_pool2d_gradient)

/* --- avg_pool2d --------------------------------------------------------------------------------------------------- */

/* y[N,P,Q,C], x[N,H,W,C] */
template <int V, class E> static __global__ void avg_pool2d_forward(E *y, const E *x, axis down, axis across, columns m)
{
    const place at = columns_place<V>(&m, blockIdx.x);
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
    const place at = columns_place<V>(&m, blockIdx.x);
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

static gr_geometry avg_pool2d_geometry(const gr_call *call)
{
    const gr_avg_pool2d_args *args = (const gr_avg_pool2d_args *)call->options;
    return gr__geometry(call->in[0], args->size[0], args->size[1], &args->window, true);
}

template <class E> static void avg_pool2d(const gr_call *call)
{
    const gr_geometry g = avg_pool2d_geometry(call);
    const columns m =
        columns_over(g.n * g.p * g.q, g.c, columns_per_thread(g.c), COLUMNS_THREADS, POOLING_ROWS, INT32_MAX);
    COLUMNS_LAUNCH(avg_pool2d_forward, E, m, call->exec->queue, elements<E>(call->out[0]), elements<E>(call->in[0]),
                   axis_down(&g), axis_across(&g), m);
}

template <class E> static void avg_pool2d_gradient(const gr_call *call)
{
    const gr_geometry g = avg_pool2d_geometry(call);
    const columns m =
        columns_over(g.n * g.h * g.w, g.c, columns_per_thread(g.c), COLUMNS_THREADS, POOLING_ROWS, INT32_MAX);
    if (call->d_in[0])
        COLUMNS_LAUNCH(avg_pool2d_backward, E, m, call->exec->queue, elements<E>(call->d_in[0]),
                       elements<E>(call->d_out[0]), axis_down(&g), axis_across(&g), m, call->accumulate & 1);
}

FORWARD_OF_ELEMENTS(avg_pool2d, avg_pool2d)
BACKWARD_OF_ELEMENTS(avg_pool2d, avg_pool2d_gradient)

/* --- global_avg_pool ---------------------------------------------------------------------------------------------- */

/* y[N,C]; x[N,P,C] as x[N*P,C] in chunks of P */
template <int V, class E> static __global__ void global_avg_pool_forward(E *y, const E *x, columns m)
{
    const place at = columns_place<V>(&m, blockIdx.x);
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
    const place at = columns_place<V>(&m, blockIdx.x);
    if (at.first >= at.end)
        return;
    pack<V> share = pack_load<V>(dy + at.chunk * m.C + at.c);
    for (int j = 0; j < V; j++)
        share.at[j] /= (float)m.chunk;
    for (int64_t i = at.first; i < at.end; i += m.height)
        pack_store<V>(dx + i * m.C + at.c, share, accumulate);
}

static columns global_columns(const gr_call *call)
{
    const int64_t *shape = call->in[0]->shape, P = shape[1] * shape[2], C = shape[3];
    return columns_of_chunks(shape[0] * P, C, columns_per_thread(C), COLUMNS_THREADS, P);
}

template <class E> static void global_avg_pool(const gr_call *call)
{
    const columns m = global_columns(call);
    COLUMNS_LAUNCH(global_avg_pool_forward, E, m, call->exec->queue, elements<E>(call->out[0]),
                   elements<E>(call->in[0]), m);
}

template <class E> static void global_avg_pool_gradient(const gr_call *call)
{
    const columns m = global_columns(call);
    if (call->d_in[0])
        COLUMNS_LAUNCH(global_avg_pool_backward, E, m, call->exec->queue, elements<E>(call->d_in[0]),
                       elements<E>(call->d_out[0]), m, call->accumulate & 1);
}

FORWARD_OF_ELEMENTS(global_avg_pool, global_avg_pool)
BACKWARD_OF_ELEMENTS(global_avg_pool, global_avg_pool_gradient)
