/*
 * batch_norm_slice.cuh - batch normalisation of x[n,C] with few rows, at most 2,048: a block has all rows of its
 * channels. So it waits for no other block, and each tensor is read once: rows stay in registers between what is added
 * up and what is written.
 *
 * Launch    a block of 512 threads for 32 bytes of each row, a sector, in two threads side by side; a thread has at
 *           most 8 rows of each tensor, all of which are under way at once. Each of the block's channels, 8 or 16, has
 *           a thread that makes the channel's numbers while the rows are on their way and when they have been added up;
 *           all find them in shared memory.
 * Order     a thread's rows one by one, a warp's in a butterfly, the warps in turn. First the means, then the squared
 *           deviations from them: no difference of large sums.
 * Shared    2.25 KiB.
 * Registers the rows of three tensors, 96 at most.
 * Measured  not yet. In two legs x[16,4,4,512] of bf16 takes 9.4 to 9.9 us forward on an H200, where 5 are told without
 *           the wait; of this kernel 3.5 are told.
 */
#ifndef GRADUS_BATCH_NORM_SLICE_CUH
#define GRADUS_BATCH_NORM_SLICE_CUH

#include "kernels/cuda/batch_norm_channel.cuh"
#include "kernels/cuda/reduce.cuh"

enum {
    SLICE_THREADS = 512,
    SLICE_WARPS = SLICE_THREADS / WARP,
    SLICE_WIDTH = 2, /* threads side by side */
    SLICE_HEIGHT = SLICE_THREADS / SLICE_WIDTH,
    SLICE_ROWS = 8 /* of a thread, at most */
};

/* How x[n,C] is cut: threads of so many rows each. */
typedef struct {
    int64_t n, C;
    int rows;
    unsigned blocks;
} slices;

/* Of V channels to a thread; of no blocks where there are too many rows, or other numbers of channels. */
static inline slices slices_over(int64_t n, int64_t C, int V)
{
    const int64_t rows = divide_up(n, SLICE_HEIGHT), wide = V * SLICE_WIDTH;
    return {n, C, (int)rows, C % wide == 0 && rows <= SLICE_ROWS ? (unsigned)(C / wide) : 0};
}

/* Where a thread is at work: V channels of every SLICE_HEIGHT-th row. */
typedef struct {
    int64_t first, apart; /* its first element, and how many it is to the next row's */
    int left;             /* rows of the matrix from its first on, 0 or less where it has none */
} slice_place;

template <int V> GR_DEVICE slice_place place_in_slice(const slices *s)
{
    const int row = threadIdx.x / SLICE_WIDTH;
    const int64_t c = (int64_t)(blockIdx.x * SLICE_WIDTH + threadIdx.x % SLICE_WIDTH) * V;
    return {row * s->C + c, SLICE_HEIGHT * s->C, (int)s->n - row};
}

/* The channel whose numbers a thread makes; own: it has one. */
typedef struct {
    int64_t c;
    int inside; /* among the block's */
    bool own;
} slice_channel;

/* Such that thread i has the channel that lane i has after warp_sums. */
template <int V> GR_DEVICE slice_channel channel_of_slice(void)
{
    const int thread = threadIdx.x, inside = thread % SLICE_WIDTH * V + thread / SLICE_WIDTH;
    return {(int64_t)blockIdx.x * SLICE_WIDTH * V + inside, inside, thread < V * SLICE_WIDTH};
}

/* What a block's threads tell each other: sums of each warp, then numbers of each channel. */
enum { SLICE_MEAN, SLICE_SCALE, SLICE_SHIFT, SLICE_SLOPE, SLICE_NUMBERS, MOST_IN_SLICE = 16 /* channels */ };
typedef struct {
    float of_warp[SLICE_WARPS][WARP];
    float number[SLICE_NUMBERS][MOST_IN_SLICE];
} slice_shared;

/* Number i of the channels of this thread's rows. */
template <int V> GR_DEVICE pack<V> slice_number(const slice_shared *all, int i)
{
    return pack_load<V>(all->number[i] + threadIdx.x % SLICE_WIDTH * V);
}

/* Their line. */
template <int V> GR_DEVICE line_of_channel<V> slice_line(const slice_shared *all)
{
    return {slice_number<V>(all, SLICE_MEAN), slice_number<V>(all, SLICE_SCALE), slice_number<V>(all, SLICE_SHIFT)};
}

