// Arithmetic and comparison of floats; between floats and integers.
#include "meanings.h"

#include <math.h>

bool compare_floats(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    float a[LANES], b[LANES];
    uint32_t held = 0;
    read_floats(warp, parts->from[0], a);
    read_floats(warp, parts->from[1], b);
    for (int i = 0; i < LANES; i++) {
        bool unordered = isnan(a[i]) || isnan(b[i]);
        int order = (a[i] > b[i]) - (a[i] < b[i]);
        bool holds = has(it, ".NAN") ? unordered : has(it, ".NUM") ? !unordered : compare_as(it->name, order);
        bool loose = has(it, "U.") && (has(it, ".LTU") || has(it, ".LEU") || has(it, ".GTU") || has(it, ".GEU") ||
                                       has(it, ".NEU") || has(it, ".EQU"));
        held |= (uint32_t)(unordered ? loose || has(it, ".NAN") : holds) << i;
    }
    write_tests(warp, it, parts, lanes, held);
    return true;
}

bool float_arithmetic(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    float a[LANES], b[LANES], c[LANES] = {0};
    uint32_t result[LANES];
    read_floats(warp, parts->from[0], a);
    read_floats(warp, parts->from[1], b);
    if (parts->sources > 2)
        read_floats(warp, parts->from[2], c);
    for (int i = 0; i < LANES; i++) {
        float value = it->base[1] == 'A' ? a[i] + b[i] : it->base[2] == 'U' ? a[i] * b[i] : fmaf(a[i], b[i], c[i]);
        result[i] = bits_of(value);
    }
    write_word(warp, parts->to->index, lanes, result);
    return true;
}

static float special_function(const char *name, float x)
{
    return strstr(name, ".RCP")    ? (float)(1.0 / x)
           : strstr(name, ".RSQ")  ? (float)(1.0 / sqrt(x))
           : strstr(name, ".SQRT") ? sqrtf(x)
           : strstr(name, ".EX2")  ? exp2f(x)
           : strstr(name, ".LG2")  ? log2f(x)
           : strstr(name, ".SIN")  ? sinf(x)
           : strstr(name, ".COS")  ? cosf(x)
                                   : tanhf(x);
}

bool special(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    float x[LANES];
    uint32_t result[LANES];
    read_floats(warp, parts->from[0], x);
    for (int i = 0; i < LANES; i++)
        result[i] = bits_of(special_function(it->name, x[i]));
    write_word(warp, parts->to->index, lanes, result);
    return true;
}

static float up_to(double exact)
{
    float near = (float)exact;
    return (double)near < exact ? nextafterf(near, INFINITY) : near;
}

bool integer_to_float(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t result[LANES], low[LANES];
    uint64_t a[LANES];
    if (has(it, "F64") || has(it, "F16"))
        return false;
    read_integer(warp, parts->from[0], low);
    read_pair(warp, parts->from[0], a);
    for (int i = 0; i < LANES; i++) {
        double exact = has(it, ".U64")   ? (double)a[i]
                       : has(it, ".S64") ? (double)(int64_t)a[i]
                       : has(it, ".U")   ? (double)low[i]
                                         : (double)(int32_t)low[i];
        result[i] = bits_of(has(it, ".RP") ? up_to(exact) : (float)exact);
    }
    write_word(warp, parts->to->index, lanes, result);
    return true;
}

bool float_to_integer(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    float x[LANES];
    uint32_t low[LANES], high[LANES];
    if (has(it, "F64") || has(it, "F16"))
        return false;
    read_floats(warp, parts->from[0], x);
    for (int i = 0; i < LANES; i++) {
        double value = has(it, ".TRUNC")   ? trunc(x[i])
                       : has(it, ".FLOOR") ? floor(x[i])
                       : has(it, ".CEIL")  ? ceil(x[i])
                                           : rint(x[i]);
        double least = has(it, ".U") ? 0 : has(it, "64") ? -9223372036854775808.0 : -2147483648.0;
        double most = has(it, "64")   ? has(it, ".U64") ? 18446744073709549568.0 : 9223372036854774784.0
                      : has(it, ".U") ? 4294967295.0
                                      : 2147483647.0;
        value = isnan(value) ? 0 : value < least ? least : value > most ? most : value;
        uint64_t whole = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
        low[i] = (uint32_t)whole;
        high[i] = (uint32_t)(whole >> 32);
    }
    write_word(warp, parts->to->index, lanes, low);
    if (has(it, "64"))
        write_word(warp, parts->to->index + 1, lanes, high);
    return true;
}

bool no_check(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    (void)it; // FCHK: whether a division needs its slow path; ordinary numbers do not
    write_predicate(warp, parts->to_predicates[0]->index, lanes, 0);
    return true;
}
