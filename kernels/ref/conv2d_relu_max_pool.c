/*
 * conv2d_relu_max_pool.c - reference of convolution, ReLU and max-pooling in one.
 *
 *   a[n,i,j,k]  = max(0, b[k] + sum_{r,s,c} x[n,h,w,c] w[k,r,s,c])      the activation, never stored
 *   y[n,p,q,k]  = max over the pooling window of a; argmax = its place u*V + v, 255 where y is not above 0
 *   dA[n,i,j,k] = sum of dY[n,p,q,k] over the windows that chose it     from there on as in conv2d
 */
#include "kernels/ref/ref.h"

enum { CLIPPED = 255 };

typedef struct {
    gr_geometry conv, pool;
    int64_t K;
} shapes;

static shapes shapes_of(const gr_call *call)
{
    const gr_conv2d_relu_max_pool_args *args = call->options;
    const gr_tensor *w = call->in[1];
    shapes g = {.K = w->shape[0]};
    g.conv = gr__geometry(call->in[0], w->shape[1], w->shape[2], &args->conv.window, false);
    gr_tensor a = {.ndim = 4, .shape = {g.conv.n, g.conv.p, g.conv.q, g.K}};
    g.pool = gr__geometry(&a, args->pool.size[0], args->pool.size[1], &args->pool.window, true);
    return g;
}

/* Index in x of tap (r, s), channel 0, of activation (n, i, j); -1 in the padding. */
static int64_t tap(const gr_geometry *g, int64_t n, int64_t i, int64_t j, int64_t r, int64_t s)
{
    int64_t h = i * g->stride_h + r - g->pad_top, v = j * g->stride_w + s - g->pad_left;
    return h < 0 || h >= g->h || v < 0 || v >= g->w ? -1 : ((n * g->h + h) * g->w + v) * g->c;
}

/* a[n,i,j,k] */
static real activation(const gr_call *call, const gr_geometry *g, int64_t n, int64_t i, int64_t j, int64_t k)
{
    const real *x = reals(call->in[0]), *w = reals(call->in[1]), *b = reals(call->in[2]);
    wide sum = b ? (wide)b[k] : 0;
    for (int64_t r = 0; r < g->r; r++)
        for (int64_t s = 0; s < g->s; s++) {
            int64_t at = tap(g, n, i, j, r, s);
            for (int64_t c = 0; at >= 0 && c < g->c; c++)
                sum += (wide)x[at + c] * (wide)w[((k * g->r + r) * g->s + s) * g->c + c];
        }
    return (real)relu(sum);
}

void GR_REF(conv2d_relu_max_pool_forward)(const gr_call *call)
{
    const shapes g = shapes_of(call);
    const gr_geometry *o = &g.pool;
    real *y = reals(call->out[0]);          /* [N,P,Q,K] */
    uint8_t *argmax = gr__u8(call->out[1]); /* [N,P,Q,K] or NULL */
    for (int64_t n = 0; n < o->n; n++)
        for (int64_t p = 0; p < o->p; p++)
            for (int64_t q = 0; q < o->q; q++)
                for (int64_t k = 0; k < g.K; k++) {
                    real best = 0;
                    int64_t place = CLIPPED, at = ((n * o->p + p) * o->q + q) * g.K + k;
                    for (int64_t u = 0; u < o->r; u++)
                        for (int64_t v = 0; v < o->s; v++) {
                            int64_t i = p * o->stride_h + u - o->pad_top, j = q * o->stride_w + v - o->pad_left;
                            if (i < 0 || i >= o->h || j < 0 || j >= o->w)
                                continue;
                            real a = activation(call, &g.conv, n, i, j, k);
                            if (a > best || (isnan(a) && !isnan(best))) {
                                best = a;
                                place = u * o->s + v;
                            }
                        }
                    y[at] = best;
                    if (argmax)
                        argmax[at] = (uint8_t)place;
                }
}