/* That of a channel, where all find it. */
GR_DEVICE void line_put(slice_shared *all, const line_of_channel<1> &line, int inside)
{
    all->number[SLICE_MEAN][inside] = line.mean.at[0];
    all->number[SLICE_SCALE][inside] = line.scale.at[0];
    all->number[SLICE_SHIFT][inside] = line.shift.at[0];
}

/* Leaves the sums of N numbers of each thread over its warp's rows; all threads must come. */
template <int N> GR_DEVICE void leave_sums(slice_shared *all, float *v)
{
    all->of_warp[threadIdx.x / WARP][threadIdx.x % WARP] = warp_sums<N>(v, SLICE_WIDTH);
    __syncthreads();
}

/* What that lane of all warps has left. */
GR_DEVICE float sum_left(const slice_shared *all, int lane)
{
    float sum = 0;
#pragma unroll
    for (int warp = 0; warp < SLICE_WARPS; warp++)
        sum += all->of_warp[warp][lane];
    return sum;
}

/* --- forward ------------------------------------------------------------------------------------------------------ */

template <int V, class E> GR_DEVICE pack<V> sum_of_rows(const few<V, E> *x, const slices *s)
{
    pack<V> sum = {{0}};
#pragma unroll
    for (int row = 0; row < SLICE_ROWS; row++) { /* what is not there is 0 */
        if (row == s->rows)
            break;
#pragma unroll
        for (int j = 0; j < V; j++)
            sum.at[j] += few_at(x[row], j);
    }
    return sum;
}

template <int V, class E> GR_DEVICE pack<V> squares_of_rows(const few<V, E> *x, pack<V> mean, const slice_place *at)
{
    pack<V> sum = {{0}};
#pragma unroll
    for (int row = 0; row < SLICE_ROWS; row++) {
        if (row * SLICE_HEIGHT >= at->left)
            break;
#pragma unroll
        for (int j = 0; j < V; j++) {
            const float delta = few_at(x[row], j) - mean.at[j];
            sum.at[j] += delta * delta;
        }
    }
    return sum;
}

/* A channel's statistics to where they are kept and tracked, and its line to where all find it. */
template <class E>
GR_DEVICE void channel_finish(slice_shared *all, const forward_tensors<E> *t, const slice_channel &of, pack<1> mean,
                              pack<1> var, pack<1> gamma, pack<1> beta)
{
    if (t->mean) {
        pack_store<1>(t->mean + of.c, mean, false);
        pack_store<1>(t->var + of.c, var, false);
    }
    track_both<1>(&t->moved, mean, var, of.c);
    line_put(all, line_of<1>(mean, var, gamma, beta, t->epsilon), of.inside);
}

template <int V, class E>
static __global__ void __launch_bounds__(SLICE_THREADS)
    batch_norm_slice(const __grid_constant__ forward_tensors<E> t, const __grid_constant__ slices s)
{
    GR_SHARED(slice_shared, all, [1]);
    const slice_place at = place_in_slice<V>(&s);
    const slice_channel mine = channel_of_slice<V>();
    forward_rows<SLICE_ROWS, V, E> rows = {};
    forward_load(&rows, &t, at.first, at.apart, SLICE_HEIGHT, at.left);
    const pack<1> gamma = mine.own ? pack_load<1>(t.gamma + mine.c) : pack<1>{{0}};
    const pack<1> beta = mine.own ? pack_load<1>(t.beta + mine.c) : pack<1>{{0}};
    const float share = 1 / (float)s.n;
    pack<V> sum = sum_of_rows(rows.x, &s);
    pack<1> mean = {{0}}, var = {{0}};
    leave_sums<V>(all, sum.at);
    if (mine.own) {
        mean.at[0] = sum_left(all, threadIdx.x) * share;
        all->number[SLICE_MEAN][mine.inside] = mean.at[0];
    }
    __syncthreads();
    sum = squares_of_rows(rows.x, slice_number<V>(all, SLICE_MEAN), &at);
    leave_sums<V>(all, sum.at);
    if (mine.own) {
        var.at[0] = sum_left(all, threadIdx.x) * share;
        channel_finish(all, &t, mine, mean, var, gamma, beta);
    }
    __syncthreads();
    const line_of_channel<V> of = slice_line<V>(all);
#pragma unroll
    for (int row = 0; row < SLICE_ROWS; row++) {
        if (row * SLICE_HEIGHT >= at.left)
            break;
        pack_store<V>(t.y + at.first + row * at.apart, normalised(rows.x[row], rows.residual[row], of, t.relu), false);
    }
}

/* --- backward ----------------------------------------------------------------------------------------------------- */

