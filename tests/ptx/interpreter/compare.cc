/* compare.cc - setp, selp, slct and what is done to predicates: a predicate is one word, a bit for each lane. */
#include <cmath>

#include "tests/ptx/interpreter/operations.h"

namespace ptx
{
template <class T, bool (*F)(T, T)> static void compare(warp &w, const instruction &i, mask m)
{
    const auto *a = w.row<T>(i.from[0]);
    const auto *b = w.row<T>(i.from[1]);
    u32 r = 0;
    for (u32 l = 0; l < LANES; l++)
        r |= F(value_of<T>(a[l]), value_of<T>(b[l])) ? 1u << l : 0;
    mask &to = w.predicate(i.to[0]);
    to = (to & ~m) | (r & m);
}
template <class T, bool (*F)(T, T)> static operation comparison()
{
    return {compare<T, F>, PREDICATE, {sizeof(T), sizeof(T)}, false};
}

template <class T> static bool eq(T a, T b)
{
    return a == b;
}
template <class T> static bool ne(T a, T b)
{
    return a != b;
}
template <class T> static bool lt(T a, T b)
{
    return a < b;
}
template <class T> static bool le(T a, T b)
{
    return a <= b;
}
template <class T> static bool gt(T a, T b)
{
    return a > b;
}
template <class T> static bool ge(T a, T b)
{
    return a >= b;
}
template <class T> static void add_ordered(operations &all, const std::string &type)
{
    all["setp.eq." + type] = comparison<T, eq<T>>();
    all["setp.lt." + type] = comparison<T, lt<T>>();
    all["setp.le." + type] = comparison<T, le<T>>();
    all["setp.gt." + type] = comparison<T, gt<T>>();
    all["setp.ge." + type] = comparison<T, ge<T>>();
}
template <class T> static void add_integers(operations &all, const std::string &type)
{
    add_ordered<T>(all, type);
    all["setp.ne." + type] = comparison<T, ne<T>>();
}

/* Of floats: ne is false where one is NaN, the forms that end in u are true there. */
template <class T> static bool differ(T a, T b)
{
    return a < b || a > b;
}
template <class T> static bool equ(T a, T b)
{
    return !differ(a, b);
}
template <class T> static bool ltu(T a, T b)
{
    return !(a >= b);
}
template <class T> static bool leu(T a, T b)
{
    return !(a > b);
}
template <class T> static bool gtu(T a, T b)
{
    return !(a <= b);
}
template <class T> static bool geu(T a, T b)
{
    return !(a < b);
}
template <class T> static bool num(T a, T b)
{
    return a == a && b == b;
}
template <class T> static bool nan(T a, T b)
{
    return a != a || b != b;
}
template <class T> static void add_floats(operations &all, const std::string &type)
{
    add_ordered<T>(all, type);
    all["setp.ne." + type] = comparison<T, differ<T>>();
    all["setp.neu." + type] = comparison<T, ne<T>>();
    all["setp.equ." + type] = comparison<T, equ<T>>();
    all["setp.ltu." + type] = comparison<T, ltu<T>>();
    all["setp.leu." + type] = comparison<T, leu<T>>();
    all["setp.gtu." + type] = comparison<T, gtu<T>>();
    all["setp.geu." + type] = comparison<T, geu<T>>();
    all["setp.num." + type] = comparison<T, num<T>>();
    all["setp.nan." + type] = comparison<T, nan<T>>();
}

/* The first where the predicate holds, else the second. */
template <class T> static void select(warp &w, const instruction &i, mask m)
{
    const auto *a = w.row<T>(i.from[0]);
    const auto *b = w.row<T>(i.from[1]);
    const mask p = w.predicate(i.from[2]);
    lane_word<T> r[LANES];
    for (u32 l = 0; l < LANES; l++)
        r[l] = p >> l & 1 ? a[l] : b[l];
    keep(w.row<T>(i.to[0]), r, m);
}
template <class T> static void add_selections(operations &all, std::initializer_list<const char *> types)
{
    for (const std::string type : types)
        all["selp." + type] = {select<T>, sizeof(T), {sizeof(T), sizeof(T), PREDICATE}, false};
}

static mask p_and(mask a, mask b)
{
    return a & b;
}
static mask p_or(mask a, mask b)
{
    return a | b;
}
static mask p_xor(mask a, mask b)
{
    return a ^ b;
}
static mask p_not(mask a, mask)
{
    return ~a;
}
static mask p_same(mask a, mask)
{
    return a;
}
template <mask (*F)(mask, mask), int N> static operation of_predicates()
{
    return {[](warp &w, const instruction &i, mask m) {
                mask &to = w.predicate(i.to[0]);
                const mask r = F(w.predicate(i.from[0]), w.predicate(i.from[N - 1]));
                to = (to & ~m) | (r & m);
            },
            PREDICATE,
            {PREDICATE, N == 2 ? PREDICATE : 0},
            false};
}

void add_comparisons(operations *to)
{
    operations &all = *to;
    add_integers<u16>(all, "u16"), add_integers<s16>(all, "s16"), add_integers<u16>(all, "b16");
    add_integers<u32>(all, "u32"), add_integers<s32>(all, "s32"), add_integers<u32>(all, "b32");
    add_integers<u64>(all, "u64"), add_integers<s64>(all, "s64"), add_integers<u64>(all, "b64");
    add_floats<float>(all, "f32"), add_floats<double>(all, "f64");
    add_selections<u16>(all, {"b16", "u16", "s16"});
    add_selections<u32>(all, {"b32", "u32", "s32", "f32"});
    add_selections<u64>(all, {"b64", "u64", "s64", "f64"});
    all["and.pred"] = of_predicates<p_and, 2>();
    all["or.pred"] = of_predicates<p_or, 2>();
    all["xor.pred"] = of_predicates<p_xor, 2>();
    all["not.pred"] = of_predicates<p_not, 1>();
    all["mov.pred"] = of_predicates<p_same, 1>();
}
} // namespace ptx
