/*
 * conv_small_grad_w.c - small images: dW and db, groups of images at a time.
 *
 *   dW[k,r,s,c] = sum over the pixels p, q that tap r, s reaches inside the image, and over n
 *
 * For each tap that is one product of matrices, [c x (pixel, image)] times [(pixel, image) x k]. The sum is long
 * although the images are small, so the tile goes to memory seldom. x is copied some channels at a time: what their
 * tiles read lies in one piece that stays in the first-level cache for all taps. What the taps' sums become of dW goes
 * out for several such parts together, in runs of cache lines (transpose.c).
 */
#include "kernels/cpu/conv_small.h"
#include "kernels/cpu/tile.h"

enum {
    PART = 16,     /* channels that are copied together */
    TOGETHER = 4,  /* parts at most whose dW goes out together */
    TAPS = 9,      /* that are summed for these before they do: as many as there mostly are */
    FEW_IMAGES = 2 /* from which there is something to join */
};

bool conv_small_grad_w_fits(const gr_geometry *g, int64_t k)
{
    return g->n >= FEW_IMAGES && conv_images_are_small(g, k);
}

static span part_channels(const small_grad_w *f, int64_t part)
{
    return (span){part * PART, min64(f->g.c, (part + 1) * PART)};
}

void small_grad_w_plan(small_grad_w *f, scratch *room)
{
    const gr_geometry *g = &f->g;
    f->panels = ceil_div(f->dw.k, PANEL);
    f->parts = ceil_div(g->c, PART);
    f->together = max64(1, min64(TOGETHER, f->panels * f->parts / CONV_CHUNKS));
    f->row_places = round_up(g->w, g->stride_w);
    f->groups = conv_groups(g->n, f->parts * PART * g->h * f->row_places + f->panels * PANEL * g->p * g->q);
    f->x_floats = f->groups.most * g->h * f->row_places * PART;
    f->dz_floats = f->groups.most * g->p * g->q * PANEL;
    f->x_parts = scratch_take(room, f->groups.at_once * f->parts * f->x_floats);
    f->dz_panels = scratch_take(room, f->groups.at_once * f->panels * f->dz_floats);
    f->sums = f->groups.at_once == f->groups.count
                  ? NULL
                  : scratch_take(room, f->panels * round_up(f->parts, f->together) * g->r * g->s * PART * PANEL);
}

/*
 * Where pixel w of a row of x stands in its copy: first those at multiples of the stride, then those one further, and
 * so on. So the pixels that a tap meets one after the other stand side by side, as their dz do.
 */
static int64_t place_of(const small_grad_w *f, int64_t w)
{
    const int64_t stride = f->g.stride_w;
    return w % stride * (f->row_places / stride) + w / stride;
}

static void interleave_x(const small_grad_w *f, span images, span channel, float *dst)
{
    const gr_geometry *g = &f->g;
    const int64_t m = images.end - images.begin, width = channel.end - channel.begin;
    for (int64_t i = 0; i < m * g->h; i++) {
        const int64_t n = i / g->h, row = i % g->h;
        const float *x = f->x + ((images.begin + n) * g->h + row) * g->w * g->c + channel.begin;
        for (int64_t w = 0; w < g->w; w++) {
            float *to = dst + ((row * f->row_places + place_of(f, w)) * m + n) * PART;
            for (int64_t c = 0; c < width; c += VL)
                vec_store_n(to + c, vec_load_n(x + w * g->c + c, min64(VL, width - c)), min64(VL, width - c));
        }
    }
}

static void interleave_dz(const small_grad_w *f, span images, int64_t panel, float *dst)
{
    const span k = {panel * PANEL, min64(f->dw.k, (panel + 1) * PANEL)};
    conv_interleave(&f->dz, images, (span){0, f->g.p}, k, dst, PANEL);
}

/* Chunk (group, part of x or panel of dz). */
static void interleave_chunk(void *arg, int64_t chunk)
{
    const small_grad_w *f = arg;
    const int64_t group = chunk / (f->parts + f->panels), i = chunk % (f->parts + f->panels), panel = i - f->parts;
    const span images = part_of(f->groups.n, f->first + group, f->groups.count);
    if (panel < 0)
        interleave_x(f, images, part_channels(f, i), f->x_parts + (group * f->parts + i) * f->x_floats);
    else
        interleave_dz(f, images, panel, f->dz_panels + (group * f->panels + panel) * f->dz_floats);
}

/* Output pixels of one axis whose tap lies in the image. */
static span pixels_reached(int64_t tap, int64_t stride, int64_t pad, int64_t pixels, int64_t size)
{
    const int64_t begin = max64(0, ceil_div(pad - tap, stride)), end = floor_div(size - 1 + pad - tap, stride) + 1;
    return (span){begin, max64(begin, min64(pixels, end))};
}

