/*
 * conv_pooled.h - a 3x3 convolution whose results go through windows of 2x2 that lie side by side.
 *
 * Forward, the four results under a window stay in registers until the best is known. Backward, at most one of them has
 * a gradient, that of the winner, and argmax says which. So three quarters of dz and more are zeros. These passes never
 * make dz: they start from the windows.
 *
 *   dW[k,r,s,c] = sum over windows (n,i,j) of dy[n,i,j,k] x[n, 2i+u+r-pad_top, 2j+v+s-pad_left, c]
 *   dX[n, 2i+u+r-pad_top, 2j+v+s-pad_left, c] += dy[n,i,j,k] w[k,r,s,c]          u, v: where filter k won
 *
 *        columns of x under window j              One window sees 4x4 pixels of x: 3x3 from each of its four places.
 *        2j  .  .  2j+3
 *   2i    a  a  a  .        a: seen from place u=0, v=0
 *         a  a  b  b        b: seen from place u=1, v=1 alone
 *         a  b  b  b
 *   2i+3  .  b  b  b
 */
#ifndef GRADUS_CPU_CONV_POOLED_H
#define GRADUS_CPU_CONV_POOLED_H

#include "kernels/cpu/ahead.h"
#include "kernels/cpu/any_float.h"
#include "kernels/cpu/conv_dz.h"
#include "kernels/cpu/pooling.h"

enum {
    POOL_TAPS = 3,   /* rows and columns of a filter */
    POOL_PATCH = 4,  /* rows and columns of x under a window */
    POOL_PLACES = 4, /* in a window: 2u + v */
    COLOURS = 3,     /* channels of a picture */
    LONGEST = 16     /* vector of any instruction set: scratch is as large in all of them */
};

/* Whether such filters g go through such windows o. */
INLINE bool conv_pooled(const gr_geometry *g, const gr_geometry *o)
{
    return o->r == 2 && o->s == 2 && o->stride_h == 2 && o->stride_w == 2 && o->pad_top == 0 && o->pad_left == 0 &&
           2 * o->p <= g->p && 2 * o->q <= g->q && g->r == POOL_TAPS && g->s == POOL_TAPS && g->stride_h == 1 &&
           g->stride_w == 1;
}

/* The same with pictures for x. */
INLINE bool conv_pooled_colours(const gr_geometry *g, const gr_geometry *o)
{
    return conv_pooled(g, o) && g->c == COLOURS;
}

/* --- forward, three channels -------------------------------------------------------------------------------------- */

/* A row of windows of one image under all filters. */
typedef struct {
    const float *x; /* what the first window sees */
    int64_t pitch;  /* of x's rows */
    const float *u; /* filters, transformed: [panel][COLOURS_PLACES][COLOURS][PANEL] */
    const float *bias;
    gr_type type;    /* of y */
    void *y;         /* numbers [.. + windows][k] from at on */
    bool stream;     /* y past the caches: whole aligned vectors of floats, each a cache line */
    uint8_t *argmax; /* the same or NULL */
    int64_t at, windows, k;
    ahead *next; /* what will be read next, asked for meanwhile */
} colours_row;

enum { COLOURS_PLACES = 16 };

/* packed: as conv_pack leaves them. */
void GR_CPU(conv_pooled_colours_filters)(const float *packed, int64_t panels, float *u);
#define conv_pooled_colours_filters GR_CPU(conv_pooled_colours_filters)

/* How often a row asks for some of what is next. */
int64_t GR_CPU(conv_pooled_colours_chances)(int64_t windows, int64_t k);
#define conv_pooled_colours_chances GR_CPU(conv_pooled_colours_chances)

void GR_CPU(conv_pooled_colours_run)(const colours_row *row);
#define conv_pooled_colours_run GR_CPU(conv_pooled_colours_run)

/* --- backward ----------------------------------------------------------------------------------------------------- */

/* A result with a gradient: dy, and where what it is multiplied by begins, its pixels of x (dW) or filter (dX). */
typedef struct {
    float dy;
    int32_t at;
} winner;

/* --- dW and db: what rows box.row of the results of one image, from an even one on, add to PANEL filters ---------- */

typedef struct {
    const conv_dz *dz;
    conv_box box;
    const float *x;  /* the windows of result row box.row.begin on */
    int64_t pitch;   /* of x's rows */
    memory_run next; /* what the next unit reads of x */
    float *dw;       /* sums: [9 C][PANEL], by filter [PANEL][9 C] */
    float *db;       /* sums: [PANEL] or NULL */
} pooled_unit;

