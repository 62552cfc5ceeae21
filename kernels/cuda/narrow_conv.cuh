/*
 * narrow_conv.cuh - a convolution of few channels of floats, without a pooling:
 *
 *   y[n,p,q,k]  = b[k] + sum_{r,s,c} x[n, p+r-pad_top, q+s-pad_left, c] w[k,r,s,c], with ReLU if asked
 *   dW[k,r,s,c] = sum_{n,p,q} dz[n,p,q,k] x[n, p+r-pad_top, q+s-pad_left, c]
 *
 * Forward is narrow_forward.cuh's, whose windows are four results each, all of which are kept. In dW a lane has the 9 C
 * sums of its filter in registers and adds a window at a time: four numbers of dz, each times the pixels that it sees,
 * which are read as in the forward pass.
 *
 * Launch    forward as narrow_forward.cuh, dW as narrow_grad_w.cuh
 * Shared    8 KiB each
 * Order     forward narrow_forward.cuh's. dW: a warp adds the windows of its row of the tile, tile after tile; then the
 *           block its warps, into scratch; then narrow_join the blocks
 * Limit     arithmetic and memory: y or dz passes once, and 54 operations for each of its numbers
 */
#ifndef GRADUS_NARROW_CONV_CUH
#define GRADUS_NARROW_CONV_CUH

#include "kernels/cuda/gradient_operand.cuh"
#include "kernels/cuda/narrow_forward.cuh"
#include "kernels/cuda/narrow_grad_w.cuh"
#include "kernels/cuda/result.cuh"

enum { NARROW_GRAD_RESIDENT = 4 /* blocks of dW on a multiprocessor: what they keep takes registers */ };

/* p, q: positions of y; the image's p and q are windows */
static inline narrow_image<float> narrow_windows(const float *x, const gr_geometry *g)
{
    return narrow_image_of(x, g, divide_up(g->p, NARROW_POOL), divide_up(g->q, NARROW_POOL));
}

/* --- forward ------------------------------------------------------------------------------------------------------ */

/* All places of a row of windows: y[N,P,Q,K]; at: of the next window's first, column: where it is in its row. */
struct narrow_places {
    float *y;
    int p, q, k;
    bool relu;
    int rows; /* of the window that there are in y */
    int column;
    int64_t at;
};

GR_DEVICE void row_begin(narrow_places *to, const narrow_image<float> *, digits window, int k)
{
    const int row = NARROW_POOL * window.middle;
    to->rows = min(to->p - row, NARROW_POOL), to->column = NARROW_POOL * window.low;
    to->at = (((int64_t)window.high * to->p + row) * to->q + to->column) * to->k + k;
}

GR_DEVICE void row_put(narrow_places *to, const quad &sum)
{
#pragma unroll
    for (int place = 0; place < NARROW_PLACES; place++) {
        const int row = place / NARROW_POOL, column = place % NARROW_POOL;
        const float v = sum.at[place];
        if (row < to->rows && to->column + column < to->q)
            to->y[to->at + ((int64_t)row * to->q + column) * to->k] = to->relu && v < 0 ? 0 : v;
    }
    to->at += NARROW_POOL * to->k, to->column += NARROW_POOL;
}

/* y[N,P,Q,K], w[K,3,3,C], b[K] or NULL */
template <int C>
static __global__ void __launch_bounds__(NARROW_THREADS, NARROW_RESIDENT)
    narrow_conv_forward(narrow_places y, narrow_image<float> image, const float *w, const float *b)
{
    windows_of_block<C>(y, &image, w, b, y.k);
}

static inline void narrow_convolution(const gr_exec *exec, const float *x, const float *w, const result<float> &y,
                                      const gr_geometry *g)
{
    const narrow_image<float> image = narrow_windows(x, g);
    const narrow_places to = {y.c, (int)g->p, (int)g->q, (int)y.n, y.relu, 0, 0, 0};
    const dim3 grid = narrow_grid(image, y.n);
    if (g->c == 1)
        GR_LAUNCH((narrow_conv_forward<1>), grid, NARROW_THREADS, 0, exec->queue, to, image, w, y.bias);
    else
        GR_LAUNCH((narrow_conv_forward<3>), grid, NARROW_THREADS, 0, exec->queue, to, image, w, y.bias);
}

/* --- dW ----------------------------------------------------------------------------------------------------------- */

/* Adds what one filter's window hands back to the pixels that it sees; places outside of dz are left out. */
template <int C>
GR_DEVICE void add_window(float *sum, const float *dz, int rows, int columns, const pixel_columns<C> &left,
                          const pixel_columns<C> &right)
{
#pragma unroll
    for (int place = 0; place < NARROW_PLACES; place++) {
        const int u = place / NARROW_POOL, v = place % NARROW_POOL;
        if (u >= rows || v >= columns)
            continue;
#pragma unroll
        for (int i = 0; i < NARROW_TAPS * C; i++) {
            const int column = v + i / C % NARROW_SIDE;
            sum[i] += dz[place] * (column < 2 ? left : right).at[u + i / C / NARROW_SIDE][column % 2][i % C];
        }
    }
}