/* One tap of a group of m images: adds to sums[channel][PANEL]. */
static void add_tap(const small_grad_w *f, int64_t r, int64_t s, const float *x, const float *dz, int64_t m,
                    int64_t channels, float *sums)
{
    const gr_geometry *g = &f->g;
    const span p = pixels_reached(r, g->stride_h, g->pad_top, g->p, g->h);
    const span q = pixels_reached(s, g->stride_w, g->pad_left, g->q, g->w);
    const int64_t row = p.begin * g->stride_h + r - g->pad_top, col = q.begin * g->stride_w + s - g->pad_left;
    const tile t = {.a = x + (row * f->row_places + place_of(f, max64(0, col))) * m * PART,
                    .a_row = 1,
                    .a_step = PART,
                    .a_segment = g->stride_h * f->row_places * m * PART,
                    .b = dz + (p.begin * g->q + q.begin) * m * PANEL,
                    .b_step = PANEL,
                    .b_segment = g->q * m * PANEL,
                    .depth = (q.end - q.begin) * m,
                    .segments = p.end - p.begin,
                    .c = sums,
                    .c_row = PANEL,
                    .width = PANEL,
                    .alpha = 1,
                    .accumulate = true};
    if (t.depth > 0 && t.segments > 0)
        tile_rows(&t, channels);
}

/* One tap of the groups held, of a panel of filters and a part of the channels: sums[PART][PANEL] so far. */
static void sum_tap(const small_grad_w *f, int64_t panel, int64_t part, int64_t tap, float *sums)
{
    const span c = part_channels(f, part);
    if (f->first == 0)
        memset(sums, 0, PART * PANEL * sizeof *sums);
    for (int64_t group = 0; group < f->held; group++) {
        const span images = part_of(f->groups.n, f->first + group, f->groups.count);
        add_tap(f, tap / f->g.s, tap % f->g.s, f->x_parts + (group * f->parts + part) * f->x_floats,
                f->dz_panels + (group * f->panels + panel) * f->dz_floats, images.end - images.begin, c.end - c.begin,
                sums);
    }
}

/* Some taps of a panel of filters and of parts that go out together: sums[tap][channel][PANEL]. */
static void sum_taps(const small_grad_w *f, int64_t panel, span parts, span taps, float *sums)
{
    const int64_t step = f->together * PART * PANEL;
    for (int64_t part = parts.begin; part < parts.end; part++)
        for (int64_t tap = taps.begin; tap < taps.end; tap++)
            sum_tap(f, panel, part, tap, sums + (tap - taps.begin) * step + (part - parts.begin) * PART * PANEL);
    if (f->first + f->held < f->groups.count)
        return;
    const int64_t c = parts.begin * PART, count = min64(f->g.c, parts.end * PART) - c;
    for (int64_t tap = taps.begin; tap < taps.end; tap++)
        conv_give(&f->dw, panel, tap * f->g.c + c, count, sums + (tap - taps.begin) * step);
}

/* Chunk (panel, parts that go out together): dW of these. */
static void part_chunk(const small_grad_w *f, int64_t chunk)
{
    float here[TAPS * TOGETHER * PART * PANEL] __attribute__((aligned(64)));
    const int64_t blocks = ceil_div(f->parts, f->together), part = chunk % blocks * f->together, taps = f->g.r * f->g.s;
    const span parts = {part, min64(f->parts, part + f->together)};
    for (int64_t tap = 0; tap < taps; tap += TAPS)
        sum_taps(f, chunk / blocks, parts, (span){tap, min64(taps, tap + TAPS)},
                 f->sums ? f->sums + (chunk * taps + tap) * f->together * PART * PANEL : here);
}

/* A panel of db. */
static void sum_bias(const small_grad_w *f, int64_t panel)
{
    float *sums = f->db + panel * PANEL;
    if (f->first == 0)
        memset(sums, 0, PANEL * sizeof *sums);
    for (int64_t group = 0; group < f->held; group++) {
        const span images = part_of(f->groups.n, f->first + group, f->groups.count);
        conv_add_rows(f->dz_panels + (group * f->panels + panel) * f->dz_floats,
                      f->g.p * f->g.q * (images.end - images.begin), sums);
    }
}

/* Chunks of dW, if it is wanted. */
static int64_t dw_chunks(const small_grad_w *f)
{
    return f->dw.dw ? f->panels * ceil_div(f->parts, f->together) : 0;
}

/* Chunks of dW, then, beside the last of them, the much shorter ones of db. */
static void sum_chunk(void *arg, int64_t chunk)
{
    const small_grad_w *f = arg;
    if (chunk < dw_chunks(f))
        part_chunk(f, chunk);
    else
        sum_bias(f, chunk - dw_chunks(f));
}

void small_grad_w_run(const gr_exec *exec, small_grad_w *f)
{
    for (f->first = 0; f->first < f->groups.count; f->first += f->groups.at_once) {
        f->held = min64(f->groups.at_once, f->groups.count - f->first);
        gr_parallel_for(exec, f->held * (f->parts + f->panels), interleave_chunk, f);
        gr_parallel_for(exec, dw_chunks(f) + (f->db ? f->panels : 0), sum_chunk, f);
    }
}
