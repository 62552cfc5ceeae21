/*
 * windows.c - reference of poolings. h = p*stride + r - pad, w likewise, inside the image: padding is not looked at.
 *
 *   max_pool2d       y[n,p,q,c]  = max_{r,s} x[n,h,w,c]     a NaN counts as larger than anything and stays
 *                    argmax      = r*S + s of the first maximum
 *                    dX[n,h,w,c] = sum of dY[n,p,q,c] over the windows that chose it
 *   avg_pool2d       y[n,p,q,c]  = sum_{r,s} x[n,h,w,c] / k[p,q]    k: how many elements of the window lie in the image
 *                    dX[n,h,w,c] = sum of dY[n,p,q,c] / k[p,q] over the windows that see it
 *   global_avg_pool  y[n,c] = sum_i x[n,i,c] / P over the P pixels of an image     dX[n,i,c] = dY[n,c] / P
 */
#include "kernels/ref/ref.h"

static gr_geometry max_geometry(const gr_call *call)
{
    const gr_max_pool2d_args *args = call->options;
    return gr__geometry(call->in[0], args->size[0], args->size[1], &args->window, true);
}

void GR_REF(max_pool2d_forward)(const gr_call *call)
{
    const gr_geometry g = max_geometry(call);
    const real *x = reals(call->in[0]);     /* [N,H,W,C] */
    real *y = reals(call->out[0]);          /* [N,P,Q,C] */
    uint8_t *argmax = gr__u8(call->out[1]); /* [N,P,Q,C] or NULL */
    for (int64_t n = 0; n < g.n; n++)
        for (int64_t p = 0; p < g.p; p++)
            for (int64_t q = 0; q < g.q; q++)
                for (int64_t c = 0; c < g.c; c++) {
                    real best = -INFINITY;
                    int64_t place = -1, i = ((n * g.p + p) * g.q + q) * g.c + c;
                    for (int64_t r = 0; r < g.r; r++)
                        for (int64_t s = 0; s < g.s; s++) {
                            int64_t h = p * g.stride_h + r - g.pad_top, v = q * g.stride_w + s - g.pad_left;
                            if (h < 0 || h >= g.h || v < 0 || v >= g.w)
                                continue;
                            real value = x[((n * g.h + h) * g.w + v) * g.c + c];
                            if (place < 0 || value > best || (isnan(value) && !isnan(best))) {
                                best = value;
                                place = r * g.s + s;
                            }
                        }
                    y[i] = best;
                    if (argmax)
                        argmax[i] = (uint8_t)place;
                }
}

void GR_REF(max_pool2d_backward)(const gr_call *call)
{
    const gr_geometry g = max_geometry(call);
    const real *dy = reals(call->d_out[0]);       /* [N,P,Q,C] */
    const uint8_t *argmax = gr__u8(call->out[1]); /* [N,P,Q,C] */
    if (!call->d_in[0])
        return;
    for (int64_t n = 0; n < g.n; n++)
        for (int64_t h = 0; h < g.h; h++)
            for (int64_t v = 0; v < g.w; v++)
                for (int64_t c = 0; c < g.c; c++) {
                    wide sum = 0;
                    for (int64_t r = 0; r < g.r; r++)
                        for (int64_t s = 0; s < g.s; s++) {
                            int64_t p = output_of(h, r, g.stride_h, g.pad_top, g.p);
                            int64_t q = output_of(v, s, g.stride_w, g.pad_left, g.q);
                            if (p < 0 || q < 0)
                                continue;
                            int64_t i = ((n * g.p + p) * g.q + q) * g.c + c;
                            if (argmax[i] == r * g.s + s)
                                sum += (wide)dy[i];
                        }
                    give(call, 0, ((n * g.h + h) * g.w + v) * g.c + c, sum);
                }
}

static gr_geometry avg_geometry(const gr_call *call)
{
    const gr_avg_pool2d_args *args = call->options;
    return gr__geometry(call->in[0], args->size[0], args->size[1], &args->window, true);
}

/* Taps of the window at position p of one axis that lie inside [0, size). */
static int64_t taps_inside(int64_t p, int64_t stride, int64_t pad, int64_t taps, int64_t size)
{
    int64_t first = p * stride - pad, end = first + taps;
    return (end < size ? end : size) - (first > 0 ? first : 0);
}

static wide seen(const gr_geometry *g, int64_t p, int64_t q)
{
    return (wide)(taps_inside(p, g->stride_h, g->pad_top, g->r, g->h) *
                  taps_inside(q, g->stride_w, g->pad_left, g->s, g->w));
}

void GR_REF(avg_pool2d_forward)(const gr_call *call)
{
    const gr_geometry g = avg_geometry(call);
    const real *x = reals(call->in[0]); /* [N,H,W,C] */
    real *y = reals(call->out[0]);      /* [N,P,Q,C] */
    for (int64_t n = 0; n < g.n; n++)
        for (int64_t p = 0; p < g.p; p++)
            for (int64_t q = 0; q < g.q; q++)
                for (int64_t c = 0; c < g.c; c++) {
                    wide sum = 0;
                    for (int64_t r = 0; r < g.r; r++)
                        for (int64_t s = 0; s < g.s; s++) {
                            int64_t h = p * g.stride_h + r - g.pad_top, v = q * g.stride_w + s - g.pad_left;
                            if (h >= 0 && h < g.h && v >= 0 && v < g.w)
                                sum += (wide)x[((n * g.h + h) * g.w + v) * g.c + c];
                        }
                    y[((n * g.p + p) * g.q + q) * g.c + c] = (real)(sum / seen(&g, p, q));
                }
}

void GR_REF(avg_pool2d_backward)(const gr_call *call)
{
    const gr_geometry g = avg_geometry(call);
    const real *dy = reals(call->d_out[0]); /* [N,P,Q,C] */
    if (!call->d_in[0])
        return;
    for (int64_t n = 0; n < g.n; n++)
        for (int64_t h = 0; h < g.h; h++)
            for (int64_t v = 0; v < g.w; v++)
                for (int64_t c = 0; c < g.c; c++) {
                    wide sum = 0;
                    for (int64_t r = 0; r < g.r; r++)
                        for (int64_t s = 0; s < g.s; s++) {
                            int64_t p = output_of(h, r, g.stride_h, g.pad_top, g.p);
                            int64_t q = output_of(v, s, g.stride_w, g.pad_left, g.q);
                            if (p >= 0 && q >= 0)
                                sum += (wide)dy[((n * g.p + p) * g.q + q) * g.c + c] / seen(&g, p, q);
                        }
                    give(call, 0, ((n * g.h + h) * g.w + v) * g.c + c, sum);
                }
}

void GR_REF(global_avg_pool_forward)(const gr_call *call)
{
    const int64_t *shape = call->in[0]->shape, N = shape[0], P = shape[1] * shape[2], C = shape[3];
    const real *x = reals(call->in[0]); /* [N,P,C] */
    for (int64_t n = 0; n < N; n++)
        for (int64_t c = 0; c < C; c++) {
            wide sum = 0;
            for (int64_t i = 0; i < P; i++)
                sum += (wide)x[(n * P + i) * C + c];
            reals(call->out[0])[n * C + c] = (real)(sum / (wide)P);
        }
}

void GR_REF(global_avg_pool_backward)(const gr_call *call)
{
    const int64_t *shape = call->in[0]->shape, N = shape[0], P = shape[1] * shape[2], C = shape[3];
    for (int64_t i = 0; call->d_in[0] && i < N * P * C; i++)
        give(call, 0, i, (wide)reals(call->d_out[0])[i / (P * C) * C + i % C] / (wide)P);
}
