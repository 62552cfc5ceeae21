/*
 * batch_norm_legs.cuh - batch normalisation of x[n,C] in two legs of one launch (relay.cuh): sums over chunks of rows
 * by blocks that share a channel, then what is written, by as many blocks as a GPU holds.
 *
 * Launch    blocks of 256 threads as columns.cuh lays them over x[n,C]: at most 256 in the first leg, whatever the GPU,
 *           so that sums are the same on all, and two for each multiprocessor in the second, which so has them all at
 *           once; every thread has as many rows as the others. A thread brings 16 bytes of a row, and of each tensor 4
 *           rows (the means 8) before it needs the first: 32 KiB under way to a multiprocessor.
 *             1  a chunk of rows of 32 channels: mean and squared deviations, or the two sums of backward, per channel
 *                into scratch; the last block of these channels to come puts the chunks together
 *             2  y, or dX and dresidual: each thread has its channels' numbers in registers, and goes up its rows,
 *                the last of which the first leg has left in the cache, and of which the first are on their way while
 *                it waits; those with the first rows of y also move what is tracked
 *           With mean and variance given, forward is the second alone, and backward too where no dgamma or dbeta is
 *           wanted.
 * Order     in a thread row by row (of means 8 rows at a time), then the block's rows in at most 16 parts; the chunks
 *           in 8 shares, then these. Means and deviations are joined as moments.cuh does it: one reading of x, and no
 *           difference of large sums.
 * Shared    25 KiB for moments, 18 for sums.
 */
#ifndef GRADUS_BATCH_NORM_LEGS_CUH
#define GRADUS_BATCH_NORM_LEGS_CUH

#include "kernels/cuda/batch_norm_channel.cuh"
#include "kernels/cuda/moments.cuh"
#include "kernels/cuda/relay.cuh"

enum {
    SUMMING = 256,  /* blocks, at most */
    CHUNKS = 128,   /* of a slice, at most */
    LEAST_ROWS = 8, /* of a thread */
    WRITERS = 2     /* blocks for each multiprocessor */
};
enum { AT_ONCE = 4, MOMENTS_AT_ONCE = 8 }; /* rows of each tensor that a thread has under way */
enum {
    TOGETHER = 32, /* channels of a block of sums: a thread of each warp has one of them when chunks are put together */
    TURNS = COLUMNS_THREADS / TOGETHER,
    SHARE = CHUNKS / TURNS /* chunks of a thread then: all are under way at once */
};

/* How x[n,C] is cut for sums over its rows, and for writing something of its shape: the two legs. */
typedef struct {
    columns sums, writer;
} plan;

/* What the blocks of a launch do: those of both legs, or of one. */
typedef struct {
    relay legs;
    plan cut;
} shares;

/* Of x[n,C], V channels to a thread, on a GPU of so many multiprocessors. */
static inline plan legs_plan(int64_t n, int64_t C, int V, int multiprocessors)
{
    return {columns_over(n, C, V, TOGETHER / V, LEAST_ROWS, C > TOGETHER ? SUMMING : CHUNKS),
            columns_over(n, C, V, COLUMNS_THREADS, 1, (int64_t)WRITERS * multiprocessors)};
}

/* Launches kernel<V, E> with the blocks of both legs, and the V that they are cut for. */
#define LAUNCH_LEGS(kernel, E, work, queue, ...)                                                                 \
    COLUMNS_LAUNCH_BLOCKS(kernel, piece<E>::COUNT, E, (work).cut.sums.C, (work).legs.first + (work).legs.second, \
                          queue, __VA_ARGS__)

static inline shares shares_of(const gr_exec *exec, const plan &cut, bool sums, bool writes)
{
    const relay legs = {exec->arrivals, sums ? columns_blocks(&cut.sums) : 0, writes ? columns_blocks(&cut.writer) : 0,
                        (unsigned)cut.sums.slices};
    return {legs, cut};
}

/* Floats of scratch: [2][chunks][C] of the chunks, then [2][C] of all: statistics that nobody keeps, or sums. */
static inline size_t legs_scratch(const plan *cut)
{
    return (size_t)(2 * (cut->sums.chunks + 1) * cut->sums.C);
}
static inline float *legs_totals(const gr_exec *exec, const plan *cut)
{
    return (float *)exec->scratch + 2 * cut->sums.chunks * cut->sums.C;
}

/* --- chunks put together ------------------------------------------------------------------------------------------ */

/*
 * Whether the block of that number has to put the chunks of its slice together: it is the last of them, and finds what
 * all have left. All threads must come.
 */
GR_DEVICE bool puts_together(unsigned *arrivals, unsigned block, const columns *m)
{
    if (m->chunks > 1) /* of so many slices that there is no word for each there is one chunk */
        return last_to_come(arrivals + block % m->slices, m->chunks);
    __syncthreads();
    return true;
}

