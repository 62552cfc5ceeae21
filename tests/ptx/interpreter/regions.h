/* regions.h - the device's allocations, which are its global memory. */
#ifndef GRADUS_PTX_REGIONS_H
#define GRADUS_PTX_REGIONS_H

#include <cstddef>

#include "tests/ptx/interpreter/races.h"

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
} // namespace ptx

#endif
