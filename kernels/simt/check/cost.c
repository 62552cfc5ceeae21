/* cost.c - what the memories make of one request: turns for the banks of shared memory, sectors of global memory. */
#include "kernels/simt/check/requests.h"

enum { BANKS = 32, BANK = 4, SECTOR = 32 };

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
static int turns(const gr__simt_request *r, int first, int end)
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
static void count_shared(gr__simt_counters *c, const gr__simt_request *r)
{
    const int parts = r->bytes <= 4 ? 1 : r->bytes <= 8 ? 2 : 4, lanes = GR__SIMT_LANES / parts;
    c->shared_requests = 1;
    for (int p = 0; p < parts; p++) {
        const int n = turns(r, p * lanes, (p + 1) * lanes);
        c->bank_conflicts += (uint64_t)(n > 1 ? n - 1 : 0);
    }
}

static void count_global(gr__simt_counters *c, const gr__simt_request *r)
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
    c->global_requests = 1;
    c->global_sectors = (uint64_t)sectors;
}

gr__simt_counters gr__simt_request_cost(const gr__simt_request *r)
{
    gr__simt_counters c = {.lanes = (uint64_t)__builtin_popcount(r->lanes)};
    (r->shared ? count_shared : count_global)(&c, r);
    return c;
}
