/*
 * wgmma.c - wgmma.mma_async: products of operands in shared memory, m64nNk16, each warp of four making 16 rows. They
 * are made as late as the rules allow, at the wait (in random order at any time before); until then the sums are NaN,
 * so that a kernel that looks at them too early has a wrong result. Operands: PTX ISA, 9.7.15.5.1.2, "Shared
 * Memory Matrix Layout"; sums: 9.7.15.5.1.1, figure of D. How products are added is told in tensor_core.c.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/async.h"
#include "kernels/simt/half.h"
#include "kernels/simt/tensor_core.h"

enum { MOST = 128 /* columns */, K = 16, SUMS = MOST / 2 /* of a lane */, GROUP = 4 /* warps */, CAPABILITY = 90 };
enum { SETS = 4, PRODUCTS = 256 };
#define NOBODYS 0xFFBFFFFFu /* a signalling NaN: whatever is made of it has other bits */

/* Sums of a warp, known by the address of its first lane's. */
typedef struct {
    float *d[GR__SIMT_LANES];
    float value[GR__SIMT_LANES][SUMS]; /* as the last fence, or the last product, left them */
    int sums;                          /* so many of them, half as many as columns */
    int pending;                       /* products under way */
} set;

typedef struct {
    uint64_t a, b;
    int major_a, major_b, set, group;
    bool bf16, made;
    const char *file;
    int line;
} product;

/* Of a warp. */
struct gr__simt_warp_products {
    uint64_t block; /* valid in this one */
    set set[SETS];
    int sets;
    product product[PRODUCTS]; /* the oldest first */
    int products, groups;      /* under way; closed so far */
    uint64_t count, operands;  /* begun so far, and a sum of their operands: alike in all warps of a group */
    const char *file;          /* of the last of them */
    int line;
};

uint32_t gr__simt_shared_address(const void *p)
{
    const gr__simt_machine *m = gr__simt_now;
    return gr__simt_in_shared(m, p) ? (uint32_t)((const char *)p - m->shared.memory) : 0;
}

static struct gr__simt_warp_products *of_warp(gr__simt_machine *m, int warp)
{
    struct gr__simt_async *a = gr__simt_async_here(m);
    struct gr__simt_warp_products *w = a->products[warp];
    if (!w)
        w = a->products[warp] = calloc(1, sizeof *w);
    if (!w)
        gr__simt_report(m, "out of memory: products under way");
    else if (w->block != m->block)
        w->block = m->block, w->sets = w->products = w->groups = 0, w->count = w->operands = 0;
    return w;
}

/* --- operands ----------------------------------------------------------------------------------------------------- */

/* Bits of the descriptor: 0 start, 16 leading, 32 stride (each in 16 bytes), 49 base offset, 62 swizzle. */
static size_t field(uint64_t descriptor, int bit)
{
    return (size_t)(descriptor >> bit & 0x3FFF) << 4;
}

static int swizzle_bits(uint64_t descriptor)
{
    static const int bits[] = {0, 3, 2, 1};
    return bits[descriptor >> 62];
}

/*
 * Where a piece of 8 halves of the operand begins, from the start of shared memory. K-major: of row (or column) line,
 * piece 0 or 1 of depth; MN-major: of depth line, piece of rows. What is swizzled is the whole address, as TMA does it:
 * so an operand may begin at any row of a pattern.
 */
static size_t place_of(uint64_t descriptor, int major, size_t line, size_t piece)
{
    const size_t leading = field(descriptor, 16), stride = field(descriptor, 32);
    const int bits = swizzle_bits(descriptor);
    const size_t across = (size_t)1 << bits; /* pieces of a row of an atom */
    size_t offset = line % 8 * across * 16;
    if (bits) /* K-major: a piece never leaves its atom */
        offset += line / 8 * stride + (major ? piece % across * 16 + piece / across * leading : piece * 16);
    else
        offset += major ? line / 8 * leading + piece * stride : line / 8 * stride + piece * leading;
    return gr__simt_swizzled(field(descriptor, 0) + offset, bits);
}

