/*
 * dense_sweep.cuh - a dense layer's backward pass of few samples, in one sweep over w[in,out]; x[N,in], dz[N,out]:
 *
 *   dX[n,i] = sum_j dz[n,j] w[i,j]     g[i,j] = sum_n x[n,i] dz[n,j], which changes w or is stored
 *
 * A tile of a product would be mostly empty: 16 samples fill a quarter of one, and all else there is to do is to move w
 * and what belongs to it. So a warp takes rows of w as they lie, 512 bytes at a time, asks for all that it will need of
 * four of them at once, and multiplies while it waits. What is multiplied, dz and x, stays in shared memory.
 *
 * What becomes of g is the matter of a destination as gemm.cuh knows it, whose recall also gives the weights: old.w.
 *
 * Launch    a block of 8 warps for 64 rows of w, four of them to a warp at a time; columns in turns of 128, of which a
 *           lane has four. Only where a GPU gets a block for each multiprocessor: a turn waits for the one before it.
 * Shared    dz of a turn, x and dX of the rows, all of up to 32 samples: 33 KiB.
 * Order     g: one sum in the order of the samples. dX: four columns in a lane, the lanes in a tree, the turns in
 *           order.
 * Halves    x, dz and dX f16 or bf16, products and sums of floats: tensor cores would wait for memory, too. Weights
 *           that are floats are rounded for dX, as the forward pass saw them.
 * tf32      multiplied as floats, which are nearer to the truth.
 * In flight 2 KiB for a warp and an array: 96 KiB on a multiprocessor where w, m and v are read, 32 KiB of w alone.
 * Limit     memory with Adam. With SGD or alone instructions as much: for 16 samples and a row of 128 weights a warp
 *           takes 250, and 180 more with Adam.
 */
#ifndef GRADUS_DENSE_SWEEP_CUH
#define GRADUS_DENSE_SWEEP_CUH

#include "kernels/cuda/matrix_operand.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/result.cuh"

enum {
    SWEEP_THREADS = 256,
    SWEEP_RESIDENT = 2,               /* blocks on a multiprocessor, at least */
    SWEEP_COLUMNS = WARP * QUAD,      /* of a turn */
    SWEEP_LINES = 4,                  /* rows of w that a warp has at a time */
    SWEEP_ROWS = 64,                  /* of a block */
    SWEEP_PITCH = SWEEP_ROWS + 4,     /* with the 4, lanes write dX to banks of their own */
    SWEEP_GROUP = WARP / SWEEP_LINES, /* samples whose dX of these rows are a number for each lane */
    SWEEP_SAMPLES = 32,
    SWEEP_LEAST_COLUMNS = 64 /* fewer leave too many lanes without work */
};

/* Of samples up to the end of a group; zeros stand for those that are not there. */
typedef struct {
    float dz[SWEEP_SAMPLES][SWEEP_COLUMNS];
    float x[SWEEP_SAMPLES][SWEEP_PITCH], dx[SWEEP_SAMPLES][SWEEP_PITCH]; /* [..][row of w] */
} sweep_tile;

/* dx: NULL: not wanted */
template <class E> struct dense_sweep {
    const E *x, *dz; /* [N,in], [N,out] */
    E *dx;           /* [N,in] */
    bool accumulate; /* dX is added to what is there */
    bool dw;         /* g is wanted */
    int N;
    int64_t in, out;
};

/* What a sweep takes for E. */
template <class E> struct swept {
    typedef E element;
};
template <> struct swept<tf32> {
    typedef float element;
};

/* to[n][0..WIDTH-1] = from[n][first..], of rows so long, whole ones of quads; 0 where there is nothing. */
template <int WIDTH, int PITCH, class E>
GR_DEVICE void bring_samples(float (*to)[PITCH], const E *from, int N, int64_t first, int64_t length, bool whole)
{
    enum { QUADS = WIDTH / QUAD, AT_ONCE = SWEEP_THREADS / QUADS };
    const int at = threadIdx.x % QUADS * QUAD, end = (N + SWEEP_GROUP - 1) / SWEEP_GROUP * SWEEP_GROUP;
    const int64_t column = first + at;
#pragma unroll 2
    for (int n = threadIdx.x / QUADS; n < end; n += AT_ONCE) {
        const int64_t inside = n < N ? length - column : 0;
        quad_write(to[n] + at, quad_inside(from + n * length + column, inside, whole));
    }
}

/* Whether dX may be added to what is there, where g goes to TO: never in an update. */
template <class TO> constexpr bool ADDS_DX = false;

/* The dX of a block's rows. */
template <bool ADDS, class E> GR_DEVICE void put_dx(const dense_sweep<E> *s, const sweep_tile *tile, int64_t first)
{
    const gradient_result<E> to = {s->dx, s->in, ADDS && s->accumulate};
#pragma unroll 1
    for (int i = threadIdx.x; i < s->N * (SWEEP_ROWS / QUAD); i += SWEEP_THREADS) {
        const int n = i / (SWEEP_ROWS / QUAD), row = i % (SWEEP_ROWS / QUAD) * QUAD;
        const spot at = {n, first + row, s->in - first - row, s->in % QUAD == 0};
        if (at.inside > 0)
            finish(&to, at, recall(&to, at), quad_whole(tile->dx[n] + row));
    }
}