/* The channel of this thread's when chunks are put together; who has none comes along with the first of the slice. */
typedef struct {
    int64_t c;
    bool own;
} channel;

GR_DEVICE channel channel_together(const columns *m, unsigned block, int V)
{
    const int mine = threadIdx.x % TOGETHER, wide = m->width * V;
    const int64_t first = (int64_t)(block % m->slices) * wide;
    const bool own = mine < wide && first + mine < m->C;
    return {own ? first + mine : first, own};
}

/*
 * Of channel c, what chunks turn, turn + TURNS, ... have left in partial[chunks][C]; 0 where there is no chunk: that of
 * the last one is read in its place, so that nothing is asked between two loads.
 */
GR_DEVICE void share_load(float *v, const float *partial, int turn, int64_t c, const columns *m)
{
#pragma unroll
    for (int i = 0; i < SHARE; i++)
        v[i] = partial[min(turn + i * TURNS, m->chunks - 1) * m->C + c];
#pragma unroll
    for (int i = 0; i < SHARE; i++)
        v[i] = turn + i * TURNS < m->chunks ? v[i] : 0;
}

/* Sum of v over the threads of the block with the same channel, in all of them. */
template <int V> GR_DEVICE pack<V> sum_together(pack<V> v)
{
    GR_SHARED(float, of_turn, [V][TURNS][TOGETHER]);
    const int mine = threadIdx.x % TOGETHER;
#pragma unroll
    for (int j = 0; j < V; j++)
        of_turn[j][threadIdx.x / TOGETHER][mine] = v.at[j];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < V; j++) {
        v.at[j] = 0;
        for (int i = 0; i < TURNS; i++)
            v.at[j] += of_turn[j][i][mine];
    }
    __syncthreads(); /* of_turn may be written again by the next call */
    return v;
}

/* --- forward ------------------------------------------------------------------------------------------------------ */

/* Rows of a chunk; 0: there is no such. */
GR_DEVICE float chunk_rows(int chunk, const columns *m)
{
    const int64_t rows = chunk + 1 < m->chunks ? m->chunk : m->n - (m->chunks - 1) * m->chunk;
    return chunk < m->chunks ? (float)rows : 0;
}

/* mean[C] and var[C] of a channel; partial[2][chunks][C] of x[n,C] cut as m says; joined as fold_moments does it */
GR_DEVICE void put_together(float *mean, float *var, const float *partial, channel of, const columns *m)
{
    const int turn = threadIdx.x / TOGETHER;
    const float first = partial[of.c], share = 1 / (float)m->n;
    float means[SHARE], deviations[SHARE];
    pack<1> shift = {{0}}, squares = {{0}};
    share_load(means, partial, turn, of.c, m);
    share_load(deviations, partial + m->chunks * m->C, turn, of.c, m);
#pragma unroll
    for (int i = 0; i < SHARE; i++)
        shift.at[0] += chunk_rows(turn + i * TURNS, m) * (means[i] - first);
    shift.at[0] = sum_together<1>(shift).at[0] * share;
#pragma unroll
    for (int i = 0; i < SHARE; i++) {
        const float delta = means[i] - first - shift.at[0];
        squares.at[0] += deviations[i] + chunk_rows(turn + i * TURNS, m) * delta * delta;
    }
    squares = sum_together<1>(squares);
    if (turn == 0 && of.own) {
        mean[of.c] = first + shift.at[0];
        var[of.c] = squares.at[0] * share;
    }
}

/*
 * The first leg: mean[C], var[C], by way of partial[2][chunks][C]: mean and squared deviations of each chunk; x[n,C]
 */
template <int V, class E>
GR_DEVICE void batch_statistics(float *mean, float *var, float *partial, const E *x, const shares *of, unsigned block)
{
    const columns m = of->cut.sums;
    const place at = columns_place<V>(&m, block);
    const int64_t apart = m.height * m.C;
    const E *from = x + at.first * m.C + at.c;
    moments<V> a = {0, {{0}}, {{0}}};
    for (int left = columns_left(&at); left > 0; left -= MOMENTS_AT_ONCE * m.height) {
        few<V, E> rows[MOMENTS_AT_ONCE];
        rows_load<MOMENTS_AT_ONCE>(rows, from, apart, m.height, left);
        const moments<V> b = moments_of<MOMENTS_AT_ONCE>(rows, m.height, left);
        moments_join<V>(&a, &b);
        from += MOMENTS_AT_ONCE * apart;
    }
    a = columns_moments<V>(&m, a);
    if (columns_speaks(&m, &at)) {
        pack_store<V>(partial + at.chunk * m.C + at.c, a.mean, false);
        pack_store<V>(partial + (m.chunks + at.chunk) * m.C + at.c, a.squares, false);
    }
    if (puts_together(of->legs.words, block, &m)) {
        put_together(mean, var, partial, channel_together(&m, block, V), &m);
        relay_ready(&of->legs);
    }
}

