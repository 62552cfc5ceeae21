/*
 * arena.h - memory of one step: an offset allocator over a few big chunks of device memory.
 *
 * Blocks are placed first-fit, so offsets are a pure function of the sequence of takes and gives. A dry run makes the
 * same sequence over one endless chunk that has no memory behind it; the high-water mark it leaves is exactly what the
 * real step needs, and the real step's blocks get the same offsets every time.
 */
#ifndef GRADUS_ARENA_H
#define GRADUS_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GR__ALIGN = 256 }; /* bytes: a cache line pair, a CUDA transaction group */

/* A piece of the arena. size 0 means none. */
typedef struct {
    int32_t chunk;
    int64_t offset, size; /* bytes, multiples of GR__ALIGN */
} gr_block;

typedef struct gr_arena gr_arena;

gr_arena *gr__arena_new(void);    /* NULL: the host is out of memory */
void gr__arena_free(gr_arena *a); /* forgets the chunks; their memory belongs to the caller */

/* Adds a chunk of size bytes at base (NULL while planning). False: the host is out of memory. */
bool gr__arena_add(gr_arena *a, void *base, int64_t size);
int gr__arena_chunks(const gr_arena *a);
void *gr__arena_base(const gr_arena *a, int chunk);
int64_t gr__arena_chunk_size(const gr_arena *a, int chunk);

/*
 * Takes bytes (rounded up to GR__ALIGN). Returns false when no chunk has a gap that large, with nothing changed, or
 * when the host is out of memory for the bookkeeping.
 */
bool gr__arena_take(gr_arena *a, size_t bytes, gr_block *block);
void gr__arena_give(gr_arena *a, const gr_block *block);
void *gr__arena_address(const gr_arena *a, const gr_block *block);

/* Everything is free again; chunks stay. */
void gr__arena_reset(gr_arena *a);

/* All chunks are forgotten. */
void gr__arena_drop(gr_arena *a);

int64_t gr__arena_peak(const gr_arena *a); /* most bytes spanned since gr__arena_reset_peak, summed over chunks */
void gr__arena_reset_peak(gr_arena *a);

#endif
