/*
 * narrow_grad_w.cuh - dW and db of a convolution of few channels behind ReLU and max-pooling, in one pass over dY:
 *
 *   dW[k,r,s,c] = sum_{n,p,q} dY[n,p,q,k] x[n, 2p+u+r-pad_top, 2q+v+s-pad_left, c]    (u, v) the place in argmax
 *   db[k]       = sum_{n,p,q} dY[n,p,q,k]                                             where argmax is not 255
 *
 * dA, of which three quarters are zeros, does not appear: each number of dY meets the pixels around its own winner. A
 * lane keeps the 9 C sums of its filter, and db's, in registers.
 *
 * Launch    block (its turn, group of 32 filters), the turn fastest; it takes each so-many-th tile, see narrow_tile.cuh
 * Shared    the halo and the sums of a warp: 8 KiB
 * Order     a warp adds the windows of its row of the tile, tile after tile; then the block its warps, into scratch;
 *           then narrow_join the blocks
 * Limit     shared memory: a multiply-add wants a number of its own for each lane
 */
#ifndef GRADUS_NARROW_GRAD_W_CUH
#define GRADUS_NARROW_GRAD_W_CUH

#include "kernels/cuda/narrow_tile.cuh"
#include "kernels/cuda/pooled_gradient.cuh"

enum {
    AHEAD = 4,               /* numbers of dY under way to a thread; divides the columns of a tile */
    NARROW_JOIN_COLUMNS = 8, /* 32 bytes, which is what memory is read by */
    NARROW_JOIN_PARTS = 32,
    NARROW_JOIN_THREADS = NARROW_JOIN_COLUMNS * NARROW_JOIN_PARTS
};

/* dY and its winners, [N,P,Q,K] */
template <class E> struct narrow_winners {
    const E *dy;
    const uint8_t *argmax;
    int k;
};

/* resident: blocks on a multiprocessor */
template <class E>
static inline narrow_plan narrow_cut(const gr_exec *exec, const narrow_image<E> &image, int64_t K, int resident)
{
    return narrow_turns(narrow_tiles(image), image.tiles, divide_up(K, NARROW_FILTERS),
                        (int64_t)resident * exec->multiprocessors);
}

/* Adds what one filter's window, whose first pixel is given, hands back to its winner. */
template <int C> GR_DEVICE void add_winner(float *sum, float dy, int place, const narrow_halo<C> *halo, int window)
{
    const float v = place == CLIPPED ? 0 : dy;
    const int winner = window + (place >> 1 & 1) * HALO_COLUMNS + (place & 1);
#pragma unroll
    for (int tap = 0; tap < NARROW_TAPS; tap++) {
        const int pixel = winner + tap / NARROW_SIDE * HALO_COLUMNS + tap % NARROW_SIDE;
        if (C > 1) {
            const float2 two = *(const float2 *)(halo->pair + 2 * pixel);
            sum[tap * C] += v * two.x;
            sum[tap * C + 1] += v * two.y;
        }
        sum[tap * C + C - 1] += v * halo->last[pixel];
    }
    sum[NARROW_TAPS * C] += v;
}

