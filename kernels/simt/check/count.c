/*
 * count.c - what a kernel asks of the memories, warp by warp.
 *
 * Threads run one after another, so a warp's request is put together afterwards: the k-th access from one place in the
 * source by each lane since the warp last synchronised. Where lanes diverge in a loop, that can join accesses which the
 * hardware makes one after another.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/check/check.h"

enum { BANKS = 32, BANK = 4, SECTOR = 32, SLOTS = 4096, OPEN = SLOTS / 2 };

/* A warp's k-th access from one place; or, with k = SEEN, how often each of its lanes came there. */
#define SEEN 0xFFFFFFFFu
typedef struct {
    uint32_t site, k, bytes;
    uint32_t lanes; /* those that came; 0: a free slot */
    bool shared;
    union {
        uintptr_t address[GR__SIMT_LANES];
        uint32_t times[GR__SIMT_LANES];
    };
} request;

/* A hash table. */
typedef struct {
    request slot[SLOTS];
    int open;
} requests;

/* What was counted for a place in the source of a kernel; site WHOLE: for the kernel. */
#define WHOLE 0xFFFFFFFFu
typedef struct {
    const char *kernel;
    uint32_t site;
    gr__simt_counters counted;
} part;

struct gr__simt_tally {
    gr__simt_counters sum;
    requests *of_warp[GR__SIMT_WARPS];
    part *part; /* a hash table of room places; kernel NULL: free */
    size_t parts, room;
};

static size_t place_of(const part *table, size_t room, const char *kernel, uint32_t site)
{
    size_t i = (site * 0x9E3779B1u ^ (uintptr_t)kernel * 0xC2B2AE35u) % room;
    while (table[i].kernel && (table[i].site != site || strcmp(table[i].kernel, kernel)))
        i = (i + 1) % room;
    return i;
}

static bool grow(struct gr__simt_tally *t)
{
    const size_t room = 2 * t->room + 256;
    part *more = calloc(room, sizeof *more);
    if (!more)
        return false;
    for (size_t i = 0; i < t->room; i++)
        if (t->part[i].kernel)
            more[place_of(more, room, t->part[i].kernel, t->part[i].site)] = t->part[i];
    free(t->part);
    t->part = more, t->room = room;
    return true;
}

/* The counters of a place in a kernel; without memory those that are thrown away. */
static gr__simt_counters *counters_of(struct gr__simt_tally *t, const char *kernel, uint32_t site)
{
    static __thread gr__simt_counters nowhere;
    if (2 * t->parts >= t->room && !grow(t))
        return &nowhere;
    part *p = &t->part[place_of(t->part, t->room, kernel, site)];
    t->parts += !p->kernel;
    p->kernel = kernel, p->site = site;
    return &p->counted;
}

static int distinct_words_of_bank(const uintptr_t *word, int words, unsigned bank)
{
    int distinct = 0;
    for (int i = 0; i < words; i++) {
        bool first = word[i] % BANKS == bank;
        for (int j = 0; first && j < i; j++)
            first = word[j] != word[i];
        distinct += first;
    }
    return distinct;
}

/* Turns that lanes first to end need: the most words that one bank has to give. */
static int turns(const request *r, int first, int end)
{
    uintptr_t word[GR__SIMT_LANES];
    int words = 0, most = 0;
    for (int lane = first; lane < end; lane++)
        for (uint32_t b = 0; (r->lanes >> lane & 1) && b < r->bytes; b += BANK)
            word[words++] = (r->address[lane] + b) / BANK;
    for (unsigned bank = 0; bank < BANKS; bank++) {
        const int n = distinct_words_of_bank(word, words, bank);
        most = n > most ? n : most;
    }
    return most;
}

/* Accesses of 8 and 16 bytes are made by half and quarter warps. */
static void count_shared(gr__simt_counters *sum, const request *r)
{
    const int parts = r->bytes <= 4 ? 1 : r->bytes <= 8 ? 2 : 4, lanes = GR__SIMT_LANES / parts;
    sum->shared_requests++;
    for (int p = 0; p < parts; p++) {
        const int n = turns(r, p * lanes, (p + 1) * lanes);
        sum->bank_conflicts += (uint64_t)(n > 1 ? n - 1 : 0);
    }
}

static void count_global(gr__simt_counters *sum, const request *r)
{
    uintptr_t sector[2 * GR__SIMT_LANES];
    int sectors = 0;
    for (int lane = 0; lane < GR__SIMT_LANES; lane++) {
        if (!(r->lanes >> lane & 1))
            continue;
        const uintptr_t last = (r->address[lane] + r->bytes - 1) / SECTOR;
        for (uintptr_t s = r->address[lane] / SECTOR; s <= last; s++) {
            int i = 0;
            while (i < sectors && sector[i] != s)
                i++;
            sector[i] = s;
            sectors += i == sectors;
        }
    }
    sum->global_requests++;
    sum->global_sectors += (uint64_t)sectors;
}

