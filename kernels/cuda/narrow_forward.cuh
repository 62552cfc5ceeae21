/*
 * narrow_forward.cuh - a convolution of few channels, ReLU and max-pooling; without these: narrow_conv.cuh.
 *
 *   y[n,p,q,k] = max(0, largest over u, v of b[k] + sum_{r,s,c} x[n, 2p+u+r-pad_top, 2q+v+s-pad_left, c] w[k,r,s,c])
 *
 * A lane keeps the weights of its filter in registers and makes the four places of a window from the 4 x 4 pixels that
 * they see; all lanes of a warp read the same pixels. The next window along the row shares two columns of them, so it
 * reads two: 8 reads for 36 C multiply-adds.
 *
 * Launch    grid (tiles, groups of 32 filters: y, and z where they are more than y may be), see narrow_tile.cuh
 * Shared    the halo and the filters, 8 KiB
 * Order     a sum begins with the bias and takes taps and channels as they lie. Places in order: the first wins a tie,
 *           NaN wins over all and stays
 * Halves    x, w and y f16 or bf16; products and sums are of floats
 * Limit     arithmetic
 */
#ifndef GRADUS_NARROW_FORWARD_CUH
#define GRADUS_NARROW_FORWARD_CUH

#include "kernels/cuda/narrow_tile.cuh"
#include "kernels/cuda/pooled_gradient.cuh"

enum {
    NARROW_PLACES = NARROW_POOL * NARROW_POOL, /* QUAD */
    NARROW_GRID_Y = 65535,
    NARROW_VIEW = NARROW_POOL + NARROW_SIDE - 1 /* rows and columns of pixels that a window sees */
};

/* Two columns of what a window sees. */
template <int C> struct pixel_columns {
    float at[NARROW_VIEW][2][C];
};

/* Those from the given pixel on, which is in an even column. */
template <int C> GR_DEVICE pixel_columns<C> two_columns(const narrow_halo<C> *halo, int pixel)
{
    pixel_columns<C> v;
#pragma unroll
    for (int i = 0; i < NARROW_VIEW; i++, pixel += HALO_COLUMNS) {
        if (C > 1) {
            const quad first = quad_whole(halo->pair + 2 * pixel);
            v.at[i][0][0] = first.at[0], v.at[i][0][1 % C] = first.at[1];
            v.at[i][1][0] = first.at[2], v.at[i][1][1 % C] = first.at[3];
        }
        const float2 last = *(const float2 *)(halo->last + pixel);
        v.at[i][0][C - 1] = last.x, v.at[i][1][C - 1] = last.y;
    }
    return v;
}

/* The weights of 32 filters, filter by filter, of which so many are in w; 0 for the others. */
template <int C, class E> GR_DEVICE void bring_filters(float *to, const E *w, int filters)
{
    enum { COUNT = NARROW_FILTERS * NARROW_TAPS * C, SHARE = (COUNT + NARROW_THREADS - 1) / NARROW_THREADS };
    const int inside = min(filters, NARROW_FILTERS) * NARROW_TAPS * C;
    float weight[SHARE];
#pragma unroll
    for (int i = 0; i < SHARE; i++) {
        const int at = threadIdx.x + i * NARROW_THREADS;
        weight[i] = at < inside ? float_of(w[at]) : 0;
    }
#pragma unroll
    for (int i = 0; i < SHARE; i++)
        if (threadIdx.x + i * NARROW_THREADS < COUNT)
            to[threadIdx.x + i * NARROW_THREADS] = weight[i];
}

/* The four places of a window. */
template <int C>
GR_DEVICE quad window_sums(const pixel_columns<C> &left, const pixel_columns<C> &right, const float *weight, float bias)
{
    quad sum;
#pragma unroll
    for (int place = 0; place < NARROW_PLACES; place++)
        sum.at[place] = bias;
#pragma unroll
    for (int i = 0; i < NARROW_TAPS * C; i++)
#pragma unroll
        for (int place = 0; place < NARROW_PLACES; place++) {
            const int row = place / NARROW_POOL + i / C / NARROW_SIDE;
            const int column = place % NARROW_POOL + i / C % NARROW_SIDE;
            sum.at[place] += weight[i] * (column < 2 ? left : right).at[row][column % 2][i % C];
        }
    return sum;
}

/* The largest of a window's places, and which: CLIPPED where none is above 0. */
typedef struct {
    float value;
    int place;
} narrow_maximum;

GR_DEVICE narrow_maximum largest_place(const quad &sum)
{
    narrow_maximum best = {0, CLIPPED};
#pragma unroll
    for (int place = 0; place < NARROW_PLACES; place++)
        if (!(sum.at[place] <= best.value) && !isnan(best.value)) /* larger, or the first NaN */
            best = (narrow_maximum){sum.at[place], place};
    return best;
}

