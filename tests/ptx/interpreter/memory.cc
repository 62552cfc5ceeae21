/* memory.cc - see memory.h. */
#include "tests/ptx/interpreter/memory.h"

#include <cstdio>

#include "tests/ptx/interpreter/asynchronous.h"
#include "tests/ptx/interpreter/fault.h"
#include "tests/ptx/interpreter/fences.h"
#include "tests/ptx/interpreter/operations.h"
#include "tests/ptx/interpreter/regions.h"

namespace ptx
{
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

/* The lowest and highest address of the lanes of m, and the bits that are set in any. */
struct span {
    u64 low, high, odd;
};

template <class W> static span span_of(const W *base, W offset, mask m)
{
    W low = (W) ~(W)0, high = 0, odd = 0;
    for (u32 l = 0; l < LANES; l++) {
        const bool on = m >> l & 1;
        const W at = base[l] + offset;
        low = on && at < low ? at : low;
        high = on && at > high ? at : high;
        odd |= on ? at : 0;
    }
    return {low, high, odd};
}

/*
 * Of lanes that read the same place the last one is enough: a cell keeps one reader of a warp. Those at hand are found
 * by the last digits of their place.
 */
static mask readers(mask m, const u64 place[LANES], u32 size)
{
    u8 found[2 * LANES] = {};
    mask last = 0;
    for (u32 l; m; m &= ~(1u << l)) {
        l = LANES - 1 - (u32)__builtin_clz(m);
        u8 &other = found[place[l] / size % (2 * LANES)];
        if ((last >> other & 1) && place[other] == place[l])
            continue;
        other = (u8)l;
        last |= 1u << l;
    }
    return last;
}

/* What lies within: its cells, if somebody looks for races, and where they begin. */
template <space S, access KIND, u32 SIZE>
static void watch_lanes(const warp &w, const instruction &i, mask m, char *const at[LANES], const char *begin,
                        cell *cells)
{
    const witness all = witness_of(w, KIND, S == space::SHARED);
    u64 places[LANES];
    for (u32 l = 0; l < LANES; l++)
        places[l] = (u64)(at[l] - begin);
    if (KIND == access::READ && SIZE >= 8)
        m = readers(m, places, SIZE);
    for (; m; m &= m - 1) {
        const u32 l = (u32)__builtin_ctz(m);
        const u64 place = places[l];
        const u32 skip = place % 4;
        stamp mine = all.mine;
        mine.thread = (uint16_t)(mine.thread + l);
        if (SIZE < 4)
            mine.bytes = (u8)(((1u << SIZE % 4) - 1) << skip);
        for (u32 k = 0; k < (SIZE + 3) / 4; k++)
            if (!in_order(cells + place / 4 + k, mine, all.known, KIND, S == space::SHARED))
                watch(w, i, l, cells + place / 4 + k, skip, SIZE < 4 ? SIZE : 4, KIND, S == space::SHARED);
    }
}

/* Where each lane of m goes: all are looked at together, and one by one where something may be wrong. */
template <access KIND, u32 SIZE> static void shared_addresses(warp &w, const instruction &i, mask m, char *at[LANES])
{
    const u32 *base = w.row<u32>(i.from[0]), offset = (u32)i.offset;
    const span all = span_of(base, offset, m);
    const bool good = !(all.odd % SIZE) && all.high + SIZE <= w.home->shared.size();
    char *begin = w.home->shared.data();
    for (u32 l = 0; l < LANES; l++)
        if (m >> l & 1)
            at[l] = good ? begin + (base[l] + offset) : shared_at(w, i, l, base[l] + offset, SIZE, KIND);
    if (w.home->watched.empty())
        return;
    if (good)
        watch_lanes<space::SHARED, KIND, SIZE>(w, i, m, at, begin, w.home->watched.data());
    for (u32 l = 0; KIND != access::READ && l < LANES; l++)
        if (m >> l & 1)
            written_by_lane(w, l);
}

void shared_rows(warp &w, const instruction &i, mask m, char *at[LANES])
{
    shared_addresses<access::READ, 16>(w, i, m, at);
}

template <access KIND, u32 SIZE> static void global_addresses(warp &w, const instruction &i, mask m, char *at[LANES])
{
    const u64 *base = w.row<u64>(i.from[0]), offset = (u64)i.offset;
    const span all = span_of(base, offset, m);
    if (!inside(i.near, all.low, SIZE))
        i.near = region_find(all.low);
    const bool good = !(all.odd % SIZE) && inside(i.near, all.low, SIZE) && inside(i.near, all.high, SIZE);
    for (u32 l = 0; l < LANES; l++)
        if (m >> l & 1)
            at[l] = good ? (char *)(base[l] + offset) : global_at(w, i, l, base[l] + offset, SIZE, KIND);
    if (good && i.near->cells)
        watch_lanes<space::GLOBAL, KIND, SIZE>(w, i, m, at, (const char *)i.near->begin, i.near->cells);
}

template <space S, access KIND, u32 SIZE> static void addresses(warp &w, const instruction &i, mask m, char *at[LANES])
{
    if constexpr (S == space::SHARED)
        return shared_addresses<KIND, SIZE>(w, i, m, at);
    if constexpr (S == space::GLOBAL)
        return global_addresses<KIND, SIZE>(w, i, m, at);
    const u64 *base = w.row<u64>(i.from[0]);
    for (u32 l = 0; l < LANES; l++)
        if (m >> l & 1)
            at[l] = local_at(w, i, l, base[l] + (u64)i.offset, SIZE);
}

/* T: the type in memory, whose sign is kept. N of them lie beside each other. */
template <space S, class T, int N> static void load(warp &w, const instruction &i, mask m)
{
    char *at[LANES];
    addresses<S, access::READ, N * sizeof(T)>(w, i, m, at);
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
    addresses<S, access::WRITE, N * sizeof(T)>(w, i, m, at);
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
static u32 wrapped(u32 old, u32 v)
{
    return old >= v ? 0 : old + 1;
}
static u32 joined(u32 old, u32 v)
{
    return old | v;
}
static u32 greatest(u32 old, u32 v)
{
    return old > v ? old : v;
}

/* A warp that only waits: nobody else runs before its turn ends, and no other block before this one ends. */
static void be_patient(warp &w, const instruction &i, mask m, bool changed)
{
    static const uint32_t VAIN_TRIES = 1 << 20;
    w.in_vain = changed ? 0 : w.in_vain + 1;
    if (w.in_vain > VAIN_TRIES)
        broken(w, i, (unsigned)__builtin_ctz(m), "deadlock: it waits for a warp or a block that runs only afterwards");
}

template <space S, u32 (*F)(u32, u32)> static void atomic(warp &w, const instruction &i, mask m)
{
    char *at[LANES];
    bool changed = false;
    addresses<S, access::ATOMIC, 4>(w, i, m, at);
    for (u32 l = 0; l < LANES; l++)
        if (m >> l & 1) {
            u32 old;
            if (S == space::GLOBAL)
                came_to_word(w, l, (u64)at[l]);
            memcpy(&old, at[l], sizeof old);
            const u32 v = F(old, w.row<u32>(i.from[1])[l]);
            changed |= v != old;
            memcpy(at[l], &v, sizeof v);
            if (i.to[0] != NOWHERE)
                w.row<u32>(i.to[0])[l] = old;
        }
    be_patient(w, i, m, changed);
}

template <space S> static handler atomic_on(const statement &s)
{
    const std::string &type = s.words.back();
    if (bytes_of_type(type) != 4 || type[0] == 'f')
        return nullptr;
    if (s.has("exch"))
        return atomic<S, exchanged>;
    if (s.has("inc"))
        return atomic<S, wrapped>;
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
