/*
 * columns.cuh - a block of threads over a matrix x[n,C] whose rows are the pixels and whose columns are the channels.
 * Each thread keeps to V columns side by side and goes down the rows: what belongs to a channel is read once, and sums
 * over the pixels stay in the thread.
 *
 *   the block's threads lie in rows of width, height of them; thread t has column t % width and row t / width
 *   block b has slice b % slices of the columns and chunk b / slices of the rows
 *
 * V is 4, or 8 of halves where a kernel lives on bandwidth, if C is a multiple of it, so that every row begins at a
 * multiple of 16 bytes or 8, and 1 elsewhere. Threads of one row are neighbours in memory, and so are those of the next
 * row where one slice holds all columns: few channels cost no bandwidth.
 */
#ifndef GRADUS_COLUMNS_CUH
#define GRADUS_COLUMNS_CUH

#include "kernels/cuda/quad.cuh"

enum { COLUMNS_THREADS = 256, COLUMNS_WIDE = QUAD, COLUMNS_PARTS = 16 /* of a block's rows in a sum, at most */ };

typedef struct {
    int64_t n, C;  /* rows, columns */
    int64_t chunk; /* rows of a block */
    int chunks, slices;
    int width, height; /* width * height threads of a block have work */
} columns;

/* Where a thread is at work: columns c to c + V - 1 of the rows first, first + height, ... below end. */
typedef struct {
    int64_t c, chunk, first, end;
    int row; /* in its block */
} place;

/* 4 or 1 columns for a thread, or so many or 1. */
static inline int columns_per_thread(int64_t C, int wide = COLUMNS_WIDE)
{
    return C % wide ? 1 : wide;
}

/* x[n,C] for blocks that are at most so many threads wide and take a chunk of rows each. */
static inline columns columns_of_chunks(int64_t n, int64_t C, int V, int widest, int64_t chunk)
{
    const int64_t slices = divide_up(C, (int64_t)V * widest), width = divide_up(C, V * slices);
    return {n, C, chunk, (int)divide_up(n, chunk), (int)slices, (int)width, COLUMNS_THREADS / (int)width};
}

/*
 * x[n,C] for blocks that are at most so many threads wide, threads of at least so many rows each and at most so many
 * blocks (more only where C alone needs them). All threads of a block have as many rows, but for those of the last
 * chunk.
 */
static inline columns columns_over(int64_t n, int64_t C, int V, int widest, int64_t rows, int64_t blocks)
{
    const columns m = columns_of_chunks(n, C, V, widest, n);
    const int64_t most = blocks > m.slices ? blocks / m.slices : 1, even = divide_up(n, most * m.height);
    return columns_of_chunks(n, C, V, widest, (rows > even ? rows : even) * m.height);
}

static inline unsigned columns_blocks(const columns *m)
{
    return (unsigned)m->chunks * (unsigned)m->slices;
}

/* Launches so many blocks of kernel<V, E>, with the V that columns_per_thread says for C and WIDE, */
#define COLUMNS_LAUNCH_BLOCKS(kernel, WIDE, E, C, blocks, queue, ...)                     \
    do {                                                                                  \
        if (columns_per_thread(C, WIDE) == WIDE)                                          \
            GR_LAUNCH((kernel<WIDE, E>), blocks, COLUMNS_THREADS, 0, queue, __VA_ARGS__); \
        else                                                                              \
            GR_LAUNCH((kernel<1, E>), blocks, COLUMNS_THREADS, 0, queue, __VA_ARGS__);    \
    } while (0)

/* or for 4 and those of m. */
#define COLUMNS_LAUNCH(kernel, E, m, queue, ...) \
    COLUMNS_LAUNCH_BLOCKS(kernel, COLUMNS_WIDE, E, (m).C, columns_blocks(&(m)), queue, __VA_ARGS__)

/*
 * This thread's place in the block of that number. c is a product of 32 bits that is widened: from one of 64 today's
 * nvcc no longer sees that neighbours may be written by one store.
 */
template <int V> GR_DEVICE place columns_place(const columns *m, unsigned block)
{
    const int row = threadIdx.x / m->width, column = threadIdx.x % m->width;
    const int64_t chunk = block / m->slices, c = (int64_t)(block % m->slices * m->width + column) * V;
    const int64_t begin = chunk * m->chunk, end = begin + m->chunk < m->n ? begin + m->chunk : m->n;
    return {c, chunk, begin + row, row < m->height && c < m->C ? end : 0, row};
}

