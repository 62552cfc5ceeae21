/* cells.c - see cells.h. */
#include "kernels/cpu/amx/cells.h"

enum {
    FEW = 16,  /* channels below which cells are windows */
    MOST = 16, /* images of a group */
    ONE_IN = 9 /* pixels of an output row's tiles that may be none */
};

/* The smallest power of two that fills the tiles of a row, or what the batch has. */
static int64_t group_of(const gr_geometry *g, int64_t tile)
{
    int64_t group = 1;
    while (group < MOST && group < g->n && (round_up(g->q * group, tile) - g->q * group) * ONE_IN > g->q * group)
        group *= 2;
    return group;
}

cell_layout cells_of(const gr_geometry *g, int64_t tile, bool windows)
{
    cell_layout l = {.g = *g, .windows = windows && g->c < FEW, .group = group_of(g, tile)};
    const int64_t window = g->r * g->s * g->c, wide = (g->q - 1) * g->stride_w + g->s;
    l.groups = ceil_div(g->n, l.group);
    l.depth = round_up(l.windows ? window : g->c, STEP);
    l.phases = l.windows ? 1 : g->stride_w;
    l.cells = l.windows ? g->q : max64(1, ceil_div(wide, l.phases));
    l.row = l.phases * l.cells * l.group * l.depth;
    l.tap_rows = l.windows ? 1 : g->r;
    l.taps = l.windows ? 1 : g->r * g->s;
    return l;
}

/* to[0..n) = from where the gate is above 0 or a NaN; else 0: a subnormal number is not above it. */
INLINE void copy_gated(const uint16_t *from, const uint16_t *gate, uint16_t *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (int16_t)gate[i] >= 0x0080 || gate[i] > 0xFF80 ? from[i] : 0;
}

/* A pixel's channels to a cell. */
INLINE void copy_pixel(const cell_layout *l, const half_images *from, int64_t at, uint16_t *to)
{
    const int64_t c = l->g.c;
    if (from->gate) {
        copy_gated(from->data + at, from->gate + at, to, c);
    } else {
        int64_t i = 0;
        for (; i + STEP <= c; i += STEP)
            memcpy(to + i, from->data + at + i, STEP * sizeof *to);
        for (; i < c; i++)
            to[i] = from->data[at + i];
    }
    if (c < l->depth)
        memset(to + c, 0, (size_t)(l->depth - c) * sizeof *to);
}

static void clear(uint16_t *to, int64_t halves)
{
    memset(to, 0, (size_t)halves * sizeof *to);
}

/* Cells of one column phase: columns [inside.begin, inside.end) are in the image, the others are padding. */
static void copy_phase(const cell_layout *l, const half_images *from, int64_t at, span inside, uint16_t *dst)
{
    const int64_t step = l->group * l->depth, apart = l->phases * l->g.c; /* of cells, of the pixels in them */
    for (int64_t j = 0; j < inside.begin; j++)
        clear(dst + j * step, l->depth);
    if (!from->gate && l->phases == 1 && step == l->g.c)
        memcpy(dst + inside.begin * step, from->data + at, (size_t)((inside.end - inside.begin) * step) * sizeof *dst);
    else
        for (int64_t j = inside.begin; j < inside.end; j++, at += apart)
            copy_pixel(l, from, at, dst + j * step);
    for (int64_t j = inside.end; j < l->cells; j++)
        clear(dst + j * step, l->depth);
}

/* Image n of a group's row: cells at a distance of group * depth. */
static void copy_row(const cell_layout *l, const half_images *from, int64_t n, int64_t i, uint16_t *dst)
{
    const gr_geometry *g = &l->g;
    const int64_t h = i - g->pad_top;
    const bool there = n < g->n && h >= 0 && h < g->h;
    for (int64_t phase = 0; phase < l->phases; phase++, dst += l->cells * l->group * l->depth) {
        const int64_t w = phase - g->pad_left; /* of column 0; the image is where w + j phases is in [0, W) */
        const int64_t first = min64(l->cells, max64(0, ceil_div(-w, l->phases)));
        const int64_t end = there ? min64(l->cells, max64(first, ceil_div(g->w - w, l->phases))) : first;
        copy_phase(l, from, ((n * g->h + h) * g->w + w + first * l->phases) * g->c, (span){first, end}, dst);
    }
}

/* The window of output pixel (p, q) of image n. */
static void copy_window(const cell_layout *l, const half_images *from, int64_t n, int64_t p, int64_t q, uint16_t *dst)
{
    const gr_geometry *g = &l->g;
    const int64_t w = q * g->stride_w - g->pad_left, first = max64(0, -w), last = min64(g->s, g->w - w);
    clear(dst, l->depth);
    for (int64_t r = 0; r < g->r; r++) {
        const int64_t h = p * g->stride_h + r - g->pad_top;
        if (n >= g->n || h < 0 || h >= g->h)
            continue;
        const int64_t at = ((n * g->h + h) * g->w + w) * g->c;
        for (int64_t i = first * g->c; i < last * g->c; i++)
            dst[r * g->s * g->c + i] = from->data[at + i];
    }
}

void cells_copy(const cell_layout *l, const half_images *from, int64_t group, int64_t i, uint16_t *dst)
{
    for (int64_t image = 0; image < l->group; image++, dst += l->depth) {
        const int64_t n = group * l->group + image;
        if (!l->windows)
            copy_row(l, from, n, i, dst);
        else if (i < l->g.p)
            for (int64_t q = 0; q < l->g.q; q++)
                copy_window(l, from, n, i, q, dst + q * l->group * l->depth);
        else
            for (int64_t q = 0; q < l->g.q; q++)
                clear(dst + q * l->group * l->depth, l->depth);
    }
}
