/*
 * copies.cc - cp.async. Bytes land as late as the program allows, when their group is waited for, or at once; both are
 * right, and a program must not see which.
 */
#include "tests/ptx/interpreter/asynchronous.h"
#include "tests/ptx/interpreter/fault.h"
#include "tests/ptx/interpreter/memory.h"
#include "tests/ptx/interpreter/operations.h"
#include "tests/ptx/interpreter/settings.h"
#include "tests/ptx/interpreter/together.h"

namespace ptx
{
static cell *cells_of(warp &w, const copy &c)
{
    return w.home->watched.empty() ? nullptr : &w.home->watched[c.to / 4];
}

static void bring(warp &w, const copy &c)
{
    char *to = w.home->shared.data() + c.to;
    memcpy(to, (const char *)c.from, c.bytes);
    memset(to + c.bytes, 0, c.size - c.bytes);
}

/* Reads all at once, or whole words, and what is left byte by byte: it begins at a multiple of its size. */
static void read(warp &w, const instruction &i, const copy &c)
{
    if (c.bytes == c.size) {
        global_at(w, i, c.lane, c.from, c.size, access::READ);
        return;
    }
    const u32 words = c.bytes / 4 * 4;
    for (u32 k = 0; k < words; k += 4)
        global_at(w, i, c.lane, c.from + k, 4, access::READ);
    for (u32 k = words; k < c.bytes; k++)
        global_at(w, i, c.lane, c.from + k, 1, access::READ);
}

/* Checks both ends. */
static void begin(warp &w, const instruction &i, const copy &c)
{
    if (c.bytes > c.size)
        broken(w, i, c.lane, "cp.async of " + std::to_string(c.bytes) + " bytes into " + std::to_string(c.size));
    if (c.from % c.size)
        broken(w, i, c.lane, "cp.async from a misaligned address");
    shared_within(w, i, c.lane, c.to, c.size);
    read(w, i, c);
    if (cell *cells = cells_of(w, c))
        watch_copy_begin(w, i, c.lane, cells, c.size);
    if (asked().copies == moment::EARLY)
        bring(w, c);
    w.copies.push_back(c);
}

/* [to], [from], size{, bytes} */
static void start(warp &w, const instruction &i, mask m)
{
    for (u32 l = 0; l < LANES; l++)
        if (m >> l & 1) {
            const u32 size = w.row<u32>(i.from[2])[l], bytes = i.n_from > 3 ? w.row<u32>(i.from[3])[l] : size;
            begin(w, i,
                  {l, w.group[l], (u32)(w.row<u32>(i.from[0])[l] + i.offset), size, bytes,
                   w.row<u64>(i.from[1])[l] + (u64)i.offset2});
        }
}

static void commit(warp &w, const instruction &, mask m)
{
    for (u32 l = 0; l < LANES; l++)
        w.group[l] += m >> l & 1;
}

template <class F> static void finish(warp &w, mask m, F waited_for)
{
    size_t kept = 0;
    for (const copy &c : w.copies) {
        if (!(m >> c.lane & 1) || !waited_for(c)) {
            w.copies[kept++] = c;
            continue;
        }
        if (asked().copies == moment::LATE)
            bring(w, c);
        if (cell *cells = cells_of(w, c))
            watch_copy_end(w, c.lane, cells, c.size);
        written_by_lane(w, c.lane);
    }
    w.copies.resize(kept);
}

/* All but the youngest n groups of each lane. */
static void wait_group(warp &w, const instruction &i, mask m)
{
    const u32 n = w.row<u32>(i.from[0])[0];
    finish(w, m, [&](const copy &c) { return c.group + n < w.group[c.lane]; });
}

static void wait_all(warp &w, const instruction &, mask m)
{
    finish(w, m, [](const copy &) { return true; });
}

handler copy_of(const statement &s)
{
    if (s.opcode == "cp.async.commit_group")
        return commit;
    if (s.opcode == "cp.async.wait_group")
        return wait_group;
    if (s.opcode == "cp.async.wait_all")
        return wait_all;
    return s.opcode == "cp.async.cg.shared.global" || s.opcode == "cp.async.ca.shared.global" ? start : nullptr;
}

void copies_end(const warp &w)
{
    if (!w.copies.empty())
        throw fault("cp.async that nobody waits for, in " + w.home->code->name + ", warp " + std::to_string(w.number));
}
} // namespace ptx
