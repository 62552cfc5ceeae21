/* cells.c - see cells.h. */
#include "kernels/cpu/amx/cells.h"

enum {
    FEW = 16,   /* channels below which cells are windows */
    ONE_IN = 9, /* pixels of an output row's tiles that may be none */
    AHEAD = 256 /* elements to what is asked for early: the processor cannot follow as many images as a group has */
};

/* Whether more than one in so many of `rounded` places is none. */
static bool wastes(int64_t places, int64_t rounded)
{
    return (rounded - places) * ONE_IN > places;
}

/* As many images as a tile has rows, if the batch allows; else the smallest power of two that fills a row's tiles. */
static int64_t group_of(const gr_geometry *g, int64_t tile)
{
    int64_t group = 1;
    if (tile == STEP && !wastes(g->n, round_up(g->n, tile)))
        return tile;
    while (group < tile && group < g->n && wastes(g->q * group, round_up(g->q * group, tile)))
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

/* Elements [at, at + n) to a step of every piece, and zeros; n may be negative or more than a step. */
INLINE void copy_step(const tiled_images *from, int64_t at, int64_t n, uint16_t *to)
{
    if (from->pieces > 1) {
        const float *gate = from->gate;
        step_split((const float *)from->data + at, gate ? gate + at : NULL, n, from->pieces, to, from->distance);
        return;
    }
    step_copy((const uint16_t *)from->data + at, to, n);
    if (from->gate && n > 0)
        halves_gate((const uint16_t *)from->gate + at, to, min64(STEP, n));
}

/* A pixel's channels to a cell. */
INLINE void copy_pixel(const cell_layout *l, const tiled_images *from, int64_t at, uint16_t *to)
{
    for (int64_t c = 0; c < l->depth; c += STEP)
        copy_step(from, at + c, l->g.c - c, to + c);
}

/* A place in all pieces. */
static void clear(const tiled_images *from, uint16_t *to, int64_t halves)
{
    for (int i = 0; i < from->pieces; i++)
        memset(to + i * from->distance, 0, (size_t)halves * sizeof *to);
}

/* Cells of one column phase: columns [inside.begin, inside.end) are in the image, the others are padding. */
static void copy_phase(const cell_layout *l, const tiled_images *from, int64_t at, span inside, uint16_t *dst)
{
    const int64_t step = l->group * l->depth, apart = l->phases * l->g.c; /* of cells, of the pixels in them */
    for (int64_t j = 0; j < inside.begin; j++)
        clear(from, dst + j * step, l->depth);
    if (from->pieces == 1 && !from->gate && l->phases == 1 && step == l->g.c)
        memcpy(dst + inside.begin * step, (const uint16_t *)from->data + at,
               (size_t)((inside.end - inside.begin) * step) * sizeof *dst);
    else
        for (int64_t j = inside.begin; j < inside.end; j++, at += apart)
            copy_pixel(l, from, at, dst + j * step);
    for (int64_t j = inside.end; j < l->cells; j++)
        clear(from, dst + j * step, l->depth);
}

/* Image n of a group's row: cells at a distance of group * depth. */
static void copy_row(const cell_layout *l, const tiled_images *from, int64_t n, int64_t i, uint16_t *dst)
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

/*
 * Halves [c, c + STEP) of a window that lies inside of its image: rows of `row` halves, at most STEP, a pitch apart, of
 * which each is put where the one before it ends.
 */
INLINE void copy_inner_step(const uint16_t *window, int64_t pitch, int64_t rows, int64_t row, int64_t c, uint16_t *dst)
{
#if defined(__AVX512BW__)
    __m512i step = _mm512_setzero_si512();
    for (int64_t r = c / row; r < rows && r * row < c + STEP; r++) {
        const int64_t at = r * row - c;
        const uint64_t ones = (UINT64_C(1) << row) - 1;
        const __mmask32 here = (__mmask32)(at < 0 ? ones >> -at : ones << at);
        step = _mm512_mask_loadu_epi16(step, here, window + r * pitch - at);
    }
    memcpy(dst, &step, sizeof step);
#else
    memset(dst, 0, STEP * sizeof *dst);
    for (int64_t r = c / row; r < rows && r * row < c + STEP; r++) {
        const int64_t begin = max64(c, r * row), end = min64(c + STEP, (r + 1) * row);
        memcpy(dst + begin - c, window + r * pitch + begin - r * row, (size_t)(end - begin) * sizeof *dst);
    }
#endif
}

/* Elements [c, c + STEP) of the window of output pixel (p, q) of image n, as they are stored; what is padding stays. */
INLINE void copy_outer_step(const cell_layout *l, const tiled_images *from, int64_t n, int64_t p, int64_t q, int64_t c,
                            void *dst)
{
    const gr_geometry *g = &l->g;
    const int64_t row = g->s * g->c, w = q * g->stride_w - g->pad_left; /* w: column of the window's first pixel */
    const int64_t first = max64(0, -w) * g->c, last = min64(g->s, g->w - w) * g->c;
    for (int64_t r = c / row; r < g->r && r * row < c + STEP; r++) {
        const int64_t h = p * g->stride_h + r - g->pad_top;
        const int64_t begin = max64(c - r * row, first), end = min64(c + STEP - r * row, last);
        const int64_t at = ((n * g->h + h) * g->w + w) * g->c + begin, to = r * row + begin - c;
        if (h < 0 || h >= g->h || begin >= end)
            continue;
        if (from->pieces > 1)
            copy_floats((const float *)from->data + at, end - begin, (float *)dst + to);
        else
            halves_copy((const uint16_t *)from->data + at, (uint16_t *)dst + to, end - begin);
    }
}

/* The same in pieces, and zeros for padding. */
INLINE void copy_window_step(const cell_layout *l, const tiled_images *from, int64_t n, int64_t p, int64_t q, int64_t c,
                             uint16_t *dst)
{
    const gr_geometry *g = &l->g;
    const int64_t row = g->s * g->c, w = q * g->stride_w - g->pad_left, top = p * g->stride_h - g->pad_top;
    if (from->pieces > 1) {
        float window[STEP] = {0};
        copy_outer_step(l, from, n, p, q, c, window);
        step_split(window, NULL, STEP, from->pieces, dst, from->distance);
    } else if (row <= STEP && w >= 0 && w + g->s <= g->w && top >= 0 && top + g->r <= g->h) {
        const uint16_t *window = (const uint16_t *)from->data + ((n * g->h + top) * g->w + w) * g->c;
        copy_inner_step(window, g->w * g->c, g->r, row, c, dst);
    } else {
        memset(dst, 0, STEP * sizeof *dst);
        copy_outer_step(l, from, n, p, q, c, dst);
    }
}

static void copy_window(const cell_layout *l, const tiled_images *from, int64_t n, int64_t p, int64_t q, uint16_t *dst)
{
    for (int64_t c = 0; c < l->depth; c += STEP)
        copy_window_step(l, from, n, p, q, c, dst + c);
}

void cells_copy(const cell_layout *l, const tiled_images *from, int64_t group, int64_t i, uint16_t *dst)
{
    for (int64_t image = 0; image < l->group; image++, dst += l->depth) {
        const int64_t n = group * l->group + image;
        if (!l->windows)
            copy_row(l, from, n, i, dst);
        else if (n < l->g.n && i < l->g.p)
            for (int64_t q = 0; q < l->g.q; q++)
                copy_window(l, from, n, i, q, dst + q * l->group * l->depth);
        else
            for (int64_t q = 0; q < l->g.q; q++)
                clear(from, dst + q * l->group * l->depth, l->depth);
    }
}

/* The place of cell (phase, j) of row i in an image of places, or -1: it is padding. */
static int64_t place_of(const cell_layout *l, int64_t i, int64_t phase, int64_t j)
{
    const gr_geometry *g = &l->g;
    if (l->windows)
        return i < g->p ? i * g->q + j : -1;
    const int64_t h = i - g->pad_top, w = j * l->phases + phase - g->pad_left;
    return h >= 0 && h < g->h && w >= 0 && w < g->w ? h * g->w + w : -1;
}

void cell_places(const cell_layout *l, int64_t group, int64_t i, int64_t first, int64_t n, int64_t *places)
{
    const gr_geometry *g = &l->g;
    const int64_t image_places = l->windows ? g->p * g->q : g->h * g->w, base = group * l->group;
    int64_t image = first % l->group, cell = first / l->group;
    for (int64_t j = 0; j < STEP; cell++, image = 0) {
        const bool there = cell < l->phases * l->cells;
        const int64_t place = there ? place_of(l, i, cell / l->cells, cell % l->cells) : -1;
        const int64_t images = place < 0 ? 0 : min64(l->group, g->n - base);
        for (; image < l->group && j < STEP; image++, j++)
            places[j] = j < n && image < images ? (base + image) * image_places + place : -1;
    }
}

void cells_gather(const cell_layout *l, const tiled_images *from, const int64_t *places, int64_t c, uint16_t *dst)
{
    const gr_geometry *g = &l->g;
    for (int64_t j = 0; j < STEP; j++, dst += STEP) {
        const int64_t at = places[j];
        if (at < 0) {
            clear(from, dst, STEP);
        } else if (l->windows) {
            copy_window_step(l, from, at / g->q / g->p, at / g->q % g->p, at % g->q, c, dst);
        } else {
            const int64_t first = at * g->c + c, size = from->pieces > 1 ? sizeof(float) : sizeof(uint16_t);
            prefetch((const char *)from->data + (first + AHEAD) * size);
            if (from->gate)
                prefetch((const char *)from->gate + (first + AHEAD) * size);
            copy_step(from, first, g->c - c, dst);
        }
    }
}
