/*
 * conv2d_relu_max_pool.cu - convolution, ReLU and max-pooling in one; x[N,H,W,C], w[K,R,S,C], b[K], y and argmax
 * [N,P,Q,K].
 *
 *   a[n,i,j,k]  = max(0, b[k] + sum_{r,s,c} x[n,h,v,c] w[k,r,s,c])      the activation, never stored
 *   y[n,p,q,k]  = max over the pooling window of a; argmax = its place u*V + v, 255 where y is not above 0
 *   dA[n,i,j,k] = sum of dY[n,p,q,k] over the windows that chose it; dX, dW from dA as those of conv2d
 *   db[k]       = sum of dY[n,p,q,k] where argmax is not 255
 *
 * Forward   a product whose rows are places of pooling windows: four rows are four places (u, v) of the window at one
 *           position (n,p,q) of y, and larger windows take several such products, one after the other. The row of a
 *           place is that of a convolution's result, i = p*pool_stride + u - pool_pad, as image_by_place finds it in x.
 *           A thread keeps the largest of its results at a position and its place in registers; on tensor cores, which
 *           leave the rows to several threads, these compare at the end. Windows that overlap compute what they share
 *           again. Few channels: narrow_forward.cuh.
 * Backward  dA is made, slice by slice of the batch, for the products of conv_backward.cu:
 *           pooled_gradient.cuh. db: column_sums.cuh over dY. dW and db of few channels: narrow_grad_w.cuh.
 * Shared    that of the tiles.
 * Registers forward, beside the tile's sums, 5 for each quad of results that is kept: maxima and, four to a register,
 *           places.
 * Halves    x, w, y, dX, dY f16 or bf16, on tensor cores; b, dW and db float. Maxima are of floats, before they are
 *           rounded.
 * tf32      floats, rounded as they are multiplied, on tensor cores; where windows overlap, dA's sums are too. Few
 *           channels: floats, by the same kernels as without tf32.
 * Order     gemm_tile.cuh, tensor_tile.cuh. The first place wins a tie; NaN wins over all and stays.
 * Limit     arithmetic, that of the convolution. dA is mostly zeros, three of four for windows of 2 x 2, and multiplied
 *           all the same: the price of products without gaps.
 * Measured  H200, batch 128, floats: x[200,200,3] forward 0.31 ms, dW and db 0.21, in tiles of five rows of windows
 *           where there are four now; x[15,15,32] w[64,3,3,32] 53 and 121 us.
 */
#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/conv_backward.cuh"
#include "kernels/cuda/gemm.cuh"
#include "kernels/cuda/matrix_operand.cuh"
#include "kernels/cuda/narrow_forward.cuh"
#include "kernels/cuda/narrow_grad_w.cuh"
#include "kernels/cuda/pooled_gradient.cuh"

enum {
    PLACES = QUAD,     /* of a window in a product, one a row */
    POOL_THREADS = 256 /* that a multiprocessor shall hold, at least: what is kept takes registers */
};

/* Of a tile's quads of results in a thread, those of the same columns and neighbouring rows are kept as one. */
template <class TILE> struct kept;
template <int M, int N, int ROWS, int COLUMNS> struct kept<gemm_tile<M, N, ROWS, COLUMNS>> {
    static const int TOGETHER = PLACES, APART = gemm_tile<M, N, ROWS, COLUMNS>::ACROSS; /* rows; quads between them */
};
template <class E, int M, int N, int WARPS_M, int WARPS_N> struct kept<tensor_tile<E, M, N, WARPS_M, WARPS_N>> {
    static const int TOGETHER = 1, APART = 1;
};

/*
 * Takes value and its place for best where it is the larger, of equal ones above 0 that of the first place; NaN is
 * largest.
 */
GR_DEVICE void keep_larger(float *best, uint32_t *best_place, float value, uint32_t place)
{
    const bool equal = value == *best || (isnan(value) && isnan(*best));
    if (equal ? *best != 0 && place < *best_place : value > *best || isnan(value))
        *best = value, *best_place = place;
}

/* The same of four filters, whose places are the bytes of a word. */
GR_DEVICE void keep_larger_quad(quad *best, uint32_t *places, quad v, uint32_t other)
{
#pragma unroll
    for (int j = 0; j < QUAD; j++) {
        uint32_t place = *places >> 8 * j & 0xFF;
        keep_larger(&best->at[j], &place, v.at[j], other >> 8 * j & 0xFF);
        *places = (*places & ~(0xFFu << 8 * j)) | place << 8 * j;
    }
}