/* The windows of this warp's row of the tile, filter k; AHEAD are read before they are added. */
template <int C, class E>
GR_DEVICE void add_row(float *sum, const narrow_winners<E> *from, const narrow_image<E> *image, digits first, int k,
                       const narrow_halo<C> *halo)
{
    const int row = threadIdx.x / WARP, p = first.middle + row;
    const int count = p < image->p ? min(image->q - first.low, NARROW_COLUMNS) : 0;
    int64_t at = (((int64_t)first.high * image->p + p) * image->q + first.low) * from->k + k;
#pragma unroll 1
    for (int q = 0; q < count; q += AHEAD) {
        E v[AHEAD];
        int place[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++, at += from->k) {
            const bool there = q + i < count;
            v[i] = there ? from->dy[at] : E{0};
            place[i] = there ? (int)from->argmax[at] : (int)CLIPPED;
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            add_winner<C>(sum, float_of(v[i]), place[i], halo, NARROW_POOL * (row * HALO_COLUMNS + q + i));
    }
}

/* Adds the sums of all warps to those of the first, one after another, by way of shared[COUNT][WARP]. */
template <int COUNT, int WARPS> GR_DEVICE void add_warps(float *sum, float *shared)
{
    const int warp = threadIdx.x / WARP;
    float *mine = shared + threadIdx.x % WARP;
    for (int other = 1; other < WARPS; other++) {
        __syncthreads();
        if (warp == other)
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                mine[i * WARP] = sum[i];
        __syncthreads();
        if (warp == 0)
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                sum[i] += mine[i * WARP];
    }
}

/* part[K][3][3][C]: the sums of filter k */
template <int C> GR_DEVICE void put_part(float *part, const float *sum, int k)
{
#pragma unroll
    for (int i = 0; i < NARROW_TAPS * C; i++)
        part[(int64_t)k * NARROW_TAPS * C + i] = sum[i];
}

/* parts[turns][columns of narrow_join] */
template <int C, class E>
static __global__ void __launch_bounds__(NARROW_THREADS, NARROW_RESIDENT)
    narrow_grad_w(float *parts, int64_t columns, narrow_image<E> image, narrow_winners<E> from, narrow_plan plan)
{
    enum { SUMS = NARROW_TAPS * C + 1 };
    GR_SHARED(narrow_halo<C>, halo, [1]);
    GR_SHARED(float, of_warp, [SUMS * WARP]);
    const int turn = blockIdx.x % plan.turns;
    const int filter = blockIdx.x / plan.turns * NARROW_FILTERS + threadIdx.x % WARP;
    const int k = min(filter, from.k - 1); /* lanes without a filter do what the last one does */
    float sum[SUMS] = {0};
    for (digits tile = tile_of(turn, image.tiles); tile.high < image.n;
         tile = digits_add(tile, plan.step, image.tiles)) {
        const digits first = first_window(tile);
        __syncthreads(); /* the last tile has been read */
        bring_halo<C>(halo, &image, first);
        __syncthreads();
        add_row<C>(sum, &from, &image, first, k, halo);
    }
    add_warps<SUMS, NARROW_ROWS>(sum, of_warp);
    if (threadIdx.x < WARP && filter < from.k) {
        float *part = parts + (int64_t)turn * columns;
        put_part<C>(part, sum, k);
        part[(int64_t)from.k * NARROW_TAPS * C + k] = sum[SUMS - 1];
    }
}

/* dw[weights], db[columns - weights], each NULL or the sum of parts[count][columns]; a block joins 8 columns */
static __global__ void __launch_bounds__(NARROW_JOIN_THREADS)
    narrow_join(float *dw, float *db, const float *parts, int count, int64_t columns, int64_t weights, bool add_dw,
                bool add_db)
{
    GR_SHARED(float, shared, [NARROW_JOIN_PARTS][NARROW_JOIN_COLUMNS]);
    const int lane = threadIdx.x % NARROW_JOIN_COLUMNS, first = threadIdx.x / NARROW_JOIN_COLUMNS;
    const int64_t column = (int64_t)blockIdx.x * NARROW_JOIN_COLUMNS + lane;
    const float *part = parts + (column < columns ? column : 0);
    float sum = 0;
    for (int i = first; i < count; i += AHEAD * NARROW_JOIN_PARTS) {
        float v[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; j++) {
            const int64_t of = i + j * NARROW_JOIN_PARTS;
            v[j] = of < count ? part[of * columns] : 0;
        }
#pragma unroll
        for (int j = 0; j < AHEAD; j++)
            sum += v[j];
    }
    shared[first][lane] = sum;
    __syncthreads();
    if (first > 0 || column >= columns)
        return;
    for (int other = 1; other < NARROW_JOIN_PARTS; other++)
        sum += shared[other][lane];
    float *to = column < weights ? dw + column : db + (column - weights);
    if (column < weights ? !dw : !db)
        return;
    *to = (column < weights ? add_dw : add_db) ? *to + sum : sum;
}

static void narrow_joined(const gr_exec *exec, float *dw, float *db, const float *parts, int count, int64_t columns,
                          int64_t weights, bool add_dw, bool add_db)
{
    GR_LAUNCH((narrow_join), (unsigned)divide_up(columns, NARROW_JOIN_COLUMNS), NARROW_JOIN_THREADS, 0, exec->queue, dw,
              db, parts, count, columns, weights, add_dw, add_db);
}

/* Sums that a block leaves: dW's, then db's. */
static inline int64_t narrow_columns(const gr_geometry *conv, int64_t K)
{
    return K * (NARROW_TAPS * conv->c + 1);
}

static inline size_t narrow_grad_w_scratch(const gr_exec *exec, const gr_geometry *conv, const gr_geometry *pool,
                                           int64_t K)
{
    const narrow_image<float> image = narrow_image_of((const float *)NULL, conv, pool->p, pool->q);
    const narrow_plan plan = narrow_cut(exec, image, K, NARROW_RESIDENT);
    return (size_t)(plan.turns * narrow_columns(conv, K)) * sizeof(float);
}

/* dw[K,3,3,C], db[K], each NULL where it is not wanted; add: whether to add to it */
template <class E>
static void narrow_gradients(const gr_exec *exec, float *dw, float *db, const narrow_winners<E> &from, const E *x,
                             const gr_geometry *conv, const gr_geometry *pool, bool add_dw, bool add_db)
{
    const narrow_image<E> image = narrow_image_of(x, conv, pool->p, pool->q);
    const narrow_plan plan = narrow_cut(exec, image, from.k, NARROW_RESIDENT);
    const int64_t columns = narrow_columns(conv, from.k);
    float *parts = (float *)exec->scratch;
    const unsigned blocks = (unsigned)plan.turns * plan.groups;
    if (conv->c == 1)
        GR_LAUNCH((narrow_grad_w<1, E>), blocks, NARROW_THREADS, 0, exec->queue, parts, columns, image, from, plan);
    else
        GR_LAUNCH((narrow_grad_w<3, E>), blocks, NARROW_THREADS, 0, exec->queue, parts, columns, image, from, plan);
    narrow_joined(exec, dw, db, parts, plan.turns, columns, columns - from.k, add_dw, add_db);
}

#endif
