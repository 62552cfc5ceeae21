/*
 * conv2d_relu_max_pool.cu - convolution, ReLU and max-pooling in one; x[N,H,W,C], w[K,R,S,C], b[K], y and argmax
 * [N,P,Q,K].
 *
 *   a[n,i,j,k]  = max(0, b[k] + sum_{r,s,c} x[n,h,v,c] w[k,r,s,c])      the activation, never stored
 *   y[n,p,q,k]  = max over the pooling window of a; argmax = its place u*V + v, 255 where y is not above 0
 *   dA[n,i,j,k] = sum of dY[n,p,q,k] over the windows that chose it; dX, dW from dA as in conv2d.cu
 *   db[k]       = sum of dY[n,p,q,k] where argmax is not 255
 *
 * Forward   a block takes 64 x 64 or 32 x 32 (positions (n,p,q) of y) x (filters) and goes over the places (u, v) of
 *           the window in order. At one place, all its windows together are a convolution of their own,
 *               i = p*pool_stride + u - pool_pad
 *               h = i*stride + r - pad = p*(pool_stride*stride) + r - (pad - (u - pool_pad)*stride)
 *           so its tile is a product as in conv2d.cu with another stride and padding. A thread keeps the largest of its
 *           results and the place where it was first met in registers. Windows that overlap compute what they share
 *           again. Floats of few channels: narrow_forward.cuh.
 * Backward  the products of conv2d.cu over dA, which an operand gathers from dY and argmax as it loads:
 *           pooled_gradient.cuh. db: column_sums.cuh over dY. dW and db of few channels: narrow_grad_w.cuh.
 * Shared    forward 17 or 21 KiB of tiles (tensor cores: 24 or 30), and 2 x 64 or 128 ints: whether a place of a window
 *           lies in the activation.
 * Registers forward 3 for each of 16 results a thread: sum, maximum and, four to a register, places.
 * Halves    x, w, y, dX, dY f16 or bf16, on tensor cores; b, dW and db float. Maxima are of floats, before they are
 *           rounded.
 * tf32      floats, rounded as they are multiplied, on tensor cores; where windows overlap, dA's sums are too.
 * Order     gemm_tile.cuh, tensor_tile.cuh. The first place wins a tie; NaN wins over all and stays.
 * Limit     arithmetic, that of the convolution. dA is mostly zeros, three of four for windows of 2 x 2, and multiplied
 *           all the same: the price of products without gaps.
 * Measured  not yet.
 */
#include "kernels/cuda/conv_backward.cuh"
#include "kernels/cuda/narrow_forward.cuh"
#include "kernels/cuda/narrow_grad_w.cuh"
#include "kernels/cuda/pooled_gradient.cuh"

enum { POOL_THREADS = 384 /* that a multiprocessor shall hold, at least */ };

/* The forward pass keeps sums, maxima and places of a tile in registers: it has tiles of 16 results a thread. */
template <class E> struct pool_tiles {
    typedef tensor_tile<E, 32, 32, 2, 1> small;
    typedef tensor_tile<E, 64, 64, 4, 2> square;
};
template <> struct pool_tiles<float> {
    typedef gemm_tile<32, 32, 4> small;
    typedef gemm_tile<64, 64, 4> square;
};

/* How a place of the pooling window moves the convolution. */
typedef struct {
    window pool;            /* over the activation */
    int stride_h, stride_w; /* of the convolution */
    int pad_top, pad_left;
} pool_places;

/* Whether place (u, v) of the window at position (p, q) lies in the activation. */
GR_DEVICE bool in_activation(const window *o, digits position, int u, int v)
{
    const int i = position.middle * o->stride_h + u - o->pad_top, j = position.low * o->stride_w + v - o->pad_left;
    return (unsigned)i < (unsigned)o->h && (unsigned)j < (unsigned)o->w;
}

/* Keeps the larger of best and sum + bias, and its place. */
GR_DEVICE void keep_larger(quad *best, uint32_t *places, quad sum, quad bias, uint32_t place)
{
#pragma unroll
    for (int j = 0; j < QUAD; j++) {
        const float a = sum.at[j] + bias.at[j];
        if (a > best->at[j] || (isnan(a) && !isnan(best->at[j]))) {
            best->at[j] = a;
            *places = (*places & ~(0xFFu << 8 * j)) | place << 8 * j;
        }
    }
}