/* A window's places lie in neighbouring rows of one thread, */
template <int M, int N, int ROWS, int COLUMNS>
GR_DEVICE void compare_lanes(gemm_tile<M, N, ROWS, COLUMNS>, quad *, uint32_t *)
{
}
/* or of four, a row of a fragment being four lanes. */
template <class E, int M, int N, int WARPS_M, int WARPS_N>
GR_DEVICE void compare_lanes(tensor_tile<E, M, N, WARPS_M, WARPS_N>, quad *best, uint32_t *places)
{
#pragma unroll
    for (int apart = 4; apart < 4 * PLACES; apart *= 2) {
        quad other;
#pragma unroll
        for (int j = 0; j < QUAD; j++)
            other.at[j] = __shfl_xor_sync(0xFFFFFFFFu, best->at[j], apart);
        keep_larger_quad(best, places, other, __shfl_xor_sync(0xFFFFFFFFu, *places, apart));
    }
}

/* As quad_put. */
GR_DEVICE void put_places(uint8_t *argmax, int64_t inside, bool whole, uint32_t places)
{
    if (whole) {
        *(uint32_t *)argmax = places;
    } else {
#pragma unroll
        for (int j = 0; j < QUAD; j++)
            if (j < inside)
                argmax[j] = (uint8_t)(places >> 8 * j);
    }
}

/* The first of a thread's quads that are kept as its i-th. */
template <class TILE> GR_DEVICE int kept_from(int i)
{
    typedef kept<TILE> KEPT;
    return i / KEPT::APART * KEPT::APART * KEPT::TOGETHER + i % KEPT::APART;
}

/* This thread's results at a window into the largest so far: sum[...], whose places begin at first. */
template <class TILE>
GR_DEVICE void keep_window(quad *best, uint32_t *places, const quad *sum, quad bias, const window *pool,
                           digits position, int first)
{
    typedef kept<TILE> KEPT;
#pragma unroll
    for (int i = 0; i < KEPT::TOGETHER; i++) {
        int row, column;
        if (!place_inside(pool, position, first + i, &row, &column))
            continue;
        quad v = sum[i * KEPT::APART];
#pragma unroll
        for (int j = 0; j < QUAD; j++)
            v.at[j] += bias.at[j];
        keep_larger_quad(best, places, v, (first + i) * 0x01010101u);
    }
}

/*
 * x: image_by_place, w: matrix_by_line; y[positions][K], argmax the same or NULL; block (tile of places, tile of
 * filters), the filters fastest
 */
template <class TILE, class X, class W, class E = typename X::element>
static __global__ void __launch_bounds__(TILE::THREADS, POOL_THREADS / TILE::THREADS)
    pooled_forward(E *y, uint8_t *argmax, X x, W w, const float *b)
{
    const int windows = TILE::QUADS / kept<TILE>::TOGETHER;
    const int64_t K = w.lines, tiles_n = (K + TILE::N - 1) / TILE::N;
    const int64_t m = blockIdx.x / tiles_n * TILE::M, n = blockIdx.x % tiles_n * TILE::N;
    const bool whole = COPIED<X> || K % QUAD == 0;
    quad best[windows], sum[TILE::QUADS];
    uint32_t places[windows];
#pragma unroll
    for (int i = 0; i < windows; i++)
        best[i] = (quad){{0, 0, 0, 0}}, places[i] = CLIPPED * 0x01010101u;

    for (x.first_place = 0; x.first_place < x.pool.r * x.pool.s; x.first_place += PLACES) {
        tile_product(TILE(), sum, &x, &w, m, n, 0, w.depth);
#pragma unroll
        for (int i = 0; i < windows; i++) {
            const int quad_of = kept_from<TILE>(i);
            const int64_t row = m + tile_row(TILE(), quad_of), column = n + tile_column(TILE(), quad_of);
            const quad bias = b ? quad_inside(b + column, K - column, whole) : (quad){{0, 0, 0, 0}};
            keep_window<TILE>(&best[i], &places[i], sum + quad_of, bias, &x.pool,
                              digits_of(row / PLACES, (radices){x.pool.p, x.pool.q}),
                              x.first_place + (int)(row % PLACES));
        }
    }
#pragma unroll
    for (int i = 0; i < windows; i++) {
        const int quad_of = kept_from<TILE>(i);
        const int64_t row = m + tile_row(TILE(), quad_of), column = n + tile_column(TILE(), quad_of);
        const int64_t position = row / PLACES, inside = K - column;
        compare_lanes(TILE(), &best[i], &places[i]);
        if (row % PLACES != 0 || position >= x.positions || inside <= 0)
            continue;
        quad_put(y + position * K + column, inside, whole, best[i]);
        if (argmax)
            put_places(argmax + position * K + column, inside, whole, places[i]);
    }
}