/* Where a row of windows goes to, here its maxima: y[N,P,Q,K], argmax the same or NULL; at: of the next window. */
template <class E> struct narrow_largest {
    E *y;
    uint8_t *argmax;
    int k;
    int64_t at;
};

/* The first window, and the filter. */
template <class E> GR_DEVICE void row_begin(narrow_largest<E> *to, const narrow_image<E> *image, digits window, int k)
{
    to->at = (((int64_t)window.high * image->p + window.middle) * image->q + window.low) * to->k + k;
}

template <class E> GR_DEVICE void row_put(narrow_largest<E> *to, const quad &sum)
{
    const narrow_maximum largest = largest_place(sum);
    to->y[to->at] = element_of<E>(largest.value);
    if (to->argmax)
        to->argmax[to->at] = (uint8_t)largest.place;
    to->at += to->k;
}

/* Windows of a row side by side; pixel is the first of them, and end that behind the last's. */
template <int C, class TO>
GR_DEVICE void windows_of_row(TO *to, const narrow_halo<C> *halo, int pixel, int end, const float *weight, float bias)
{
    pixel_columns<C> even = two_columns<C>(halo, pixel), odd;
    while (true) { /* two windows, so that no columns move from register to register */
        odd = two_columns<C>(halo, pixel + NARROW_POOL);
        row_put(to, window_sums<C>(even, odd, weight, bias));
        pixel += NARROW_POOL;
        if (pixel == end)
            break;
        even = two_columns<C>(halo, pixel + NARROW_POOL);
        row_put(to, window_sums<C>(odd, even, weight, bias));
        pixel += NARROW_POOL;
        if (pixel == end)
            break;
    }
}

/* This block's windows; w[K,3,3,C], b[K] or NULL */
template <int C, class E, class TO>
GR_DEVICE void windows_of_block(TO to, const narrow_image<E> *image, const E *w, const float *b, int K)
{
    GR_SHARED(narrow_halo<C>, halo, [1]);
    GR_SHARED(float, filters, [NARROW_FILTERS * NARROW_TAPS * C]);
    const int lane = threadIdx.x % WARP, row = threadIdx.x / WARP;
    const int group = (blockIdx.z * gridDim.y + blockIdx.y) * NARROW_FILTERS, k = group + lane;
    digits first = first_window(tile_of(blockIdx.x, image->tiles));
    const float bias = b && k < K ? b[k] : 0;
    bring_halo<C>(halo, image, first);
    bring_filters<C>(filters, w + (int64_t)group * NARROW_TAPS * C, K - group);
    __syncthreads();

    first.middle += row;
    if (first.middle >= image->p || k >= K)
        return;
    float weight[NARROW_TAPS * C];
#pragma unroll
    for (int i = 0; i < NARROW_TAPS * C; i++)
        weight[i] = filters[lane * NARROW_TAPS * C + i];
    const int count = min(image->q - first.low, NARROW_COLUMNS), pixel = NARROW_POOL * row * HALO_COLUMNS;
    row_begin(&to, image, first, k);
    windows_of_row<C>(&to, halo, pixel, pixel + NARROW_POOL * count, weight, bias);
}

/* y[N,P,Q,K], argmax the same or NULL, w[K,3,3,C], b[K] or NULL */
template <int C, class E>
static __global__ void __launch_bounds__(NARROW_THREADS, NARROW_RESIDENT)
    narrow_forward(E *y, uint8_t *argmax, narrow_image<E> image, const E *w, const float *b, int K)
{
    windows_of_block<C>(narrow_largest<E>{y, argmax, K, 0}, &image, w, b, K);
}

/* A block for each tile and group of filters. */
template <class E> static inline dim3 narrow_grid(const narrow_image<E> &image, int64_t K)
{
    const int64_t groups = divide_up(K, NARROW_FILTERS), z = divide_up(groups, NARROW_GRID_Y);
    return dim3((unsigned)narrow_tiles(image), (unsigned)divide_up(groups, z), (unsigned)z);
}

/* y[N,P,Q,K], argmax the same or NULL, x[N,H,W,C], w[K,3,3,C], b[K] or NULL */
template <class E>
static void narrow_pooled(const gr_exec *exec, E *y, uint8_t *argmax, const E *x, const E *w, const float *b,
                          const gr_geometry *conv, const gr_geometry *pool, int64_t K)
{
    const narrow_image<E> image = narrow_image_of(x, conv, pool->p, pool->q);
    const dim3 grid = narrow_grid(image, K);
    if (conv->c == 1)
        GR_LAUNCH((narrow_forward<1, E>), grid, NARROW_THREADS, 0, exec->queue, y, argmax, image, w, b, (int)K);
    else
        GR_LAUNCH((narrow_forward<3, E>), grid, NARROW_THREADS, 0, exec->queue, y, argmax, image, w, b, (int)K);
}

#endif