static void add(gr__simt_counters *to, const gr__simt_counters *c)
{
    to->shared_requests += c->shared_requests, to->bank_conflicts += c->bank_conflicts;
    to->global_requests += c->global_requests, to->global_sectors += c->global_sectors;
    to->lanes += c->lanes;
}

/* A request for the sum, its kernel and its line. */
static void count(struct gr__simt_tally *t, const char *kernel, const request *r)
{
    gr__simt_counters one = {0};
    (r->shared ? count_shared : count_global)(&one, r);
    one.lanes = (uint64_t)__builtin_popcount(r->lanes);
    add(&t->sum, &one);
    add(counters_of(t, kernel, WHOLE), &one);
    add(counters_of(t, kernel, r->site), &one);
}

/* Counts what was put together and begins anew. */
static void flush(struct gr__simt_tally *t, const char *kernel, requests *r)
{
    for (int i = 0; i < SLOTS && r->open; i++) {
        if (r->slot[i].lanes && r->slot[i].k != SEEN)
            count(t, kernel, &r->slot[i]);
        r->slot[i].lanes = 0;
    }
    r->open = 0;
}

void gr__simt_count_flush(gr__simt_machine *m, unsigned warps)
{
    struct gr__simt_tally *t = m->tally;
    for (int w = 0; t && w < GR__SIMT_WARPS; w++)
        if ((warps >> w & 1) && t->of_warp[w])
            flush(t, m->counted_kernel, t->of_warp[w]);
}

static request *find(requests *r, uint32_t site, uint32_t k)
{
    size_t i = (site * 0x9E3779B1u ^ k * 0xC2B2AE35u) >> 12;
    for (;; i++) {
        request *q = &r->slot[i % SLOTS];
        if (!q->lanes)
            *q = (request){.site = site, .k = k}, r->open++;
        if (q->site == site && q->k == k)
            return q;
    }
}

void gr__simt_count_access(gr__simt_machine *m, const gr__simt_access *a, bool shared)
{
    struct gr__simt_tally *t = m->tally;
    const int warp = a->by->warp, lane = a->by->lane;
    if (!t->of_warp[warp])
        t->of_warp[warp] = calloc(1, sizeof *t->of_warp[warp]);
    if (!t->of_warp[warp] || t->of_warp[warp]->open > OPEN) {
        t->sum.uncounted++;
        return;
    }
    request *seen = find(t->of_warp[warp], a->site, SEEN);
    seen->lanes |= 1u << lane;
    request *q = find(t->of_warp[warp], a->site, seen->times[lane]++);
    q->lanes |= 1u << lane;
    q->shared = shared;
    q->bytes = (uint32_t)a->bytes;
    q->address[lane] = (uintptr_t)a->p;
}

/* --- for others --------------------------------------------------------------------------------------------------- */

bool gr__simt_count_begin(void)
{
    gr__simt_machine *m = gr__simt_here();
    if (!m)
        return false;
    gr__simt_count_close(m);
    m->tally = calloc(1, sizeof *m->tally);
    return m->tally;
}

void gr__simt_count_close(gr__simt_machine *m)
{
    for (int w = 0; m->tally && w < GR__SIMT_WARPS; w++)
        free(m->tally->of_warp[w]);
    if (m->tally)
        free(m->tally->part);
    free(m->tally);
    m->tally = NULL;
}

gr__simt_counters gr__simt_count_end(void)
{
    gr__simt_machine *m = gr__simt_now;
    gr__simt_counters sum = {0};
    if (m && m->tally) {
        gr__simt_count_flush(m, ~0u);
        sum = m->tally->sum;
        gr__simt_count_close(m);
    }
    return sum;
}

void gr__simt_count_lines(gr__simt_count_visit visit, void *data)
{
    gr__simt_machine *m = gr__simt_now;
    char text[512];
    if (!m || !m->tally)
        return;
    gr__simt_count_flush(m, ~0u);
    for (size_t i = 0; i < m->tally->room; i++) {
        const part *p = &m->tally->part[i];
        if (p->kernel)
            visit(p->kernel, p->site == WHOLE ? "" : gr__simt_site_text(m, p->site, text, sizeof text), &p->counted,
                  data);
    }
}

void gr__simt_count_launch(gr__simt_machine *m)
{
    const uint3 g = m->launch->grid, b = m->launch->block;
    if (!m->tally)
        return;
    gr__simt_count_flush(m, ~0u); /* for the kernel before */
    m->counted_kernel = m->launch->kernel;
    gr__simt_counters *const both[] = {&m->tally->sum, counters_of(m->tally, m->counted_kernel, WHOLE)};
    for (int i = 0; i < 2; i++) {
        both[i]->launches++;
        both[i]->threads += (uint64_t)g.x * g.y * g.z * b.x * b.y * b.z;
    }
}

void gr__simt_count_barrier(gr__simt_machine *m)
{
    if (!m->tally)
        return;
    m->tally->sum.barriers++;
    counters_of(m->tally, m->counted_kernel, WHOLE)->barriers++;
}
