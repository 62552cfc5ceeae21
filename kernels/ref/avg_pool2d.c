/*
 * avg_pool2d.c - reference of average pooling. k[p,q]: how many elements of window (p, q) lie in the image.
 *
 *   y[n,p,q,c]  = sum_{r,s} x[n,h,w,c] / k[p,q]     h = p*stride + r - pad, w likewise, inside the image
 *   dX[n,h,w,c] = sum of dY[n,p,q,c] / k[p,q] over the windows that see it
 */
#include "kernels/ref/ref.h"

static gr_geometry geometry(const gr_call *call)
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
    const gr_geometry g = geometry(call);
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
    const gr_geometry g = geometry(call);
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
