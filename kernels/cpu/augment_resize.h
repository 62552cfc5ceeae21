/*
 * augment_resize.h - bicubic-resize of a strip of columns, row after row from the top.
 *
 * A map without a turn takes rows of the picture to rows: what the strip's columns make of a row of the picture is
 * kept, four of them, because the next row of the result is likely to be made of the same. The columns' weights are
 * worked out once.
 */
#ifndef GRADUS_CPU_AUGMENT_RESIZE_H
#define GRADUS_CPU_AUGMENT_RESIZE_H

#include "kernels/cpu/cpu.h"
#include "kernels/ops/augment.h"

enum { CHANNELS = 4, STRIP = 1024 /* pixels */ };

/* Pixels q .. q+n-1 of the rows of one result. */
typedef struct {
    const uint8_t *x;   /* [H,W,C] */
    const int32_t *map; /* [GR_MAP] */
    int64_t H, W, q, n;
    gr_fill fill;
} resize_job;

typedef struct {
    resize_job job;
    int64_t steps_y, steps_x;
    bool turned;                 /* the map is; what follows is for those that are not */
    int32_t at[STRIP][GR__TAPS]; /* of a column: offsets of its pixels from the first byte of a picture's row */
    int32_t weight[STRIP][GR__TAPS];
    int64_t kept[GR__TAPS]; /* h: what is made of row h is in levels[h % 4]; -1: nothing */
    uint8_t levels[GR__TAPS][STRIP * CHANNELS];
} resizer;

INLINE int64_t fold(int64_t i, int64_t size, gr_fill fill)
{
    return fill == GR_FILL_REFLECT ? gr__reflect(i, size) : gr__clamp(i, size);
}

/* Whether the coordinate leads to something that is seen; with the edge as the fill it is moved to where that is. */
INLINE bool resize_sees(const resizer *r, int64_t *u, int64_t size)
{
    if (r->job.fill == GR_FILL_EDGE)
        *u = gr__clamp(*u, size * GR__PIXEL);
    return r->job.fill != GR_FILL_ZERO || gr__inside(*u, size);
}

INLINE gr__resize_taps resize_taps(const resizer *r, int64_t u, int64_t steps, int64_t size)
{
    return gr__resize_at(u, steps, size, r->job.fill == GR_FILL_REFLECT);
}

INLINE void resize_begin(resizer *r, resize_job job, int64_t C)
{
    r->job = job;
    const int32_t *line = job.map + GR__MAP_ROW;
    const int64_t du = gr__map_coefficient(job.map, 0), dv = gr__map_coefficient(line, 0);
    r->steps_x = gr__resize_steps(du, gr__map_coefficient(job.map, 1), job.W);
    r->steps_y = gr__resize_steps(gr__map_coefficient(line, 1), dv, job.H);
    r->turned = gr__map_coefficient(job.map, 1) || dv;
    for (int k = 0; k < GR__TAPS; k++)
        r->kept[k] = -1;
    for (int64_t i = 0; i < job.n && !r->turned; i++) {
        int64_t u = gr__map_axis(job.map, 0, job.q + i);
        gr__resize_taps taps = {0, {0}}; /* level 0 */
        if (resize_sees(r, &u, job.W))
            taps = resize_taps(r, u, r->steps_x, job.W);
        for (int k = 0; k < GR__TAPS; k++)
            r->at[i][k] = (int32_t)(fold(taps.before - 1 + k, job.W, job.fill) * C);
        memcpy(r->weight[i], taps.weight, sizeof taps.weight);
    }
}

/* What the columns make of row h of the picture. */
INLINE const uint8_t *resize_row(resizer *r, int64_t h, int64_t C)
{
    uint8_t *levels = r->levels[h % GR__TAPS]; /* four rows in turn, mirrored or not, are never further apart */
    const uint8_t *row = r->job.x + h * r->job.W * C;
    if (r->kept[h % GR__TAPS] == h)
        return levels;
    r->kept[h % GR__TAPS] = h;
    for (int64_t i = 0; i < r->job.n; i++)
        for (int64_t c = 0; c < C; c++) {
            const int32_t *at = r->at[i];
            const int32_t four[GR__TAPS] = {row[at[0] + c], row[at[1] + c], row[at[2] + c], row[at[3] + c]};
            levels[i * C + c] = (uint8_t)gr__resize_level(four, r->weight[i]);
        }
    return levels;
}

/* A row of the result by a map without a turn. level [n,C] */
INLINE void resize_straight(resizer *r, int64_t p, uint8_t *level, int64_t C)
{
    int64_t v = gr__map_axis(r->job.map + GR__MAP_ROW, p, 0);
    if (!resize_sees(r, &v, r->job.H)) {
        memset(level, 0, (size_t)(r->job.n * C));
        return;
    }
    const gr__resize_taps taps = resize_taps(r, v, r->steps_y, r->job.H);
    const uint8_t *row[GR__TAPS];
    for (int k = 0; k < GR__TAPS; k++)
        row[k] = resize_row(r, fold(taps.before - 1 + k, r->job.H, r->job.fill), C);
    for (int64_t i = 0; i < r->job.n * C; i++)
        level[i] = (uint8_t)gr__resize_level((int32_t[]){row[0][i], row[1][i], row[2][i], row[3][i]}, taps.weight);
}

/* One pixel by a map with a turn, read at row v and column u, both coordinates. */
INLINE void resize_pixel(const resizer *r, int64_t v, int64_t u, uint8_t *level, int64_t C)
{
    if (!resize_sees(r, &v, r->job.H) || !resize_sees(r, &u, r->job.W)) {
        memset(level, 0, (size_t)C);
        return;
    }
    const gr__resize_taps x = resize_taps(r, u, r->steps_x, r->job.W), y = resize_taps(r, v, r->steps_y, r->job.H);
    const uint8_t *row[GR__TAPS];
    int64_t at[GR__TAPS];
    for (int k = 0; k < GR__TAPS; k++) {
        row[k] = r->job.x + fold(y.before - 1 + k, r->job.H, r->job.fill) * r->job.W * C;
        at[k] = fold(x.before - 1 + k, r->job.W, r->job.fill) * C;
    }
    for (int64_t c = 0; c < C; c++) {
        int32_t rows[GR__TAPS];
        for (int k = 0; k < GR__TAPS; k++) {
            const uint8_t *p = row[k] + c;
            rows[k] = gr__resize_level((int32_t[]){p[at[0]], p[at[1]], p[at[2]], p[at[3]]}, x.weight);
        }
        level[c] = (uint8_t)gr__resize_level(rows, y.weight);
    }
}

/* Row p of the result. level [n,C] */
INLINE void resize_levels(resizer *r, int64_t p, uint8_t *level, int64_t C)
{
    if (!r->turned) {
        resize_straight(r, p, level, C);
        return;
    }
    const int32_t *line = r->job.map + GR__MAP_ROW;
    for (int64_t i = 0; i < r->job.n; i++)
        resize_pixel(r, gr__map_axis(line, p, r->job.q + i), gr__map_axis(r->job.map, p, r->job.q + i), level + i * C,
                     C);
}

#endif
