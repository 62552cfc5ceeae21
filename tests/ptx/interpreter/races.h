/*
 * races.h - who touched what, and whether anything put it in order.
 *
 * Every warp has a time, which goes on at barriers and at bar.warp.sync. An access is stamped with its launch, block,
 * thread and time. Another thread's access came before ours if its launch is another one, or if our warp knows of that
 * time of its warp: at a barrier all warps tell each other what they know. A shuffle orders no memory. Blocks of one
 * launch never know of each other. A word of memory keeps its last write and two last readers, by different warps.
 */
#ifndef GRADUS_PTX_RACES_H
#define GRADUS_PTX_RACES_H

#include <cstdint>

namespace ptx
{
struct warp;
struct block;
struct instruction;

/* Behind the warps stand the barriers in memory, for the tiles that they count: their time is the barrier's phase. */
enum { MAX_WARPS = 32, MBARRIERS = 16, ALL_WARPS = MAX_WARPS + MBARRIERS };

struct stamp {
    uint32_t run, block,
        time; /* run: the launch; in shared memory, which no other block sees, the block's own number */
    uint16_t thread;
    uint8_t bytes; /* of the word, a bit each */
    uint8_t kind;
};
enum { ORDINARY, ATOMIC, ON_ITS_WAY /* cp.async, not yet waited for */ };

/* Of four bytes, those of which written are, in run written_in. */
struct cell {
    stamp write, read, other;
    uint32_t written_in, written;
};

enum class access { READ, WRITE, ATOMIC };

/* One thread's access of size bytes, of which the first cell's begin at byte skip. Shared: must have been written. */
void watch(const warp &w, const instruction &i, unsigned lane, cell *cells, uint32_t skip, uint32_t size, access kind,
           bool shared);

/* cp.async: a write that is on its way, and its end. */
void watch_copy_begin(const warp &w, const instruction &i, unsigned lane, cell *cells, uint32_t size);
void watch_copy_end(const warp &w, unsigned lane, cell *cells, uint32_t size);

/* A tile that has come, in that phase of the barrier. */
void watch_tile_end(const block &b, cell *cells, uint32_t size, uint32_t barrier, uint32_t phase);
/* Whether a tile brought it, and nobody wrote there since. */
bool is_of_a_tile(const cell &c);

/* The lanes of w have met; all of a barrier's warps have. */
void warp_met(warp *w);
void warps_met(warp *const *warps, uint32_t count);
} // namespace ptx

#endif