/* lines x pieces of an operand: as many rows (or columns) as extent. */
static void extents(int major, int extent, size_t *lines, size_t *pieces)
{
    *lines = (size_t)(major ? K : extent), *pieces = (size_t)(major ? extent / 8 : K / 8);
}

/* Element (i, k) of the operand, for i from first on. */
static void gather(const gr__simt_machine *m, uint64_t descriptor, int major, bool bf16, int first, int extent,
                   float *to)
{
    for (int i = 0; i < extent; i++)
        for (int k = 0; k < K; k++) {
            const int line = major ? k : first + i, along = major ? first + i : k;
            uint16_t half;
            memcpy(&half,
                   m->shared.memory + place_of(descriptor, major, (size_t)line, (size_t)along / 8) + along % 8 * 2,
                   sizeof half);
            to[i * K + k] = bf16 ? gr__bf16_to_float(half) : gr__half_to_float(half);
        }
}

static void check_operand(gr__simt_machine *m, const char *name, uint64_t descriptor, int major, int first, int extent,
                          uint64_t number, const gr__simt_gathering *g)
{
    const char *file = gr__simt_short(g->file);
    size_t lines, pieces;
    if (descriptor >> 49 & 7)
        gr__simt_report(m, "wgmma: %s at %s:%d has a base offset, which is not emulated", name, file, g->line);
    extents(major, extent, &lines, &pieces);
    for (size_t l = 0; l < lines; l++)
        for (size_t p = 0; p < pieces; p++) {
            const size_t at =
                place_of(descriptor, major, l + (size_t)(major ? 0 : first), p + (size_t)(major ? first / 8 : 0));
            if (at >= GR__SIMT_ARENA || !m->shared.owner[at / 16])
                gr__simt_report(m, "out of bounds: wgmma at %s:%d reads %s outside of every variable in shared memory",
                                file, g->line, name);
            gr__simt_shadow_product_reads(m, number, m->shared.memory + at, 16, g->file, g->line);
        }
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

/* The set of these lanes' sums; NULL: not known. */
static set *find_set(struct gr__simt_warp_products *w, const gr__simt_thread *lane)
{
    const float *first = ((const gr__simt_wgmma *)lane[0].argument)->d;
    for (int i = 0; i < w->sets; i++)
        if (w->set[i].d[0] == first)
            return &w->set[i];
    return NULL;
}

static size_t bytes_of(const set *s)
{
    return (size_t)s->sums * sizeof s->value[0][0];
}

static void do_fence(gr__simt_machine *m, struct gr__simt_warp_products *w, const gr__simt_thread *lane)
{
    set *s = find_set(w, lane);
    if (!s && w->sets < SETS)
        s = &w->set[w->sets++], s->pending = 0;
    for (int i = 0; !s && i < w->sets; i++)
        s = w->set[i].pending ? NULL : &w->set[i];
    if (!s)
        gr__simt_report(m, "wgmma: more sums under way than the emulator has room for");
    for (int l = 0; l < GR__SIMT_LANES && !s->pending; l++) {
        const gr__simt_wgmma *x = lane[l].argument;
        s->d[l] = x->d, s->sums = x->columns / 2;
        memcpy(s->value[l], s->d[l], bytes_of(s));
    }
}

/* Whether the lanes' registers are as the set knows them, or all those that nobody may touch. */
static bool untouched(const set *s)
{
    uint32_t bits[SUMS];
    for (int i = 0; i < SUMS; i++)
        bits[i] = NOBODYS;
    for (int l = 0; l < GR__SIMT_LANES; l++)
        if (memcmp(s->d[l], s->pending ? (const void *)bits : s->value[l], bytes_of(s)))
            return false;
    return true;
}

static void make(gr__simt_machine *m, struct gr__simt_warp_products *w, product *p, int rows_from)
{
    float(*value)[SUMS] = w->set[p->set].value;
    const int columns = 2 * w->set[p->set].sums;
    gr__simt_factors f;
    float b[MOST][K], sum[GR__TENSOR_M][GR__TENSOR_N];
    gather(m, p->a, p->major_a, p->bf16, rows_from, GR__TENSOR_M, &f.a[0][0]);
    gather(m, p->b, p->major_b, p->bf16, 0, columns, &b[0][0]);
    for (int j = 0; j < columns / 8; j++) {
        for (int k = 0; k < K; k++)
            for (int x = 0; x < 8; x++)
                f.b[k][x] = b[8 * j + x][k];
        for (int i = 0; i < 2 * GR__SIMT_LANES * 2; i++) { /* lane i / 4, its sum i % 4 of these columns */
            const int l = i / 4, r = i % 4;
            sum[l / 4 + 8 * (r / 2)][l % 4 * 2 + r % 2] = value[l][4 * j + r];
        }
        gr__simt_tensor_core(sum, &f, p->bf16 ? GR__SIMT_MMA_BF16 : GR__SIMT_MMA_F16, CAPABILITY);
        for (int i = 0; i < 2 * GR__SIMT_LANES * 2; i++) {
            const int l = i / 4, r = i % 4;
            value[l][4 * j + r] = sum[l / 4 + 8 * (r / 2)][l % 4 * 2 + r % 2];
        }
    }
    p->made = true;
}

/* --- the collectives ---------------------------------------------------------------------------------------------- */

static void do_product(gr__simt_machine *m, struct gr__simt_warp_products *w, const gr__simt_thread *lane,
                       const gr__simt_gathering *g)
{
    const gr__simt_wgmma *first = lane[0].argument;
    const char *file = gr__simt_short(g->file);
    const int warp = lane[0].warp, rows_from = warp % GROUP * 16;
    set *s = find_set(w, lane);
    for (int l = 1; l < GR__SIMT_LANES; l++) {
        const gr__simt_wgmma *x = lane[l].argument;
        if (x->a != first->a || x->b != first->b)
            gr__simt_report(m, "wgmma: lanes 0 and %d name other operands at %s:%d", l, file, g->line);
    }
    if (!s || !untouched(s))
        gr__simt_report(m,
                        s && s->pending
                            ? "missing wait: the sums of wgmma at %s:%d were changed while products are under way"
                            : "missing fence: no wgmma.fence between what was done to the sums and wgmma at %s:%d",
                        file, g->line);
    if (w->products == PRODUCTS)
        gr__simt_report(m, "wgmma: %s:%d is one more than the emulator has room for", file, g->line);
    check_operand(m, "a", first->a, first->major_a, rows_from, 16, w->count + 1, g);
    check_operand(m, "b", first->b, first->major_b, 0, first->columns, w->count + 1, g);
    w->product[w->products++] = (product){first->a,  first->b,    first->major_a, first->major_b, (int)(s - w->set),
                                          w->groups, first->bf16, false,          g->file,        g->line};
    w->count++, w->file = g->file, w->line = g->line;
    w->operands = (w->operands + first->a) * 0x9E3779B97F4A7C15 + first->b;
    const uint32_t nobodys = NOBODYS;
    s->pending++;
    for (int l = 0; l < GR__SIMT_LANES; l++)
        for (int i = 0; i < s->sums; i++)
            memcpy(&s->d[l][i], &nobodys, sizeof nobodys);
    const bool now = m->order == GR__SIMT_RANDOM && gr__simt_random(m) % 2;
    for (int i = 0; now && i < w->products; i++)
        if (!w->product[i].made)
            make(m, w, &w->product[i], rows_from);
}

/* A product has come: with the last one of its sums they are the lanes' again. */
static void finish(gr__simt_machine *m, struct gr__simt_warp_products *w, product *p, int rows_from)
{
    set *s = &w->set[p->set];
    if (!p->made)
        make(m, w, p, rows_from);
    if (!untouched(s))
        gr__simt_report(m, "missing wait: the sums of wgmma at %s:%d were changed before wgmma.wait_group",
                        gr__simt_short(p->file), p->line);
    if (--s->pending)
        return;
    for (int l = 0; l < GR__SIMT_LANES; l++)
        memcpy(s->d[l], s->value[l], bytes_of(s));
}

static void do_wait(gr__simt_machine *m, struct gr__simt_warp_products *w, const gr__simt_thread *lane)
{
    const int pending = ((const gr__simt_wgmma *)lane[0].argument)->pending;
    int done = 0;
    while (done < w->products && w->product[done].group < w->groups - pending)
        finish(m, w, &w->product[done++], lane[0].warp % GROUP * 16);
    w->products -= done;
    memmove(w->product, w->product + done, (size_t)w->products * sizeof *w->product);
    gr__simt_shadow_products_end(m, lane[0].warp, w->count - (uint64_t)w->products);
}

void gr__simt_do_wgmma(gr__simt_machine *m, const gr__simt_thread *lane, const gr__simt_gathering *g)
{
    struct gr__simt_warp_products *w = of_warp(m, lane[0].warp);
    if (lane[0].number / (GROUP * GR__SIMT_LANES) >= m->threads / (GROUP * GR__SIMT_LANES))
        gr__simt_report(m, "wgmma: warp %d at %s:%d is none of four whole warps", lane[0].warp, gr__simt_short(g->file),
                        g->line);
    switch (g->op) {
    case GR__SIMT_WGMMA_FENCE:
        do_fence(m, w, lane);
        break;
    case GR__SIMT_WGMMA:
        do_product(m, w, lane, g);
        break;
    case GR__SIMT_WGMMA_COMMIT:
        w->groups++;
        break;
    default:
        do_wait(m, w, lane);
    }
}

/* --- at the end --------------------------------------------------------------------------------------------------- */

static const struct gr__simt_warp_products *made_by(const gr__simt_machine *m, int warp)
{
    const struct gr__simt_warp_products *w = m->async ? m->async->products[warp] : NULL;
    return w && w->block == m->block ? w : NULL;
}

void gr__simt_wgmma_at_exit(gr__simt_machine *m, const gr__simt_thread *t)
{
    const struct gr__simt_warp_products *w = made_by(m, t->warp);
    if (!w || !w->products)
        return;
    const product *p = &w->product[0];
    gr__simt_report(m, "missing %s: exits with %d wgmma under way, the first from %s:%d",
                    p->group == w->groups ? "commit" : "wait", w->products, gr__simt_short(p->file), p->line);
}

/* The four warps of a group must have begun the same products. */
void gr__simt_wgmma_at_end(gr__simt_machine *m)
{
    for (int warp = 0; warp < m->warps; warp++) {
        const struct gr__simt_warp_products *w = made_by(m, warp), *first = made_by(m, warp / GROUP * GROUP);
        const uint64_t count = w ? w->count : 0, wanted = first ? first->count : 0;
        if (count != wanted || (w && first && w->operands != first->operands))
            gr__simt_report(m,
                            "wgmma: of four warps, from thread %d on, warp %d has made %llu products, warp %d %llu%s; "
                            "the last at %s:%d",
                            warp / GROUP * GROUP * GR__SIMT_LANES, warp / GROUP * GROUP, (unsigned long long)wanted,
                            warp, (unsigned long long)count, count == wanted ? " of other operands" : "",
                            gr__simt_short((count ? w : first)->file), (count ? w : first)->line);
    }
}

void gr__simt_async_close(gr__simt_machine *m)
{
    for (int i = 0; m->async && i < GR__SIMT_WARPS; i++)
        free(m->async->products[i]);
    free(m->async);
    m->async = NULL;
}
