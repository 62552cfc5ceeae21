/*
 * thin_grad_w.cuh - dW of a convolution of few channels on tensor cores:
 *
 *   dW[k,r,s,c] = sum_{n,p,q} dz[n,p,q,k] x[n, p stride_h + r - pad_top, q stride_w + s - pad_left, c]
 *
 * A warp takes rows of 16 positions, the depth of one mma.m16n8k16: 64 filters by six pairs of taps, and 3 x 3 has no
 * more. Its sums stay in registers over all tiles. A pair of taps is 8 columns of b, which ldmatrix turns as it loads.
 *
 * dz        is read once, by 16 bytes, into registers alone: a lane has 8 filters of 4 positions, those of its columns
 *           of a. Two positions of a filter are a word of a fragment, and which row is which filter is free.
 * Columns   that are no tap are made and not kept. Positions beyond the image are 0 in both factors: dz has none there,
 *           and a pixel that stands there may be infinite.
 * Launch    block (its turn, set of six pairs, group of 64 filters), the turn fastest; it takes each so-many-th tile,
 *           see thin_tile.cuh
 * Shared    pixels, and the sums of a warp: 15 KiB for 3 x 3, 25 for 7 x 7 with stride 2
 * Order     a warp adds its rows, tile after tile, 16 positions at a time; then the block its warps, into scratch; then
 *           narrow_join the blocks
 * Limit     memory, where a window has one set: dz is read once for each
 */
#ifndef GRADUS_THIN_GRAD_W_CUH
#define GRADUS_THIN_GRAD_W_CUH

#include "kernels/cuda/gradient_operand.cuh"
#include "kernels/cuda/narrow_grad_w.cuh"
#include "kernels/cuda/thin_tile.cuh"

enum {
    THIN_PAIRS = 6,         /* of a block */
    THIN_FOUR = 4,          /* fragments of 16 filters; positions of a lane */
    THIN_GRAD_RESIDENT = 3, /* blocks on a multiprocessor */
    THIN_SUMS = THIN_FOUR * THIN_PAIRS * QUAD
};

/* dz at a row of 16 positions: lane 4 g + t has filters 8 g on of positions 2 t, 2 t + 1, 2 t + 8, 2 t + 9. */
template <class E> struct dz_row {
    piece<E> at[THIN_FOUR];
    int count; /* of positions that are there */
};

/* This warp's i-th row of the tile whose first position is given; k: this lane's first filter */
template <class E>
GR_DEVICE dz_row<E> read_row(const plain_gradient<E> *dz, const thin_image<E> *image, digits first, int i, int k)
{
    const int p = first.middle + threadIdx.x / WARP * THIN_WARP_ROWS + i;
    const E *from = dz->dz + (((int64_t)first.high * dz->p + p) * dz->q + first.low) * dz->k + k;
    dz_row<E> row;
    row.count = p < image->p ? image->q - first.low : 0;
#pragma unroll
    for (int j = 0; j < THIN_FOUR; j++) {
        const int position = threadIdx.x % 4 * 2 + j % 2 + j / 2 * 8;
        row.at[j] = piece_inside(from + (int64_t)position * dz->k, position < row.count ? dz->k - k : 0, true);
    }
    return row;
}

/* Which of two neighbouring positions, from the given one on, are there: as a mask of their word. */
GR_DEVICE uint32_t positions_mask(int position, int count)
{
    return (position < count ? 0xFFFFu : 0) | (position + 1 < count ? 0xFFFF0000u : 0);
}

/* Halves of the same filter at two positions, as a word. */
GR_DEVICE uint32_t low_halves(uint32_t first, uint32_t second)
{
    return (first & 0xFFFF) | second << 16;
}
GR_DEVICE uint32_t high_halves(uint32_t first, uint32_t second)
{
    return first >> 16 | (second & 0xFFFF0000);
}

/* Fragments of a: rows g and g + 8 of the i-th are filters 8 g + 2 i and 8 g + 2 i + 1. */
template <class E> GR_DEVICE void filter_fragments(uint32_t a[THIN_FOUR][4], const dz_row<E> &row)
{
    uint32_t word[THIN_FOUR][THIN_FOUR];
#pragma unroll
    for (int i = 0; i < THIN_FOUR; i++)
        memcpy(word[i], &row.at[i], sizeof word[i]);
#pragma unroll
    for (int i = 0; i < THIN_FOUR; i++) {
        a[i][0] = low_halves(word[0][i], word[1][i]), a[i][1] = high_halves(word[0][i], word[1][i]);
        a[i][2] = low_halves(word[2][i], word[3][i]), a[i][3] = high_halves(word[2][i], word[3][i]);
    }
}

/* sum[four][pair] += dz times pixels, two pairs of taps at a time; place: of this lane's pairs */
template <class E>
GR_DEVICE void add_positions(quad sum[THIN_FOUR][THIN_PAIRS], const dz_row<E> &row, const pixel_pair *line,
                             const int place[THIN_PAIRS / 2])
{
    const int position = threadIdx.x % 4 * 2;
    const uint32_t first = positions_mask(position, row.count), second = positions_mask(position + 8, row.count);
    uint32_t a[THIN_FOUR][4];
    filter_fragments(a, row);
#pragma unroll
    for (int j = 0; j < THIN_PAIRS / 2; j++) {
        uint32_t b[4];
        gr_ldmatrix_x4_trans(b, line + place[j]);
        b[0] &= first, b[1] &= second, b[2] &= first, b[3] &= second;
#pragma unroll
        for (int i = 0; i < THIN_FOUR; i++) {
            multiply_fragments(E(), sum[i][2 * j].at, a[i], b);
            multiply_fragments(E(), sum[i][2 * j + 1].at, a[i], b + 2);
        }
    }
}

