/*
 * augment.c - u8 images through one affine map each, and normalised: row by row, first the levels as bytes, then their
 * values.
 *
 * A map that moves by whole pixels, mirrored or not, is told from its numbers: such a row is a copy, whatever the
 * filter. All others are looked up pixel by pixel in the integers of kernels/ops/augment.h. A pixel has 256 values, so
 * normalisation is evaluated once for each of them and channel, by a fused multiply-add: on every instruction set and
 * device the same bits.
 */
#include "kernels/ops/augment.h"

#include <stdlib.h>

#include "kernels/cpu/augment_resize.h"
#include "kernels/cpu/cpu.h"

enum { LEVELS = 256, CHUNK = 8192 /* pixels */ };

typedef struct {
    float value[CHANNELS][LEVELS];
    const uint8_t *x;   /* [N,H,W,C] */
    const int32_t *map; /* [N,GR_MAP] */
    float *y;           /* [N,P,Q,C] */
    int64_t N, H, W, P, Q, C, rows_per_chunk;
    gr_resampling filter;
    gr_fill fill;
} augment_job;

/* Pixels q .. q+n-1 of output row p. */
typedef struct {
    const augment_job *job;
    const uint8_t *x;   /* [H,W,C] */
    const int32_t *map; /* [GR_MAP] */
    int64_t p, q, n;
} strip;

INLINE void copy_pixel(uint8_t *to, const uint8_t *from, int64_t C)
{
    for (int64_t c = 0; c < C; c++)
        to[c] = from[c];
}

/* Whether a map moves pixels onto pixels: a step of one to the left or right, none aslant, and centres to centres. */
static bool is_whole(const int32_t *map)
{
    int64_t a[6];
    for (int k = 0; k < 6; k++)
        a[k] = gr__map_coefficient(map, k);
    const int64_t centre = GR__PIXEL / 2, fraction = GR__PIXEL - 1;
    return llabs(a[0]) == GR__PIXEL && !a[1] && (a[2] & fraction) == centre && !a[3] && llabs(a[4]) == GR__PIXEL &&
           (a[5] & fraction) == centre;
}

/* A row of the picture as a whole map walks along it: strip pixel i is its pixel w + direction i. */
typedef struct {
    const uint8_t *pixel; /* [W,C] */
    int64_t w, direction;
} walk;

/* Pixels begin .. end-1 of a strip, which lie outside the picture. */
INLINE void levels_outside(const augment_job *job, const walk *row, int64_t begin, int64_t end, uint8_t *level,
                           int64_t C)
{
    if (job->fill == GR_FILL_ZERO && end > begin)
        memset(level + begin * C, 0, (size_t)((end - begin) * C));
    for (int64_t i = begin; i < end && job->fill != GR_FILL_ZERO; i++)
        copy_pixel(level + i * C, row->pixel + fold(row->w + row->direction * i, job->W, job->fill) * C, C);
}

/* Pixels begin .. end-1 of a strip, which lie inside. */
INLINE void levels_inside(const walk *row, int64_t begin, int64_t end, uint8_t *level, int64_t C)
{
    const uint8_t *from = row->pixel + (row->w + row->direction * begin) * C;
    if (row->direction > 0 && end > begin)
        memcpy(level + begin * C, from, (size_t)((end - begin) * C));
    for (int64_t i = begin; i < end && row->direction < 0; i++, from -= C)
        copy_pixel(level + i * C, from, C);
}

/* Levels of a strip whose map is whole. */
INLINE void whole_levels(const strip *s, uint8_t *level, int64_t C)
{
    const augment_job *job = s->job;
    const int64_t h = gr__map_axis(s->map + GR__MAP_ROW, s->p, s->q) >> GR__COORDINATE;
    const int64_t w = gr__map_axis(s->map, s->p, s->q) >> GR__COORDINATE;
    const walk row = {s->x + fold(h, job->H, job->fill) * job->W * C, w, s->map[0] < 0 ? -1 : 1};
    int64_t begin = max64(0, min64(s->n, row.direction > 0 ? -w : w - job->W + 1));
    int64_t end = max64(begin, min64(s->n, row.direction > 0 ? job->W - w : w + 1));
    if (job->fill == GR_FILL_ZERO && (h < 0 || h >= job->H))
        begin = end = s->n;
    levels_outside(job, &row, 0, begin, level, C);
    levels_inside(&row, begin, end, level, C);
    levels_outside(job, &row, end, s->n, level, C);
}

