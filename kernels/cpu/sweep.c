/* sweep.c - a filter bank moved over rows of an image. */
#include "kernels/cpu/sweep.h"

/* Windows from the first of a row to the first of the next, in steps of in_pixel; 0: it is not a whole number. */
static int64_t windows_per_row(const sweep *s)
{
    return s->in_row % s->in_pixel == 0 ? s->in_row / s->in_pixel : 0;
}

/*
 * Narrow images leave a tile half empty if it must end with its row. Where rows follow one another at a whole number of
 * windows, tiles run on over the ends of rows instead; what they compute there is dropped.
 */
static bool better_run_on(const sweep *s)
{
    const int64_t line = windows_per_row(s);
    return line >= s->cols &&
           ceil_div((s->rows - 1) * line + s->cols, TILE_ROWS) < s->rows * ceil_div(s->cols, TILE_ROWS);
}

static void deliver(const sweep *s, const float *pixel, float *out, int64_t width)
{
    for (int64_t k = 0; k < width; k += VL) {
        const int64_t n = min64(VL, width - k);
        const vec v = vec_load(pixel + k);
        vec_store_n(out + k, s->accumulate ? v + vec_load_n(out + k, n) : v, n);
    }
}

static void run_on(const sweep *s, tile t, float *out)
{
    float pixels[TILE_ROWS * PANEL] __attribute__((aligned(64)));
    const int64_t line = windows_per_row(s), total = (s->rows - 1) * line + s->cols, cuts = ceil_div(total, TILE_ROWS);
    t.c = pixels;
    t.c_row = PANEL;
    t.accumulate = false;
    for (int64_t i = 0; i < cuts; i++) {
        const span part = part_of(total, i, cuts);
        t.a = s->in + part.begin * s->in_pixel;
        tile_rows(&t, part.end - part.begin);
        for (int64_t at = part.begin; at < part.end; at++)
            if (at % line < s->cols)
                deliver(s, pixels + (at - part.begin) * PANEL, out + at / line * s->out_row + at % line * s->out_pixel,
                        t.width);
    }
}

static void row_by_row(const sweep *s, tile t, float *out)
{
    for (int64_t i = 0; i < s->rows; i++) {
        t.a = s->in + i * s->in_row;
        t.c = out + i * s->out_row;
        tile_rows(&t, s->cols);
    }
}

void sweep_run(const sweep *s)
{
    tile t = {.a_row = s->in_pixel,
              .a_step = 1,
              .a_segment = s->tap_row,
              .b_step = PANEL,
              .b_segment = s->depth * PANEL,
              .depth = s->depth,
              .segments = s->taps,
              .c_row = s->out_pixel,
              .alpha = 1,
              .accumulate = s->accumulate,
              .relu = s->relu};
    const bool on = better_run_on(s);
    for (int64_t k = 0; k < s->channels; k += PANEL) {
        t.b = s->w + k * s->taps * s->depth;
        t.bias = s->bias ? s->bias + k : NULL;
        t.width = min64(PANEL, s->channels - k);
        (on ? run_on : row_by_row)(s, t, s->out + k);
    }
}
