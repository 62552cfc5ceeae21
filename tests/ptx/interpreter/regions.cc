/* regions.cc - see regions.h. */
#include "tests/ptx/interpreter/regions.h"

#include <sys/mman.h>

#include <map>
#include <vector>

#include "tests/ptx/interpreter/settings.h"

namespace ptx
{
/* By their beginnings. One that has gone stays as an empty one, for instructions remember where they were last. */
static std::map<uint64_t, region *> &regions()
{
    static auto *all = new std::map<uint64_t, region *>;
    return *all;
}

/* The empty ones: still pointed at, freed by nobody. */
static std::vector<region *> &gone()
{
    static auto *all = new std::vector<region *>;
    return *all;
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

/* There are two to a power of them. */
static unsigned power_for(size_t bytes)
{
    unsigned power = 0;
    while ((size_t)4 << power < bytes)
        power++;
    return power;
}

/*
 * Cells of regions that have gone, by power. The next one takes them as they are: stamps tell their launch, so old ones
 * do no harm. Fresh ones cost more in page faults than all that is done with them.
 */
static std::vector<cell *> &spare(unsigned power)
{
    static auto *all = new std::vector<cell *>[64];
    return all[power];
}

static cell *take_cells(size_t bytes)
{
    const unsigned power = power_for(bytes);
    std::vector<cell *> &these = spare(power);
    if (these.empty()) {
        void *fresh = mmap(nullptr, sizeof(cell) << power, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        return fresh == MAP_FAILED ? nullptr : (cell *)fresh;
    }
    cell *last = these.back();
    these.pop_back();
    return last;
}

/* --- regions ------------------------------------------------------------------------------------------------------ */

void region_add(void *begin, size_t bytes)
{
    auto *r = new region{(uint64_t)begin, (uint64_t)begin + bytes, nullptr};
    if (asked().races)
        r->cells = take_cells(bytes);
    regions()[r->begin] = r;
}

bool region_remove(void *begin)
{
    const auto at = regions().find((uint64_t)begin);
    if (at == regions().end())
        return false;
    region *r = at->second;
    if (r->cells)
        spare(power_for(r->end - r->begin)).push_back(r->cells);
    *r = {0, 0, nullptr};
    gone().push_back(r);
    regions().erase(at);
    return true;
}

region *region_find(uint64_t at)
{
    auto next = regions().upper_bound(at);
    if (next == regions().begin())
        return nullptr;
    region *r = (--next)->second;
    return at < r->end ? r : nullptr;
}

bool region_holds(const void *begin, size_t bytes)
{
    const region *r = region_find((uint64_t)begin);
    return r && (uint64_t)begin + bytes <= r->end;
}
} // namespace ptx
