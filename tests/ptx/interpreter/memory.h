/* memory.h - accesses of global, shared and local memory. */
#ifndef GRADUS_PTX_MEMORY_H
#define GRADUS_PTX_MEMORY_H

#include "tests/ptx/interpreter/warp.h"

namespace ptx
{
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
