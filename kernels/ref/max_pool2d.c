/*
 * max_pool2d.c - reference of max-pooling.
 *
 *   y[n,p,q,c]  = max_{r,s} x[n,h,w,c]                 h = p*stride + r - pad, w likewise; padding never wins
 *   argmax      = r*S + s of the first maximum; a NaN counts as larger than anything and stays
 *   dX[n,h,w,c] = sum of dY[n,p,q,c] over the windows that chose it
 */
#include "kernels/ref/ref.h"

static gr_geometry geometry(const gr_call *call)
{
    const gr_max_pool2d_args *args = call->options;
    return gr__geometry(call->in[0], args->size[0], args->size[1], &args->window, true);
}

void GR_REF(max_pool2d_forward)(const gr_call *call)
{
    const gr_geometry g = geometry(call);
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
    const gr_geometry g = geometry(call);
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
