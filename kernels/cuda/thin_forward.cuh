/*
 * thin_forward.cuh - a convolution of few channels on tensor cores, with bias and ReLU if asked:
 *
 *   y[n,p,q,k] = b[k] + sum_{r,s,c} x[n, p stride_h + r - pad_top, q stride_w + s - pad_left, c] w[k,r,s,c]
 *
 * A warp makes two rows of 16 positions by 64 filters. A step of mma.m16n8k16 is two pairs of taps of 4 channels each;
 * 3 x 3 takes three. What is no tap, half of the last pair in each row, is 0 in both factors: in memory a number stands
 * there, and it may be infinite.
 *
 * Filters   lie in shared memory as the fragments of b that lanes load, 16 bytes each. Which column of a fragment is
 *           which filter is free, so it is such that a lane has four neighbours of two fragments: whole sectors of y.
 * Launch    block (its turn, group of 64 filters), the turn fastest; it takes each so-many-th tile, see thin_tile.cuh
 * Shared    pixels and filters: 9 KiB for 3 x 3, 40 for 7 x 7 with stride 2
 * Order     a sum takes taps as they lie, 16 products at a time; then the bias
 * Limit     memory: y is written once, and little else moves
 */
#ifndef GRADUS_THIN_FORWARD_CUH
#define GRADUS_THIN_FORWARD_CUH

#include "kernels/cuda/result.cuh"
#include "kernels/cuda/thin_tile.cuh"

enum {
    THIN_EIGHTS = THIN_FILTERS / 8, /* fragments of 8 filters */
    THIN_QUADS = THIN_EIGHTS / 2,   /* of filters, in each lane */
    THIN_FORWARD_RESIDENT = 4,      /* blocks on a multiprocessor */
    MOST_PAIRS = THIN_SIDE * (THIN_SIDE + 1) / 2
};

/* Steps of mma that a window takes. */
template <class E> static __host__ __device__ inline int thin_steps(const thin_image<E> &i)
{
    return (i.pairs + 1) / 2;
}

/* The word of w that is register h (0 or 1) of lane's fragment for eight filters of a step; 0 for what is not there. */
template <class E>
GR_DEVICE uint32_t filter_word(const thin_image<E> *image, const E *w, int filters, int step, int eight, int lane,
                               int h)
{
    const int column = lane / 4, t = lane % 4, pair = 2 * step + h;
    const int k = eight / 2 * 16 + column / 2 * 4 + eight % 2 * 2 + column % 2; /* see put_row */
    const int r = pair / image->across, s = 2 * (pair % image->across) + t / 2, c = t % 2 * 2;
    const E *from = w + (((int64_t)k * image->r + r) * image->s + s) * image->c + c;
    E low = {}, high = {};
    if (k < filters && r < image->r && s < image->s) {
        if (c < image->c)
            low = from[0];
        if (c + 1 < image->c)
            high = from[1];
    }
    return word_of(low, high);
}

/* to[step][two eights of filters][lane]: their two fragments; w: of the group, so many filters of it are there */
template <class E> GR_DEVICE void bring_fragments(uint4 *to, const thin_image<E> *image, const E *w, int filters)
{
    const int count = thin_steps(*image) * THIN_QUADS * WARP;
    for (int i = threadIdx.x; i < count; i += THIN_THREADS) {
        const int lane = i % WARP, eight = i / WARP % THIN_QUADS * 2, step = i / WARP / THIN_QUADS;
        to[i] = make_uint4(filter_word(image, w, filters, step, eight, lane, 0),
                           filter_word(image, w, filters, step, eight, lane, 1),
                           filter_word(image, w, filters, step, eight + 1, lane, 0),
                           filter_word(image, w, filters, step, eight + 1, lane, 1));
    }
}

/* Fragments of a row of 16 positions and two pairs, of which so many taps are there: 0 in place of the others. */
GR_DEVICE void load_windows(uint32_t a[4], const pixel_pair *pixels, int left, int right)
{
    const int tap = threadIdx.x % 4 / 2; /* which of a pair this lane has of its line */
    gr_ldmatrix_x4(a, pixels);
    a[0] = tap < left ? a[0] : 0, a[1] = tap < left ? a[1] : 0;
    a[2] = tap < right ? a[2] : 0, a[3] = tap < right ? a[3] : 0;
}

