/*
 * wgmma.cc - products that four warps make from shared memory: m64n64k16 and m64n128k16 of f16 or bf16, float sums (PTX
 * ISA 9.7.15). Of warp q of the four, lane l, register r = 4 j + 2 h + e: row 16 q + l / 4 + 8 h, column
 * 8 j + 2 (l % 4) + e.
 *
 * A product is made at once: nvcc moves sums that are under way from register to register, and leaves it to ptxas to
 * see that they stay where they are. That they are left alone until the wait is the emulator's to find. Operands count
 * as being read until the wait: whoever writes there before races with it.
 */
#include "tests/ptx/interpreter/asynchronous.h"
#include "tests/ptx/interpreter/fault.h"
#include "tests/ptx/interpreter/formats.h"
#include "tests/ptx/interpreter/memory.h"
#include "tests/ptx/interpreter/operations.h"
#include "tests/ptx/interpreter/tensor_cores.h"

namespace ptx
{
enum { GROUP = 4 /* warps */, ROWS = 16 /* of a warp */, DEPTH = 16, PIECE = 16, HOPPER = 90 };

/* --- operands (9.7.15.5.1.2) -------------------------------------------------------------------------------------- */

/* What a descriptor says, in bytes. across: of a row of an atom, which has eight of them. */
struct layout {
    u32 start, leading, stride, bits, across;
    bool major_m; /* neighbours are rows of a, columns of b; else they are neighbours in depth */
};

static layout layout_of(warp &w, const instruction &i, u64 descriptor, bool major_m)
{
    static const u32 bits[] = {0, 3, 2, 1};
    const auto field = [descriptor](int bit) { return (u32)(descriptor >> bit & 0x3FFF) << 4; };
    const u32 swizzle = bits[descriptor >> 62];
    if (descriptor >> 49 & 7)
        broken(w, i, 0, "a descriptor with a base offset, which is not looked at here");
    return {field(0), field(16), field(32), swizzle, 16u << swizzle, major_m};
}

/*
 * Where element (m, k) of an operand lies: m of the rows of a, or of the columns of b. The whole address is swizzled,
 * so an operand may begin at any row of a pattern.
 */
static u32 place_of(const layout &o, u32 m, u32 k)
{
    if (!o.bits) { /* blocks of 8 x 8 */
        const u32 block = o.major_m ? m / 8 * o.stride + k / 8 * o.leading : m / 8 * o.stride + k / 8 * o.leading;
        return o.start + block + (o.major_m ? k % 8 * 16 + m % 8 * 2 : m % 8 * 16 + k % 8 * 2);
    }
    if (o.major_m) {
        const u32 beside = o.across / 2; /* elements of a row of an atom */
        return swizzled(o.start + k / 8 * o.stride + m / beside * o.leading + k % 8 * o.across + m % beside * 2,
                        o.bits);
    }
    return swizzled(o.start + m / 8 * o.stride + m % 8 * o.across + k * 2, o.bits);
}

/* Whether wgmma knows what was written: by a tile, or by a thread that fenced behind it. */
static bool is_shown(const warp &w, const cell &c)
{
    return is_of_a_tile(c) || c.write.time < w.home->beside.shown[c.write.thread];
}

/* All pieces of count rows (or columns) from first on, told to the detector of races by the lanes in turn. */
static void read(warp &w, const instruction &i, const layout &o, u32 first, u32 count)
{
    for (u32 n = 0; n < count * DEPTH; n += 8) {
        const u32 m = first + (o.major_m ? n % count : n / DEPTH), k = o.major_m ? n / count : n % DEPTH;
        const u32 at = place_of(o, m, k), lane = n / 8 % LANES;
        shared_at(w, i, lane, at, PIECE, access::READ);
        if (!w.home->watched.empty() && !is_shown(w, w.home->watched[at / 4]))
            broken(w, i, lane, "no fence.proxy.async between a thread's write and wgmma, which reads it");
    }
}

/* Of the sums; a lane holds half as many. */
static u32 columns_of(const warp &w, const instruction &i)
{
    return (u32)w.home->code->lists[(size_t)i.offset].size() * 2;
}

static void read_operands(warp &w, const instruction &i, u64 a, u64 b)
{
    read(w, i, layout_of(w, i, a, i.choice & 1), w.number % GROUP * ROWS, ROWS);
    read(w, i, layout_of(w, i, b, i.choice >> 1 & 1), 0, columns_of(w, i));
}

static float value(const warp &w, const layout &o, element of, u32 m, u32 k)
{
    u16 bits;
    memcpy(&bits, w.home->shared.data() + place_of(o, m, k), sizeof bits);
    return of == element::BF16 ? bf16_value(bits) : f16_value(bits);
}

/* --- instructions ------------------------------------------------------------------------------------------------- */

static void multiply(warp &w, const instruction &i, const layout &a, const layout &b)
{
    const std::vector<place> &sums = w.home->code->lists[(size_t)i.offset];
    const element of = i.choice & 4 ? element::BF16 : element::F16;
    float left[ROWS][DEPTH], right[DEPTH][8], d[ROWS][8];
    for (u32 m = 0; m < ROWS; m++)
        for (u32 k = 0; k < DEPTH; k++)
            left[m][k] = value(w, a, of, w.number % GROUP * ROWS + m, k);
    for (u32 j = 0; j < columns_of(w, i) / 8; j++) {
        for (u32 k = 0; k < DEPTH; k++)
            for (u32 n = 0; n < 8; n++)
                right[k][n] = value(w, b, of, 8 * j + n, k);
        const auto each = [&](auto f) {
            for (u32 r = 0; r < 4; r++)
                for (u32 l = 0; l < LANES; l++)
                    f(w.row<u32>(sums[4 * j + r])[l], d[l / 4 + 8 * (r / 2)][2 * (l % 4) + r % 2]);
        };
        each([](u32 &bits, float &sum) { sum = value_of<float>(bits); });
        tensor_core(d, left[0], right, DEPTH, of, HOPPER);
        each([](u32 &bits, float &sum) { bits = bits_of(sum); });
    }
}

/* {64 sums}, a, b, 1, 1, 1, major of a, of b */
static void make(warp &w, const instruction &i, mask)
{
    const u64 *a = w.row<u64>(i.from[0]), *b = w.row<u64>(i.from[1]);
    for (u32 l = 1; l < LANES; l++)
        if (a[l] != a[0] || b[l] != b[0])
            broken(w, i, l, "another descriptor than lane 0's");
    if (w.number / GROUP * GROUP + GROUP > w.home->warps)
        broken(w, i, 0, "not one of four warps");
    if (!w.fenced)
        broken(w, i, 0, "no wgmma.fence before the first product");
    read_operands(w, i, a[0], b[0]);
    multiply(w, i, layout_of(w, i, a[0], i.choice & 1), layout_of(w, i, b[0], i.choice >> 1 & 1));
    w.products.push_back({&i, a[0], b[0], w.group_of_products});
    w.products_made = (w.products_made + a[0]) * 0x9E3779B97F4A7C15 + b[0];
}

static void fence(warp &w, const instruction &, mask)
{
    w.fenced = true;
}

static void commit(warp &w, const instruction &, mask)
{
    w.group_of_products++;
}

/* Operands of all but the youngest n groups are free; the others are still being read. */
static void wait(warp &w, const instruction &i, mask)
{
    const u32 n = w.row<u32>(i.from[0])[0];
    size_t kept = 0;
    warp_met(&w);
    for (const product &p : w.products)
        if (p.group + n >= w.group_of_products) {
            read_operands(w, *p.by, p.a, p.b);
            w.products[kept++] = p;
        }
    w.products.resize(kept);
}

handler product_of(const statement &s)
{
    for (const char *shape : {"m64n64k16", "m64n128k16"})
        for (const char *of : {".f32.f16.f16", ".f32.bf16.bf16"})
            if (s.opcode == std::string("wgmma.mma_async.sync.aligned.") + shape + of)
                return make;
    if (s.opcode == "wgmma.fence.sync.aligned")
        return fence;
    if (s.opcode == "wgmma.commit_group.sync.aligned")
        return commit;
    return s.opcode == "wgmma.wait_group.sync.aligned" ? wait : nullptr;
}

/* --- at the end of a block ---------------------------------------------------------------------------------------- */

void asynchronous_end(const block &b, const std::vector<std::unique_ptr<warp>> &all)
{
    if (!b.beside.tiles.empty())
        throw fault("a tile that nobody waits for, in " + b.code->name);
    for (u32 k = 0; k < b.warps; k++) {
        const std::string where = " in " + b.code->name + ", warp " + std::to_string(k);
        if (!all[k]->products.empty())
            throw fault("wgmma that nobody waits for," + where);
        if (all[k]->products_made != all[k / GROUP * GROUP]->products_made)
            throw fault("wgmma of other operands than the first of the four warps has," + where);
    }
}
} // namespace ptx