/* This warp's rows of the tile; the next one's dz is on its way while a row is multiplied. */
template <class E>
GR_DEVICE void add_tile(quad sum[THIN_FOUR][THIN_PAIRS], const plain_gradient<E> *dz, const thin_image<E> *image,
                        digits first, int k, dz_row<E> row, const pixel_pair *pixels, const int *place)
{
#pragma unroll
    for (int i = 0; i < THIN_WARP_ROWS; i++) {
        dz_row<E> next = {};
        if (i + 1 < THIN_WARP_ROWS)
            next = read_row(dz, image, first, i + 1, k);
        __syncwarp(); /* an edge parts lanes */
        if (row.count > 0)
            add_positions(sum, row, pixels + line_place(image, threadIdx.x / WARP * THIN_WARP_ROWS + i), place);
        row = next;
    }
}

/* part[K][R][S][C]: one pair's sums of filters 8 g + 2 i and the next; columns 2 t and 2 t + 1 of its 8 */
template <class E>
GR_DEVICE void put_pair(float *part, const thin_image<E> *image, const quad &sum, int pair, int k, int K)
{
    const int t = threadIdx.x % 4, c = t % 2 * 2;
    const int r = pair / image->across, s = 2 * (pair % image->across) + t / 2;
    float *to = part + (((int64_t)k * image->r + r) * image->s + s) * image->c + c;
    const int64_t pitch = (int64_t)image->r * image->s * image->c; /* from filter to filter */
    if (r >= image->r || s >= image->s)
        return;
#pragma unroll
    for (int j = 0; j < QUAD; j++)
        if (k + j / 2 < K && c + j % 2 < image->c)
            to[j / 2 * pitch + j % 2] = sum.at[j];
}

/* parts[turns][K][R][S][C]; dz[N,P,Q,K] */
template <class E>
static __global__ void __launch_bounds__(THIN_THREADS, THIN_GRAD_RESIDENT)
    thin_grad_w(float *parts, thin_image<E> image, plain_gradient<E> dz, narrow_plan plan, int sets)
{
    GR_DYN_SHARED(pixel_pair, pixels);
    GR_SHARED(float, of_warp, [THIN_SUMS * WARP]);
    const int turn = blockIdx.x % plan.turns, rest = blockIdx.x / plan.turns;
    const int pair = rest % sets * THIN_PAIRS;
    const int k = rest / sets * THIN_FILTERS + threadIdx.x % WARP / 4 * THIN_MULTIPLE;
    int place[THIN_PAIRS / 2];
#pragma unroll
    for (int i = 0; i < THIN_PAIRS / 2; i++)
        place[i] = tap_pair_of(&image, pair + 2 * i + line_pair()).place;
    quad sum[THIN_FOUR][THIN_PAIRS] = {};
    for (digits tile = tile_of(turn, image.tiles); tile.high < image.n;
         tile = digits_add(tile, plan.step, image.tiles)) {
        const digits first = first_position(tile);
        const dz_row<E> row = read_row(&dz, &image, first, 0, k);
        __syncthreads(); /* the last tile has been read */
        bring_pixels(pixels, &image, first);
        __syncthreads();
        add_tile(sum, &dz, &image, first, k, row, pixels, place);
    }
    add_warps<THIN_SUMS, THIN_WARPS>(sum[0][0].at, of_warp);
    if (threadIdx.x >= WARP)
        return;
    float *part = parts + (int64_t)turn * dz.k * image.r * image.s * image.c;
#pragma unroll
    for (int i = 0; i < THIN_FOUR; i++)
#pragma unroll
        for (int j = 0; j < THIN_PAIRS; j++)
            put_pair(part, &image, sum[i][j], pair + j, k + 2 * i, dz.k);
}

template <class E> static inline int thin_sets(const thin_image<E> &image)
{
    return (int)divide_up(image.pairs, THIN_PAIRS);
}

template <class E> static inline narrow_plan thin_cut(const gr_exec *exec, const thin_image<E> &image, int64_t K)
{
    return narrow_turns(thin_tiles(image), image.tiles, divide_up(K, THIN_FILTERS) * thin_sets(image),
                        (int64_t)THIN_GRAD_RESIDENT * exec->multiprocessors);
}

static inline size_t thin_grad_w_scratch(const gr_exec *exec, const gr_geometry *g, int64_t K)
{
    const narrow_plan plan = thin_cut(exec, thin_image_of((const f16 *)NULL, g), K);
    return (size_t)(plan.turns * K * g->r * g->s * g->c) * sizeof(float);
}

/* dw[K,R,S,C] of x[N,H,W,C] and dz; add: whether to add to it */
template <class E>
static void thin_gradient(const gr_exec *exec, float *dw, const E *x, const plain_gradient<E> &dz, const gr_geometry *g,
                          bool add)
{
    const thin_image<E> image = thin_image_of(x, g);
    const narrow_plan plan = thin_cut(exec, image, dz.k);
    const int64_t weights = (int64_t)dz.k * g->r * g->s * g->c;
    float *parts = (float *)exec->scratch;
    GR_LAUNCH((thin_grad_w<E>), (unsigned)plan.turns * plan.groups, THIN_THREADS, thin_shared(image), exec->queue,
              parts, image, dz, plan, thin_sets(image));
    narrow_joined(exec, dw, NULL, parts, plan.turns, weights, weights, add, false);
}

#endif
