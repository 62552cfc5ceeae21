/*
 * conv2d.c - reference of the 2-D convolution.
 *
 *   y[n,p,q,k]  = b[k] + sum_{r,s,c} x[n,h,w,c] w[k,r,s,c]      h = p*stride + r - pad, w likewise
 *   dz          = dY [y > 0] with the ReLU epilogue, else dY
 *   dX[n,h,w,c] = sum_{k,r,s} dz[n,p,q,k] w[k,r,s,c]            over the p, q with h = p*stride + r - pad
 *   dW[k,r,s,c] = sum_{n,p,q} dz[n,p,q,k] x[n,h,w,c]
 *   db[k]       = sum_{n,p,q} dz[n,p,q,k]
 */
#include "kernels/ref/ref.h"

static gr_geometry geometry(const gr_call *call)
{
    const gr_conv2d_args *args = call->options;
    const gr_tensor *w = call->in[1];
    return gr__geometry(call->in[0], w->shape[1], w->shape[2], &args->window, false);
}

void GR_REF(conv2d_forward)(const gr_call *call)
{
    const gr_conv2d_args *args = call->options;
    const gr_geometry g = geometry(call);
    const int64_t K = call->in[1]->shape[0];
    const real *x = reals(call->in[0]); /* [N,H,W,C] */
    const real *w = reals(call->in[1]); /* [K,R,S,C] */
    const real *b = reals(call->in[2]); /* [K] or NULL */
    real *y = reals(call->out[0]);      /* [N,P,Q,K] */
    for (int64_t n = 0; n < g.n; n++)
        for (int64_t p = 0; p < g.p; p++)
            for (int64_t q = 0; q < g.q; q++)
                for (int64_t k = 0; k < K; k++) {
                    wide sum = b ? (wide)b[k] : 0;
                    for (int64_t r = 0; r < g.r; r++)
                        for (int64_t s = 0; s < g.s; s++) {
                            int64_t h = p * g.stride_h + r - g.pad_top, v = q * g.stride_w + s - g.pad_left;
                            if (h < 0 || h >= g.h || v < 0 || v >= g.w)
                                continue;
                            for (int64_t c = 0; c < g.c; c++)
                                sum += (wide)x[((n * g.h + h) * g.w + v) * g.c + c] *
                                       (wide)w[((k * g.r + r) * g.s + s) * g.c + c];
                        }
                    y[((n * g.p + p) * g.q + q) * K + k] = (real)(args->relu ? relu(sum) : sum);
                }
}

/* dz at output i. */
static inline wide upstream(const gr_call *call, int64_t i)
{
    const gr_conv2d_args *args = call->options;
    return args->relu && reals(call->out[0])[i] <= 0 ? 0 : (wide)reals(call->d_out[0])[i];
}

/* dX of pixel (h, v) of image n, n_c channels from c on. */
static void grad_pixel(const gr_call *call, const gr_geometry *g, int64_t n, int64_t h, int64_t v, int64_t c,
                       int64_t n_c)
{
    const int64_t K = call->in[1]->shape[0];
    const real *w = reals(call->in[1]); /* [K,R,S,C] */
    wide sums[LINE] = {0};
    for (int64_t r = 0; r < g->r; r++)
        for (int64_t s = 0; s < g->s; s++) {
            int64_t p = output_of(h, r, g->stride_h, g->pad_top, g->p);
            int64_t q = output_of(v, s, g->stride_w, g->pad_left, g->q);
            for (int64_t k = 0; p >= 0 && q >= 0 && k < K; k++)
                add_to_line(sums, upstream(call, ((n * g->p + p) * g->q + q) * K + k),
                            w + ((k * g->r + r) * g->s + s) * g->c + c, n_c);
        }
    give_line(call, 0, ((n * g->h + h) * g->w + v) * g->c + c, sums, n_c);
}

static void grad_x(const gr_call *call, const gr_geometry *g)
{
    for (int64_t n = 0; n < g->n; n++)
        for (int64_t h = 0; h < g->h; h++)
            for (int64_t v = 0; v < g->w; v++)
                for (int64_t c = 0; c < g->c; c += LINE)
                    grad_pixel(call, g, n, h, v, c, line_length(g->c, c));
}

/* dW of tap (r, s) of filter k, n_c channels from c on. */
static void grad_tap(const gr_call *call, const gr_geometry *g, int64_t k, int64_t r, int64_t s, int64_t c, int64_t n_c)
{
    const int64_t K = call->in[1]->shape[0];
    const real *x = reals(call->in[0]); /* [N,H,W,C] */
    wide sums[LINE] = {0};
    for (int64_t n = 0; n < g->n; n++)
        for (int64_t p = 0; p < g->p; p++)
            for (int64_t q = 0; q < g->q; q++) {
                int64_t h = p * g->stride_h + r - g->pad_top, v = q * g->stride_w + s - g->pad_left;
                if (h >= 0 && h < g->h && v >= 0 && v < g->w)
                    add_to_line(sums, upstream(call, ((n * g->p + p) * g->q + q) * K + k),
                                x + ((n * g->h + h) * g->w + v) * g->c + c, n_c);
            }
    give_line(call, 1, ((k * g->r + r) * g->s + s) * g->c + c, sums, n_c);
}

static void grad_w(const gr_call *call, const gr_geometry *g)
{
    for (int64_t k = 0; k < call->in[1]->shape[0]; k++)
        for (int64_t r = 0; r < g->r; r++)
            for (int64_t s = 0; s < g->s; s++)
                for (int64_t c = 0; c < g->c; c += LINE)
                    grad_tap(call, g, k, r, s, c, line_length(g->c, c));
}

void GR_REF(conv2d_backward)(const gr_call *call)
{
    const gr_geometry g = geometry(call);
    const int64_t K = call->in[1]->shape[0];
    if (call->d_in[0])
        grad_x(call, &g);
    if (call->d_in[1])
        grad_w(call, &g);
    for (int64_t k = 0; call->d_in[2] && k < K; k++) {
        wide sum = 0;
        for (int64_t i = 0; i < g.n * g.p * g.q; i++)
            sum += upstream(call, i * K + k);
        give(call, 2, k, sum);
    }
}
