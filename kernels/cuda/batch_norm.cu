/*
 * batch_norm.cu - batch normalisation of x[n,C]: pixels i = 0..n-1 (all dimensions but the last), channels c = 0..C-1.
 *
 *   m[c] = sum_i x[i,c] / n          v[c] = sum_i (x[i,c] - m[c])^2 / n          s[c] = 1 / sqrt(v[c] + epsilon)
 *   h[i,c] = (x[i,c] - m[c]) s[c]    y = gamma[c] h + beta[c] + residual, then max(0,.) if asked
 *
 *   dz = dY [y > 0] with the ReLU epilogue, else dY; without a residual y is made again of x, which is read anyway
 *   dresidual = dz    dbeta[c] = sum_i dz[i,c]    dgamma[c] = sum_i dz[i,c] h[i,c]
 *   dX = gamma[c] s[c] (dz - dbeta[c] / n - h dgamma[c] / n)       (Ioffe and Szegedy 2015, section 3, put together)
 *   dX = gamma[c] s[c] dz                                          where m and v are given: they do not depend on x
 *
 *   tracked_mean[c] += momentum (m[c] - tracked_mean[c])           where m and v are of k values,
 *   tracked_var[c] += momentum (v[c] k/(k-1) - tracked_var[c])     unless the update is skipped
 *
 * Launch    one each way, in two legs (relay.cuh), by blocks of 256 threads as columns.cuh lays them over x[n,C]: at
 *           most 256 in the first leg, whatever the GPU, so that sums are the same on all, and two for each
 *           multiprocessor in the second, which so has them all at once; every thread has as many rows as the others. A
 *           thread brings 16 bytes of a row, and of each tensor 4 rows (the means 8) before it needs the first: 32 KiB
 *           under way to a multiprocessor.
 *             1  a chunk of rows of 32 channels: mean and squared deviations, or the two sums of backward, per channel
 *                into scratch; the last block of these channels to come puts the chunks together
 *             2  y, or dX and dresidual: each thread has its channels' numbers in registers, and goes up its rows,
 *                the last of which the first leg has left in the cache, and of which the first are on their way while
 *                it waits; those with the first rows of y also move what is tracked
 *           With m and v given, forward is the second alone, and backward too where no dgamma or dbeta is wanted.
 * Order     in a thread row by row (of means 8 rows at a time), then the block's rows in at most 16 parts; the chunks
 *           in 8 shares, then these. Means and deviations are joined as moments.cuh does it: one reading of x, and no
 *           difference of large sums.
 * Shared    25 KiB for moments, 18 for sums.
 * Limit     memory: forward reads x twice and writes y; backward reads x and dY (and y with the ReLU and a residual)
 *           twice and writes dX.
 * NaN       stays NaN; in y it lets the gradient pass, as in PyTorch.
 * Measured  H200, x[131072,64] floats, when chunks were put together by a launch of its own: forward 39 us, backward
 *           67, 1.7 and 2.0 TB/s.
 */
#include "kernels/cuda/moments.cuh"
#include "kernels/cuda/relay.cuh"

enum { X, GAMMA, BETA, RESIDUAL, MEAN, VAR, TRACKED_MEAN, TRACKED_VAR }; /* inputs */
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

template <class E> static plan plan_of(const gr_call *call)
{
    const gr_tensor *x = call->in[X];
    const int64_t C = x->shape[x->ndim - 1], n = x->count / C;
    const int V = columns_per_thread(C, piece<E>::COUNT);
    return {columns_over(n, C, V, TOGETHER / V, LEAST_ROWS, C > TOGETHER ? SUMMING : CHUNKS),
            columns_over(n, C, V, COLUMNS_THREADS, 1, (int64_t)WRITERS * call->exec->multiprocessors)};
}

/* Launches kernel<V, E> with the blocks of both legs, and the V that they are cut for. */
#define LAUNCH_LEGS(kernel, E, work, queue, ...)                                                                 \
    COLUMNS_LAUNCH_BLOCKS(kernel, piece<E>::COUNT, E, (work).cut.sums.C, (work).legs.first + (work).legs.second, \
                          queue, __VA_ARGS__)

