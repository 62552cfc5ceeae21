/*
 * asynchronous.h - what goes on beside a block's warps on Hopper: barriers in memory that count arrivals and bytes,
 * tiles on their way, products under way.
 */
#ifndef GRADUS_PTX_ASYNCHRONOUS_H
#define GRADUS_PTX_ASYNCHRONOUS_H

#include "tests/ptx/interpreter/program.h"
#include "tests/ptx/interpreter/races.h"
#include "tests/ptx/interpreter/tensor_map.h"

namespace ptx
{
/* mbarrier (PTX ISA 9.7.13.15). What arrives in a phase passes on what it knows to those who wait for the phase. */
struct mbarrier {
    uint32_t at, number;
    uint32_t count, pending;                          /* arrivals of a phase; still to come */
    int64_t bytes;                                    /* still to come; below 0: came before they were told of */
    uint32_t phase;                                   /* that is open */
    bool fenced;                                      /* tiles may count on it */
    uint32_t arrived[ALL_WARPS], complete[ALL_WARPS]; /* known in this phase; in the one before it */
};

/* cp.async.bulk.tensor, not there yet. */
struct tile {
    tensor_map map;
    int64_t start[4];     /* the innermost dimension first */
    uint32_t to, barrier; /* barrier: its number */
};

/* wgmma.mma_async that nobody has waited for: its operands are being read. */
struct product {
    const instruction *by;
    uint64_t a, b; /* descriptors */
    uint32_t group;
};

struct asynchronous {
    std::vector<mbarrier> barriers;
    std::vector<tile> tiles;     /* the oldest first */
    std::vector<uint32_t> shown; /* of a thread: what it wrote to shared memory before that time is known to wgmma */
    uint64_t events;             /* arrivals, tiles that came: without one nobody who waits can go on */
};

handler mbarrier_of(const statement &s); /* mbarrier.cc: init, arrive, try_wait; fence.proxy.async */
handler tile_of(const statement &s);     /* tiles.cc: cp.async.bulk.tensor */
handler product_of(const statement &s);  /* wgmma.cc */

/* The barrier at a lane's address, an event of it checked and told to the detector of races. Throws fault. */
mbarrier &mbarrier_at(warp &w, const instruction &i, unsigned lane, uint32_t at);
/* So many bytes came: a phase may be complete. */
void bytes_came(block *b, uint32_t barrier, uint32_t bytes);

/* A lane wrote to shared memory: wgmma knows of it behind that lane's next fence.proxy.async. */
void written_by_lane(warp &w, unsigned lane);

/* Brings one tile, by the order that is asked for. False: none is on its way. */
bool bring_tile(block *b);

/* At the end of a block: tiles and products that nobody waited for, four warps that made different products. Throws. */
void asynchronous_end(const block &b, const std::vector<std::unique_ptr<warp>> &all);
} // namespace ptx

#endif
