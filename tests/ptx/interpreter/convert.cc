/*
 * convert.cc - cvt, and the formats of halves and tf32, written from their definitions alone: neither core/half.h nor
 * the emulator is asked, since this is to be another reading of the same manual (PTX ISA 9.0, 9.7.9.21 cvt).
 */
#include <cmath>
#include <limits>

#include "tests/ptx/interpreter/formats.h"
#include "tests/ptx/interpreter/operations.h"

namespace ptx
{
/* --- formats ------------------------------------------------------------------------------------------------------ */

/* sign, 5 bits of exponent (bias 15), 10 of fraction */
static float make_f16(u16 h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    float v = std::ldexp((float)(fraction + (exponent ? 1024 : 0)), (exponent ? exponent : 1) - 25);
    if (exponent == 31)
        v = fraction ? NAN : INFINITY;
    return h & 0x8000 ? -v : v;
}

float f16_value(u16 h)
{
    struct table {
        float of[65536];
        table()
        {
            for (u32 i = 0; i < 65536; i++)
                of[i] = make_f16((u16)i);
        }
    };
    static const table values;
    return values.of[h];
}

/* Rounded to the nearest multiple of the half's last bit, ties to the even one: in double, where that is exact. */
u16 f16_of(float v)
{
    if (v != v)
        return 0x7FFF;
    const u16 sign = std::signbit(v) ? 0x8000 : 0;
    int exponent;
    const double magnitude = std::fabs((double)v);
    std::frexp(magnitude, &exponent); /* magnitude = 0.1... * 2^exponent */
    const int last = magnitude > 0 ? std::max(exponent - 11, -24) : -24;
    const double steps = std::nearbyint(std::ldexp(magnitude, -last));
    if (std::ldexp(steps, last) >= 65536)
        return sign | 0x7C00;
    /* In units of 2^last; 1024 of them carry into the exponent, as the bits do. */
    return (u16)(sign | (u16)((last + 24) * 1024 + (int)steps));
}

float bf16_value(u16 b)
{
    return value_of<float>((u32)b << 16);
}

u16 bf16_of(float v)
{
    const u32 bits = bits_of(v), even = bits >> 16 & 1;
    return v != v ? 0x7FFF : (u16)((bits + 0x7FFF + even) >> 16);
}

/* Ties away from 0. */
u32 tf32_of(float v)
{
    const u32 bits = bits_of(v);
    if (v != v)
        return 0x7FFFFFFF;
    return std::isinf(v) ? bits : (bits + 0x1000) & 0xFFFFE000;
}

/* --- conversions -------------------------------------------------------------------------------------------------- */

template <class D, class A> static D plain(A a)
{
    return (D)a;
}

/* Towards zero, into the range; NaN is 0. */
template <class D, class A> static D truncated(A a)
{
    const double v = (double)a, low = (double)std::numeric_limits<D>::min(),
                 high = (double)std::numeric_limits<D>::max();
    if (v != v)
        return 0;
    if (v <= low)
        return std::numeric_limits<D>::min();
    return v >= high ? std::numeric_limits<D>::max() : (D)v;
}
template <class D, class A> static D nearest(A a)
{
    return truncated<D, double>(std::nearbyint((double)a));
}
template <class T> static T to_zero(T a)
{
    return std::trunc(a);
}
template <class T> static T down(T a)
{
    return std::floor(a);
}
template <class T> static T up(T a)
{
    return std::ceil(a);
}
template <class T> static T to_even(T a)
{
    return std::nearbyint(a);
}
static float saturated(float a)
{
    return a > 0 ? (a < 1 ? a : 1) : 0;
}

template <class D, class A> static void add_one(operations &all, const std::string &spelling)
{
    all["cvt." + spelling] = of_one<D, A, plain<D, A>>();
}

template <class A> static void add_from_integer(operations &all, const std::string &from)
{
    add_one<u8, A>(all, "u8." + from), add_one<s8, A>(all, "s8." + from);
    add_one<u16, A>(all, "u16." + from), add_one<s16, A>(all, "s16." + from);
    add_one<u32, A>(all, "u32." + from), add_one<s32, A>(all, "s32." + from);
    add_one<u64, A>(all, "u64." + from), add_one<s64, A>(all, "s64." + from);
    add_one<float, A>(all, "rn.f32." + from), add_one<double, A>(all, "rn.f64." + from);
}

template <class A> static void add_from_float(operations &all, const std::string &from)
{
    all["cvt.rzi.s32." + from] = of_one<s32, A, truncated<s32, A>>();
    all["cvt.rzi.u32." + from] = of_one<u32, A, truncated<u32, A>>();
    all["cvt.rzi.s64." + from] = of_one<s64, A, truncated<s64, A>>();
    all["cvt.rzi.u64." + from] = of_one<u64, A, truncated<u64, A>>();
    all["cvt.rni.s32." + from] = of_one<s32, A, nearest<s32, A>>();
    all["cvt.rni.s64." + from] = of_one<s64, A, nearest<s64, A>>();
    all["cvt.rzi." + from + "." + from] = of_one<A, A, to_zero<A>>();
    all["cvt.rmi." + from + "." + from] = of_one<A, A, down<A>>();
    all["cvt.rpi." + from + "." + from] = of_one<A, A, up<A>>();
    all["cvt.rni." + from + "." + from] = of_one<A, A, to_even<A>>();
}

static void add_halves(operations &all)
{
    all["cvt.f32.f16"] = of_one<float, u16, f16_value>();
    all["cvt.f32.bf16"] = of_one<float, u16, bf16_value>();
    all["cvt.rn.f16.f32"] = of_one<u16, float, f16_of>();
    all["cvt.rn.bf16.f32"] = of_one<u16, float, bf16_of>();
    all["cvt.rna.tf32.f32"] = of_one<u32, float, tf32_of>();
}

void add_conversions(operations *to)
{
    operations &all = *to, cvt;
    add_from_integer<u8>(cvt, "u8"), add_from_integer<s8>(cvt, "s8");
    add_from_integer<u16>(cvt, "u16"), add_from_integer<s16>(cvt, "s16");
    add_from_integer<u32>(cvt, "u32"), add_from_integer<s32>(cvt, "s32");
    add_from_integer<u64>(cvt, "u64"), add_from_integer<s64>(cvt, "s64");
    add_one<double, u32>(cvt, "f64.u32"), add_one<double, s32>(cvt, "f64.s32");
    add_from_float<float>(cvt, "f32"), add_from_float<double>(cvt, "f64");
    add_one<double, float>(cvt, "f64.f32"), add_one<float, double>(cvt, "rn.f32.f64");
    cvt["cvt.sat.f32.f32"] = of_one<float, float, saturated>();
    add_halves(cvt);
    for (auto &c : cvt) {
        c.second.converts = true;
        all[c.first] = c.second;
    }
}

const operations &all_operations()
{
    static const operations *all = [] { /* never given back: coverage is written when the program ends */
                                        auto *made = new operations;
                                        add_arithmetic(made);
                                        add_comparisons(made);
                                        add_conversions(made);
                                        return made;
    }();
    return *all;
}
} // namespace ptx
