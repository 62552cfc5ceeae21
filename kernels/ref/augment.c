/* augment.c - reference: each output pixel is looked up where its map leads, rounded to a level, normalised. */
#include "kernels/augment.h"
#include "kernels/ref/ref.h"

/* One channel of one picture. */
typedef struct {
    const uint8_t *x; /* [H,W,C] from the channel on */
    int64_t H, W, C;
    gr_resampling filter;
    gr_fill fill;
} plane;

/* Pixel (h, w), which may lie outside. */
static int32_t pixel(const plane *s, int64_t h, int64_t w)
{
    const bool reflect = s->fill == GR_FILL_REFLECT;
    h = reflect ? gr__reflect(h, s->H) : gr__clamp(h, s->H);
    w = reflect ? gr__reflect(w, s->W) : gr__clamp(w, s->W);
    return s->x[(h * s->W + w) * s->C];
}

static void weights(const plane *s, int64_t before, int64_t size, int32_t step, int32_t weight[GR__TAPS])
{
    const bool resize = s->filter == GR_BICUBIC_RESIZE;
    gr__cubic_weights(step, resize ? -1 : -2, weight);
    if (resize && s->fill != GR_FILL_REFLECT)
        gr__cubic_inside(before, size, weight);
}

static int32_t cubic(const plane *s, int64_t h, int64_t w, int32_t step_y, int32_t step_x)
{
    int32_t weight_x[GR__TAPS], weight_y[GR__TAPS], rows[GR__TAPS];
    weights(s, w, s->W, step_x, weight_x);
    weights(s, h, s->H, step_y, weight_y);
    for (int r = 0; r < GR__TAPS; r++) {
        int32_t four[GR__TAPS];
        for (int k = 0; k < GR__TAPS; k++)
            four[k] = pixel(s, h - 1 + r, w - 1 + k);
        rows[r] = gr__cubic_row(four, weight_x, s->filter == GR_BICUBIC_RESIZE);
    }
    return gr__cubic_level(rows, weight_y);
}

/* The level at row v and column u, both coordinates. */
static int32_t level_at(const plane *s, int64_t v, int64_t u)
{
    if (s->fill == GR_FILL_ZERO && !(gr__inside(v, s->H) && gr__inside(u, s->W)))
        return 0;
    if (s->fill == GR_FILL_EDGE && s->filter == GR_BICUBIC_RESIZE) { /* or it would have no pixel inside */
        v = gr__clamp(v, s->H * GR__PIXEL);
        u = gr__clamp(u, s->W * GR__PIXEL);
    }
    if (s->filter == GR_NEAREST)
        return pixel(s, v >> GR__COORDINATE, u >> GR__COORDINATE);
    int32_t step_y, step_x;
    const int places = s->filter == GR_BILINEAR ? GR__LINEAR : GR__CUBIC;
    const int64_t h = gr__pixel_before(v, places, &step_y), w = gr__pixel_before(u, places, &step_x);
    if (s->filter != GR_BILINEAR)
        return cubic(s, h, w, step_y, step_x);
    return gr__bilinear(pixel(s, h, w), pixel(s, h, w + 1), pixel(s, h + 1, w), pixel(s, h + 1, w + 1), step_x, step_y);
}

void GR_REF(augment_forward)(const gr_call *call)
{
    const gr_augment_args *args = call->options;
    const gr_normalise_args *norm = &args->normalise;
    const int64_t *X = call->in[0]->shape, *Y = call->out[0]->shape, C = X[3];
    for (int64_t i = 0; i < call->out[0]->count; i++) {
        const int64_t c = i % C, q = i / C % Y[2], p = i / C / Y[2] % Y[1], n = i / C / Y[2] / Y[1];
        const int32_t *map = gr__i32(call->in[1]) + n * GR_MAP; /* [GR_MAP] */
        const plane s = {gr__u8(call->in[0]) + n * X[1] * X[2] * C + c, X[1], X[2], C, args->filter, args->fill};
        const int32_t level = level_at(&s, gr__map_axis(map + GR__MAP_ROW, p, q), gr__map_axis(map, p, q));
        const wide value = (level / 255.0 - (wide)norm->mean[c]) / (wide)norm->std[c];
        reals(call->out[0])[i] = (real)(gr__map_boxed(map, p, q) ? 0 : value);
    }
}