/* sum[row][eight]: this warp's rows of the tile times the filters */
template <class E>
GR_DEVICE void thin_products(quad sum[THIN_WARP_ROWS][THIN_EIGHTS], const thin_image<E> *image,
                             const pixel_pair *pixels, const tap_pair *taps, const uint4 *filters)
{
    const int lane = threadIdx.x % WARP, steps = thin_steps(*image);
    const pixel_pair *line[THIN_WARP_ROWS];
#pragma unroll
    for (int i = 0; i < THIN_WARP_ROWS; i++)
        line[i] = pixels + line_place(image, threadIdx.x / WARP * THIN_WARP_ROWS + i);
    for (int step = 0; step < steps; step++, taps += 2, filters += THIN_QUADS * WARP) {
        uint32_t a[THIN_WARP_ROWS][4];
        const int place = taps[line_pair()].place;
#pragma unroll
        for (int i = 0; i < THIN_WARP_ROWS; i++)
            load_windows(a[i], line[i] + place, taps[0].taps, taps[1].taps);
#pragma unroll
        for (int j = 0; j < THIN_QUADS; j++) {
            const uint4 two = filters[j * WARP + lane];
            const uint32_t b[4] = {two.x, two.y, two.z, two.w};
#pragma unroll
            for (int i = 0; i < THIN_WARP_ROWS; i++) {
                multiply_fragments(E(), sum[i][2 * j].at, a[i], b);
                multiply_fragments(E(), sum[i][2 * j + 1].at, a[i], b + 2);
            }
        }
    }
}

/* Fragments of positions (p, q) to (p, q + 15): lane 4 g + t has filters 16 j + 4 t on of positions g and g + 8. */
template <class E>
GR_DEVICE void put_row(const result<E> *y, const thin_image<E> *image, digits first, int group,
                       const quad sum[THIN_EIGHTS])
{
    const int64_t row = ((int64_t)first.high * image->p + first.middle) * image->q + first.low;
    const int position = threadIdx.x % WARP / 4, inside = image->q - first.low;
#pragma unroll
    for (int j = 0; j < THIN_QUADS; j++) {
        const int k = group + 16 * j + threadIdx.x % 4 * QUAD;
        spot at = {row + position, k, QUAD, true};
        if (k >= y->n)
            continue;
        const quad bias = recall(y, at);
        const float *a = sum[2 * j].at, *b = sum[2 * j + 1].at;
        if (position < inside)
            finish(y, at, bias, (quad){{a[0], a[1], b[0], b[1]}});
        at.row += 8;
        if (position + 8 < inside)
            finish(y, at, bias, (quad){{a[2], a[3], b[2], b[3]}});
    }
}

/* y[N,P,Q,K], w[K,R,S,C] */
template <class E>
static __global__ void __launch_bounds__(THIN_THREADS, THIN_FORWARD_RESIDENT)
    thin_forward(result<E> y, thin_image<E> image, const E *w, narrow_plan plan)
{
    GR_DYN_SHARED(pixel_pair, pixels);
    GR_SHARED(tap_pair, taps, [MOST_PAIRS + 1]);
    uint4 *filters = (uint4 *)(pixels + image.rows * image.columns);
    const int turn = blockIdx.x % plan.turns, group = blockIdx.x / plan.turns * THIN_FILTERS;
    bring_fragments(filters, &image, w + (int64_t)group * image.r * image.s * image.c, (int)y.n - group);
    if ((int)threadIdx.x <= image.pairs)
        taps[threadIdx.x] = tap_pair_of(&image, threadIdx.x);
    for (digits tile = tile_of(turn, image.tiles); tile.high < image.n;
         tile = digits_add(tile, plan.step, image.tiles)) {
        digits first = first_position(tile);
        __syncthreads(); /* the last tile has been read */
        bring_pixels(pixels, &image, first);
        __syncthreads();
        quad sum[THIN_WARP_ROWS][THIN_EIGHTS] = {};
        thin_products(sum, &image, pixels, taps, filters);
        first.middle += threadIdx.x / WARP * THIN_WARP_ROWS;
#pragma unroll
        for (int i = 0; i < THIN_WARP_ROWS; i++, first.middle++)
            if (first.middle < image.p)
                put_row(&y, &image, first, group, sum[i]);
    }
}

/* y of x[N,H,W,C] and w[K,R,S,C] */
template <class E>
static void thin_convolution(const gr_exec *exec, const E *x, const E *w, const result<E> &y, const gr_geometry *g)
{
    const thin_image<E> image = thin_image_of(x, g);
    const narrow_plan plan = narrow_turns(thin_tiles(image), image.tiles, divide_up(y.n, THIN_FILTERS),
                                          (int64_t)THIN_FORWARD_RESIDENT * exec->multiprocessors);
    const size_t shared = thin_shared(image) + (size_t)(thin_steps(image) * THIN_QUADS * WARP) * sizeof(uint4);
    GR_LAUNCH((thin_forward<E>), (unsigned)plan.turns * plan.groups, THIN_THREADS, shared, exec->queue, y, image, w,
              plan);
}

#endif
