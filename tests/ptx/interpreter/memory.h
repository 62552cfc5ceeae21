/* memory.h - global memory, which is the device's allocations; shared memory; parameters. */
#ifndef GRADUS_PTX_MEMORY_H
#define GRADUS_PTX_MEMORY_H

#include <cstddef>

#include "tests/ptx/interpreter/warp.h"

namespace ptx
{
/* An allocation. cells: one for every four bytes; NULL: races are not looked for. */
struct region {
    uint64_t begin, end;
    cell *cells;
};

/* Memory of the device from now on. Overlaps no other. */
void region_add(void *begin, size_t bytes);
/* False: none begins there. */
bool region_remove(void *begin);
/* The one that contains at; NULL: none. */
region *region_find(uint64_t at);
/* Whether all of it lies in one. */
bool region_holds(const void *begin, size_t bytes);

/* Addresses checked: bounds, alignment to size, races. */
char *global_at(warp &w, const instruction &i, unsigned lane, uint64_t at, uint32_t size, access kind);
char *shared_at(warp &w, const instruction &i, unsigned lane, uint64_t at, uint32_t size, access kind);
/* Where each lane of m reads 16 bytes of shared memory, checked as above. */
void shared_rows(warp &w, const instruction &i, mask m, char *at[LANES]);
/* The same of shared memory without a word to the detector of races. */
char *shared_within(warp &w, const instruction &i, unsigned lane, uint64_t at, uint32_t size);

/* ld and st of a state space and type; NULL: none. vector: 1, 2 or 4. */
handler load_of(const statement &s);
handler store_of(const statement &s);
handler atomic_of(const statement &s);
} // namespace ptx

#endif