/* dA[n,i,j,k] */
static wide d_activation(const gr_call *call, const gr_geometry *o, int64_t n, int64_t i, int64_t j, int64_t k)
{
    const real *dy = reals(call->d_out[0]);       /* [N,P,Q,K] */
    const uint8_t *argmax = gr__u8(call->out[1]); /* [N,P,Q,K] */
    wide sum = 0;
    for (int64_t u = 0; u < o->r; u++)
        for (int64_t v = 0; v < o->s; v++) {
            int64_t p = output_of(i, u, o->stride_h, o->pad_top, o->p);
            int64_t q = output_of(j, v, o->stride_w, o->pad_left, o->q);
            int64_t at = ((n * o->p + p) * o->q + q) * o->c + k;
            if (p >= 0 && q >= 0 && argmax[at] == u * o->s + v)
                sum += (wide)dy[at];
        }
    return sum;
}

/* Adds d line, and nothing where no gradient arrives, even where a factor is infinite or no number. */
static void add_share(wide sums[LINE], wide d, const real *line, int64_t n)
{
    if (d != 0)
        add_to_line(sums, d, line, n);
}

/* dX of pixel (h, v) of image n, n_c channels from c on. */
static void grad_pixel(const gr_call *call, const shapes *g, int64_t n, int64_t h, int64_t v, int64_t c, int64_t n_c)
{
    const gr_geometry *f = &g->conv;
    const real *w = reals(call->in[1]); /* [K,R,S,C] */
    wide sums[LINE] = {0};
    for (int64_t r = 0; r < f->r; r++)
        for (int64_t s = 0; s < f->s; s++) {
            int64_t i = output_of(h, r, f->stride_h, f->pad_top, f->p);
            int64_t j = output_of(v, s, f->stride_w, f->pad_left, f->q);
            for (int64_t k = 0; i >= 0 && j >= 0 && k < g->K; k++)
                add_share(sums, d_activation(call, &g->pool, n, i, j, k), w + ((k * f->r + r) * f->s + s) * f->c + c,
                          n_c);
        }
    give_line(call, 0, ((n * f->h + h) * f->w + v) * f->c + c, sums, n_c);
}

static void grad_x(const gr_call *call, const shapes *g)
{
    for (int64_t n = 0; n < g->conv.n; n++)
        for (int64_t h = 0; h < g->conv.h; h++)
            for (int64_t v = 0; v < g->conv.w; v++)
                for (int64_t c = 0; c < g->conv.c; c += LINE)
                    grad_pixel(call, g, n, h, v, c, line_length(g->conv.c, c));
}

/* dW of tap (r, s) of filter k, n_c channels from c on. */
static void grad_tap(const gr_call *call, const shapes *g, int64_t k, int64_t r, int64_t s, int64_t c, int64_t n_c)
{
    const gr_geometry *f = &g->conv;
    const real *x = reals(call->in[0]); /* [N,H,W,C] */
    wide sums[LINE] = {0};
    for (int64_t n = 0; n < f->n; n++)
        for (int64_t i = 0; i < f->p; i++)
            for (int64_t j = 0; j < f->q; j++) {
                int64_t at = tap(f, n, i, j, r, s);
                if (at >= 0)
                    add_share(sums, d_activation(call, &g->pool, n, i, j, k), x + at + c, n_c);
            }
    give_line(call, 1, ((k * f->r + r) * f->s + s) * f->c + c, sums, n_c);
}

static void grad_w(const gr_call *call, const shapes *g)
{
    for (int64_t k = 0; k < g->K; k++)
        for (int64_t r = 0; r < g->conv.r; r++)
            for (int64_t s = 0; s < g->conv.s; s++)
                for (int64_t c = 0; c < g->conv.c; c += LINE)
                    grad_tap(call, g, k, r, s, c, line_length(g->conv.c, c));
}

void GR_REF(conv2d_relu_max_pool_backward)(const gr_call *call)
{
    const shapes g = shapes_of(call);
    if (call->d_in[0])
        grad_x(call, &g);
    if (call->d_in[1])
        grad_w(call, &g);
    for (int64_t k = 0; call->d_in[2] && k < g.K; k++) {
        wide sum = 0;
        for (int64_t n = 0; n < g.conv.n; n++)
            for (int64_t i = 0; i < g.conv.p; i++)
                for (int64_t j = 0; j < g.conv.q; j++)
                    sum += d_activation(call, &g.pool, n, i, j, k);
        give(call, 2, k, sum);
    }
}
