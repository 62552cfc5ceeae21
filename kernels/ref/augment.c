/* augment.c - reference: each output pixel is looked up where its map leads, rounded to a level, normalised. */
#include "kernels/ops/augment.h"
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

static int32_t cubic(const plane *s, int64_t v, int64_t u)
{
    int32_t step_y, step_x, weight_x[GR__TAPS], weight_y[GR__TAPS], rows[GR__TAPS];
    const int64_t h = gr__pixel_before(v, GR__CUBIC, &step_y), w = gr__pixel_before(u, GR__CUBIC, &step_x);
    gr__cubic_weights(step_x, weight_x);
    gr__cubic_weights(step_y, weight_y);
    for (int r = 0; r < GR__TAPS; r++) {
        int32_t four[GR__TAPS];
        for (int k = 0; k < GR__TAPS; k++)
            four[k] = pixel(s, h - 1 + r, w - 1 + k);
        rows[r] = gr__cubic_row(four, weight_x);
    }
    return gr__cubic_level(rows, weight_y);
}

static int32_t resized(const plane *s, const int32_t *map, int64_t v, int64_t u)
{
    const int32_t *line = map + GR__MAP_ROW;
    const int64_t steps_x = gr__resize_steps(gr__map_coefficient(map, 0), gr__map_coefficient(map, 1), s->W);
    const int64_t steps_y = gr__resize_steps(gr__map_coefficient(line, 1), gr__map_coefficient(line, 0), s->H);
    const bool folded = s->fill == GR_FILL_REFLECT;
    const gr__resize_taps x = gr__resize_at(u, steps_x, s->W, folded), y = gr__resize_at(v, steps_y, s->H, folded);
    int32_t rows[GR__TAPS];
    for (int r = 0; r < GR__TAPS; r++) {
        int32_t four[GR__TAPS];
        for (int k = 0; k < GR__TAPS; k++)
            four[k] = pixel(s, y.before - 1 + r, x.before - 1 + k);
        rows[r] = gr__resize_level(four, x.weight);
    }
    return gr__resize_level(rows, y.weight);
}

static int32_t bilinear(const plane *s, int64_t v, int64_t u)
{
    int32_t step_y, step_x;
    const int64_t h = gr__pixel_before(v, GR__LINEAR, &step_y), w = gr__pixel_before(u, GR__LINEAR, &step_x);
    return gr__bilinear(pixel(s, h, w), pixel(s, h, w + 1), pixel(s, h + 1, w), pixel(s, h + 1, w + 1), step_x, step_y);
}

/* The level at row v and column u, both coordinates, that the map leads to. */
static int32_t level_at(const plane *s, const int32_t *map, int64_t v, int64_t u)
{
    if (s->fill == GR_FILL_ZERO && !(gr__inside(v, s->H) && gr__inside(u, s->W)))
        return 0;
    if (s->filter == GR_NEAREST)
        return pixel(s, v >> GR__COORDINATE, u >> GR__COORDINATE);
    if (s->filter == GR_BILINEAR)
        return bilinear(s, v, u);
    if (s->filter == GR_BICUBIC)
        return cubic(s, v, u);
    if (s->fill == GR_FILL_EDGE) { /* or it would have no pixel inside */
        v = gr__clamp(v, s->H * GR__PIXEL);
        u = gr__clamp(u, s->W * GR__PIXEL);
    }
    return resized(s, map, v, u);
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
        const int32_t level = level_at(&s, map, gr__map_axis(map + GR__MAP_ROW, p, q), gr__map_axis(map, p, q));
        const wide value = (level / 255.0 - (wide)norm->mean[c]) / (wide)norm->std[c];
        reals(call->out[0])[i] = (real)(gr__map_boxed(map, p, q) ? 0 : value);
    }
}
