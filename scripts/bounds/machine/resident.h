// A block with its warps, which is made, executed and ended.
#ifndef BOUNDS_RESIDENT_H
#define BOUNDS_RESIDENT_H

#include "warp.h"

struct resident {
    struct block block;
    struct warp *warps;
    int count;
    void *memory;
};

int warps_of_block(const struct launch *launch);

// Block `number` of the grid at its start; its memory is kept from one opening to the next. False: out of memory.
bool open_resident(struct resident *resident, const struct program *program, long number);
void close_resident(struct resident *resident);

// A warp has reached a barrier, or its end where that is NULL. Says which barrier this opens, as barrier_at does, or 0.
int arrive(struct block *block, const struct instruction *barrier);

#endif
