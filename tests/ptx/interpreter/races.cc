/* races.cc - see races.h. */
#include "tests/ptx/interpreter/races.h"

#include <algorithm>

#include "tests/ptx/interpreter/fault.h"
#include "tests/ptx/interpreter/fences.h"
#include "tests/ptx/interpreter/warp.h"

namespace ptx
{
static stamp now(const warp &w, unsigned lane, uint8_t bytes, uint8_t kind, bool shared)
{
    const block &b = *w.home;
    return {shared ? b.serial : b.launch, b.number, w.time, (uint16_t)(w.first + lane), bytes, kind};
}

witness witness_of(const warp &w, access kind, bool shared)
{
    return {now(w, 0, 15, kind == access::ATOMIC ? ATOMIC : ORDINARY, shared), w.known};
}

static bool collide(const stamp &s, const stamp &mine, const warp &w)
{
    return (s.bytes & mine.bytes) && !before(s, mine, w.known) && !fences_tell(w, s, mine);
}

static std::string thread_of(const stamp &s, const warp &w)
{
    const dim3 n = w.home->size;
    if (s.thread / LANES >= MAX_WARPS)
        return "a tile that nobody here has waited for";
    const auto text = [](uint32_t v) { return std::to_string(v); };
    std::string words =
        "thread (" + text(s.thread % n.x) + "," + text(s.thread / n.x % n.y) + "," + text(s.thread / n.x / n.y) + ")";
    if (s.block != w.home->number)
        words += " of block number " + text(s.block);
    return words;
}

[[noreturn]] static void race(const warp &w, const instruction &i, unsigned lane, const stamp &other, const char *what)
{
    if (other.kind == ON_ITS_WAY)
        broken(w, i, lane,
               std::string(what) + " memory to which cp.async by " + thread_of(other, w) + " is on its way");
    broken(w, i, lane, "race: " + std::string(what) + " memory in no order with " + thread_of(other, w));
}

static bool on_its_way(const cell &c, const stamp &mine)
{
    return c.write.kind == ON_ITS_WAY && c.write.run == mine.run && (c.write.bytes & mine.bytes);
}

static void watch_read(const warp &w, const instruction &i, unsigned lane, cell *c, const stamp &mine, bool shared)
{
    if (on_its_way(*c, mine) || collide(c->write, mine, w))
        race(w, i, lane, c->write, "reads");
    if (shared && !is_written(*c, mine))
        broken(w, i, lane, "reads shared memory that nobody has written");
    remember_read(c, mine);
}

static void watch_write(const warp &w, const instruction &i, unsigned lane, cell *c, const stamp &mine)
{
    const bool both_atomic = c->write.kind == ATOMIC && mine.kind == ATOMIC;
    if (on_its_way(*c, mine) || (!both_atomic && collide(c->write, mine, w)))
        race(w, i, lane, c->write, "writes");
    for (const stamp *read : {&c->read, &c->other})
        if (collide(*read, mine, w))
            race(w, i, lane, *read, "writes");
    remember_write(c, mine);
}

void watch(const warp &w, const instruction &i, unsigned lane, cell *cells, uint32_t skip, uint32_t size, access kind,
           bool shared)
{
    const uint8_t bytes = size < 4 ? (uint8_t)(((1u << size) - 1) << skip) : 15;
    const stamp mine = now(w, lane, bytes, kind == access::ATOMIC ? ATOMIC : ORDINARY, shared);
    for (uint32_t k = 0; k < (size + 3) / 4; k++) {
        if (in_order(cells + k, mine, w.known, kind, shared))
            continue;
        if (kind == access::READ)
            watch_read(w, i, lane, cells + k, mine, shared);
        else
            watch_write(w, i, lane, cells + k, mine);
    }
}

void watch_copy_begin(const warp &w, const instruction &i, unsigned lane, cell *cells, uint32_t size)
{
    const stamp mine = now(w, lane, 15, ON_ITS_WAY, true);
    for (uint32_t k = 0; k < size / 4; k++)
        watch_write(w, i, lane, cells + k, mine);
}

void watch_copy_end(const warp &w, unsigned lane, cell *cells, uint32_t size)
{
    for (uint32_t k = 0; k < size / 4; k++)
        cells[k].write = now(w, lane, 15, ORDINARY, true);
}

void watch_tile_end(const block &b, cell *cells, uint32_t size, uint32_t barrier, uint32_t phase)
{
    for (uint32_t k = 0; k < size / 4; k++)
        cells[k].write = {b.serial, b.number, phase, (uint16_t)((MAX_WARPS + barrier) * LANES), 15, ORDINARY};
}

bool is_of_a_tile(const cell &c)
{
    return c.write.thread / LANES >= MAX_WARPS;
}

void warp_met(warp *w)
{
    w->known[w->number] = ++w->time;
}

void warps_met(warp *const *warps, uint32_t count)
{
    uint32_t all[ALL_WARPS] = {};
    for (uint32_t k = 0; k < count; k++)
        warp_met(warps[k]);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t v = 0; v < ALL_WARPS; v++)
            all[v] = std::max(all[v], warps[k]->known[v]);
    for (uint32_t k = 0; k < count; k++)
        std::copy(all, all + ALL_WARPS, warps[k]->known);
}
} // namespace ptx
