#include "stored.h"

enum { WORD = 4, BITS = 64 };

int64_t stored_bytes(int64_t shared)
{
    return (shared / WORD + BITS) / BITS * (int64_t)sizeof(uint64_t);
}

struct stored nothing_stored(void *zeros, int64_t shared)
{
    return (struct stored){.words = zeros, .count = shared / WORD};
}

void mark_stored(struct stored *stored, uint64_t address, int64_t bytes)
{
    if (!stored->words)
        return;
    int64_t first = (int64_t)address / WORD, behind = ((int64_t)address + bytes + WORD - 1) / WORD;
    for (int64_t i = first; i < behind && i < stored->count; i++)
        stored->words[i / BITS] |= 1ull << i % BITS;
}

int64_t send_stored(struct stored *stored, uint64_t address)
{
    int64_t first = (int64_t)address / WORD, i = first;
    for (; stored->words && i < stored->count && stored->words[i / BITS] >> i % BITS & 1; i++)
        stored->words[i / BITS] &= ~(1ull << i % BITS);
    stored->sent |= i > first;
    return (i - first) * WORD;
}
