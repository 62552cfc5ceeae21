/* pieces.cc - registers put together of narrower ones, taken apart, and fields of bits. */
#include "tests/ptx/interpreter/operations.h"
#include "tests/ptx/interpreter/together.h"

namespace ptx
{
/* mov.b64 %rd, {%r1, %r2}; choice: bytes of the whole. Piece 0 is the lowest. */
static void join(warp &w, const instruction &i, mask m)
{
    const u32 bits = 8u * i.choice / i.n_from;
    const u64 piece = ((u64)1 << bits) - 1;
    for (u32 l = 0; l < LANES; l++) {
        u64 v = 0;
        for (u32 k = 0; k < i.n_from; k++)
            v |= (w.row<u32>(i.from[k])[l] & piece) << bits * k;
        if (!(m >> l & 1))
            continue;
        if (i.choice == 8)
            w.row<u64>(i.to[0])[l] = v;
        else
            w.row<u32>(i.to[0])[l] = (u32)v;
    }
}

/* mov.b64 {%r1, %r2}, %rd; a piece that nobody wants is called _ */
static void split(warp &w, const instruction &i, mask m)
{
    const u32 bits = 8u * i.choice / i.n_to;
    const u64 piece = ((u64)1 << bits) - 1;
    for (u32 l = 0; l < LANES; l++) {
        const u64 v = i.choice == 8 ? w.row<u64>(i.from[0])[l] : w.row<u32>(i.from[0])[l];
        for (u32 k = 0; k < i.n_to; k++)
            if ((m >> l & 1) && i.to[k] != NOWHERE)
                w.row<u32>(i.to[k])[l] = (u32)(v >> bits * k & piece);
    }
}

/* bfi d, a, b, at, length: the lowest bits of a into b */
template <class T> static void insert(warp &w, const instruction &i, mask m)
{
    for (u32 l = 0; l < LANES; l++) {
        const u32 at = w.row<u32>(i.from[2])[l] & 255, length = w.row<u32>(i.from[3])[l] & 255;
        const T a = w.row<T>(i.from[0])[l];
        T r = w.row<T>(i.from[1])[l];
        for (u32 k = 0; k < length && at + k < 8 * sizeof(T); k++)
            r = (T)((r & ~((T)1 << (at + k))) | (a >> k & 1) << (at + k));
        if (m >> l & 1)
            w.row<T>(i.to[0])[l] = r;
    }
}

/* bfe d, a, at, length, of unsigned numbers */
static void extract(warp &w, const instruction &i, mask m)
{
    for (u32 l = 0; l < LANES; l++) {
        const u32 at = w.row<u32>(i.from[1])[l] & 255, length = w.row<u32>(i.from[2])[l] & 255;
        const u64 moved = at < 32 ? (u64)w.row<u32>(i.from[0])[l] >> at : 0;
        if (m >> l & 1)
            w.row<u32>(i.to[0])[l] = (u32)(length < 32 ? moved & (((u64)1 << length) - 1) : moved);
    }
}

handler pieces_of(const statement &s)
{
    if (s.words[0] == "mov" && s.operands.at(0).what == operand::VECTOR)
        return split;
    if (s.words[0] == "mov" && s.operands.at(1).what == operand::VECTOR)
        return join;
    if (s.opcode == "bfe.u32")
        return extract;
    return s.opcode == "bfi.b32" ? insert<u32> : s.opcode == "bfi.b64" ? insert<u64> : nullptr;
}
} // namespace ptx