/* How many rows of the matrix are left to a thread from its first on, those of its neighbours among them. */
GR_DEVICE int columns_left(const place *at)
{
    return at->first < at->end ? (int)(at->end - at->first) : 0;
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

/*
 * As they lie in memory, in words: what a thread brings before it needs it. Of halves two share a register until they
 * become floats.
 */
template <int V, class E> struct few {
    enum { WORDS = (V * sizeof(E) + 3) / 4 };
    uint32_t word[WORDS];
};

template <int V, class E> GR_DEVICE float few_at(const few<V, E> &v, int j)
{
    if constexpr (sizeof(E) == sizeof(uint32_t))
        return __uint_as_float(v.word[j]);
    else
        return float_of(E{(uint16_t)(v.word[j / 2] >> j % 2 * 16)});
}

/* Element j of v becomes 0. */
template <int V, class E> GR_DEVICE void few_clear(few<V, E> *v, int j)
{
    if constexpr (sizeof(E) == sizeof(uint32_t))
        v->word[j] = 0;
    else
        v->word[j / 2] &= j % 2 ? 0xFFFFu : 0xFFFF0000u;
}

/* V elements from x, which is a multiple of V elements. */
template <int V, class E> GR_DEVICE few<V, E> few_load(const E *x)
{
    few<V, E> v;
    if constexpr (V == 1) {
        v.word[0] = sizeof(E) == sizeof(uint32_t) ? *(const uint32_t *)x : *(const uint16_t *)x;
    } else if constexpr (V * sizeof(E) == sizeof(uint2)) {
        const uint2 two = *(const uint2 *)x;
        v.word[0] = two.x, v.word[1] = two.y;
    } else {
#pragma unroll
        for (int i = 0; i < few<V, E>::WORDS; i += 4) {
            const uint4 four = ((const uint4 *)x)[i / 4];
            v.word[i] = four.x, v.word[i + 1] = four.y, v.word[i + 2] = four.z, v.word[i + 3] = four.w;
        }
    }
    return v;
}

template <int V, class E> GR_DEVICE pack<V> pack_of(const few<V, E> &v)
{
    pack<V> values;
#pragma unroll
    for (int j = 0; j < V; j++)
        values.at[j] = few_at(v, j);
    return values;
}

template <int V, class E> GR_DEVICE pack<V> pack_load(const E *x)
{
    return pack_of(few_load<V>(x));
}

/*
 * ROWS of a thread's rows that are apart elements from one another, height rows of the matrix; those that are left rows
 * away or more are 0. All are under way before the first has come.
 */
template <int ROWS, int V, class E>
GR_DEVICE void rows_load(few<V, E> *v, const E *x, int64_t apart, int height, int left)
{
#pragma unroll
    for (int row = 0; row < ROWS; row++)
        v[row] = row * height < left ? few_load<V>(x + row * apart) : few<V, E>{};
}

/* Two halves as they lie in memory. */
template <class H> GR_DEVICE uint32_t word_of(float first, float last)
{
    return element_of<H>(first).bits | (uint32_t)element_of<H>(last).bits << 16;
}

/* Writes v, or adds it. */
template <int V, class E> GR_DEVICE void pack_store(E *y, pack<V> v, bool accumulate)
{
    if (accumulate) {
        const pack<V> old = pack_load<V>(y);
        for (int j = 0; j < V; j++)
            v.at[j] += old.at[j];
    }
    if constexpr (V == 1)
        *y = element_of<E>(v.at[0]);
    else if constexpr (V * sizeof(E) == sizeof(uint4) && V > QUAD)
        *(uint4 *)y = make_uint4(word_of<E>(v.at[0], v.at[1]), word_of<E>(v.at[2], v.at[3]),
                                 word_of<E>(v.at[4], v.at[5]), word_of<E>(v.at[6], v.at[7]));
    else
#pragma unroll
        for (int j = 0; j < V; j += QUAD)
            quad_write(y + j, (quad){{v.at[j], v.at[j + 1], v.at[j + 2], v.at[j + 3]}});
}

/* --- reductions --------------------------------------------------------------------------------------------------- */

/* V columns of each thread in shared memory, [height][width V], are folded into row 0: first into so many numbers. */
template <int V> GR_DEVICE int columns_folded(const columns *m)
{
    const int lines = m->width * V, fill = COLUMNS_THREADS / lines; /* no more than rows */
    return max(min(fill, COLUMNS_PARTS), 1) * lines;
}

/* of[i] += of[i + some] + of[i + 2 some] + ... below all, for the i below some. All threads must come. */
GR_DEVICE void fold_sums(float *of, int some, int all)
{
    for (int i = threadIdx.x; i < some; i += COLUMNS_THREADS) {
        float sum = of[i];
        for (int j = i + some; j < all; j += some)
            sum += of[j];
        of[i] = sum;
    }
    __syncthreads();
}

/*
 * Sum of v over the rows of the block, in those who speak: rows in turn to at most 16 parts, then the parts. All
 * threads must come, idle ones with 0.
 */
template <int V> GR_DEVICE pack<V> columns_sum(const columns *m, pack<V> v)
{
    GR_SHARED(float, sums, [V * COLUMNS_THREADS]);
    const int mine = threadIdx.x * V, lines = m->width * V, folded = columns_folded<V>(m);
    for (int j = 0; j < V; j++)
        sums[mine + j] = v.at[j];
    __syncthreads();
    fold_sums(sums, folded, m->height * lines);
    if (folded > lines)
        fold_sums(sums, lines, folded);
    for (int j = 0; j < V; j++)
        v.at[j] = sums[mine + j]; /* of row 0: nobody else touches it from here to the next barrier */
    return v;
}

#endif
