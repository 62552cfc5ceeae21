// What a copy of TMA moves: the rows of a box, as a tensor map says where they lie.
#ifndef BOUNDS_BOXES_H
#define BOUNDS_BOXES_H

#include "program.h"

// A copy on its way.
struct box {
    const struct tensor_map *map; // NULL: nobody said what it is a map of
    uint64_t address;             // of the map; of a run the first byte's
    bool run;                     // bytes side by side, without a map
    int dimensions;
    int corner[MAP_RANK]; // outermost dimension first
    uint64_t shared;      // where it lies in shared memory
    uint64_t barrier;     // that counts its bytes, of one that comes
    int64_t bytes;        // that it moves, what lies outside of the tensor included
};

// The map that lies at an address, or NULL.
const struct tensor_map *map_at(const struct program *program, uint64_t address);

// Bytes of a map's boxes.
int64_t bytes_of_box(const struct tensor_map *map);

// Rows of a box, one after the other, as far as they lie in the tensor: start with 0. Of a run, its lines. Of a box
// whose map nobody knows, rows that lie side by side, where no other box's do but those of the same map and corner.
bool next_row(const struct box *box, int *at, uint64_t *address, int *bytes);

#endif
