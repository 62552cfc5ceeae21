/* fences.cc - see fences.h. */
#include "tests/ptx/interpreter/fences.h"

#include <algorithm>

#include "tests/ptx/interpreter/operations.h"
#include "tests/ptx/interpreter/warp.h"

namespace ptx
{
static passer &passer_of(warp &w, unsigned lane)
{
    std::vector<passer> &all = w.home->between.passers;
    if (all.empty())
        all.resize(MAX_WARPS * LANES);
    return all[w.first + lane];
}

void came_to_word(warp &w, unsigned lane, uint64_t word)
{
    passages &between = w.home->between;
    passer &p = passer_of(w, lane);
    p.came = true, p.word = word, p.before = between.left.size();
    if (!p.fenced)
        return;
    p.keeps.word = word, p.keeps.came = w.time;
    between.left.push_back(p.keeps);
}

static void fence(warp &w, const instruction &, mask m)
{
    const block &b = *w.home;
    const uint32_t fenced = w.time++; /* what comes behind the fence has another time */
    for (unsigned l = 0; l < LANES; l++) {
        if (!(m >> l & 1))
            continue;
        passer &p = passer_of(w, l);
        p.fenced = true;
        p.keeps = {0, b.number, fenced, 0, (uint16_t)(w.first + l), {}};
        std::copy(w.known, w.known + MAX_WARPS, p.keeps.known);
        if (p.came)
            w.home->between.learnt.push_back(
                {p.word, p.before, {b.launch, b.number, w.time, (uint16_t)(w.first + l), 15, ORDINARY}});
    }
}

/* Whether whoever left it had done by then what s tells. */
static bool tells(const release &r, const stamp &s)
{
    if (r.block != s.block)
        return false;
    if (r.thread == s.thread)
        return s.time <= (s.kind == ATOMIC ? r.came : r.fenced);
    return s.time < r.known[s.thread / LANES];
}

bool fences_tell(const warp &w, const stamp &s, const stamp &mine)
{
    const passages &between = w.home->between;
    if (s.block == mine.block || s.run != w.home->launch)
        return false;
    return std::any_of(between.learnt.begin(), between.learnt.end(), [&](const lesson &l) {
        return before(l.had, mine, w.known) &&
               std::any_of(between.left.begin(), between.left.begin() + (ptrdiff_t)l.first,
                           [&](const release &r) { return r.word == l.word && tells(r, s); });
    });
}

handler fence_of(const statement &s)
{
    const bool whole_gpu = s.opcode == "membar.gl" || s.opcode == "membar.sys" || s.opcode == "fence.acq_rel.gpu" ||
                           s.opcode == "fence.sc.gpu";
    return whole_gpu ? fence : nullptr;
}
} // namespace ptx
