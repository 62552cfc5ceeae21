/* launch.cc - see launch.h: blocks and their warps take turns; barriers let warps go on. */
#include "tests/ptx/interpreter/launch.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "tests/ptx/interpreter/fault.h"
#include "tests/ptx/interpreter/settings.h"
#include "tests/ptx/interpreter/together.h"

namespace ptx
{
static uint64_t volume(const dim3 &d)
{
    return (uint64_t)d.x * d.y * d.z;
}

/* Of a block, as the architecture has it. */
static uint32_t most_shared()
{
    const unsigned arch = asked().arch;
    return (arch >= 90 ? 227u : arch == 80 ? 163u : 64u) * 1024;
}

static void check(const program &p, const launch &l)
{
    const uint64_t threads = volume(l.block), shared = (uint64_t)p.dynamic_at + l.dynamic_shared;
    const bool sizes = l.grid.x && l.grid.y && l.grid.z && l.grid.x <= 0x7FFFFFFF && l.grid.y <= 65535 &&
                       l.grid.z <= 65535 && threads && l.block.z <= 64;
    if (!sizes || threads > MAX_WARPS * LANES)
        throw fault(p.name + ": a launch of a size that no GPU takes");
    if (p.max_threads && threads > p.max_threads)
        throw fault(p.name + ": " + std::to_string(threads) + " threads where the kernel is made for " +
                    std::to_string(p.max_threads));
    if (shared > l.allowed_shared || shared > most_shared())
        throw fault(p.name + ": " + std::to_string(shared) + " bytes of shared memory are more than are allowed");
}

/* --- a block ------------------------------------------------------------------------------------------------------ */

typedef std::vector<std::unique_ptr<warp>> warps;

static std::string at_barrier(const warp &w)
{
    if (w.waits < 0)
        return "the mbarrier at " + w.home->code->line_of(w.spun_at);
    return "barrier " + std::to_string(w.waits) + " at " + w.home->code->line_of(w.waits_at);
}

/* Lets the warps of barrier id go on if all have come. */
static bool release(const warps &all, uint32_t count, int id)
{
    warp *here[MAX_WARPS];
    uint32_t come = 0, alive = 0;
    for (uint32_t k = 0; k < count; k++) {
        alive += all[k]->live != 0;
        if (all[k]->live && all[k]->waits == id)
            here[come++] = all[k].get();
    }
    if (!come)
        return false;
    const uint32_t wanted = here[0]->waits_for ? here[0]->waits_for / LANES : alive;
    for (uint32_t k = 1; k < come; k++)
        if (here[k]->waits_for != here[0]->waits_for)
            throw fault("two numbers of threads for " + at_barrier(*here[k]) + " of " + here[0]->home->code->name);
    if (come < wanted)
        return false;
    warps_met(here, come);
    for (uint32_t k = 0; k < come; k++)
        here[k]->waits = -1;
    return true;
}

[[noreturn]] static void deadlock(const warps &all, uint32_t count)
{
    std::string words;
    for (uint32_t k = 0; k < count; k++)
        if (all[k]->live)
            words += "; warp " + std::to_string(k) + " waits at " + at_barrier(*all[k]);
    throw fault(all[0]->home->code->name + ": deadlock" + words);
}

/* The order of the warps' turns. */
static void order_warps(block *b, uint32_t turn[MAX_WARPS])
{
    std::iota(turn, turn + b->warps, 0u);
    if (asked().turns == order::REVERSE)
        std::reverse(turn, turn + b->warps);
    if (asked().turns == order::RANDOM)
        std::shuffle(turn, turn + b->warps, b->chance);
}

static void run_block(block *b, const warps &all)
{
    uint32_t turn[MAX_WARPS];
    for (;;) {
        bool ran = false, alive = false, released = false;
        const uint64_t events = b->beside.events;
        order_warps(b, turn);
        for (uint32_t k = 0; k < b->warps; k++) {
            warp &w = *all[turn[k]];
            if (w.live && w.waits < 0) {
                warp_run(w);
                ran |= !w.spun;
            }
            alive |= w.live != 0;
        }
        if (!alive)
            break;
        for (int id = 0; id < BARRIERS; id++)
            released |= release(all, b->warps, id);
        if (asked().turns == order::RANDOM && b->chance() % 2)
            bring_tile(b);
        if (!ran && !released && b->beside.events == events && !bring_tile(b))
            deadlock(all, b->warps);
    }
    for (uint32_t k = 0; k < b->warps; k++)
        copies_end(*all[k]);
    asynchronous_end(*b, all);
}

/* --- a grid ------------------------------------------------------------------------------------------------------- */

/* The number of the block that comes k-th of n; in random order by a stride that has no factor in common with n. */
static uint64_t nth_block(uint64_t k, uint64_t n, uint64_t seed)
{
    if (asked().turns == order::FORWARD)
        return k;
    if (asked().turns == order::REVERSE)
        return n - 1 - k;
    uint64_t stride = (seed * 2654435761u + 40503u) % n + 1;
    while (std::gcd(stride, n) != 1)
        stride++;
    return (k * stride + seed) % n;
}

/* Shared memory of a new block: every byte 255, so every float NaN. */
static void prepare(block *b, uint64_t number, const warps &all)
{
    static uint32_t blocks;
    b->serial = ++blocks;
    b->number = (uint32_t)number;
    b->at.x = (uint32_t)(number % b->grid.x);
    b->at.y = (uint32_t)(number / b->grid.x % b->grid.y);
    b->at.z = (uint32_t)(number / b->grid.x / b->grid.y);
    b->beside = {};
    b->between.learnt.clear();
    b->between.passers.clear();
    b->beside.shown.assign(MAX_WARPS * LANES, 0);
    std::fill(b->shared.begin(), b->shared.end(), (char)0xFF);
    for (uint32_t k = 0; k < b->warps; k++)
        warp_begin(all[k].get(), b, k);
}

void run(program *p, const launch &l)
{
    static uint32_t launches;
    static warps all;
    static std::vector<cell> watched;
    check(*p, l);
    block b = {};
    b.code = p;
    b.parameters = l.parameters;
    b.size = l.block;
    b.grid = l.grid;
    b.launch = ++launches;
    b.warps = (uint32_t)(volume(l.block) + LANES - 1) / LANES;
    b.chance.seed(asked().seed + b.launch);
    b.shared.resize(p->dynamic_at + l.dynamic_shared);
    if (asked().races && b.shared.size()) {
        b.watched.swap(watched); /* stamps tell their launch, so old ones do no harm */
        if (b.watched.size() < b.shared.size() / 4 + 1)
            b.watched.resize(b.shared.size() / 4 + 1);
    }
    while (all.size() < b.warps)
        all.push_back(std::make_unique<warp>());
    p->launches++;
    const uint64_t blocks = volume(l.grid);
    for (uint64_t k = 0; k < blocks; k++) {
        prepare(&b, nth_block(k, blocks, asked().seed), all);
        run_block(&b, all);
    }
    if (b.watched.size())
        b.watched.swap(watched);
}
} // namespace ptx
