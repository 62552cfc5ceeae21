/*
 * shuffles.cc - shfl.sync, vote.sync, redux.sync, bar.warp.sync: lanes that exchange words (PTX ISA 9.0, 9.7.9.6 and
 * 9.7.13).
 */
#include <algorithm>

#include "tests/ptx/interpreter/fault.h"
#include "tests/ptx/interpreter/operations.h"
#include "tests/ptx/interpreter/together.h"

namespace ptx
{
enum class toward { UP, DOWN, ACROSS, TO };

/* The lane that l reads; false: none in its segment, and l reads its own. by is shfl's b; c its clamp and segments. */
template <toward HOW> static bool source_of(u32 l, u32 by, u32 c, u32 *from)
{
    const u32 clamp = c & 31, segment = c >> 8 & 31, first = l & segment, last = first | (clamp & ~segment);
    s32 j = (s32)l;
    by &= 31;
    switch (HOW) {
    case toward::UP:
        j -= (s32)by;
        *from = (u32)j & 31;
        return j >= (s32)last;
    case toward::DOWN:
        j += (s32)by;
        break;
    case toward::ACROSS:
        j ^= (s32)by;
        break;
    case toward::TO:
        j = (s32)(first | (by & ~segment));
        break;
    }
    *from = (u32)j & 31;
    return j <= (s32)last;
}

template <toward HOW> static void shuffle(warp &w, const instruction &i, mask m)
{
    const u32 *a = w.row<u32>(i.from[0]), *b = w.row<u32>(i.from[1]), *c = w.row<u32>(i.from[2]);
    u32 r[LANES];
    mask inside = 0;
    for (u32 l = 0; l < LANES; l++) {
        u32 from;
        const bool good = source_of<HOW>(l, b[l], c[l], &from);
        if (!good)
            from = l;
        if ((m >> l & 1) && !(m >> from & 1))
            broken(w, i, l, "shfl reads lane " + std::to_string(from) + ", which is not there");
        r[l] = a[from];
        inside |= (u32)good << l;
    }
    keep(w.row<u32>(i.to[0]), r, m);
    if (i.n_to > 1) {
        mask &p = w.predicate(i.to[1]);
        p = (p & ~m) | (inside & m);
    }
}

enum class ballot { ANY, ALL, WHO };

template <ballot HOW> static void vote(warp &w, const instruction &i, mask m)
{
    const mask yes = w.predicate(i.from[0]) & m;
    if (HOW == ballot::WHO) {
        u32 r[LANES];
        std::fill(r, r + LANES, yes);
        keep(w.row<u32>(i.to[0]), r, m);
        return;
    }
    const bool result = HOW == ballot::ANY ? yes != 0 : yes == m;
    mask &p = w.predicate(i.to[0]);
    p = result ? p | m : p & ~m;
}

enum class reduced { SUM, SMALLEST, LARGEST };

template <reduced HOW> static void reduce(warp &w, const instruction &i, mask m)
{
    const u32 *a = w.row<u32>(i.from[0]);
    u32 sum = 0, r[LANES];
    s32 smallest = INT32_MAX, largest = INT32_MIN;
    for (u32 l = 0; l < LANES; l++)
        if (m >> l & 1) {
            sum += a[l];
            smallest = std::min(smallest, (s32)a[l]);
            largest = std::max(largest, (s32)a[l]);
        }
    std::fill(r, r + LANES, HOW == reduced::SUM ? sum : (u32)(HOW == reduced::SMALLEST ? smallest : largest));
    keep(w.row<u32>(i.to[0]), r, m);
}

static void meet(warp &w, const instruction &, mask)
{
    warp_met(&w);
}

handler shuffle_of(const statement &s)
{
    if (!s.has("sync") || !s.has("b32"))
        return nullptr;
    if (s.has("up"))
        return shuffle<toward::UP>;
    if (s.has("down"))
        return shuffle<toward::DOWN>;
    return s.has("bfly") ? shuffle<toward::ACROSS> : s.has("idx") ? shuffle<toward::TO> : nullptr;
}

handler vote_of(const statement &s)
{
    if (!s.has("sync"))
        return nullptr;
    if (s.has("ballot"))
        return vote<ballot::WHO>;
    return s.has("any") ? vote<ballot::ANY> : s.has("all") ? vote<ballot::ALL> : nullptr;
}

handler reduction_of(const statement &s)
{
    if (!s.has("sync") || !s.has("s32"))
        return nullptr;
    if (s.has("add"))
        return reduce<reduced::SUM>;
    return s.has("min") ? reduce<reduced::SMALLEST> : s.has("max") ? reduce<reduced::LARGEST> : nullptr;
}

handler warp_barrier_of(const statement &s)
{
    return s.has("sync") ? meet : nullptr;
}
} // namespace ptx
