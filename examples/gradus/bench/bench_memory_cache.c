/*
 * bench_memory_cache.c - a caching allocator by the rules of PyTorch's (c10/cuda/CUDACachingAllocator.cpp, without its
 * options): what is given back is kept; the smallest free block that is large enough is taken, and cut if much would be
 * left over; free neighbours become one block. Up to 1 MiB and beyond come from pieces of their own, so that small
 * tensors do not cut up what large ones need.
 */
#include <stdlib.h>

#include "bench/bench_memory_methods.h"

/* Bytes; PyTorch's names for them. */
static const size_t kMinBlockSize = 512, kSmallSize = 1 << 20, kSmallBuffer = 2 << 20, kMinLargeAlloc = 10 << 20,
                    kLargeBuffer = 20 << 20, kRoundLarge = 2 << 20;

static size_t rounded(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* Bytes that are asked of the system for a block of size. */
static size_t piece_for(size_t size)
{
    return size <= kSmallSize ? kSmallBuffer : size < kMinLargeAlloc ? kLargeBuffer : rounded(size, kRoundLarge);
}

static memory_block *best_fit(const memory_lender *l, size_t size, bool small)
{
    memory_block *best = NULL;
    for (memory_block *b = l->blocks; b; b = b->next)
        if (!b->taken && b->small == small && b->size >= size && (!best || b->size < best->size))
            best = b;
    return best;
}

/* Leaves the end of a block that is larger than it need be as a free one; no memory for that: all is taken. */
static void cut(memory_block *b, size_t size)
{
    const size_t rest = b->size - size;
    memory_block *end = (b->small ? rest >= kMinBlockSize : rest > kSmallSize) ? calloc(1, sizeof *end) : NULL;
    if (!end)
        return;
    *end = (memory_block){.next = b->next, .at = b->at + size, .size = rest, .small = b->small};
    b->next = end;
    b->size = size;
}

void *memory_cache_take(void *lender, size_t bytes)
{
    memory_lender *l = lender;
    const size_t size = rounded(bytes, kMinBlockSize);
    const bool small = size <= kSmallSize;
    memory_block *b = best_fit(l, size, small);
    l->asked++;
    if (!b)
        b = memory_piece(l, &l->blocks, piece_for(size));
    if (!b)
        return NULL;
    b->small = small;
    b->taken = true;
    cut(b, size);
    return b->at;
}

/* Makes b and the block behind it one, where both are free parts of one piece. */
static void join(memory_block *b)
{
    memory_block *next = b->next;
    if (b->taken || !next || next->taken || next->piece)
        return;
    b->size += next->size;
    b->next = next->next;
    free(next);
}

void memory_cache_give(void *lender, void *p, size_t bytes)
{
    memory_lender *l = lender;
    memory_block *before = NULL, *b = l->blocks;
    (void)bytes;
    for (; b->at != p; b = b->next)
        before = b;
    b->taken = false;
    join(b);
    if (before)
        join(before);
}