GR_DEVICE void put_places(uint8_t *argmax, int64_t inside, bool whole, uint32_t places)
{
    if (whole && inside >= QUAD) {
        *(uint32_t *)argmax = places;
    } else {
#pragma unroll
        for (int j = 0; j < QUAD; j++)
            if (j < inside)
                argmax[j] = (uint8_t)(places >> 8 * j);
    }
}

/*
 * x: image_by_position, w: matrix_by_line; y[positions][K], argmax the same or NULL; block (tile of positions, tile of
 * filters), the filters fastest
 */
template <class TILE, class X, class W, class E = typename X::element>
static __global__ void __launch_bounds__(TILE::THREADS, (POOL_THREADS + TILE::THREADS - 1) / TILE::THREADS)
    pooled_forward(E *y, uint8_t *argmax, X x, W w, const float *b, pool_places f)
{
    GR_SHARED(int, inside_at, [2][TILE::M]); /* two: the next place is marked while slow threads read the last one's */
    const int64_t K = w.lines, tiles_n = (K + TILE::N - 1) / TILE::N;
    const int64_t m = blockIdx.x / tiles_n * TILE::M, n = blockIdx.x % tiles_n * TILE::N;
    const bool whole = K % QUAD == 0;
    const digits position = digits_of(m + threadIdx.x, (radices){f.pool.p, f.pool.q});
    quad best[TILE::QUADS], sum[TILE::QUADS];
    uint32_t places[TILE::QUADS];
#pragma unroll
    for (int i = 0; i < TILE::QUADS; i++)
        best[i] = (quad){{0, 0, 0, 0}}, places[i] = CLIPPED * 0x01010101u;

    for (int place = 0; place < f.pool.r * f.pool.s; place++) {
        const int u = place / f.pool.s, v = place % f.pool.s;
        x.g.pad_top = f.pad_top - (u - f.pool.pad_top) * f.stride_h;
        x.g.pad_left = f.pad_left - (v - f.pool.pad_left) * f.stride_w;
        if (threadIdx.x < TILE::M)
            inside_at[place % 2][threadIdx.x] = in_activation(&f.pool, position, u, v);
        tile_product(TILE(), sum, &x, &w, m, n, 0, w.depth);
#pragma unroll
        for (int i = 0; i < TILE::QUADS; i++) {
            const int64_t column = n + tile_column(TILE(), i);
            const quad bias = b ? quad_inside(b + column, K - column, whole) : (quad){{0, 0, 0, 0}};
            if (inside_at[place % 2][tile_row(TILE(), i)])
                keep_larger(&best[i], &places[i], sum[i], bias, place);
        }
    }
#pragma unroll
    for (int i = 0; i < TILE::QUADS; i++) {
        const int64_t row = m + tile_row(TILE(), i), column = n + tile_column(TILE(), i), inside = K - column;
        if (row >= x.positions || inside <= 0)
            continue;
        quad_put(y + row * K + column, inside, whole, best[i]);
        if (argmax)
            put_places(argmax + row * K + column, inside, whole, places[i]);
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
    return divide_up(x.positions, TILE::M) * divide_up(w.lines, TILE::N);
}

template <class TILE, class X, class W>
static void launch_forward(const gr_call *call, const X &x, const W &w, const pool_places &f)
{
    typedef typename X::element E;
    GR_LAUNCH((pooled_forward<TILE, X, W>), (unsigned)pool_blocks<TILE>(x, w), TILE::THREADS, 0, call->exec->queue,
              elements<E>(call->out[0]), gr__u8(call->out[1]), x, w, elements<float>(call->in[2]), f);
}

template <class X, class W>
static void forward_shaped(const gr_call *call, const X &x, const W &w, const pool_places &f)
{
    typedef pool_tiles<typename X::element> OF;
    const bool few = pool_blocks<typename OF::square>(x, w) <= 2 * call->exec->multiprocessors;
    if (few || w.lines <= OF::small::N)
        launch_forward<typename OF::small>(call, x, w, f);
    else
        launch_forward<typename OF::square>(call, x, w, f);
}

/* By the kernel for few channels, where it takes the call: floats alone, others have tensor cores. */
template <class E> static bool forward_narrow(const gr_call *, const shapes &)
{
    return false;
}
template <> bool forward_narrow<float>(const gr_call *call, const shapes &g)
{
    if (!is_narrow(&g.conv, &g.pool))
        return false;
    narrow_pooled(call->exec, elements<float>(call->out[0]), gr__u8(call->out[1]), elements<float>(call->in[0]),
                  elements<float>(call->in[1]), elements<float>(call->in[2]), &g.conv, &g.pool, g.K);
    return true;
}

template <class E> static void forward(const gr_call *call)
{
    const shapes g = shapes_of(call);
    if (forward_narrow<E>(call, g))
        return;
    const gr_geometry *conv = &g.conv, *pool = &g.pool;
    gr_geometry place =
        *conv; /* the convolution of one place of all windows; its padding differs from place to place */
    place.p = pool->p, place.q = pool->q;
    place.stride_h *= pool->stride_h, place.stride_w *= pool->stride_w;
    const pool_places f = {window_of(pool), (int)conv->stride_h, (int)conv->stride_w, (int)conv->pad_top,
                           (int)conv->pad_left};
    const auto x = image_positions(elements<E>(call->in[0]), &place);
    const auto w = by_line(elements<E>(call->in[1]), g.K, conv->r * conv->s * conv->c);
    if (is_whole(x) && is_whole(w))
        forward_shaped(call, whole_of(x), whole_of(w), f);
    else
        forward_shaped(call, x, w, f);
}

template <class E> static size_t scratch(const gr_call *call, gr_pass pass)
{
    const shapes g = shapes_of(call);
    if (pass == GR_FORWARD)
        return 0;
    const size_t dx = conv_dx_scratch<E>(call->exec, &g.conv, g.K);
    if (NARROW_TAKES<E> && is_narrow(&g.conv, &g.pool))
        return larger(dx, narrow_grad_w_scratch(call->exec, &g.conv, &g.pool, g.K));
    return larger(larger(dx, conv_dw_scratch<E>(call->exec, &g.conv, g.K)),
                  column_sums_scratch(g.pool.n * g.pool.p * g.pool.q, g.K));
}

template <class E> static void backward(const gr_call *call)
{
    const shapes g = shapes_of(call);
    const E *x = elements<E>(call->in[0]), *w = elements<E>(call->in[1]), *dy = elements<E>(call->d_out[0]);
    const uint8_t *argmax = gr__u8(call->out[1]);
    const pooled_gradient<E> da = {dy, argmax, (int)g.conv.p, (int)g.conv.q, (int)g.K, window_of(&g.pool)};
    const unsigned add = call->accumulate;
    if (call->d_in[0])
        conv_dx(call->exec, elements<E>(call->d_in[0]), da, w, &g.conv, g.K, (add & 1) != 0);
    float *dw = elements<float>(call->d_in[1]), *db = elements<float>(call->d_in[2]);
    if constexpr (NARROW_TAKES<E>)
        if (is_narrow(&g.conv, &g.pool)) {
            if (dw || db)
                narrow_gradients(call->exec, dw, db, narrow_winners<E>{dy, argmax, (int)g.K}, x, &g.conv, &g.pool,
                                 (add & 2) != 0, (add & 4) != 0);
            return;
        }
    if (dw)
        conv_dw(call->exec, dw, da, x, &g.conv, g.K, (add & 2) != 0);
    if (db)
        column_sums(call->exec, db, chosen_rows<E>{dy, argmax, g.K}, g.pool.n * g.pool.p * g.pool.q, g.K,
                    (add & 4) != 0);
}

/* Where windows overlap, dA is a sum that would have to be rounded to a half: the kernel for floats is asked. */
extern "C" bool GR_CUDA(conv2d_relu_max_pool_halves)(const gr_call *call, gr_pass pass)
{
    const gr_geometry pool = shapes_of(call).pool;
    const bool apart = pool.stride_h >= pool.r && pool.stride_w >= pool.s;
    return (pass == GR_FORWARD || apart) && gr__halves_by_type(&gr__ops[GR_OP_conv2d_relu_max_pool], call, pass);
}

PRODUCTS_OF_ELEMENTS(conv2d_relu_max_pool)