/*
 * Three channels: a vector holds as many filters, each of which looks up what it saw; or, where registers are too short
 * to look it up at once, taps of one filter, and sums lie as where many channels are.
 */
enum { COLOURS_BY_FILTER = VL < 16 };
void GR_CPU(conv_pooled_colours_add)(const pooled_unit *unit);
#define conv_pooled_colours_add GR_CPU(conv_pooled_colours_add)

/* Where n (1..VL) filters won in a window; NOWHERE behind the last of them, in room for VL. */
INLINE const uint8_t *conv_pooled_bytes(const uint8_t *argmax, int64_t n, uint8_t *room)
{
    if (n == VL)
        return argmax;
    memset(room, NOWHERE, VL);
    return memcpy(room, argmax, (size_t)n);
}
INLINE ivec conv_pooled_places(const uint8_t *argmax, int64_t n)
{
    uint8_t room[VL];
    return ivec_from_bytes(conv_pooled_bytes(argmax, n, room));
}

/* What a unit's filters have from k on at row `line` of windows, and at those behind it. */
typedef struct {
    const char *dy; /* floats or halves */
    const uint8_t *argmax;
    int64_t filters, pitch; /* numbers from one window to the next */
} pooled_results;

INLINE pooled_results conv_pooled_results(const pooled_unit *unit, gr_type type, int64_t line, int64_t k)
{
    const conv_dz *dz = unit->dz;
    const int64_t channel = unit->box.channel.begin + k, size = type == GR_F32 ? 4 : 2;
    const int64_t at = (unit->box.n * dz->pool.p + line) * dz->pool.q * dz->k + channel;
    return (pooled_results){(type == GR_F32 ? (const char *)dz->dy : (const char *)dz->halves) + at * size,
                            dz->argmax + at, unit->box.channel.end - channel, dz->k};
}

/* Windows of a unit: they lie side by side, row behind row. */
INLINE int64_t conv_pooled_windows(const pooled_unit *unit)
{
    const gr_geometry *o = &unit->dz->pool;
    return max64(0, min64(o->p, unit->box.row.end / 2) - unit->box.row.begin / 2) * o->q;
}

/* dy of n (1..VL) filters that won anywhere in the window whose numbers begin at `at`, 0 of the others. */
INLINE vec conv_pooled_dy(const pooled_results *r, gr_type type, int64_t at, int64_t n, const uint8_t *place)
{
    return vec_select(bytes_less(place, POOL_PLACES), load_as_n(type, r->dy, at, n), (vec){0});
}

enum { WINDOWS_AHEAD = 32 }; /* from the one at work to the one asked for: its results come from memory */
INLINE void conv_pooled_ask(const pooled_results *r, gr_type type, int64_t window)
{
    const int64_t at = (window + WINDOWS_AHEAD) * r->pitch;
    prefetch(r->dy + at * (type == GR_F32 ? 4 : 2));
    prefetch(r->argmax + at);
}

/* Many channels: a vector holds as many of them, for one filter. */
enum { WIDE_VECTORS = 6 }; /* of a filter row that are summed at once */
INLINE bool conv_pooled_wide(const gr_geometry *g, const conv_dz *dz)
{
    return conv_pooled(g, &dz->pool) && POOL_TAPS * g->c % (WIDE_VECTORS * VL) == 0;
}
/* Winners that a list has room for: one in each window of so many result rows, and a vector more. */
INLINE int64_t conv_pooled_wide_room(int64_t rows, const gr_geometry *pool)
{
    return ceil_div(rows, 2) * pool->q + LONGEST;
}
/* lists: of LONGEST filters, each with room for so many. */
void GR_CPU(conv_pooled_wide_add)(const pooled_unit *unit, int64_t channels, winner *lists, int64_t room);
#define conv_pooled_wide_add GR_CPU(conv_pooled_wide_add)

/* --- dX ----------------------------------------------------------------------------------------------------------- */

bool GR_CPU(conv_pooled_grad_x_fits)(const gr_geometry *g, const conv_dz *dz);
size_t GR_CPU(conv_pooled_grad_x_scratch)(const gr_call *call, const gr_geometry *g, const conv_dz *dz);
void GR_CPU(conv_pooled_grad_x)(const gr_call *call, const gr_geometry *g, const conv_dz *dz);
#define conv_pooled_grad_x_fits GR_CPU(conv_pooled_grad_x_fits)
#define conv_pooled_grad_x_scratch GR_CPU(conv_pooled_grad_x_scratch)
#define conv_pooled_grad_x GR_CPU(conv_pooled_grad_x)

#endif
