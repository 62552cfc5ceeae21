/* memory.cc - see memory.h. */
#include "tests/ptx/interpreter/memory.h"

#include <sys/mman.h>

#include <cstdio>
#include <map>
#include <vector>

#include "tests/ptx/interpreter/fault.h"
#include "tests/ptx/interpreter/operations.h"
#include "tests/ptx/interpreter/settings.h"

namespace ptx
{
/* --- allocations -------------------------------------------------------------------------------------------------- */

/* By their beginnings. One that has gone stays as an empty one, for instructions remember where they were last. */
static std::map<u64, region *> &regions()
{
    static auto *all = new std::map<u64, region *>;
    return *all;
}

/* The empty ones: still pointed at, freed by nobody. */
static std::vector<region *> &gone()
{
    static auto *all = new std::vector<region *>;
    return *all;
}

static size_t cells_bytes(size_t bytes)
{
    return (bytes + 3) / 4 * sizeof(cell);
}

void region_add(void *begin, size_t bytes)
{
    auto *r = new region{(u64)begin, (u64)begin + bytes, nullptr};
    if (asked().races) {
        void *cells = mmap(nullptr, cells_bytes(bytes) + 1, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        r->cells = cells == MAP_FAILED ? nullptr : (cell *)cells;
    }
    regions()[r->begin] = r;
}

bool region_remove(void *begin)
{
    const auto at = regions().find((u64)begin);
    if (at == regions().end())
        return false;
    region *r = at->second;
    if (r->cells)
        munmap(r->cells, cells_bytes(r->end - r->begin) + 1);
    *r = {0, 0, nullptr};
    gone().push_back(r);
    regions().erase(at);
    return true;
}

region *region_find(u64 at)
{
    auto next = regions().upper_bound(at);
    if (next == regions().begin())
        return nullptr;
    region *r = (--next)->second;
    return at < r->end ? r : nullptr;
}

bool region_holds(const void *begin, size_t bytes)
{
    const region *r = region_find((u64)begin);
    return r && (u64)begin + bytes <= r->end;
}

/* --- single addresses --------------------------------------------------------------------------------------------- */

static std::string hexadecimal(u64 v)
{
    char s[32];
    snprintf(s, sizeof s, "0x%llx", (unsigned long long)v);
    return s;
}

static std::string words(access kind, u32 size)
{
    static const char *const names[] = {"read", "write", "atomic"};
    return std::string(names[(int)kind]) + " of " + std::to_string(size) + " bytes at ";
}

static bool inside(const region *r, u64 at, u32 size)
{
    return r && at >= r->begin && at + size <= r->end;
}

char *global_at(warp &w, const instruction &i, unsigned lane, u64 at, u32 size, access kind)
{
    if (at % size)
        broken(w, i, lane, "misaligned " + words(kind, size) + hexadecimal(at));
    if (!inside(i.near, at, size))
        i.near = region_find(at);
    if (!inside(i.near, at, size))
        broken(w, i, lane, words(kind, size) + hexadecimal(at) + ", which is in no allocation");
    if (i.near->cells)
        watch(w, i, lane, i.near->cells + (at - i.near->begin) / 4, at % 4, size, kind, false);
    return (char *)at;
}

char *shared_within(warp &w, const instruction &i, unsigned lane, u64 at, u32 size)
{
    std::vector<char> &shared = w.home->shared;
    if (at % size)
        broken(w, i, lane, "misaligned access of " + std::to_string(size) + " shared bytes at " + hexadecimal(at));
    if (at + size > shared.size())
        broken(w, i, lane, "access of shared bytes at " + std::to_string(at) + " of " + std::to_string(shared.size()));
    return shared.data() + at;
}

char *shared_at(warp &w, const instruction &i, unsigned lane, u64 at, u32 size, access kind)
{
    char *p = shared_within(w, i, lane, at, size);
    if (!w.home->watched.empty())
        watch(w, i, lane, &w.home->watched[at / 4], at % 4, size, kind, true);
    return p;
}

static char *local_at(warp &w, const instruction &i, unsigned lane, u64 at, u32 size)
{
    const u32 bytes = w.home->code->local_bytes;
    if (at % size || at + size > bytes)
        broken(w, i, lane, "access of local bytes at " + std::to_string(at) + " of " + std::to_string(bytes));
    return &w.local[lane * bytes + at];
}

/* --- a warp's accesses -------------------------------------------------------------------------------------------- */

enum class space { GLOBAL, SHARED, LOCAL };

/* Whether all lanes of m, most often, lie in the allocation that was met last. */
static bool global_all(const instruction &i, const u64 *base, mask m, u32 size)
{
    u64 low = ~(u64)0, high = 0, odd = 0;
    for (u32 l = 0; l < LANES; l++) {
        const bool on = m >> l & 1;
        const u64 at = base[l] + (u64)i.offset;
        low = on && at < low ? at : low;
        high = on && at > high ? at : high;
        odd |= on ? at : 0;
    }
    return i.near && low >= i.near->begin && high + size <= i.near->end && !(odd % size);
}

/* Where each lane of m goes. */
template <space S> static void addresses(warp &w, const instruction &i, mask m, u32 size, access kind, char *at[LANES])
{
    if constexpr (S == space::SHARED) {
        const u32 *base = w.row<u32>(i.from[0]);
        for (u32 l = 0; l < LANES; l++)
            if (m >> l & 1)
                at[l] = shared_at(w, i, l, (u32)(base[l] + i.offset), size, kind);
        return;
    }
    const u64 *base = w.row<u64>(i.from[0]);
    if constexpr (S == space::LOCAL) {
        for (u32 l = 0; l < LANES; l++)
            if (m >> l & 1)
                at[l] = local_at(w, i, l, base[l] + (u64)i.offset, size);
        return;
    }
    const bool plain = global_all(i, base, m, size) && !i.near->cells;
    for (u32 l = 0; l < LANES; l++)
        if (m >> l & 1)
            at[l] = plain ? (char *)(base[l] + (u64)i.offset) : global_at(w, i, l, base[l] + (u64)i.offset, size, kind);
}

/* T: the type in memory, whose sign is kept. N of them lie beside each other. */
template <space S, class T, int N> static void load(warp &w, const instruction &i, mask m)
{
    char *at[LANES];
    addresses<S>(w, i, m, N * sizeof(T), access::READ, at);
    for (int k = 0; k < N; k++) {
        if (i.to[k] == NOWHERE)
            continue;
        u64 *wide = w.row<u64>(i.to[k]);
        u32 *narrow = w.row<u32>(i.to[k]);
        for (u32 l = 0; l < LANES; l++)
            if (m >> l & 1) {
                T v;
                memcpy(&v, at[l] + k * sizeof v, sizeof v);
                if (i.wide)
                    wide[l] = (u64)(s64)v;
                else
                    narrow[l] = (u32)(s64)v;
            }
    }
}

template <space S, class T, int N> static void store(warp &w, const instruction &i, mask m)
{
    char *at[LANES];
    addresses<S>(w, i, m, N * sizeof(T), access::WRITE, at);
    for (int k = 0; k < N; k++) {
        const u64 *wide = w.row<u64>(i.from[1 + k]);
        const u32 *narrow = w.row<u32>(i.from[1 + k]);
        for (u32 l = 0; l < LANES; l++)
            if (m >> l & 1) {
                const T v = i.wide ? (T)wide[l] : (T)narrow[l];
                memcpy(at[l] + k * sizeof v, &v, sizeof v);
            }
    }
}

template <space S, class T> static handler access_of(bool stores, int count)
{
    if (count == 4)
        return stores ? store<S, T, 4> : load<S, T, 4>;
    if (count == 2)
        return stores ? store<S, T, 2> : load<S, T, 2>;
    return stores ? store<S, T, 1> : load<S, T, 1>;
}

template <space S> static handler access_of(const statement &s, bool stores)
{
    const std::string &type = s.words.back();
    const int count = s.has("v4") ? 4 : s.has("v2") ? 2 : 1;
    const bool sign = type[0] == 's';
    switch (bytes_of_type(type)) {
    case 1:
        return sign ? access_of<S, s8>(stores, count) : access_of<S, u8>(stores, count);
    case 2:
        return sign ? access_of<S, s16>(stores, count) : access_of<S, u16>(stores, count);
    case 4:
        return sign ? access_of<S, s32>(stores, count) : access_of<S, u32>(stores, count);
    case 8:
        return count == 4 ? nullptr : access_of<S, u64>(stores, count);
    default:
        return nullptr;
    }
}

static handler of_space(const statement &s, bool stores)
{
    if (s.has("global"))
        return access_of<space::GLOBAL>(s, stores);
    if (s.has("shared"))
        return access_of<space::SHARED>(s, stores);
    return s.has("local") ? access_of<space::LOCAL>(s, stores) : nullptr;
}

handler load_of(const statement &s)
{
    return of_space(s, false);
}

handler store_of(const statement &s)
{
    return of_space(s, true);
}

/* --- atomics: of a whole word, the lanes one after the other ------------------------------------------------------ */

static u32 exchanged(u32, u32 v)
{
    return v;
}
static u32 added(u32 old, u32 v)
{
    return old + v;
}
static u32 joined(u32 old, u32 v)
{
    return old | v;
}
static u32 greatest(u32 old, u32 v)
{
    return old > v ? old : v;
}

template <space S, u32 (*F)(u32, u32)> static void atomic(warp &w, const instruction &i, mask m)
{
    char *at[LANES];
    addresses<S>(w, i, m, 4, access::ATOMIC, at);
    for (u32 l = 0; l < LANES; l++)
        if (m >> l & 1) {
            u32 old;
            memcpy(&old, at[l], sizeof old);
            const u32 v = F(old, w.row<u32>(i.from[1])[l]);
            memcpy(at[l], &v, sizeof v);
            if (i.to[0] != NOWHERE)
                w.row<u32>(i.to[0])[l] = old;
        }
}

template <space S> static handler atomic_on(const statement &s)
{
    const std::string &type = s.words.back();
    if (bytes_of_type(type) != 4 || type[0] == 'f')
        return nullptr;
    if (s.has("exch"))
        return atomic<S, exchanged>;
    if (s.has("add"))
        return atomic<S, added>;
    if (s.has("or"))
        return atomic<S, joined>;
    return s.has("max") && type[0] == 'u' ? atomic<S, greatest> : nullptr;
}

handler atomic_of(const statement &s)
{
    if (s.has("global"))
        return atomic_on<space::GLOBAL>(s);
    return s.has("shared") ? atomic_on<space::SHARED>(s) : nullptr;
}
} // namespace ptx
