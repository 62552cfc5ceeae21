/*
 * tiles.cc - cp.async.bulk.tensor: a tile of a matrix that one thread sends to shared memory, counted by an mbarrier.
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

static u32 row_bytes(const tile &t)
{
    return t.map.box_columns * 2;
}

/* Each piece of the tile: where it goes, and where it comes from; nullptr: it lies outside of the matrix. */
template <class F> static void each_piece(const tile &t, F f)
{
    for (u32 y = 0; y < t.map.box_rows; y++)
        for (u32 x = 0; x < row_bytes(t); x += PIECE) {
            const int64_t row = t.row + y, column = t.column + x / 2;
            const bool inside =
                row >= 0 && row < (int64_t)t.map.rows && column >= 0 && column + PIECE / 2 <= (int64_t)t.map.columns;
            f(swizzled(t.to + y * row_bytes(t) + x, t.map.swizzle),
              inside ? (const char *)t.map.matrix + row * (int64_t)t.map.pitch + column * 2 : nullptr);
        }
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
    bytes_came(b, t.barrier, t.map.box_rows * row_bytes(t));
}

static const tensor_map *map_of(warp &w, const instruction &i, u32 lane, u64 at)
{
    const u64 first = (u64)w.home->parameters, end = first + w.home->code->parameter_bytes;
    if (at < first || at + sizeof(tensor_map) > end)
        broken(w, i, lane, "a tensor map that is no parameter of the kernel");
    return (const tensor_map *)at;
}

static void send(warp &w, const instruction &i, u32 lane, const tile &t)
{
    if (t.map.made != TENSOR_MAP)
        broken(w, i, lane, "a tensor map that the driver did not make");
    if (t.to % PATTERN)
        broken(w, i, lane, "a tile goes to shared byte " + std::to_string(t.to) + ", no multiple of 128");
    if (t.column % (PIECE / 2))
        broken(w, i, lane,
               "a tile from column " + std::to_string(t.column) + ": only multiples of 8 are looked at here");
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

/* [to], [map, {column, row}], [barrier] */
static void start(warp &w, const instruction &i, mask m)
{
    for (u32 l = 0; l < LANES; l++) {
        if (!(m >> l & 1))
            continue;
        tile t = {};
        memcpy(&t.map, map_of(w, i, l, w.row<u64>(i.from[1])[l] + (u64)i.offset2), sizeof t.map);
        t.to = (u32)(w.row<u32>(i.from[0])[l] + i.offset);
        t.column = (s32)w.row<u32>(i.from[2])[l];
        t.row = (s32)w.row<u32>(i.from[3])[l];
        t.barrier = mbarrier_at(w, i, l, w.row<u32>(i.from[4])[l]).number;
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
    return s.opcode == "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes" ? start : nullptr;
}
} // namespace ptx
