/*
 * arena.h - memory of one step: an offset allocator over a few big chunks of device memory.
 *
 *          0      256           1024   1280          2048          size       offset, bytes
 *          +------+-------------+------+-------------+-------------+
 *   chunk  | x    | conv1       |      | relu1       |             |
 *          +------+-------------+------+-------------+-------------+
 *                                 gap                ^ peak, the high-water mark
 *
 *   used   (0,256) (256,768) (1280,768)       offset and size in order, kept on the host
 *
 * A block goes into the first gap that is large enough, so offsets are a pure function of the sequence of allocations
 * and frees. A dry run makes the same sequence over one endless chunk that has no memory behind it; the high-water mark
 * it leaves is exactly what the real step needs, and the real step's blocks get the same offsets every time:
 *
 *   gr_plan_begin   plan:  [ conv1 | relu1 | ...  endless, no memory ]   peak 2048
 *   gr_plan_end     arena: one chunk of 2048 bytes is taken from the device
 *   each step       arena: the same blocks at the same addresses; gr_step_end empties it
 *
 * A step without a plan takes a chunk for every block that fits nowhere; gr_step_end joins them into one.
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

gr_arena *gr__arena_create(void);    /* NULL: the host is out of memory */
void gr__arena_destroy(gr_arena *a); /* forgets the chunks; their memory belongs to the caller */

/* Adds a chunk of size bytes at base (NULL while planning). False: the host is out of memory. */
bool gr__arena_add_chunk(gr_arena *a, void *base, int64_t size);
int gr__arena_chunks(const gr_arena *a);
void *gr__arena_base(const gr_arena *a, int chunk);
int64_t gr__arena_chunk_size(const gr_arena *a, int chunk);

/*
 * Places bytes (rounded up to GR__ALIGN). Returns false when no chunk has a gap that large, with nothing changed, or
 * when the host is out of memory for the bookkeeping.
 */
bool gr__arena_alloc(gr_arena *a, size_t bytes, gr_block *block);
void gr__arena_free(gr_arena *a, const gr_block *block);
void *gr__arena_address(const gr_arena *a, const gr_block *block);

/* Everything is free again; chunks stay. */
void gr__arena_reset(gr_arena *a);

/* All chunks are forgotten. */
void gr__arena_drop_chunks(gr_arena *a);

int64_t gr__arena_peak(const gr_arena *a); /* most bytes spanned since gr__arena_reset_peak, summed over chunks */
void gr__arena_reset_peak(gr_arena *a);

int64_t gr__arena_take_most(gr_arena *a); /* the most bytes in blocks at a time since the last call */

#endif
