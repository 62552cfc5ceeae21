/*
 * warp.cc - how a warp runs: its active lanes execute one instruction after the other. Lanes that part at a branch go
 * on one group at a time, by the order that is asked for. In forward order the group that lies lowest in the program
 * goes first and stops where another one lies, so that they meet as early as they can; in the others a group goes on as
 * long as it can, and they meet only where an instruction is done together. Programs must be right in every one.
 */
#include "tests/ptx/interpreter/warp.h"

#include <algorithm>

#include "tests/ptx/interpreter/fault.h"
#include "tests/ptx/interpreter/settings.h"
#include "tests/ptx/interpreter/together.h"

namespace ptx
{
[[noreturn]] void broken(const warp &w, const instruction &i, unsigned lane, const std::string &what)
{
    const block &b = *w.home;
    const uint32_t t = w.first + lane;
    char where[160];
    snprintf(where, sizeof where, "block (%u,%u,%u), thread (%u,%u,%u)", b.at.x, b.at.y, b.at.z, t % b.size.x,
             t / b.size.x % b.size.y, t / b.size.x / b.size.y);
    throw fault(b.code->name + ": " + b.code->line_of((size_t)(&i - b.code->code.data())) + " " + where + ": " + what);
}

mask lanes_of(const warp &w)
{
    const uint32_t left = w.home->size.x * w.home->size.y * w.home->size.z - w.first;
    return left >= LANES ? ALL : (1u << left) - 1;
}

static void fill_row(warp *w, special which, uint32_t v)
{
    std::fill_n((uint32_t *)(w->rows[0] + which * ROW32), (size_t)LANES, v);
}

static void fill_specials(warp *w)
{
    const block &b = *w->home;
    const auto set = [w](special x, const dim3 &v) {
        fill_row(w, x, v.x);
        fill_row(w, (special)(x + 1), v.y);
        fill_row(w, (special)(x + 2), v.z);
    };
    set(NTID_X, b.size);
    set(CTAID_X, b.at);
    set(NCTAID_X, b.grid);
    fill_row(w, WARPID, w->number);
    uint32_t *rows = (uint32_t *)w->rows[0];
    for (uint32_t l = 0; l < LANES; l++) {
        const uint32_t t = w->first + l;
        rows[TID_X * LANES + l] = t % b.size.x;
        rows[TID_Y * LANES + l] = t / b.size.x % b.size.y;
        rows[TID_Z * LANES + l] = t / b.size.x / b.size.y;
        rows[LANEID * LANES + l] = l;
    }
}

static char *aligned(std::vector<char> &v)
{
    return (char *)(((uintptr_t)v.data() + 63) / 64 * 64);
}

void warp_begin(warp *w, block *home, uint32_t number)
{
    const program &code = *home->code;
    w->home = home;
    w->number = number;
    w->first = number * LANES;
    if (w->memory.size() < code.register_bytes + 64)
        w->memory.resize(code.register_bytes + 64);
    if (w->local.size() < (size_t)code.local_bytes * LANES)
        w->local.resize((size_t)code.local_bytes * LANES);
    w->rows[0] = aligned(w->memory);
    w->rows[1] = const_cast<char *>(code.constants.data());
    w->live = lanes_of(*w);
    w->active = w->parked = 0;
    w->apart = false;
    w->waits = -1;
    w->copies.clear();
    std::fill_n(w->pc_of, (size_t)LANES, 0);
    std::fill_n(w->group, (size_t)LANES, 0);
    w->spun = 0;
    w->in_vain = 0;
    w->products.clear();
    w->group_of_products = 0;
    w->products_made = 0;
    w->fenced = false;
    std::fill_n(w->known, (size_t)ALL_WARPS, 0);
    w->time = 0;
    warp_met(w);
    fill_specials(w);
}

/* --- lanes that part and meet ------------------------------------------------------------------------------------- */

template <class F> static void each(mask m, F f)
{
    for (; m; m &= m - 1)
        f((uint32_t)__builtin_ctz(m));
}

static uint32_t lowest(const warp &w, mask m)
{
    uint32_t pc = ~0u;
    each(m, [&](uint32_t l) { pc = std::min(pc, w.pc_of[l]); });
    return pc;
}

/* The place of the group that goes on. */
static uint32_t next_place(warp &w, mask can)
{
    uint32_t pc = lowest(w, can);
    if (asked().turns == order::REVERSE)
        each(can, [&](uint32_t l) { pc = std::max(pc, w.pc_of[l]); });
    if (asked().turns == order::RANDOM) {
        const uint32_t skip = (uint32_t)(w.home->chance() % (uint32_t)__builtin_popcount(can));
        for (uint32_t k = 0; k < skip; k++)
            can &= can - 1;
        pc = w.pc_of[__builtin_ctz(can)];
    }
    return pc;
}

/* Another group becomes active. False: none can. */
static bool choose(warp &w)
{
    const mask can = w.live & ~w.parked & ~w.spun;
    if (!can)
        return false;
    w.pc = next_place(w, can);
    w.active = 0;
    each(can, [&](uint32_t l) { w.active |= w.pc_of[l] == w.pc ? 1u << l : 0; });
    w.meet = asked().turns == order::FORWARD ? lowest(w, can & ~w.active) : ~0u;
    return true;
}

/* The active lanes go to pc, and another group may be chosen. */
static void leave(warp &w, mask m, uint32_t pc)
{
    each(m, [&](uint32_t l) { w.pc_of[l] = pc; });
    w.active &= ~m;
}

static mask guarded(const warp &w, const instruction &i, mask m)
{
    if (i.guard == NOWHERE)
        return m;
    return m & (i.unless ? ~w.predicate(i.guard) : w.predicate(i.guard));
}

static void branch(warp &w, const instruction &i)
{
    const mask taken = guarded(w, i, w.active), not_taken = w.active & ~taken;
    const uint32_t next = w.pc + 1;
    if (!taken) {
        w.pc = next;
        return;
    }
    if (!not_taken && i.target < w.meet) {
        w.pc = i.target;
        return;
    }
    w.apart = w.apart || not_taken;
    leave(w, taken, i.target);
    leave(w, not_taken, next);
}

/* --- instructions that lanes execute together --------------------------------------------------------------------- */

static std::string lanes_in_words(mask m)
{
    std::string words = __builtin_popcount(m) == 1 ? "lane" : "lanes";
    each(m, [&](uint32_t l) { words += " " + std::to_string(l); });
    return words;
}

/* Who must come to i, by the lanes that are active there. */
static mask members(warp &w, const instruction &i)
{
    if (i.what == flow::BARRIER)
        return w.live;
    if (i.members == MAX_FROM)
        return ALL;
    return w.row<uint32_t>(i.from[i.members])[__builtin_ctz(w.active)] & lanes_of(w);
}

/* All of m have come, and are active; else the active ones wait, parked. */
static bool gathered(warp &w, const instruction &i, mask m)
{
    mask here = w.active;
    each(w.parked, [&](uint32_t l) { here |= w.pc_of[l] == w.pc ? 1u << l : 0; });
    if (m & ~w.live)
        broken(w, i, (unsigned)__builtin_ctz(w.active),
               lanes_in_words(m & ~w.live) + " of the instruction's never come: ended");
    if (w.active & ~m)
        broken(w, i, (unsigned)__builtin_ctz(w.active & ~m), "this lane is not among the instruction's");
    if (m & ~here) {
        w.parked |= w.active;
        leave(w, w.active, w.pc);
        return false;
    }
    w.active = here & m;
    w.parked &= ~w.active;
    return true;
}

/*
 * ldmatrix and mma are .aligned: all lanes execute the same one, at once. Behind a branch on which lanes parted nothing
 * says that they do, whatever nvcc made of it today: another instruction must bring them together first.
 */
static void whole(warp &w, const instruction &i, mask m)
{
    if (i.aligned && w.apart)
        broken(w, i, (unsigned)__builtin_ctz(w.active),
               "the lanes have parted at a branch, and nothing has brought them together: bar.warp.sync is missing");
    w.apart = w.apart && (w.live & ~m);
}

static void together(warp &w, const instruction &i)
{
    const mask m = members(w, i);
    if (!gathered(w, i, m))
        return;
    whole(w, i, m);
    const mask on = guarded(w, i, w.active);
    if (on != w.active && i.aligned && on)
        broken(w, i, (unsigned)__builtin_ctz(w.active & ~on), "this lane does not execute what all must");
    if (on)
        i.run(w, i, on);
    w.pc++;
}

static void barrier(warp &w, const instruction &i)
{
    if (!gathered(w, i, members(w, i)))
        return;
    w.apart = false;
    const mask on = guarded(w, i, w.active);
    if (on && on != w.active)
        broken(w, i, (unsigned)__builtin_ctz(w.active & ~on), "this lane does not come to the barrier");
    if (on) {
        w.waits = (int)(w.row<uint32_t>(i.from[0])[0] % BARRIERS);
        w.waits_for = i.n_from > 1 ? w.row<uint32_t>(i.from[1])[0] : 0;
        w.waits_at = w.pc;
    }
    w.pc++;
}

/* Nobody can go on, and some lanes wait for others. */
[[noreturn]] static void stuck(warp &w)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(w.parked);
    const uint32_t pc = w.pc_of[lane];
    mask here = 0;
    each(w.parked, [&](uint32_t l) { here |= w.pc_of[l] == pc ? 1u << l : 0; });
    broken(w, w.home->code->code[pc], lane,
           lanes_in_words(w.live & ~here) + " never come here, and others wait for them");
}

static void end(warp &w, mask m)
{
    w.live &= ~m;
    w.active &= ~m;
}

static void step(warp &w, const instruction &i)
{
    i.times++;
    switch (i.what) {
    case flow::PLAIN:
        if (const mask m = guarded(w, i, w.active))
            i.run(w, i, m);
        w.pc++;
        break;
    case flow::BRANCH:
        branch(w, i);
        break;
    case flow::RETURN:
        end(w, guarded(w, i, w.active));
        w.pc++;
        break;
    case flow::TOGETHER:
        together(w, i);
        break;
    case flow::BARRIER:
        barrier(w, i);
        break;
    }
}

void warp_run(warp &w)
{
    const std::vector<instruction> &code = w.home->code->code;
    const instruction *first = code.data();
    const uint32_t size = (uint32_t)code.size();
    w.spun = 0;
    for (;;) {
        if (!w.active && !choose(w)) {
            if (w.live && !w.spun)
                stuck(w);
            return;
        }
        if (w.pc >= size) {
            end(w, w.active);
            continue;
        }
        step(w, first[w.pc]);
        if (w.active && (w.pc >= w.meet || w.active & w.spun))
            leave(w, w.active, w.pc);
        if (w.waits >= 0)
            return;
    }
}
} // namespace ptx
