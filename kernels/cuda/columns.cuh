/*
 * columns.cuh - a block of threads over a matrix x[n,C] whose rows are the pixels and whose columns are the channels.
 * Each thread keeps to V columns side by side and goes down the rows: what belongs to a channel is read once, and sums
 * over the pixels stay in the thread.
 *
 *   the block's threads lie in rows of width, height of them; thread t has column t % width and row t / width
 *   block b has slice b % slices of the columns and chunk b / slices of the rows
 *
 * V is 4 where C is a multiple of 4, so that every row begins at a multiple of 16 bytes, and 1 elsewhere. Threads of
 * one row are neighbours in memory, and so are those of the next row where one slice holds all columns: few channels
 * cost no bandwidth.
 */
#ifndef GRADUS_COLUMNS_CUH
#define GRADUS_COLUMNS_CUH

#include "kernels/cuda/quad.cuh"

enum { COLUMNS_THREADS = 256, COLUMNS_WIDE = QUAD };

typedef struct {
    int64_t n, C;  /* rows, columns */
    int64_t chunk; /* rows of a block */
    int64_t chunks, slices;
    int width, height; /* width * height threads of a block have work */
} columns;

/* Where a thread is at work: columns c to c + V - 1 of the rows first, first + height, ... below end. */
typedef struct {
    int64_t c, chunk, first, end;
    int row; /* in its block */
} place;

/* 4 or 1 columns for a thread. */
static inline int columns_per_thread(int64_t C)
{
    return C % COLUMNS_WIDE ? 1 : COLUMNS_WIDE;
}

/* x[n,C] for blocks that are at most so many threads wide and take a chunk of rows each. */
static inline columns columns_of_chunks(int64_t n, int64_t C, int V, int widest, int64_t chunk)
{
    const int64_t slices = divide_up(C, (int64_t)V * widest), width = divide_up(C, V * slices);
    return {n, C, chunk, divide_up(n, chunk), slices, (int)width, COLUMNS_THREADS / (int)width};
}

/* x[n,C] for threads of at least so many rows each and at most so many blocks (more only where C alone needs them). */
static inline columns columns_over(int64_t n, int64_t C, int V, int64_t rows, int64_t blocks)
{
    const columns m = columns_of_chunks(n, C, V, COLUMNS_THREADS, n);
    const int64_t most = blocks > m.slices ? blocks / m.slices : 1, least = rows * m.height, even = divide_up(n, most);
    return columns_of_chunks(n, C, V, COLUMNS_THREADS, least > even ? least : even);
}

static inline unsigned columns_blocks(const columns *m)
{
    return (unsigned)(m->chunks * m->slices);
}

/* Launches kernel<V, E> over m with the V that columns_per_thread says. */
#define COLUMNS_LAUNCH(kernel, E, m, queue, ...)                                                                \
    do {                                                                                                        \
        if (columns_per_thread((m).C) == COLUMNS_WIDE)                                                          \
            GR_LAUNCH((kernel<COLUMNS_WIDE, E>), columns_blocks(&(m)), COLUMNS_THREADS, 0, queue, __VA_ARGS__); \
        else                                                                                                    \
            GR_LAUNCH((kernel<1, E>), columns_blocks(&(m)), COLUMNS_THREADS, 0, queue, __VA_ARGS__);            \
    } while (0)

/* This thread's place. */
template <int V> GR_DEVICE place columns_place(const columns *m)
{
    const int row = threadIdx.x / m->width, column = threadIdx.x % m->width;
    const int64_t chunk = blockIdx.x / m->slices, c = (blockIdx.x % m->slices * m->width + column) * V;
    const int64_t begin = chunk * m->chunk, end = begin + m->chunk < m->n ? begin + m->chunk : m->n;
    return {c, chunk, begin + row, row < m->height && c < m->C ? end : 0, row};
}

/* Whether this thread is the first of its columns in the block, the one that has what a reduction gives. */
GR_DEVICE bool columns_speaks(const columns *m, const place *at)
{
    return at->row == 0 && at->c < m->C;
}

/* --- V elements side by side -------------------------------------------------------------------------------------- */

template <int V> struct pack {
    float at[V];
};

/* V elements from x, which is a multiple of V elements. */
template <int V, class E> GR_DEVICE pack<V> pack_load(const E *x)
{
    pack<V> v;
    if constexpr (V == COLUMNS_WIDE) {
        const quad whole = quad_whole(x);
        for (int j = 0; j < V; j++)
            v.at[j] = whole.at[j];
    } else {
        v.at[0] = float_of(*x);
    }
    return v;
}

/* Writes v, or adds it. */
template <int V, class E> GR_DEVICE void pack_store(E *y, pack<V> v, bool accumulate)
{
    if (accumulate) {
        const pack<V> old = pack_load<V>(y);
        for (int j = 0; j < V; j++)
            v.at[j] += old.at[j];
    }
    if constexpr (V == COLUMNS_WIDE)
        quad_write(y, (quad){{v.at[0], v.at[1], v.at[2], v.at[3]}});
    else
        *y = element_of<E>(v.at[0]);
}

/* --- reductions --------------------------------------------------------------------------------------------------- */

/*
 * Sum of v over the rows of the block, in those who speak; a tree over the rows. All threads must come, idle ones with
 * 0.
 */
template <int V> GR_DEVICE pack<V> columns_sum(const columns *m, pack<V> v)
{
    GR_SHARED(float, sums, [V][COLUMNS_THREADS]);
    const int t = threadIdx.x, row = t / m->width;
    for (int j = 0; j < V; j++)
        sums[j][t] = v.at[j];
    __syncthreads();
    for (int step = COLUMNS_THREADS / 2; step > 0; step /= 2) {
        if (row < step && row + step < m->height)
            for (int j = 0; j < V; j++)
                sums[j][t] += sums[j][t + step * m->width];
        __syncthreads();
    }
    for (int j = 0; j < V; j++)
        v.at[j] = sums[j][t]; /* of row 0: nobody else touches it from here to the next barrier */
    return v;
}

#endif