/*
 * Where the last of a thread's steps begins. What writes goes up the rows, because what read them to the end has left
 * the last ones in the cache.
 */
GR_DEVICE int last_step(int left, int step)
{
    return (left - 1) / step * step;
}

/* The second leg: y, and what is tracked. */
template <int V, class E> GR_DEVICE void normalise(const forward_tensors<E> *t, const shares *work, unsigned block)
{
    const columns m = work->cut.writer;
    const place at = columns_place<V>(&m, block);
    const int64_t apart = m.height * m.C, first = at.first * m.C + at.c;
    const int left = columns_left(&at), step = AT_ONCE * m.height;
    int from = last_step(left, step);
    forward_rows<AT_ONCE, V, E> rows = {};
    if (left > 0)
        forward_load(&rows, t, first + from * m.C, apart, m.height, left - from);
    relay_wait(&work->legs);
    if (left <= 0)
        return;
    const line_of_channel<V> of = line_from<V>(t->gamma, t->beta, t->mean, t->var, t->epsilon, at.c);
    if (at.first == 0)
        track_both<V>(&t->moved, of.mean, pack_load<V>(t->var + at.c), at.c);
    while (true) {
#pragma unroll
        for (int row = 0; row < AT_ONCE; row++)
            if (row * m.height < left - from)
                pack_store<V>(t->y + first + from * m.C + row * apart,
                              normalised<V>(rows.x[row], rows.residual[row], of, t->relu), false);
        from -= step;
        if (from < 0)
            break;
        forward_load(&rows, t, first + from * m.C, apart, m.height, left - from);
    }
}

template <int V, class E>
static __global__ void batch_norm(const __grid_constant__ forward_tensors<E> t, float *partial,
                                  const __grid_constant__ shares work)
{
    const unsigned block = relay_begin(&work.legs);
    if (block < work.legs.first)
        batch_statistics<V>(t.mean, t.var, partial, t.x, &work, block);
    else
        normalise<V>(&t, &work, block - work.legs.first);
}

/* As cut says; statistics: t's are still to be made. */
template <class E>
static void forward_in_legs(const gr_exec *exec, forward_tensors<E> t, const plan &cut, bool statistics)
{
    const shares work = shares_of(exec, cut, statistics, true);
    float *partial = (float *)exec->scratch, *own = legs_totals(exec, &cut);
    if (!t.mean) /* nobody keeps them */
        t.mean = own, t.var = own + cut.sums.C;
    LAUNCH_LEGS(batch_norm, E, work, exec->queue, t, partial, work);
}

/* --- backward ----------------------------------------------------------------------------------------------------- */

/* dz of a row. */
template <int V, class E>
GR_DEVICE pack<V> upstream(const backward_rows<AT_ONCE, V, E> &rows, int row, const relu_gate<E> &gate,
                           const line_of_channel<V> &of)
{
    pack<V> v;
#pragma unroll
    for (int j = 0; j < V; j++)
        v.at[j] = is_closed(rows, row, j, gate, of) ? 0 : few_at(rows.dy[row], j);
    return v;
}

/* Sums of a channel to where they go and to totals[2][C], from partial[2][chunks][C] of x[n,C] cut as m says; var[C] */
GR_DEVICE void finish_sums(const channel_sums *to, float *totals, const float *partial, const float *var, float epsilon,
                           channel of, const columns *m)
{
    const int64_t c = of.c;
    const float spread = var[c];
    float first[SHARE], second[SHARE];
    pack<2> sum = {{0}};
    share_load(first, partial, threadIdx.x / TOGETHER, c, m);
    share_load(second, partial + m->chunks * m->C, threadIdx.x / TOGETHER, c, m);
#pragma unroll
    for (int i = 0; i < SHARE; i++) {
        sum.at[0] += first[i];
        sum.at[1] += second[i];
    }
    sum = sum_together<2>(sum);
    if (threadIdx.x < TOGETHER && of.own) {
        const pack<1> dz = {{sum.at[0]}}, product = {{sum.at[1] / sqrtf(spread + epsilon)}};
        pack_store<1>(totals + c, dz, false);
        pack_store<1>(totals + m->C + c, product, false);
        sums_store<1>(to, c, dz, product);
    }
}

