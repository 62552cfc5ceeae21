/*
 * count.c - what a kernel asks of the memories, warp by warp.
 *
 * Threads run one after another, so a warp's request is put together afterwards: the k-th access from one place in the
 * source by each lane since the warp last synchronised. Where lanes diverge in a loop, that can join accesses which the
 * hardware makes one after another.
 */
#include <stdlib.h>

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

struct gr__simt_tally {
    gr__simt_counters sum;
    requests *of_warp[GR__SIMT_WARPS];
};

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

/* Counts what was put together and begins anew. */
static void flush(gr__simt_counters *sum, requests *r)
{
    for (int i = 0; i < SLOTS && r->open; i++) {
        if (r->slot[i].lanes && r->slot[i].k != SEEN) {
            (r->slot[i].shared ? count_shared : count_global)(sum, &r->slot[i]);
            sum->lanes += (uint64_t)__builtin_popcount(r->slot[i].lanes);
        }
        r->slot[i].lanes = 0;
    }
    r->open = 0;
}

void gr__simt_count_flush(gr__simt_machine *m, unsigned warps)
{
    struct gr__simt_tally *t = m->tally;
    for (int w = 0; t && w < GR__SIMT_WARPS; w++)
        if ((warps >> w & 1) && t->of_warp[w])
            flush(&t->sum, t->of_warp[w]);
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

void gr__simt_count_launch(gr__simt_machine *m)
{
    const uint3 g = m->launch->grid, b = m->launch->block;
    if (!m->tally)
        return;
    m->tally->sum.launches++;
    m->tally->sum.threads += (uint64_t)g.x * g.y * g.z * b.x * b.y * b.z;
}

void gr__simt_count_barrier(gr__simt_machine *m)
{
    if (m->tally)
        m->tally->sum.barriers++;
}
