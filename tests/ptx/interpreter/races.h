/*
 * races.h - who touched what, and whether anything put it in order.
 *
 * Every warp has a time, which goes on at barriers and at bar.warp.sync. An access is stamped with its launch, block,
 * thread and time. Another thread's access came before ours if its launch is another one, or if our warp knows of that
 * time of its warp: at a barrier all warps tell each other what they know. A shuffle orders no memory. Blocks of one
 * launch know of each other by fences and atomics alone (fences.h). A word of memory keeps its last write and two last
 * readers, by different warps.
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
enum { MAX_WARPS = 32, MBARRIERS = 16, ALL_WARPS = MAX_WARPS + MBARRIERS, LANES_OF_A_WARP = 32 };

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

/* What a warp's accesses are stamped with, lane 0's, and what the warp knows of the others' times. */
struct witness {
    stamp mine;
    const uint32_t *known;
};
witness witness_of(const warp &w, access kind, bool shared);

/* Whether what s tells came before what its thread, mine, does now. */
inline bool before(const stamp &s, const stamp &mine, const uint32_t *known)
{
    if (s.run != mine.run)
        return true;
    return s.block == mine.block && (s.thread == mine.thread || s.time < known[s.thread / LANES_OF_A_WARP]);
}

inline bool is_written(const cell &c, const stamp &mine)
{
    return c.written_in == mine.run && !(mine.bytes & ~c.written);
}

inline void remember_read(cell *c, const stamp &mine)
{
    if (c->read.block != mine.block || c->read.thread / LANES_OF_A_WARP != mine.thread / LANES_OF_A_WARP)
        c->other = c->read;
    c->read = mine;
}

inline void remember_write(cell *c, const stamp &mine)
{
    c->written = (c->written_in == mine.run ? c->written : 0) | mine.bytes;
    c->written_in = mine.run;
    c->write = mine;
}

/* The access of one word is remembered if it clearly is in order; false: watch must look closer. */
inline bool in_order(cell *c, const stamp &mine, const uint32_t *known, access kind, bool shared)
{
    if (c->write.kind == ON_ITS_WAY || !before(c->write, mine, known))
        return false;
    if (kind == access::READ) {
        if (shared && !is_written(*c, mine))
            return false;
        remember_read(c, mine);
        return true;
    }
    if (!before(c->read, mine, known) || !before(c->other, mine, known))
        return false;
    remember_write(c, mine);
    return true;
}

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