INLINE void bilinear_levels(const strip *s, int64_t v, int64_t u, uint8_t *level, int64_t C)
{
    const augment_job *job = s->job;
    int32_t step_y, step_x;
    const int64_t h = gr__pixel_before(v, GR__LINEAR, &step_y), w = gr__pixel_before(u, GR__LINEAR, &step_x);
    const uint8_t *above = s->x + fold(h, job->H, job->fill) * job->W * C;
    const uint8_t *below = s->x + fold(h + 1, job->H, job->fill) * job->W * C;
    const int64_t left = fold(w, job->W, job->fill) * C, right = fold(w + 1, job->W, job->fill) * C;
    for (int64_t c = 0; c < C; c++)
        level[c] =
            (uint8_t)gr__bilinear(above[left + c], above[right + c], below[left + c], below[right + c], step_x, step_y);
}

/* A cubic's four pixels along an axis: how far from the picture's first byte, and their weights. */
typedef struct {
    int64_t at[GR__TAPS];
    int32_t weight[GR__TAPS];
} cubic_axis;

INLINE cubic_axis cubic_taps(const augment_job *job, int64_t u, int64_t size, int64_t pitch)
{
    cubic_axis axis;
    int32_t step;
    const int64_t before = gr__pixel_before(u, GR__CUBIC, &step);
    for (int k = 0; k < GR__TAPS; k++)
        axis.at[k] = fold(before - 1 + k, size, job->fill) * pitch;
    gr__cubic_weights(step, axis.weight);
    return axis;
}

INLINE void cubic_levels(const strip *s, int64_t v, int64_t u, uint8_t *level, int64_t C)
{
    const cubic_axis y = cubic_taps(s->job, v, s->job->H, s->job->W * C), x = cubic_taps(s->job, u, s->job->W, C);
    for (int64_t c = 0; c < C; c++) {
        int32_t rows[GR__TAPS], four[GR__TAPS];
        for (int r = 0; r < GR__TAPS; r++) {
            for (int k = 0; k < GR__TAPS; k++)
                four[k] = s->x[y.at[r] + x.at[k] + c];
            rows[r] = gr__cubic_row(four, x.weight);
        }
        level[c] = (uint8_t)gr__cubic_level(rows, y.weight);
    }
}

/* The levels of one pixel by any filter but bicubic-resize, read at row v and column u, both coordinates. */
INLINE void pixel_levels(const strip *s, int64_t v, int64_t u, uint8_t *level, int64_t C)
{
    const augment_job *job = s->job;
    if (job->fill == GR_FILL_ZERO && !(gr__inside(v, job->H) && gr__inside(u, job->W))) {
        memset(level, 0, (size_t)C);
        return;
    }
    if (job->filter == GR_NEAREST)
        copy_pixel(level,
                   s->x + (fold(v >> GR__COORDINATE, job->H, job->fill) * job->W +
                           fold(u >> GR__COORDINATE, job->W, job->fill)) *
                              C,
                   C);
    else if (job->filter == GR_BILINEAR)
        bilinear_levels(s, v, u, level, C);
    else
        cubic_levels(s, v, u, level, C);
}

/* The values of a strip's levels. y [n,C] */
INLINE void values_of(const strip *s, const uint8_t *level, float *y, int64_t C)
{
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < C; c++)
            y[i * C + c] = s->job->value[c][level[i * C + c]];
    const int32_t *box = s->map + GR__MAP_BOX; /* top, left, bottom, right */
    const int64_t begin = max64(box[1] - s->q, 0), end = min64(box[3] - s->q, s->n);
    if (box[0] <= s->p && s->p < box[2] && begin < end)
        memset(y + begin * C, 0, (size_t)((end - begin) * C) * sizeof *y);
}