typedef struct {
    gr_geometry conv, pool;
    int64_t K;
} shapes;

static shapes shapes_of(const gr_call *call)
{
    const gr_conv2d_relu_max_pool_args *args = (const gr_conv2d_relu_max_pool_args *)call->options;
    const gr_tensor *w = call->in[1];
    shapes g;
    g.K = w->shape[0];
    g.conv = gr__geometry(call->in[0], w->shape[1], w->shape[2], &args->conv.window, false);
    gr_tensor activation = *call->in[0]; /* a shape, no more */
    activation.shape[1] = g.conv.p, activation.shape[2] = g.conv.q, activation.shape[3] = g.K;
    g.pool = gr__geometry(&activation, args->pool.size[0], args->pool.size[1], &args->pool.window, true);
    return g;
}

template <class TILE, class X, class W> static int64_t pool_blocks(const X &x, const W &w)
{
    return divide_up(x.positions * PLACES, TILE::M) * divide_up(w.lines, TILE::N);
}

template <class TILE, class X, class W> static void launch_forward(const gr_call *call, const X &x, const W &w)
{
    typedef typename X::element E;
    GR_LAUNCH((pooled_forward<TILE, X, W>), (unsigned)pool_blocks<TILE>(x, w), TILE::THREADS, 0, call->exec->queue,
              elements<E>(call->out[0]), gr__u8(call->out[1]), x, w, elements<float>(call->in[2]));
}

/* By large tiles, unless these would be few or half empty. */
template <class X, class W> static void forward_shaped(const gr_call *call, const X &x, const W &w)
{
    typedef tiles<typename X::element> OF;
    const bool few = pool_blocks<typename OF::loose>(x, w) <= 2 * call->exec->multiprocessors;
    if (few || w.lines <= OF::small::N)
        launch_forward<typename OF::small>(call, x, w);
    else
        launch_forward<typename OF::loose>(call, x, w);
}

/* Whether channels are few: forward has a kernel of its own then, and dW and db come from the winners, without dA. */
static bool is_narrow(const shapes &g)
{
    return is_narrow(&g.conv, &g.pool);
}

/* By the kernel for few channels. */
template <class E> static void forward_narrow(const gr_call *call, const shapes &g)
{
    narrow_pooled(call->exec, elements<E>(call->out[0]), gr__u8(call->out[1]), elements<E>(call->in[0]),
                  elements<E>(call->in[1]), elements<float>(call->in[2]), &g.conv, &g.pool, g.K);
}

template <class E> static void forward(const gr_call *call)
{
    const shapes g = shapes_of(call);
    if (is_narrow(g)) {
        forward_narrow<typename narrow_element<E>::type>(call, g);
        return;
    }
    const auto x = image_places(elements<E>(call->in[0]), &g.conv, &g.pool);
    const auto w = by_line(elements<E>(call->in[1]), g.K, g.conv.r * g.conv.s * g.conv.c);
    if (is_whole(x) && is_whole(w) && g.K % QUAD == 0)
        forward_shaped(call, whole_of(x), whole_of(w));
    else
        forward_shaped(call, x, w);
}

/* --- backward ----------------------------------------------------------------------------------------------------- */

/* Whether anything is wanted that comes from dA. */
static bool wants_products(const gr_call *call, const shapes &g)
{
    return call->d_in[0] || (call->d_in[1] && !is_narrow(g));
}

/* Of dA: elements of a sample. */
static int64_t activation_of(const shapes &g)
{
    return g.conv.p * g.conv.q * g.K;
}

/* For dA of so many samples, and the products over it. */
template <class E> static size_t slice_scratch(const gr_exec *exec, shapes g, int64_t samples)
{
    g.conv.n = samples;
    return scratch_for<E>(samples * activation_of(g)) + conv_backward_scratch<E>(exec, &g.conv, g.K);
}

