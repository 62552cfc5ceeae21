/*
 * arithmetic.cc - integers, bits and floats. Quotients by zero are all ones, as of a GPU. ex2 and rcp are correctly
 * rounded here; a GPU's approximations may differ in the last two bits.
 */
#include <cfenv>
#include <cmath>
#include <type_traits>

#include "tests/ptx/interpreter/operations.h"

namespace ptx
{
template <class T> using unsigned_of = typename std::make_unsigned<T>::type;

/* --- integers ----------------------------------------------------------------------------------------------------- */

template <class T> static T sum(T a, T b)
{
    return (T)((unsigned_of<T>)a + (unsigned_of<T>)b);
}
template <class T> static T difference(T a, T b)
{
    return (T)((unsigned_of<T>)a - (unsigned_of<T>)b);
}
template <class T> static T low_product(T a, T b)
{
    return (T)((u64)(unsigned_of<T>)a * (u64)(unsigned_of<T>)b);
}
template <class T> static T low_product_sum(T a, T b, T c)
{
    return sum(low_product(a, b), c);
}
template <class T> static T high_product(T a, T b)
{
    typedef typename std::conditional<std::is_signed<T>::value, __int128, unsigned __int128>::type wide;
    return (T)((wide)a * (wide)b >> 8 * sizeof(T));
}
template <class D, class A> static D wide_product(A a, A b)
{
    return (D)((D)a * (D)b);
}
template <class D, class A> static D wide_product_sum(A a, A b, D c)
{
    return sum<D>((D)((D)a * (D)b), c);
}
template <class T> static T negative(T a)
{
    return (T)(0 - (unsigned_of<T>)a);
}
template <class T> static T quotient(T a, T b)
{
    if (!b)
        return (T) ~(T)0;
    return std::is_signed<T>::value && b == (T)-1 ? negative(a) : (T)(a / b);
}
template <class T> static T rest(T a, T b)
{
    if (!b)
        return a;
    return std::is_signed<T>::value && b == (T)-1 ? (T)0 : (T)(a % b);
}
template <class T> static T magnitude(T a)
{
    return a < 0 ? negative(a) : a;
}
template <class T> static T lesser(T a, T b)
{
    return a < b ? a : b;
}
template <class T> static T greater(T a, T b)
{
    return a > b ? a : b;
}
template <class T> static T shifted_right(T a, u32 by)
{
    const u32 last = 8 * sizeof(T) - 1; /* a sign fills all places; for unsigned ones 0 does */
    if (by > last)
        return std::is_signed<T>::value ? (T)(a >> last) : (T)0;
    return (T)(a >> by);
}

template <class T> static void add_integers(operations &all, const std::string &type)
{
    all["add." + type] = of_two<T, T, T, sum<T>>();
    all["sub." + type] = of_two<T, T, T, difference<T>>();
    all["mul.lo." + type] = of_two<T, T, T, low_product<T>>();
    all["mul.hi." + type] = of_two<T, T, T, high_product<T>>();
    all["mad.lo." + type] = of_three<T, T, T, T, low_product_sum<T>>();
    all["div." + type] = of_two<T, T, T, quotient<T>>();
    all["rem." + type] = of_two<T, T, T, rest<T>>();
    all["min." + type] = of_two<T, T, T, lesser<T>>();
    all["max." + type] = of_two<T, T, T, greater<T>>();
    all["shr." + type] = of_two<T, T, u32, shifted_right<T>>();
    if (std::is_signed<T>::value) {
        all["neg." + type] = of_one<T, T, negative<T>>();
        all["abs." + type] = of_one<T, T, magnitude<T>>();
    }
}

template <class D, class A> static void add_wide(operations &all, const std::string &type)
{
    all["mul.wide." + type] = of_two<D, A, A, wide_product<D, A>>();
    all["mad.wide." + type] = of_three<D, A, A, D, wide_product_sum<D, A>>();
}

/* --- bits --------------------------------------------------------------------------------------------------------- */

template <class T> static T same(T a)
{
    return a;
}
template <class T> static T both(T a, T b)
{
    return a & b;
}
template <class T> static T either(T a, T b)
{
    return a | b;
}
template <class T> static T one_of(T a, T b)
{
    return a ^ b;
}
template <class T> static T inverse(T a)
{
    return (T)~a;
}
template <class T> static T shifted_left(T a, u32 by)
{
    return by >= 8 * sizeof(T) ? (T)0 : (T)(a << by);
}
static u32 set_bits(u32 a)
{
    return (u32)__builtin_popcount(a);
}
static u32 leading_zeros(u32 a)
{
    return a ? (u32)__builtin_clz(a) : 32;
}
static u32 reversed(u32 a)
{
    u32 r = 0;
    for (int i = 0; i < 32; i++)
        r |= (a >> i & 1) << (31 - i);
    return r;
}
/* Four bytes of the eight of b:a, by the lowest four digits of which. */
static u32 permuted(u32 a, u32 b, u32 which)
{
    const u64 bytes = (u64)b << 32 | a;
    u32 r = 0;
    for (int i = 0; i < 4; i++) {
        const u32 digit = which >> 4 * i & 15, byte = (u32)(bytes >> 8 * (digit & 7)) & 255;
        r |= (digit & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
    }
    return r;
}
/* shf: the upper or lower word of b:a, shifted. */
static u32 funnel_left(u32 a, u32 b, u32 by)
{
    return (u32)(((u64)b << 32 | a) << (by & 31) >> 32);
}
static u32 funnel_right(u32 a, u32 b, u32 by)
{
    return (u32)(((u64)b << 32 | a) >> (by & 31));
}

template <class T> static void add_bits(operations &all, const std::string &type)
{
    all["and." + type] = of_two<T, T, T, both<T>>();
    all["or." + type] = of_two<T, T, T, either<T>>();
    all["xor." + type] = of_two<T, T, T, one_of<T>>();
    all["not." + type] = of_one<T, T, inverse<T>>();
    all["shl." + type] = of_two<T, T, u32, shifted_left<T>>();
    all["shr." + type] = of_two<T, T, u32, shifted_right<T>>();
}

template <class T> static void add_moves(operations &all, const std::string &type)
{
    all["mov." + type] = of_one<T, T, same<T>>();
    all["cvta.to.global." + type] = all["cvta.global." + type] = of_one<T, T, same<T>>();
    all["cvta.to.shared." + type] = all["cvta.shared." + type] = of_one<T, T, same<T>>();
    all["cvta.param." + type] = of_one<T, T, same<T>>(); /* decode.cc adds where they lie */
    all["cvta.to.local." + type] = all["cvta.local." + type] = of_one<T, T, same<T>>();
}

/* --- floats ------------------------------------------------------------------------------------------------------- */

template <class T> static T f_sum(T a, T b)
{
    return a + b;
}
template <class T> static T f_difference(T a, T b)
{
    return a - b;
}
template <class T> static T f_product(T a, T b)
{
    return a * b;
}
template <class T> static T f_product_sum(T a, T b, T c)
{
    return std::fma(a, b, c);
}
template <class T> static T f_quotient(T a, T b)
{
    return a / b;
}
template <class T> static T f_reciprocal(T a)
{
    return (T)1 / a;
}
template <class T> static T f_root(T a)
{
    return std::sqrt(a);
}
template <class T> static T f_inverse_root(T a)
{
    return (T)1 / std::sqrt(a);
}
template <class T> static T f_negative(T a)
{
    return -a;
}
template <class T> static T f_magnitude(T a)
{
    return std::fabs(a);
}
/* PTX names the sign first. */
template <class T> static T f_with_sign(T sign, T a)
{
    return std::copysign(a, sign);
}
/* Of a number and a NaN, the number. */
template <class T> static T f_lesser(T a, T b)
{
    return b != b || a < b || (a == b && std::signbit(a)) ? a : b;
}
template <class T> static T f_greater(T a, T b)
{
    return b != b || a > b || (a == b && !std::signbit(a)) ? a : b;
}

/* What is too small for a normal number becomes 0 of its sign. */
static float flushed(float v)
{
    return std::fabs(v) < 1.17549435e-38f ? std::copysign(0.f, v) : v;
}
static float power_of_two(float a)
{
    return flushed((float)std::exp2((double)flushed(a)));
}
static float logarithm(float a)
{
    return (float)std::log2((double)flushed(a));
}
static float flushed_reciprocal(float a)
{
    return flushed(1 / flushed(a));
}
/* The upper half of a double's reciprocal: 1/a to about 20 bits, the rest 0. */
static double coarse_reciprocal(double a)
{
    const double r = 1 / a;
    u64 bits;
    memcpy(&bits, &r, sizeof bits);
    bits &= 0xFFFFFFFF00000000u;
    return value_of<double>(bits);
}

/* Other roundings are rare: by the processor's mode. The compiler does not look through what is volatile. */
template <int MODE> struct rounding {
    rounding() : before(fegetround())
    {
        fesetround(MODE);
    }
    ~rounding()
    {
        fesetround(before);
    }
    const int before;
};
template <int MODE> static float directed_sum(float a, float b)
{
    const rounding<MODE> mode;
    volatile float x = a, y = b, r = x + y;
    return r;
}
template <int MODE> static float directed_product_sum(float a, float b, float c)
{
    const rounding<MODE> mode;
    volatile float x = a, y = b, z = c, r = std::fma(x, y, z);
    return r;
}

template <class T> static void add_floats(operations &all, const std::string &type)
{
    for (const std::string how : {"", "rn."}) {
        all["add." + how + type] = of_two<T, T, T, f_sum<T>>();
        all["sub." + how + type] = of_two<T, T, T, f_difference<T>>();
        all["mul." + how + type] = of_two<T, T, T, f_product<T>>();
        all["fma." + how + type] = of_three<T, T, T, T, f_product_sum<T>>();
    }
    all["div.rn." + type] = of_two<T, T, T, f_quotient<T>>();
    all["rcp.rn." + type] = of_one<T, T, f_reciprocal<T>>();
    all["sqrt.rn." + type] = of_one<T, T, f_root<T>>();
    all["neg." + type] = of_one<T, T, f_negative<T>>();
    all["abs." + type] = of_one<T, T, f_magnitude<T>>();
    all["copysign." + type] = of_two<T, T, T, f_with_sign<T>>();
    all["min." + type] = of_two<T, T, T, f_lesser<T>>();
    all["max." + type] = of_two<T, T, T, f_greater<T>>();
}

template <int MODE> static void add_rounding(operations &all, const std::string &how)
{
    all["add." + how + ".f32"] = of_two<float, float, float, directed_sum<MODE>>();
    all["fma." + how + ".f32"] = of_three<float, float, float, float, directed_product_sum<MODE>>();
}

static void add_approximations(operations &all)
{
    all["ex2.approx.ftz.f32"] = all["ex2.approx.f32"] = of_one<float, float, power_of_two>();
    all["lg2.approx.ftz.f32"] = all["lg2.approx.f32"] = of_one<float, float, logarithm>();
    all["rcp.approx.ftz.f32"] = of_one<float, float, flushed_reciprocal>();
    all["rcp.approx.ftz.f64"] = of_one<double, double, coarse_reciprocal>();
    all["rsqrt.approx.f32"] = all["rsqrt.approx.ftz.f32"] = of_one<float, float, f_inverse_root<float>>();
    all["div.full.f32"] = all["div.approx.f32"] = of_two<float, float, float, f_quotient<float>>();
}

static void add_word_operations(operations &all)
{
    all["popc.b32"] = of_one<u32, u32, set_bits>();
    all["clz.b32"] = of_one<u32, u32, leading_zeros>();
    all["brev.b32"] = of_one<u32, u32, reversed>();
    all["prmt.b32"] = of_three<u32, u32, u32, u32, permuted>();
    all["shf.l.wrap.b32"] = of_three<u32, u32, u32, u32, funnel_left>();
    all["shf.r.wrap.b32"] = of_three<u32, u32, u32, u32, funnel_right>();
}

void add_arithmetic(operations *to)
{
    operations &all = *to;
    add_integers<u16>(all, "u16"), add_integers<s16>(all, "s16");
    add_integers<u32>(all, "u32"), add_integers<s32>(all, "s32");
    add_integers<u64>(all, "u64"), add_integers<s64>(all, "s64");
    add_wide<u32, u16>(all, "u16"), add_wide<s32, s16>(all, "s16");
    add_wide<u64, u32>(all, "u32"), add_wide<s64, s32>(all, "s32");
    add_bits<u16>(all, "b16"), add_bits<u32>(all, "b32"), add_bits<u64>(all, "b64");
    for (const char *type : {"b16", "u16", "s16"})
        add_moves<u16>(all, type);
    for (const char *type : {"b32", "u32", "s32", "f32"})
        add_moves<u32>(all, type);
    for (const char *type : {"b64", "u64", "s64", "f64"})
        add_moves<u64>(all, type);
    add_floats<float>(all, "f32"), add_floats<double>(all, "f64");
    add_rounding<FE_TOWARDZERO>(all, "rz"), add_rounding<FE_DOWNWARD>(all, "rm"), add_rounding<FE_UPWARD>(all, "rp");
    add_approximations(all);
    add_word_operations(all);
}
} // namespace ptx
