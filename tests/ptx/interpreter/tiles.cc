/*
 * tiles.cc - cp.async.bulk.tensor: a tile of a tensor that one thread sends to shared memory, counted by an mbarrier.
 * It comes when nobody can go on without it, or at once; both are right, and a program must not see which.
 */
#include "tests/ptx/interpreter/asynchronous.h"
#include "tests/ptx/interpreter/fault.h"
#include "tests/ptx/interpreter/memory.h"
#include "tests/ptx/interpreter/operations.h"
#include "tests/ptx/interpreter/settings.h"

namespace ptx
{
enum { PIECE = 16, PATTERN = 128 /* a multiple of which a tile begins at */ };

/* What is brought of a dimension (CUDA's driver, "elementStrides"). */
static u32 brought(const tensor_map &map, u32 dimension)
{
    return (map.box[dimension] + map.every[dimension] - 1) / map.every[dimension];
}

static u32 bytes_of(const tile &t)
{
    u32 bytes = 2;
    for (u32 i = 0; i < 4; i++)
        bytes *= brought(t.map, i);
    return bytes;
}

/* Where a piece of the tile comes from, by the number of its first element; nullptr: it lies outside of the tensor. */
static const char *source(const tile &t, u32 number)
{
    u64 from = t.map.tensor;
    for (u32 i = 0; i < 4; i++) {
        const int64_t at = t.start[i] + (int64_t)(number % brought(t.map, i) * t.map.every[i]);
        const int64_t wide = i ? 1 : PIECE / 2;
        if (at < 0 || at + wide > (int64_t)t.map.size[i])
            return nullptr;
        from += (u64)at * t.map.pitch[i];
        number /= brought(t.map, i);
    }
    return (const char *)from;
}

/* Each piece of the tile: where it goes, and where it comes from. */
template <class F> static void each_piece(const tile &t, F f)
{
    for (u32 byte = 0; byte < bytes_of(t); byte += PIECE)
        f(swizzled(t.to + byte, t.map.swizzle), source(t, byte / 2));
}

static void bring(block *b, const tile &t)
{
    mbarrier &counts = b->beside.barriers[t.barrier];
    each_piece(t, [&](u32 to, const char *from) {
        if (from)
            memcpy(b->shared.data() + to, from, PIECE);
        else
            memset(b->shared.data() + to, 0, PIECE);
        if (!b->watched.empty())
            watch_tile_end(*b, &b->watched[to / 4], PIECE, t.barrier, counts.phase);
    });
    bytes_came(b, t.barrier, bytes_of(t));
}

static const tensor_map *map_of(warp &w, const instruction &i, u32 lane, u64 at)
{
    const u64 first = (u64)w.home->parameters, end = first + w.home->code->parameter_bytes;
    if (at < first || at + sizeof(tensor_map) > end)
        broken(w, i, lane, "a tensor map that is no parameter of the kernel");
    return (const tensor_map *)at;
}

/* of [to], [map, {innermost, ...}], [barrier] */
static u32 dimensions(const instruction &i)
{
    return i.n_from - 3u;
}

static void send(warp &w, const instruction &i, u32 lane, const tile &t)
{
    if (t.map.made != TENSOR_MAP)
        broken(w, i, lane, "a tensor map that the driver did not make");
    if (t.map.rank != dimensions(i))
        broken(w, i, lane,
               "a copy of " + std::to_string(dimensions(i)) + " dimensions by a map of " + std::to_string(t.map.rank));
    if (t.to % PATTERN)
        broken(w, i, lane, "a tile goes to shared byte " + std::to_string(t.to) + ", no multiple of 128");
    if (t.start[0] % (PIECE / 2))
        broken(w, i, lane,
               "a tile from column " + std::to_string(t.start[0]) + ": only multiples of 8 are looked at here");
    if (!w.home->beside.barriers[t.barrier].fenced)
        broken(w, i, lane, "no fence.proxy.async between the mbarrier's initialisation and the tile");
    each_piece(t, [&](u32 to, const char *from) {
        shared_within(w, i, lane, to, PIECE);
        if (from)
            global_at(w, i, lane, (u64)from, PIECE, access::READ);
        if (!w.home->watched.empty())
            watch_copy_begin(w, i, lane, &w.home->watched[to / 4], PIECE);
    });
    if (asked().copies == moment::EARLY)
        bring(w.home, t);
    else
        w.home->beside.tiles.push_back(t);
}

static void start(warp &w, const instruction &i, mask m)
{
    for (u32 l = 0; l < LANES; l++) {
        if (!(m >> l & 1))
            continue;
        tile t = {};
        memcpy(&t.map, map_of(w, i, l, w.row<u64>(i.from[1])[l] + (u64)i.offset2), sizeof t.map);
        t.to = (u32)(w.row<u32>(i.from[0])[l] + i.offset);
        for (u32 k = 0; k < dimensions(i); k++)
            t.start[k] = (s32)w.row<u32>(i.from[2 + k])[l];
        t.barrier = mbarrier_at(w, i, l, w.row<u32>(i.from[2 + dimensions(i)])[l]).number;
        send(w, i, l, t);
    }
}

bool bring_tile(block *b)
{
    std::vector<tile> &all = b->beside.tiles;
    if (all.empty())
        return false;
    const size_t k = asked().turns == order::FORWARD   ? 0
                     : asked().turns == order::REVERSE ? all.size() - 1
                                                       : b->chance() % all.size();
    const tile t = all[k];
    all.erase(all.begin() + (ptrdiff_t)k);
    bring(b, t);
    return true;
}

handler tile_of(const statement &s)
{
    const std::string rest = "d.shared::cluster.global.mbarrier::complete_tx::bytes";
    const bool known = s.opcode == "cp.async.bulk.tensor.2" + rest || s.opcode == "cp.async.bulk.tensor.4" + rest;
    return known ? start : nullptr;
}
} // namespace ptx
