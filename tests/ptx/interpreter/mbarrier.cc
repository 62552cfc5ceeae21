/* mbarrier.cc - barriers in shared memory, which count phases. Who waits lets other warps have their turn. */
#include <algorithm>

#include "tests/ptx/interpreter/asynchronous.h"
#include "tests/ptx/interpreter/fault.h"
#include "tests/ptx/interpreter/memory.h"
#include "tests/ptx/interpreter/operations.h"

namespace ptx
{
enum { BYTES = 8, MOST = (1 << 20) - 1 /* of arrivals, and of bytes */ };

template <class F> static void each_lane(mask m, F f)
{
    for (u32 l = 0; l < LANES; l++)
        if (m >> l & 1)
            f(l);
}

static u32 address(const warp &w, const instruction &i, u32 lane)
{
    return (u32)(w.row<u32>(i.from[0])[lane] + i.offset);
}

static mbarrier *find(block *b, u32 at)
{
    for (mbarrier &each : b->beside.barriers)
        if (each.at == at)
            return &each;
    return nullptr;
}

mbarrier &mbarrier_at(warp &w, const instruction &i, unsigned lane, u32 at)
{
    mbarrier *b = find(w.home, at);
    if (!b)
        broken(w, i, lane, "no mbarrier was initialised at shared byte " + std::to_string(at));
    shared_at(w, i, lane, at, BYTES, access::ATOMIC);
    return *b;
}

static void advance(block *home, mbarrier *b)
{
    if (b->pending || b->bytes)
        return;
    b->phase++;
    b->pending = b->count;
    std::copy(b->arrived, b->arrived + ALL_WARPS, b->complete);
    home->beside.events++;
}

void bytes_came(block *home, u32 barrier, u32 bytes)
{
    mbarrier *b = &home->beside.barriers[barrier];
    b->arrived[MAX_WARPS + barrier] = b->phase + 1;
    b->bytes -= bytes;
    home->beside.events++;
    advance(home, b);
}

/* [at], count */
static void initialise(warp &w, const instruction &i, mask m)
{
    each_lane(m, [&](u32 l) {
        const u32 at = address(w, i, l), count = w.row<u32>(i.from[1])[l];
        std::vector<mbarrier> &all = w.home->beside.barriers;
        memset(shared_at(w, i, l, at, BYTES, access::WRITE), 0, BYTES);
        if (!count || count > MOST)
            broken(w, i, l, "an mbarrier for " + std::to_string(count) + " arrivals");
        mbarrier *b = find(w.home, at);
        if (!b && all.size() == MBARRIERS)
            broken(w, i, l, "one mbarrier more than there is room for here");
        if (!b) {
            all.emplace_back();
            b = &all.back();
        }
        const u32 number = (u32)(b - all.data());
        *b = {};
        b->at = at;
        b->number = number;
        b->count = b->pending = count;
    });
}

/* A warp that comes as a whole passes on what all its lanes did; of a part, what they had in common before. */
static void arrive_with(warp &w, const instruction &i, mask m, bool tells)
{
    if (m == w.live)
        warp_met(&w);
    each_lane(m, [&](u32 l) {
        mbarrier &b = mbarrier_at(w, i, l, address(w, i, l));
        const u32 bytes = tells ? w.row<u32>(i.from[1])[l] : 0;
        if (!b.pending)
            broken(w, i, l, "arrives once more than the " + std::to_string(b.count) + " that the mbarrier counts");
        if (bytes > MOST)
            broken(w, i, l, "tells an mbarrier of " + std::to_string(bytes) + " bytes");
        for (u32 k = 0; k < ALL_WARPS; k++)
            b.arrived[k] = std::max(b.arrived[k], w.known[k]);
        b.bytes += bytes;
        b.pending--;
        w.home->beside.events++;
        advance(w.home, &b);
    });
}

/* _, [at] */
static void arrive(warp &w, const instruction &i, mask m)
{
    arrive_with(w, i, m, false);
}

/* _, [at], bytes */
static void expect(warp &w, const instruction &i, mask m)
{
    arrive_with(w, i, m, true);
}

/* complete, [at], parity: whether the last phase of that parity is over. A lane for which it is not lets others run. */
static void try_wait(warp &w, const instruction &i, mask m)
{
    each_lane(m, [&](u32 l) {
        const mbarrier &b = mbarrier_at(w, i, l, address(w, i, l));
        const u32 parity = w.row<u32>(i.from[1])[l];
        if (parity > 1)
            broken(w, i, l, "waits for the parity " + std::to_string(parity));
        const bool over = (b.phase & 1) != parity;
        mask &p = w.predicate(i.to[0]);
        p = over ? p | 1u << l : p & ~(1u << l);
        if (!over) {
            w.spun |= 1u << l;
            w.spun_at = w.pc;
            return;
        }
        for (u32 k = 0; k < ALL_WARPS; k++)
            w.known[k] = std::max(w.known[k], b.complete[k]);
    });
}

/* Barriers that were made, and are known here, can be counted on by tiles; what these lanes wrote, by wgmma. */
static void fence(warp &w, const instruction &, mask m)
{
    for (mbarrier &b : w.home->beside.barriers)
        b.fenced = true;
    each_lane(m, [&](u32 l) { w.home->beside.shown[w.first + l] = w.time + 1; });
}

void written_by_lane(warp &w, unsigned lane)
{
    u32 &shown = w.home->beside.shown[w.first + lane];
    shown = std::min(shown, w.time);
}

handler mbarrier_of(const statement &s)
{
    if (s.opcode == "mbarrier.init.shared::cta.b64")
        return initialise;
    if (s.opcode == "mbarrier.arrive.shared::cta.b64")
        return arrive;
    if (s.opcode == "mbarrier.arrive.expect_tx.shared::cta.b64")
        return expect;
    if (s.opcode == "mbarrier.try_wait.parity.shared::cta.b64")
        return try_wait;
    return s.opcode == "fence.proxy.async.shared::cta" ? fence : nullptr;
}
} // namespace ptx