template <class E> static size_t scratch(const gr_call *call, gr_pass pass)
{
    const shapes g = shapes_of(call);
    if (pass == GR_FORWARD)
        return 0;
    const size_t others = is_narrow(g) ? narrow_grad_w_scratch(call->exec, &g.conv, &g.pool, g.K)
                                       : column_sums_scratch(g.pool.n * g.pool.p * g.pool.q, g.K);
    if (!wants_products(call, g))
        return others;
    const int64_t n = g.conv.n, slice = slice_samples<E>(call->exec, n, activation_of(g));
    const int64_t rest = n - (n - 1) / slice * slice;
    const size_t products = larger(slice_scratch<E>(call->exec, g, slice), slice_scratch<E>(call->exec, g, rest));
    return larger(products, others);
}

/* What a slice of the batch adds to dX, its own, and to dW. g: of the slice */
template <class E>
static void slice_backward(const gr_exec *all, const shapes &g, const pooled_gradient<E> &s,
                           const conv_gradients<E> &of)
{
    gr_exec exec = *all;
    E *da = take_scratch<E>(&exec, g.conv.n * activation_of(g));
    make_pooled_gradient(&exec, da, s, g.conv.n);
    conv_backward(&exec, of, plain_gradient<E>{da, s.p, s.q, s.k}, &g.conv, g.K);
}

/* dX, and dW unless it is NULL: slice by slice of the batch. */
template <class E> static void products_backward(const gr_call *call, shapes g, float *dw)
{
    const E *x = elements<E>(call->in[0]);
    E *dx = elements<E>(call->d_in[0]);
    const int64_t n = g.conv.n, slice = slice_samples<E>(call->exec, n, activation_of(g));
    const int64_t image = g.conv.h * g.conv.w * g.conv.c, pooled = g.pool.p * g.pool.q * g.K;
    for (int64_t first = 0; first < n; first += slice) {
        g.conv.n = first + slice < n ? slice : n - first;
        const pooled_gradient<E> s = {elements<E>(call->d_out[0]) + first * pooled,
                                      gr__u8(call->out[1]) + first * pooled,
                                      (int)g.conv.p,
                                      (int)g.conv.q,
                                      (int)g.K,
                                      window_of(&g.pool)};
        slice_backward(call->exec, g, s,
                       conv_gradients<E>{x + first * image, elements<E>(call->in[1]), dx ? dx + first * image : NULL,
                                         dw, (call->accumulate & 1) != 0, first > 0 || (call->accumulate & 2) != 0});
    }
}

/* dW and db of few channels. */
template <class E> static void backward_narrow(const gr_call *call, const shapes &g)
{
    const narrow_winners<E> from = {elements<E>(call->d_out[0]), gr__u8(call->out[1]), (int)g.K};
    float *dw = elements<float>(call->d_in[1]), *db = elements<float>(call->d_in[2]);
    if (dw || db)
        narrow_gradients(call->exec, dw, db, from, elements<E>(call->in[0]), &g.conv, &g.pool,
                         (call->accumulate & 2) != 0, (call->accumulate & 4) != 0);
}

template <class E> static void backward(const gr_call *call)
{
    const shapes g = shapes_of(call);
    const bool narrow = is_narrow(g);
    float *dw = elements<float>(call->d_in[1]), *db = elements<float>(call->d_in[2]);
    if (wants_products(call, g))
        products_backward<E>(call, g, narrow ? NULL : dw);
    if (narrow)
        backward_narrow<typename narrow_element<E>::type>(call, g);
    else if (db)
        column_sums(call->exec, db, chosen_rows<E>{elements<E>(call->d_out[0]), gr__u8(call->out[1]), g.K},
                    g.pool.n * g.pool.p * g.pool.q, g.K, (call->accumulate & 4) != 0);
}

/* Where windows overlap, dA is a sum that would have to be rounded to a half: the kernel for floats is asked. */
extern "C" bool GR_CUDA(conv2d_relu_max_pool_halves)(const gr_call *call, gr_pass pass)
{
    const gr_geometry pool = shapes_of(call).pool;
    const bool apart = pool.stride_h >= pool.r && pool.stride_w >= pool.s;
    return (pass == GR_FORWARD || apart) && gr__halves_by_type(&gr__ops[GR_OP_conv2d_relu_max_pool], call, pass);
}

PRODUCTS_OF_ELEMENTS(conv2d_relu_max_pool)