/* The first leg: to and totals[2][C], by way of partial[2][chunks][C]: sums of dz and dz (x - mean) over each chunk. */
template <int V, class E>
GR_DEVICE void gradient_sums(const channel_sums *to, float *totals, float *partial, const backward_tensors<E> *t,
                             const shares *work, unsigned block)
{
    const columns m = work->cut.sums;
    const place at = columns_place<V>(&m, block);
    const int64_t apart = m.height * m.C;
    int64_t i = at.first * m.C + at.c;
    int left = columns_left(&at);
    line_of_channel<V> of = {{{0}}, {{0}}, {{0}}};
    if (left > 0 && t->gate.beta)
        of = line_from<V>(t->gamma, t->gate.beta, t->mean, t->var, t->epsilon, at.c);
    else if (left > 0)
        of.mean = pack_load<V>(t->mean + at.c);
    pack<2 *V> sum = {{0}}; /* of dz, then of dz (x - mean) */
    for (; left > 0; left -= AT_ONCE * m.height, i += AT_ONCE * apart) {
        backward_rows<AT_ONCE, V, E> rows = {};
        backward_load(&rows, t, t->x, i, apart, m.height, left);
#pragma unroll
        for (int row = 0; row < AT_ONCE; row++) { /* what is not there is 0 in dz */
            const pack<V> dz = upstream(rows, row, t->gate, of);
#pragma unroll
            for (int j = 0; j < V; j++) {
                sum.at[j] += dz.at[j];
                sum.at[V + j] += dz.at[j] * (few_at(rows.x[row], j) - of.mean.at[j]);
            }
        }
    }
    sum = columns_sum<2 * V>(&m, sum);
    if (columns_speaks(&m, &at)) {
        pack<V> of_dz, of_product;
        for (int j = 0; j < V; j++)
            of_dz.at[j] = sum.at[j], of_product.at[j] = sum.at[V + j];
        pack_store<V>(partial + at.chunk * m.C + at.c, of_dz, false);
        pack_store<V>(partial + (m.chunks + at.chunk) * m.C + at.c, of_product, false);
    }
    if (puts_together(work->legs.words, block, &m)) {
        finish_sums(to, totals, partial, t->var, t->epsilon, channel_together(&m, block, V), &m);
        relay_ready(&work->legs);
    }
}

/* Of channels from c on, by totals[2][C] of n rows, or NULL. */
template <int V, class E>
GR_DEVICE gradient_of_channel<V> gradient_from(const backward_tensors<E> *t, const float *totals, int64_t n, int64_t C,
                                               int64_t c)
{
    pack<V> dz = {{0}}, product = {{0}};
    if (totals)
        dz = pack_load<V>(totals + c), product = pack_load<V>(totals + C + c);
    return gradient_of(line_again<V>(t, c), pack_load<V>(t->var + c), dz, product, t->epsilon, n);
}

/* The second leg: dx and dresidual; totals[2][C] */
template <int V, class E>
GR_DEVICE void gradients(const backward_tensors<E> *t, const float *totals, const shares *work, unsigned block)
{
    const columns m = work->cut.writer;
    const place at = columns_place<V>(&m, block);
    const int64_t apart = m.height * m.C, first = at.first * m.C + at.c;
    const int left = columns_left(&at), step = AT_ONCE * m.height;
    int from = last_step(left, step);
    backward_rows<AT_ONCE, V, E> rows = {};
    const E *read = t->gate.beta || (t->dx && t->centred) ? t->x : NULL;
    if (left > 0)
        backward_load(&rows, t, read, first + from * m.C, apart, m.height, left - from);
    relay_wait(&work->legs);
    if (left <= 0)
        return;
    const gradient_of_channel<V> of = gradient_from<V>(t, t->centred ? totals : NULL, m.n, m.C, at.c);
    while (true) {
#pragma unroll
        for (int row = 0; row < AT_ONCE; row++) {
            if (row * m.height >= left - from)
                break;
            gradient_store(t, first + from * m.C + row * apart, upstream(rows, row, t->gate, of.line), rows.x[row], of);
        }
        from -= step;
        if (from < 0)
            break;
        backward_load(&rows, t, read, first + from * m.C, apart, m.height, left - from);
    }
}

template <int V, class E>
static __global__ void batch_norm_gradients(const __grid_constant__ backward_tensors<E> t,
                                            const __grid_constant__ channel_sums to, float *totals, float *partial,
                                            const __grid_constant__ shares work)
{
    const unsigned block = relay_begin(&work.legs);
    if (block < work.legs.first)
        gradient_sums<V>(&to, totals, partial, &t, &work, block);
    else
        gradients<V>(&t, totals, &work, block - work.legs.first);
}

/* As cut says; sums: those of the channels are wanted, by the caller or for dX; writes: dX or dresidual is. */
template <class E>
static void backward_in_legs(const gr_exec *exec, const backward_tensors<E> &t, const channel_sums &to, const plan &cut,
                             bool sums, bool writes)
{
    const shares work = shares_of(exec, cut, sums, writes);
    float *partial = (float *)exec->scratch, *totals = legs_totals(exec, &cut);
    LAUNCH_LEGS(batch_norm_gradients, E, work, exec->queue, t, to, totals, partial, work);
}

#endif
