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

/* One more of those handed on from begin on; of a word once. */
static void hand_on(std::vector<leavings> *handed, size_t begin, const leavings &more)
{
    const auto same = std::find_if(handed->begin() + (ptrdiff_t)begin, handed->end(),
                                   [&](const leavings &l) { return l.word == more.word; });
    if (same == handed->end())
        handed->push_back(more);
    else
        same->first = std::max(same->first, more.first);
}

/* What the lane has at its fence. */
static void keep(warp &w, unsigned lane, uint32_t fenced)
{
    const block &b = *w.home;
    passages &between = w.home->between;
    passer &p = passer_of(w, lane);
    const stamp now = {b.launch, b.number, w.time, (uint16_t)(w.first + lane), 15, ORDINARY};
    if (p.came)
        between.learnt.push_back({{p.word, p.before}, now});
    p.fenced = true;
    p.keeps = {0, b.number, fenced, 0, now.thread, {}, between.handed.size(), 0};
    std::copy(w.known, w.known + MAX_WARPS, p.keeps.known);
    for (const lesson &l : between.learnt)
        if (before(l.had, now, w.known))
            hand_on(&between.handed, p.keeps.handed, l.what);
    p.keeps.handed_end = between.handed.size();
}

static void fence(warp &w, const instruction &, mask m)
{
    const uint32_t fenced = w.time++; /* what comes behind the fence has another time */
    for (unsigned l = 0; l < LANES; l++)
        if (m >> l & 1)
            keep(w, l, fenced);
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

/* Whether one of the leavings does, or what is handed on with them, from nearer blocks to farther ones. */
static bool are_told(const passages &between, std::vector<leavings> open, const stamp &s)
{
    std::vector<bool> seen(between.left.size());
    for (size_t next = 0; next < open.size(); next++) {
        const leavings here = open[next];
        for (size_t i = 0; i < here.first; i++) {
            const release &r = between.left[i];
            if (r.word != here.word || seen[i])
                continue;
            if (tells(r, s))
                return true;
            seen[i] = true;
            open.insert(open.end(), between.handed.begin() + (ptrdiff_t)r.handed,
                        between.handed.begin() + (ptrdiff_t)r.handed_end);
        }
    }
    return false;
}

bool fences_tell(const warp &w, const stamp &s, const stamp &mine)
{
    const passages &between = w.home->between;
    if (s.block == mine.block || s.run != w.home->launch)
        return false;
    std::vector<leavings> had;
    for (const lesson &l : between.learnt)
        if (before(l.had, mine, w.known))
            had.push_back(l.what);
    return are_told(between, std::move(had), s);
}

handler fence_of(const statement &s)
{
    const bool whole_gpu = s.opcode == "membar.gl" || s.opcode == "membar.sys" || s.opcode == "fence.acq_rel.gpu" ||
                           s.opcode == "fence.sc.gpu";
    return whole_gpu ? fence : nullptr;
}
} // namespace ptx