/* 0 for each element of which closed(row, j) is true. */
template <int V, class E, class CLOSED> GR_DEVICE void clear_rows(few<V, E> *dy, const slices *s, const CLOSED &closed)
{
#pragma unroll
    for (int row = 0; row < SLICE_ROWS; row++) {
        if (row == s->rows)
            break;
#pragma unroll
        for (int j = 0; j < V; j++)
            if (closed(row, j))
                few_clear(&dy[row], j);
    }
}

/* Makes dz of dY, where it lies. */
template <int V, class E>
GR_DEVICE void close_rows(backward_rows<SLICE_ROWS, V, E> *rows, const relu_gate<E> &gate, const slice_shared *all,
                          const slices *s)
{
    if (gate.y) {
        clear_rows(rows->dy, s, [&](int row, int j) { return few_at(rows->gate[row], j) <= 0; });
    } else if (gate.beta) {
        const line_of_channel<V> line = slice_line<V>(all);
        clear_rows(rows->dy, s, [&](int row, int j) { return line_at(line, rows->x[row], j) <= 0; });
    }
}

/* Sums of dz and of dz (x - mean) over a thread's rows. */
template <int V, class E>
GR_DEVICE pack<2 * V> products_of_rows(const backward_rows<SLICE_ROWS, V, E> &rows, pack<V> mean, const slices *s)
{
    pack<2 *V> sum = {{0}};
#pragma unroll
    for (int row = 0; row < SLICE_ROWS; row++) { /* what is not there is 0 in dz */
        if (row == s->rows)
            break;
#pragma unroll
        for (int j = 0; j < V; j++) {
            const float dz = few_at(rows.dy[row], j);
            sum.at[j] += dz;
            sum.at[V + j] += dz * (few_at(rows.x[row], j) - mean.at[j]);
        }
    }
    return sum;
}

/* Sums of a channel to where they are wanted, and what becomes of dz by them to where all find it. */
template <int V, class E>
GR_DEVICE void sums_finish(slice_shared *all, const backward_tensors<E> *t, const channel_sums *to, const slices *s,
                           const slice_channel &of, const line_of_channel<1> &line, pack<1> var)
{
    const pack<1> dz = {{sum_left(all, threadIdx.x)}};
    const pack<1> product = {{sum_left(all, threadIdx.x + V * SLICE_WIDTH) / sqrtf(var.at[0] + t->epsilon)}};
    const gradient_of_channel<1> gradient = gradient_of(line, var, dz, product, t->epsilon, s->n);
    sums_store<1>(to, of.c, dz, product);
    all->number[SLICE_SHIFT][of.inside] = gradient.shift.at[0];
    all->number[SLICE_SLOPE][of.inside] = gradient.slope.at[0];
}

template <int V, class E>
static __global__ void __launch_bounds__(SLICE_THREADS)
    batch_norm_slice_gradients(const __grid_constant__ backward_tensors<E> t, const __grid_constant__ channel_sums to,
                               const __grid_constant__ slices s)
{
    GR_SHARED(slice_shared, all, [1]);
    const slice_place at = place_in_slice<V>(&s);
    const slice_channel mine = channel_of_slice<V>();
    backward_rows<SLICE_ROWS, V, E> rows = {};
    backward_load(&rows, &t, t.x, at.first, at.apart, SLICE_HEIGHT, at.left);
    line_of_channel<1> line = {{{0}}, {{0}}, {{0}}};
    pack<1> var = {{0}};
    if (mine.own) {
        line = line_again<1>(&t, mine.c);
        var = pack_load<1>(t.var + mine.c);
        line_put(all, line, mine.inside);
    }
    __syncthreads();
    close_rows(&rows, t.gate, all, &s);
    pack<2 *V> sum = products_of_rows(rows, slice_number<V>(all, SLICE_MEAN), &s);
    leave_sums<2 * V>(all, sum.at);
    if (mine.own)
        sums_finish<V>(all, &t, &to, &s, mine, line, var);
    __syncthreads();
    const gradient_of_channel<V> of = {slice_line<V>(all), slice_number<V>(all, SLICE_SHIFT),
                                       slice_number<V>(all, SLICE_SLOPE)};
#pragma unroll
    for (int row = 0; row < SLICE_ROWS; row++) {
        if (row * SLICE_HEIGHT >= at.left)
            break;
        gradient_store(&t, at.first + row * at.apart, pack_of(rows.dy[row]), rows.x[row], of);
    }
}

#endif