/* Levels of a strip whose map is not whole. */
INLINE void levels_between(const strip *s, uint8_t *level, int64_t C)
{
    int64_t v = gr__map_axis(s->map + GR__MAP_ROW, s->p, s->q), u = gr__map_axis(s->map, s->p, s->q);
    const int64_t dv = gr__map_coefficient(s->map + GR__MAP_ROW, 0), du = gr__map_coefficient(s->map, 0);
    for (int64_t i = 0; i < s->n; i++, v += dv, u += du)
        pixel_levels(s, v, u, level + i * C, C);
}

/* A strip of each of the rows s.p .. end-1. */
INLINE void augment_strips(strip s, int64_t end, int64_t C)
{
    const augment_job *job = s.job;
    uint8_t level[STRIP * CHANNELS];
    const bool whole = is_whole(s.map), resize = !whole && job->filter == GR_BICUBIC_RESIZE;
    resizer r;
    if (resize)
        resize_begin(&r, (resize_job){s.x, s.map, job->H, job->W, s.q, s.n, job->fill}, C);
    for (; s.p < end; s.p++) {
        if (whole)
            whole_levels(&s, level, C);
        else if (resize)
            resize_levels(&r, s.p, level, C);
        else
            levels_between(&s, level, C);
        values_of(&s, level, job->y + (((s.map - job->map) / GR_MAP * job->P + s.p) * job->Q + s.q) * C, C);
    }
}

/* Rows row .. end-1 of all pictures' rows, which are of one picture. */
static void augment_rows(const augment_job *job, int64_t row, int64_t end)
{
    const int64_t n = row / job->P, p = row % job->P;
    for (int64_t q = 0; q < job->Q; q += STRIP) {
        const strip s = {
            job, job->x + n * job->H * job->W * job->C, job->map + n * GR_MAP, p, q, min64(STRIP, job->Q - q)};
        if (job->C == 3) /* a number that the compiler knows: no loops over channels */
            augment_strips(s, p + end - row, 3);
        else if (job->C == 1)
            augment_strips(s, p + end - row, 1);
        else
            augment_strips(s, p + end - row, job->C);
    }
}

static void augment_chunk(void *arg, int64_t chunk)
{
    const augment_job *job = arg;
    const int64_t end = min64(job->N * job->P, (chunk + 1) * job->rows_per_chunk);
    for (int64_t row = chunk * job->rows_per_chunk, next; row < end; row = next) {
        next = min64(end, (row / job->P + 1) * job->P);
        augment_rows(job, row, next);
    }
}

/* value[c][level] = level scale + shift, as kernels/cuda/augment.cu has it. */
static void tabulate(augment_job *job, const gr_normalise_args *norm)
{
    for (int64_t c = 0; c < job->C; c++) {
        const double mean = (double)norm->mean[c], std = (double)norm->std[c];
        for (int i = 0; i < LEVELS; i++)
            job->value[c][i] = fmaf((float)i, (float)(1 / (255 * std)), (float)(-mean / std));
    }
}

void GR_CPU(augment_forward)(const gr_call *call)
{
    const gr_augment_args *args = call->options;
    const int64_t *X = call->in[0]->shape, *Y = call->out[0]->shape;
    augment_job job = {.x = gr__u8(call->in[0]),
                       .map = gr__i32(call->in[1]),
                       .y = gr__f32(call->out[0]),
                       .N = X[0],
                       .H = X[1],
                       .W = X[2],
                       .P = Y[1],
                       .Q = Y[2],
                       .C = X[3],
                       .filter = args->filter,
                       .fill = args->fill};
    job.rows_per_chunk = ceil_div(CHUNK, job.Q);
    tabulate(&job, &args->normalise);
    gr_parallel_for(call->exec, ceil_div(job.N * job.P, job.rows_per_chunk), augment_chunk, &job);
}