/* dz at the places of a window, of which so many rows and columns are there. */
GR_DEVICE void read_window(float *v, const float *dz, int64_t row_pitch, int k, int rows, int columns)
{
#pragma unroll
    for (int place = 0; place < NARROW_PLACES; place++) {
        const int row = place / NARROW_POOL, column = place % NARROW_POOL;
        v[place] = row < rows && column < columns ? dz[row * row_pitch + (int64_t)column * k] : 0;
    }
}

/* The windows of this warp's row of the tile, filter k: two at a time, which are read before they are added. */
template <int C>
GR_DEVICE void add_windows(float *sum, const plain_gradient<float> *dz, digits first, int k, const narrow_halo<C> *halo)
{
    const int row = threadIdx.x / WARP, p = NARROW_POOL * (first.middle + row), q = NARROW_POOL * first.low;
    const int rows = dz->p - p, count = min(dz->q - q, NARROW_POOL * NARROW_COLUMNS); /* that there are */
    if (rows <= 0)
        return;
    const float *from = dz->dz + (((int64_t)first.high * dz->p + p) * dz->q + q) * dz->k + k;
    const int64_t pitch = (int64_t)dz->q * dz->k;
    int pixel = NARROW_POOL * row * HALO_COLUMNS;
    pixel_columns<C> even = two_columns<C>(halo, pixel), odd;
#pragma unroll 1
    for (int column = 0; column < count; column += 2 * NARROW_POOL, pixel += 2 * NARROW_POOL) {
        float v[2 * NARROW_PLACES];
        const int left = count - column;
        read_window(v, from, pitch, dz->k, rows, left);
        read_window(v + NARROW_PLACES, from + NARROW_POOL * dz->k, pitch, dz->k, rows, left - NARROW_POOL);
        from += 2 * NARROW_POOL * dz->k;
        odd = two_columns<C>(halo, pixel + NARROW_POOL);
        add_window<C>(sum, v, rows, left, even, odd);
        even = two_columns<C>(halo, pixel + 2 * NARROW_POOL);
        add_window<C>(sum, v + NARROW_PLACES, rows, left - NARROW_POOL, odd, even);
    }
}

/* parts[turns][K][3][3][C]; dz[N,P,Q,K] */
template <int C>
static __global__ void __launch_bounds__(NARROW_THREADS, NARROW_GRAD_RESIDENT)
    narrow_conv_grad_w(float *parts, narrow_image<float> image, plain_gradient<float> dz, narrow_plan plan)
{
    enum { SUMS = NARROW_TAPS * C };
    GR_SHARED(narrow_halo<C>, halo, [1]);
    GR_SHARED(float, of_warp, [SUMS * WARP]);
    const int turn = blockIdx.x % plan.turns;
    const int filter = blockIdx.x / plan.turns * NARROW_FILTERS + threadIdx.x % WARP;
    const int k = min(filter, dz.k - 1); /* lanes without a filter do what the last one does */
    float sum[SUMS] = {0};
    for (digits tile = tile_of(turn, image.tiles); tile.high < image.n;
         tile = digits_add(tile, plan.step, image.tiles)) {
        const digits first = first_window(tile);
        __syncthreads(); /* the last tile has been read */
        bring_halo<C>(halo, &image, first);
        __syncthreads();
        add_windows<C>(sum, &dz, first, k, halo);
    }
    add_warps<SUMS, NARROW_ROWS>(sum, of_warp);
    if (threadIdx.x < WARP && filter < dz.k)
        put_part<C>(parts + (int64_t)turn * dz.k * SUMS, sum, k);
}

static inline size_t narrow_conv_scratch(const gr_exec *exec, const gr_geometry *g, int64_t K)
{
    const narrow_plan plan = narrow_cut(exec, narrow_windows(NULL, g), K, NARROW_GRAD_RESIDENT);
    return (size_t)(plan.turns * K * NARROW_TAPS * g->c) * sizeof(float);
}

/* dw[K,3,3,C] of x[N,H,W,C] and dz; add: whether to add to it */
static inline void narrow_gradient(const gr_exec *exec, float *dw, const float *x, const plain_gradient<float> &dz,
                                   const gr_geometry *g, bool add)
{
    const narrow_image<float> image = narrow_windows(x, g);
    const narrow_plan plan = narrow_cut(exec, image, dz.k, NARROW_GRAD_RESIDENT);
    const int64_t weights = (int64_t)dz.k * NARROW_TAPS * g->c;
    float *parts = (float *)exec->scratch;
    const unsigned blocks = (unsigned)plan.turns * plan.groups;
    if (g->c == 1)
        GR_LAUNCH((narrow_conv_grad_w<1>), blocks, NARROW_THREADS, 0, exec->queue, parts, image, dz, plan);
    else
        GR_LAUNCH((narrow_conv_grad_w<3>), blocks, NARROW_THREADS, 0, exec->queue, parts, image, dz, plan);
    narrow_joined(exec, dw, NULL, parts, plan.turns, weights, weights, add, false);
}

#endif