/* sum[r] = g of this lane's columns in the rows from row on of the tile. */
GR_DEVICE void sweep_products(quad *sum, const sweep_tile *tile, int N, int row, int lane)
{
#pragma unroll
    for (int r = 0; r < SWEEP_LINES; r++)
        sum[r] = (quad){{0, 0, 0, 0}};
    for (int first = 0; first < N; first += SWEEP_GROUP)
#pragma unroll
        for (int n = first; n < first + SWEEP_GROUP; n++) {
            const quad dz = quad_whole(tile->dz[n] + QUAD * lane), x = quad_whole(tile->x[n] + row);
#pragma unroll
            for (int r = 0; r < SWEEP_LINES; r++)
#pragma unroll
                for (int j = 0; j < QUAD; j++)
                    sum[r].at[j] += x.at[r] * dz.at[j];
        }
}

/* dX of those rows and all samples from these columns, w; more: it is added to that of the columns before. */
GR_DEVICE void sweep_dx(sweep_tile *tile, const quad *w, int N, int row, int lane, bool more)
{
    for (int first = 0; first < N; first += SWEEP_GROUP) {
        float part[WARP];
#pragma unroll
        for (int n = 0; n < SWEEP_GROUP; n++) {
            const quad dz = quad_whole(tile->dz[first + n] + QUAD * lane);
#pragma unroll
            for (int r = 0; r < SWEEP_LINES; r++)
                part[n * SWEEP_LINES + r] =
                    dz.at[0] * w[r].at[0] + dz.at[1] * w[r].at[1] + dz.at[2] * w[r].at[2] + dz.at[3] * w[r].at[3];
        }
        const float sum = warp_sums<WARP>(part, 1);
        float *to = &tile->dx[first + lane / SWEEP_LINES][row + lane % SWEEP_LINES];
        *to = more ? *to + sum : sum;
    }
}

/* All of a warp's work on the rows of w from first + row on, in the columns from column on. */
template <class E, class TO>
GR_DEVICE void sweep_rows(const dense_sweep<E> *s, const TO *to, sweep_tile *tile, int64_t first, int row,
                          int64_t column)
{
    typedef decltype(recall(to, spot())) OLD;
    const int lane = threadIdx.x % WARP;
    const int64_t mine = column + QUAD * lane, rows = s->in - first - row;
    OLD old[SWEEP_LINES];
    quad sum[SWEEP_LINES], w[SWEEP_LINES];
#pragma unroll
    for (int r = 0; r < SWEEP_LINES; r++)
        old[r] = recall(to, (spot){first + row + r, mine, r < rows ? s->out - mine : 0, true});
    if (s->dw)
        sweep_products(sum, tile, s->N, row, lane);
#pragma unroll
    for (int r = 0; r < SWEEP_LINES; r++) {
#pragma unroll
        for (int j = 0; j < QUAD; j++)
            w[r].at[j] = float_of(element_of<E>(old[r].w.at[j]));
        if (s->dw && r < rows && mine < s->out)
            finish(to, (spot){first + row + r, mine, s->out - mine, true}, old[r], sum[r]);
    }
    __syncwarp();
    if (s->dx)
        sweep_dx(tile, w, s->N, row, lane, column > 0);
}

/* Block: SWEEP_ROWS rows of w. */
template <class E, class TO>
static __global__ void __launch_bounds__(SWEEP_THREADS, SWEEP_RESIDENT) dense_sweep_blocks(dense_sweep<E> s, TO to)
{
    GR_SHARED(sweep_tile, tile, [1]);
    const int64_t first = (int64_t)blockIdx.x * SWEEP_ROWS;
    for (int64_t column = 0; column < s.out; column += SWEEP_COLUMNS) {
        if (column == 0)
            bring_samples<SWEEP_ROWS>(tile->x, s.x, s.N, first, s.in, s.in % QUAD == 0);
        else
            __syncthreads(); /* all have read the dz of the columns before */
        bring_samples<SWEEP_COLUMNS>(tile->dz, s.dz, s.N, column, s.out, true);
        __syncthreads();
        for (int row = threadIdx.x / WARP * SWEEP_LINES; row < SWEEP_ROWS; row += SWEEP_THREADS / WARP * SWEEP_LINES)
            if (first + row < s.in)
                sweep_rows(&s, &to, tile, first, row, column);
    }
    __syncthreads();
    if (s.dx)
        put_dx<ADDS_DX<TO>>(&s, tile, first);
}

/* Whether a layer's backward pass may be a sweep, which needs no scratch. */
static inline bool sweeps(const gr_exec *exec, int64_t N, int64_t in, int64_t out)
{
    return N <= SWEEP_SAMPLES && out >= SWEEP_LEAST_COLUMNS && out % QUAD == 0 &&
           divide_up(in, SWEEP_ROWS) >= exec->multiprocessors;
}

template <class E, class TO> static void sweep(const gr_exec *exec, const dense_sweep<E> &s, const TO &to)
{
    GR_LAUNCH((dense_sweep_blocks<E, TO>), (unsigned)divide_up(s.in, SWEEP_ROWS), SWEEP_THREADS, 0, exec->queue, s, to);
}

#endif
