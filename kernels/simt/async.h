/*
 * async.h - what goes on beside the threads of a block: barriers in memory, tiles on their way, products under way.
 * Made when a kernel first asks for one.
 */
#ifndef GRADUS_SIMT_ASYNC_H
#define GRADUS_SIMT_ASYNC_H

#include "kernels/simt/hopper.h"
#include "kernels/simt/machine.h"

enum { GR__SIMT_MBARRIERS = 64, GR__SIMT_TILES = 64 /* under way at once */ };

typedef struct gr__simt_mbarrier {
    char *at;
    int count, pending; /* arrivals of a phase, and of them those to come */
    int64_t bytes;      /* to come; below 0 where some came that nobody has told of yet */
    unsigned phase;     /* phases completed */
    bool fenced;        /* since it was made there was a gr_fence_async */
} gr__simt_mbarrier;

/* A TMA copy under way. */
typedef struct gr__simt_tile {
    gr_tensor_map map;
    int64_t start[4];
    char *to;
    int barrier; /* its number */
    const char *file;
    int line;
} gr__simt_tile;

struct gr__simt_warp_products; /* wgmma.c */

struct gr__simt_async {
    uint64_t block; /* valid in this one */
    gr__simt_mbarrier barrier[GR__SIMT_MBARRIERS];
    int barriers;
    gr__simt_tile tile[GR__SIMT_TILES]; /* the oldest first */
    int tiles;
    struct gr__simt_warp_products *products[GR__SIMT_WARPS];
};

/* mbarrier.c: this block's; NULL: memory is out (reported). The barrier at p, which must have been made. */
struct gr__simt_async *gr__simt_async_here(gr__simt_machine *m);
int gr__simt_mbarriers(const gr__simt_machine *m); /* how many this block made */
gr__simt_mbarrier *gr__simt_find_mbarrier(gr__simt_machine *m, const void *p, const char *what, const char *file,
                                          int line);
/* So many bytes have come: its phase may be complete. */
void gr__simt_mbarrier_bytes(gr__simt_machine *m, gr__simt_mbarrier *b, int64_t bytes);

/* A tile as a matrix: its rows are those of the box's [n][h][w], in this order. */
static inline int gr__simt_tile_rows(const gr__simt_tile *t)
{
    return t->map.box[0] * t->map.box[1] * t->map.box[2];
}
static inline size_t gr__simt_tile_bytes(const gr__simt_tile *t)
{
    return (size_t)gr__simt_tile_rows(t) * (size_t)t->map.box[3] * 2;
}

/* tma.c: the bytes of a row of the tile that lie in the tensor: none, or from *first in the row on. */
size_t gr__simt_tile_row(const gr__simt_tile *t, int row, const char **from, size_t *first);

/* Pieces of 16 bytes change places within 128, 64 or 32 bytes, by the address: bits 4 on are xored with bits 7 on. */
static inline size_t gr__simt_swizzled(size_t address, int bits)
{
    return address ^ (address >> 3 & ((((size_t)1 << bits) - 1) << 4));
}

#endif