static shares shares_of(const gr_call *call, const plan &cut, bool sums, bool writes)
{
    const relay legs = {call->exec->arrivals, sums ? columns_blocks(&cut.sums) : 0,
                        writes ? columns_blocks(&cut.writer) : 0, (unsigned)cut.sums.slices};
    return {legs, cut};
}

/*
 * Scratch: [2][chunks][C] of the chunks, then [2][C] of all: the statistics that nobody keeps, or the sums.
 */
template <class E> static size_t scratch(const gr_call *call, gr_pass pass)
{
    const plan f = plan_of<E>(call);
    const bool nothing = pass == GR_FORWARD && call->in[MEAN];
    return nothing ? 0 : (size_t)(2 * (f.sums.chunks + 1) * f.sums.C) * sizeof(float);
}

extern "C" size_t GR_CUDA(batch_norm_scratch)(const gr_call *call, gr_pass pass)
{
    return FOR_ELEMENTS_OF(call->out[0], scratch, call, pass);
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

/* What becomes of a channel: y = (x - mean) scale + shift */
template <int V> struct line_of_channel {
    pack<V> mean, scale, shift;
};

/* Of channels from c on; gamma, beta, mean, var: [C] */
template <int V>
GR_DEVICE line_of_channel<V> line_of(const float *gamma, const float *beta, const float *mean, const float *var,
                                     float epsilon, int64_t c)
{
    line_of_channel<V> of = {pack_load<V>(mean + c), pack_load<V>(gamma + c), pack_load<V>(beta + c)};
    const pack<V> spread = pack_load<V>(var + c);
#pragma unroll
    for (int j = 0; j < V; j++)
        of.scale.at[j] /= sqrtf(spread.at[j] + epsilon);
    return of;
}

/* y without residual and ReLU. */
template <int V, class E> GR_DEVICE float line_at(const line_of_channel<V> &of, const few<V, E> &x, int j)
{
    return (few_at(x, j) - of.mean.at[j]) * of.scale.at[j] + of.shift.at[j];
}

template <int V, class E>
GR_DEVICE pack<V> normalised(const few<V, E> &x, const few<V, E> &residual, const line_of_channel<V> &of, bool relu)
{
    pack<V> y;
#pragma unroll
    for (int j = 0; j < V; j++) {
        const float z = line_at(of, x, j) + few_at(residual, j);
        y.at[j] = relu && z < 0 ? 0 : z;
    }
    return y;
}

/*
 * Where the last of a thread's steps begins. What writes goes up the rows, because what read them to the end has left
 * the last ones in the cache.
 */
GR_DEVICE int last_step(int left, int step)
{
    return (left - 1) / step * step;
}

/* Rows of x and of the residual; 0 of one that is not there. */
template <int V, class E> struct forward_rows {
    few<V, E> x[AT_ONCE], residual[AT_ONCE];
};

/* Elements i, i + apart, ... of x[n,C] and residual[n,C] or NULL, as rows_load. */
template <int V, class E>
GR_DEVICE void forward_load(forward_rows<V, E> *rows, const E *x, const E *residual, int64_t i, int64_t apart,
                            int height, int left)
{
    rows_load<AT_ONCE>(rows->x, x + i, apart, height, left);
    if (residual)
        rows_load<AT_ONCE>(rows->residual, residual + i, apart, height, left);
}

/* Statistics that move towards those of this call; mean[C] and var[C], or NULL: there are none. */
typedef struct {
    float *mean, *var, momentum, unbias;
    const gr_step_state *state;
} tracking;

static tracking tracking_of(const gr_call *call)
{
    const gr_batch_norm_args *args = (const gr_batch_norm_args *)call->options;
    const double k = (double)args->values;
    return {gr__f32(call->in[TRACKED_MEAN]), gr__f32(call->in[TRACKED_VAR]), (float)args->momentum,
            (float)(k / (k - 1)), call->exec->state};
}

/* tracked += momentum (unbias statistic - tracked), of V channels */
template <int V> GR_DEVICE void track(float *tracked, pack<V> statistic, float momentum, float unbias)
{
    pack<V> v = pack_load<V>(tracked);
#pragma unroll
    for (int j = 0; j < V; j++)
        v.at[j] += momentum * (unbias * statistic.at[j] - v.at[j]);
    pack_store<V>(tracked, v, false);
}

/* What forward reads and writes: y[n,C], x[n,C], residual[n,C] or NULL; the others [C]. */
template <class E> struct forward_tensors {
    E *y;
    const E *x, *residual;
    const float *gamma, *beta;
    float *mean, *var; /* written by the first leg, if there is one */
    float epsilon;
    bool relu;
    tracking moved;
};

/* The second leg: y, and what is tracked. */
template <int V, class E> GR_DEVICE void normalise(const forward_tensors<E> *t, const shares *work, unsigned block)
{
    const columns m = work->cut.writer;
    const place at = columns_place<V>(&m, block);
    const int64_t apart = m.height * m.C, first = at.first * m.C + at.c;
    const int left = columns_left(&at), step = AT_ONCE * m.height;
    int from = last_step(left, step);
    forward_rows<V, E> rows = {};
    if (left > 0)
        forward_load<V>(&rows, t->x, t->residual, first + from * m.C, apart, m.height, left - from);
    relay_wait(&work->legs);
    if (left <= 0)
        return;
    const line_of_channel<V> of = line_of<V>(t->gamma, t->beta, t->mean, t->var, t->epsilon, at.c);
    const tracking *moved = &t->moved;
    if (moved->mean && at.first == 0 && !moved->state->skip) {
        track<V>(moved->mean + at.c, of.mean, moved->momentum, 1);
        track<V>(moved->var + at.c, pack_load<V>(t->var + at.c), moved->momentum, moved->unbias);
    }
    while (true) {
#pragma unroll
        for (int row = 0; row < AT_ONCE; row++)
            if (row * m.height < left - from)
                pack_store<V>(t->y + first + from * m.C + row * apart,
                              normalised<V>(rows.x[row], rows.residual[row], of, t->relu), false);
        from -= step;
        if (from < 0)
            break;
        forward_load<V>(&rows, t->x, t->residual, first + from * m.C, apart, m.height, left - from);
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

template <class E> static void forward(const gr_call *call)
{
    const gr_batch_norm_args *args = (const gr_batch_norm_args *)call->options;
    const shares work = shares_of(call, plan_of<E>(call), !call->in[MEAN], true);
    const columns *sums = &work.cut.sums;
    float *partial = (float *)call->exec->scratch, *own = partial + 2 * sums->chunks * sums->C;
    forward_tensors<E> t = {elements<E>(call->out[0]), elements<E>(call->in[X]), elements<E>(call->in[RESIDUAL]),
                            gr__f32(call->in[GAMMA]),  gr__f32(call->in[BETA]),  gr__f32(call->in[MEAN]),
                            gr__f32(call->in[VAR]),    (float)args->epsilon,     args->relu,
                            tracking_of(call)};
    if (!t.mean) {
        t.mean = call->out[1] ? gr__f32(call->out[1]) : own;
        t.var = call->out[2] ? gr__f32(call->out[2]) : own + sums->C;
    }
    LAUNCH_LEGS(batch_norm, E, work, call->exec->queue, t, partial, work);
}

/* --- backward ----------------------------------------------------------------------------------------------------- */

/*
 * What a ReLU's gradient passes by: y[n,C] or, where no residual is in it, the line that y is of x, by gamma[C] and
 * beta[C]; NULL: not by this.
 */
template <class E> struct relu_gate {
    const E *y;
    const float *gamma, *beta;
};

/* Rows of dY, of y where it gates the gradient, and of x; 0 of those that are not read. */
template <int V, class E> struct backward_rows {
    few<V, E> dy[AT_ONCE], gate[AT_ONCE], x[AT_ONCE];
};

/* Elements i, i + apart, ... of dy[n,C], and of gate[n,C] and x[n,C] unless they are NULL, as rows_load. */
template <int V, class E>
GR_DEVICE void backward_load(backward_rows<V, E> *rows, const E *dy, const E *gate, const E *x, int64_t i,
                             int64_t apart, int height, int left)
{
    rows_load<AT_ONCE>(rows->dy, dy + i, apart, height, left);
    if (gate)
        rows_load<AT_ONCE>(rows->gate, gate + i, apart, height, left);
    if (x)
        rows_load<AT_ONCE>(rows->x, x + i, apart, height, left);
}

/* dz of a row. */
template <int V, class E>
GR_DEVICE pack<V> upstream(const backward_rows<V, E> &rows, int row, const relu_gate<E> &gate,
                           const line_of_channel<V> &of)
{
    pack<V> v;
#pragma unroll
    for (int j = 0; j < V; j++) {
        const bool closed = gate.y ? few_at(rows.gate[row], j) <= 0 : gate.beta && line_at(of, rows.x[row], j) <= 0;
        v.at[j] = closed ? 0 : few_at(rows.dy[row], j);
    }
    return v;
}

/* Where sums over a channel go: totals[2][C] of dz and of dz h; dgamma[C] and dbeta[C], or NULL. */
typedef struct {
    float *totals, *dgamma, *dbeta;
    bool accumulate_gamma, accumulate_beta;
} channel_sums;

/* Of a channel, from partial[2][chunks][C] of x[n,C] cut as m says; var[C] */
GR_DEVICE void finish_sums(const channel_sums *to, const float *partial, const float *var, float epsilon, channel of,
                           const columns *m)
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
        pack_store<1>(to->totals + c, dz, false);
        pack_store<1>(to->totals + m->C + c, product, false);
        if (to->dgamma)
            pack_store<1>(to->dgamma + c, product, to->accumulate_gamma);
        if (to->dbeta)
            pack_store<1>(to->dbeta + c, dz, to->accumulate_beta);
    }
}

/* What backward reads and writes: dx[n,C] and dresidual[n,C], each or NULL; dy[n,C], x[n,C]; the others [C]. */
template <class E> struct backward_tensors {
    E *dx, *dresidual;
    const E *dy, *x;
    relu_gate<E> gate;
    const float *gamma, *mean, *var;
    float epsilon;
    bool centred; /* dX knows that mean and var depend on x: the sums' totals are read */
    bool accumulate_x, accumulate_residual;
};

/* The first leg: to, by way of partial[2][chunks][C]: sums of dz and dz (x - mean) over each chunk. */
template <int V, class E>
GR_DEVICE void gradient_sums(const channel_sums *to, float *partial, const backward_tensors<E> *t, const shares *work,
                             unsigned block)
{
    const columns m = work->cut.sums;
    const place at = columns_place<V>(&m, block);
    const int64_t apart = m.height * m.C;
    int64_t i = at.first * m.C + at.c;
    int left = columns_left(&at);
    line_of_channel<V> of = {{{0}}, {{0}}, {{0}}};
    if (left > 0 && t->gate.beta)
        of = line_of<V>(t->gate.gamma, t->gate.beta, t->mean, t->var, t->epsilon, at.c);
    else if (left > 0)
        of.mean = pack_load<V>(t->mean + at.c);
    pack<2 *V> sum = {{0}}; /* of dz, then of dz (x - mean) */
    for (; left > 0; left -= AT_ONCE * m.height, i += AT_ONCE * apart) {
        backward_rows<V, E> rows = {};
        backward_load<V>(&rows, t->dy, t->gate.y, t->x, i, apart, m.height, left);
#pragma unroll
        for (int row = 0; row < AT_ONCE; row++) { /* what is not there is 0 in dz */
            const pack<V> dz = upstream<V>(rows, row, t->gate, of);
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
        finish_sums(to, partial, t->var, t->epsilon, channel_together(&m, block, V), &m);
        relay_ready(&work->legs);
    }
}

/* What becomes of a channel: dX = scale (dz - shift - (x - mean) slope); mean and scale are those of its line */
template <int V> struct gradient_of_channel {
    line_of_channel<V> line;
    pack<V> shift, slope;
};

/* From totals[2][C], or NULL, of n rows; beta or NULL: no gate is made of it. */
template <int V>
GR_DEVICE gradient_of_channel<V> gradient_of(const float *totals, const float *gamma, const float *beta,
                                             const float *mean, const float *var, float epsilon, int64_t c,
                                             const columns *m)
{
    gradient_of_channel<V> of = {line_of<V>(gamma, beta ? beta : gamma, mean, var, epsilon, c), {{0}}, {{0}}};
    const pack<V> spread = pack_load<V>(var + c);
    if (totals)
        of.shift = pack_load<V>(totals + c), of.slope = pack_load<V>(totals + m->C + c);
    const float share = 1 / (float)m->n;
#pragma unroll
    for (int j = 0; j < V; j++) {
        of.shift.at[j] *= share;
        of.slope.at[j] *= share / sqrtf(spread.at[j] + epsilon);
    }
    return of;
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
    backward_rows<V, E> rows = {};
    const E *read = t->gate.beta || (t->dx && t->centred) ? t->x : NULL;
    if (left > 0)
        backward_load<V>(&rows, t->dy, t->gate.y, read, first + from * m.C, apart, m.height, left - from);
    relay_wait(&work->legs);
    if (left <= 0)
        return;
    const gradient_of_channel<V> of =
        gradient_of<V>(t->centred ? totals : NULL, t->gamma, t->gate.beta, t->mean, t->var, t->epsilon, at.c, &m);
    while (true) {
#pragma unroll
        for (int row = 0; row < AT_ONCE; row++) {
            if (row * m.height >= left - from)
                break;
            const int64_t i = first + from * m.C + row * apart;
            pack<V> v = upstream<V>(rows, row, t->gate, of.line);
            if (t->dresidual)
                pack_store<V>(t->dresidual + i, v, t->accumulate_residual);
#pragma unroll
            for (int j = 0; j < V; j++) {
                const float h = few_at(rows.x[row], j) - of.line.mean.at[j];
                v.at[j] = of.line.scale.at[j] * (v.at[j] - of.shift.at[j] - h * of.slope.at[j]);
            }
            if (t->dx)
                pack_store<V>(t->dx + i, v, t->accumulate_x);
        }
        from -= step;
        if (from < 0)
            break;
        backward_load<V>(&rows, t->dy, t->gate.y, read, first + from * m.C, apart, m.height, left - from);
    }
}

template <int V, class E>
static __global__ void batch_norm_gradients(const __grid_constant__ backward_tensors<E> t,
                                            const __grid_constant__ channel_sums to, float *partial,
                                            const __grid_constant__ shares work)
{
    const unsigned block = relay_begin(&work.legs);
    if (block < work.legs.first)
        gradient_sums<V>(&to, partial, &t, &work, block);
    else
        gradients<V>(&t, to.totals, &work, block - work.legs.first);
}

/* What gates the gradient of a call. */
template <class E> static relu_gate<E> gate_of(const gr_call *call)
{
    const gr_batch_norm_args *args = (const gr_batch_norm_args *)call->options;
    if (!args->relu)
        return {NULL, NULL, NULL};
    if (call->in[RESIDUAL])
        return {elements<E>(call->out[0]), NULL, NULL};
    return {NULL, gr__f32(call->in[GAMMA]), gr__f32(call->in[BETA])};
}

template <class E> static void backward(const gr_call *call)
{
    const gr_batch_norm_args *args = (const gr_batch_norm_args *)call->options;
    const bool given = call->in[MEAN], writes = call->d_in[X] || call->d_in[RESIDUAL];
    const bool sums = call->d_in[GAMMA] || call->d_in[BETA] || (call->d_in[X] && !given);
    const shares work = shares_of(call, plan_of<E>(call), sums, writes);
    float *partial = (float *)call->exec->scratch;
    const backward_tensors<E> t = {elements<E>(call->d_in[X]),
                                   elements<E>(call->d_in[RESIDUAL]),
                                   elements<E>(call->d_out[0]),
                                   elements<E>(call->in[X]),
                                   gate_of<E>(call),
                                   gr__f32(call->in[GAMMA]),
                                   gr__f32(given ? call->in[MEAN] : call->out[1]),
                                   gr__f32(given ? call->in[VAR] : call->out[2]),
                                   (float)args->epsilon,
                                   !given,
                                   (bool)(call->accumulate >> X & 1),
                                   (bool)(call->accumulate >> RESIDUAL & 1)};
    const channel_sums to = {partial + 2 * work.cut.sums.chunks * work.cut.sums.C, gr__f32(call->d_in[GAMMA]),
                             gr__f32(call->d_in[BETA]), (bool)(call->accumulate >> GAMMA & 1),
                             (bool)(call->accumulate >> BETA & 1)};
    if (sums || writes)
        LAUNCH_LEGS(batch_norm_gradients, E, work, call->exec->queue, t, to, partial, work);
}

FORWARD_OF_ELEMENTS(batch_norm, forward)
BACKWARD_OF_ELEMENTS(batch_norm, backward)
