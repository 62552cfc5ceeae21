/*
 * operations.h - what an instruction does to each lane by itself, by the spelling of its opcode: "add.s32". The tables
 * are made by arithmetic.cc, compare.cc and convert.cc with the templates below.
 */
#ifndef GRADUS_PTX_OPERATIONS_H
#define GRADUS_PTX_OPERATIONS_H

#include <cstring>
#include <string>
#include <unordered_map>

#include "tests/ptx/interpreter/warp.h"

namespace ptx
{
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

enum { PREDICATE = 1 }; /* as the size of an operand */

struct operation {
    handler run;
    uint8_t to, from[3]; /* bytes of each operand; 0: there is none */
    bool converts;       /* registers may be wider than the operands */
};

typedef std::unordered_map<std::string, operation> operations;

void add_arithmetic(operations *all);
void add_comparisons(operations *all);
void add_conversions(operations *all);

/* All of them. */
const operations &all_operations();

/* The bits of a row's word as a T, and back. Signed ones of fewer than 32 bits are extended. */
template <class T> inline T value_of(lane_word<T> bits)
{
    T v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
template <class T> inline lane_word<T> bits_of(T v)
{
    if constexpr (std::is_integral<T>::value && sizeof(T) < 4)
        return (u32)(s32)v;
    else {
        lane_word<T> bits;
        memcpy(&bits, &v, sizeof bits);
        return bits;
    }
}

/* The lanes of m take r. */
template <class W> inline void keep(W *to, const W r[LANES], mask m)
{
    if (m == ALL)
        memcpy(to, r, LANES * sizeof(W));
    else
        for (u32 l = 0; l < LANES; l++)
            to[l] = m >> l & 1 ? r[l] : to[l];
}

template <class D, class A, class F> inline void unary(warp &w, const instruction &i, mask m, F f)
{
    const auto *a = w.row<A>(i.from[0]);
    lane_word<D> r[LANES];
    for (u32 l = 0; l < LANES; l++)
        r[l] = bits_of<D>(f(value_of<A>(a[l])));
    keep(w.row<D>(i.to[0]), r, m);
}

template <class D, class A, class B, class F> inline void binary(warp &w, const instruction &i, mask m, F f)
{
    const auto *a = w.row<A>(i.from[0]);
    const auto *b = w.row<B>(i.from[1]);
    lane_word<D> r[LANES];
    for (u32 l = 0; l < LANES; l++)
        r[l] = bits_of<D>(f(value_of<A>(a[l]), value_of<B>(b[l])));
    keep(w.row<D>(i.to[0]), r, m);
}

template <class D, class A, class B, class C, class F> inline void ternary(warp &w, const instruction &i, mask m, F f)
{
    const auto *a = w.row<A>(i.from[0]);
    const auto *b = w.row<B>(i.from[1]);
    const auto *c = w.row<C>(i.from[2]);
    lane_word<D> r[LANES];
    for (u32 l = 0; l < LANES; l++)
        r[l] = bits_of<D>(f(value_of<A>(a[l]), value_of<B>(b[l]), value_of<C>(c[l])));
    keep(w.row<D>(i.to[0]), r, m);
}

/* The operation whose lanes are made by F, which is inlined into a loop of its own. */
template <class D, class A, D (*F)(A)> operation of_one()
{
    return {[](warp &w, const instruction &i, mask m) { unary<D, A>(w, i, m, F); }, sizeof(D), {sizeof(A)}, false};
}
template <class D, class A, class B, D (*F)(A, B)> operation of_two()
{
    return {[](warp &w, const instruction &i, mask m) { binary<D, A, B>(w, i, m, F); },
            sizeof(D),
            {sizeof(A), sizeof(B)},
            false};
}
template <class D, class A, class B, class C, D (*F)(A, B, C)> operation of_three()
{
    return {[](warp &w, const instruction &i, mask m) { ternary<D, A, B, C>(w, i, m, F); },
            sizeof(D),
            {sizeof(A), sizeof(B), sizeof(C)},
            false};
}
} // namespace ptx

#endif
