/* conv_small.c - small images: groups of them, forward and dX. */
#include "kernels/cpu/conv_small.h"
#include "kernels/cpu/pooling.h"
#include "kernels/cpu/tile.h"

enum {
    FEW_PIXELS = 64,      /* of an output that counts as small */
    HELD_BYTES = 2 << 20, /* interleaved images in scratch: a share of the last-level cache */
    APART = 16 /* floats between rows of a tile beyond their channels: a power of two would share cache sets */
};

bool conv_images_are_small(const gr_geometry *g, int64_t k)
{
    return g->p * g->q <= FEW_PIXELS && g->h * g->w <= 4 * FEW_PIXELS && min64(g->c, k) >= 32;
}

bool conv_is_small(const gr_geometry *g, int64_t k)
{
    return g->n >= 8 && conv_images_are_small(g, k);
}

image_groups conv_groups(int64_t n, int64_t floats_of_image)
{
    image_groups groups = {.n = n, .count = ceil_div(n, TILE_ROWS)};
    groups.most = ceil_div(n, groups.count);
    const int64_t fit = HELD_BYTES / (int64_t)sizeof(float) / (groups.most * floats_of_image);
    groups.at_once = max64(1, min64(fit, groups.count));
    return groups;
}

void conv_interleave(const conv_dz *from, span images, span row, span channel, float *dst, int64_t pitch)
{
    const int64_t step = (images.end - images.begin) * pitch;
    for (int64_t n = images.begin; n < images.end; n++, dst += pitch) {
        const conv_box box = {n, row, {0, from->q}, channel};
        conv_dz_fill(from, &box, dst, pitch, step);
    }
}

/* The taps of one axis that reach the image from (or, turned, to) position i: tap, tap + tap_step, ... */
typedef struct {
    int64_t count, tap, tap_step, at, at_step; /* the first meets pixel `at`, the next at + at_step */
} taps;

static taps taps_at(int64_t i, int64_t stride, int64_t pad, int64_t taps_of_filter, int64_t size)
{
    const span inside = taps_inside(i, stride, pad, taps_of_filter, size);
    return (taps){max64(0, inside.end - inside.begin), inside.begin, 1, i * stride - pad + inside.begin, 1};
}

static taps taps_turned(int64_t i, int64_t stride, int64_t pad, int64_t taps_of_filter, int64_t size)
{
    const int64_t at = min64(size - 1, (i + pad) / stride), tap = i + pad - at * stride;
    const int64_t count = tap < taps_of_filter ? min64(at, (taps_of_filter - 1 - tap) / stride) + 1 : 0;
    return (taps){count, tap, stride, at, -1};
}

void small_sweep_plan(small_sweep *s, scratch *room)
{
    const gr_geometry *g = &s->g;
    const int64_t pixels = s->turned ? g->p * g->q : g->h * g->w, rows = s->turned ? g->h : g->p;
    s->pitch = s->depth + APART;
    s->groups = conv_groups(g->n, pixels * s->pitch);
    s->pixels = scratch_take(room, s->groups.at_once * s->groups.most * pixels * s->pitch);
    s->splits = min64(rows, ceil_div(16, s->groups.at_once * ceil_div(s->channels, PANEL)));
}

static float *held_group(const small_sweep *s, int64_t group)
{
    return s->pixels + group * s->groups.most * s->from.p * s->from.q * s->pitch;
}

/* Chunk (group, row). */
static void interleave_chunk(void *arg, int64_t chunk)
{
    const small_sweep *s = arg;
    const int64_t group = chunk / s->from.p, row = chunk % s->from.p;
    const span images = part_of(s->groups.n, s->first + group, s->groups.count);
    float *dst = held_group(s, group) + row * s->from.q * (images.end - images.begin) * s->pitch;
    conv_interleave(&s->from, images, (span){row, row + 1}, (span){0, s->depth}, dst, s->pitch);
}

/* Adds the taps of filter row number `nth` of those in v to one pixel of a group of m images. */
static void add_taps(const small_sweep *s, tile t, taps v, taps u, int64_t nth, const float *group, int64_t m)
{
    const int64_t row = v.at + nth * v.at_step, r = v.tap + nth * v.tap_step;
    t.a = group + (row * s->from.q + u.at) * m * s->pitch;
    t.a_segment = u.at_step * m * s->pitch;
    t.b += (r * s->g.s + u.tap) * s->depth * PANEL;
    t.b_segment = u.tap_step * s->depth * PANEL;
    t.segments = v.count > 0 ? u.count : 0;
    t.accumulate = s->accumulate || nth > 0;
    t.bias = nth == 0 ? t.bias : NULL;
    t.relu = s->relu && nth + 1 >= v.count;
    tile_rows(&t, m);
}

/* Chunk (panel, group, split of the output rows). Filter row by filter row, so that these filters stay in the cache. */
static void sweep_chunk(void *arg, int64_t chunk)
{
    const small_sweep *s = arg;
    const gr_geometry *g = &s->g;
    const int64_t panel = chunk / (s->held * s->splits), group = chunk / s->splits % s->held;
    const int64_t high = s->turned ? g->h : g->p, wide = s->turned ? g->w : g->q;
    const span images = part_of(s->groups.n, s->first + group, s->groups.count);
    const span rows = part_of(high, chunk % s->splits, s->splits);
    const tile t = {.a_row = s->pitch,
                    .a_step = 1,
                    .b = s->w + panel * g->r * g->s * s->depth * PANEL,
                    .b_step = PANEL,
                    .depth = s->depth,
                    .c_row = high * wide * s->channels,
                    .alpha = 1,
                    .width = min64(PANEL, s->channels - panel * PANEL),
                    .bias = s->bias ? s->bias + panel * PANEL : NULL};
    for (int64_t nth = 0; nth < g->r; nth++)
        for (int64_t i = rows.begin; i < rows.end; i++) {
            const taps v = (s->turned ? taps_turned : taps_at)(i, g->stride_h, g->pad_top, g->r, s->from.p);
            for (int64_t j = 0; j < wide && nth < max64(1, v.count); j++) {
                tile at = t;
                at.c = s->out + ((images.begin * high + i) * wide + j) * s->channels + panel * PANEL;
                add_taps(s, at, v, (s->turned ? taps_turned : taps_at)(j, g->stride_w, g->pad_left, g->s, s->from.q),
                         nth, held_group(s, group), images.end - images.begin);
            }
        }
}

void small_sweep_run(const gr_exec *exec, small_sweep *s)
{
    const int64_t panels = ceil_div(s->channels, PANEL);
    for (s->first = 0; s->first < s->groups.count; s->first += s->groups.at_once) {
        s->held = min64(s->groups.at_once, s->groups.count - s->first);
        gr_parallel_for(exec, s->held * s->from.p, interleave_chunk, s);
        gr_parallel_for(exec, panels * s->held * s->splits, sweep_chunk, s);
    }
}
