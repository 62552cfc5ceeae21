// Arithmetic, logic and comparison of integers.
#include "meanings.h"

static bool add_pairs(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint64_t sums[LANES] = {0}, term[LANES];
    if (has(it, ".X"))
        return false;
    for (int k = 0; k < parts->sources && k < 3; k++) {
        read_wide(warp, parts->from[k], term);
        for (int i = 0; i < LANES; i++)
            sums[i] += term[i];
    }
    write_wide(warp, parts->to, lanes, sums);
    for (int k = 0; k < parts->results; k++)
        if (parts->to_predicates[k]->index != PT && parts->to_predicates[k]->index != UPT)
            return false; // a carry of 64 bits, which nobody has seen yet
    return true;
}

bool add3(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    if (it->pairs)
        return add_pairs(warp, it, parts, lanes);
    uint64_t sums[LANES] = {0}, term[LANES];
    for (int k = 0; k < parts->sources && k < 3; k++) {
        read_carrying(warp, parts->from[k], term);
        for (int i = 0; i < LANES; i++)
            sums[i] += term[i];
    }
    if (has(it, ".X"))
        add_carries(warp, parts, sums);
    write_sums(warp, parts, lanes, sums);
    return true;
}

static bool multiply_wide(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t a[LANES], b[LANES], low[LANES], high[LANES], carry = 0;
    uint64_t c[LANES];
    bool plain = has(it, ".U32");
    read_integer(warp, parts->from[0], a);
    read_integer(warp, parts->from[1], b);
    read_pair(warp, parts->from[2], c);
    if (has(it, ".X"))
        add_carries(warp, parts, c);
    for (int i = 0; i < LANES; i++) {
        uint64_t product = plain ? (uint64_t)a[i] * b[i] : (uint64_t)((int64_t)(int32_t)a[i] * (int32_t)b[i]);
        uint64_t sum = product + c[i];
        carry |= (uint32_t)(sum < product) << i;
        low[i] = (uint32_t)sum;
        high[i] = (uint32_t)(sum >> 32);
    }
    if (has(it, ".HI")) {
        write_word(warp, parts->to->index, lanes, high);
    } else {
        write_word(warp, parts->to->index, lanes, low);
        if (parts->to->index != RZ && parts->to->index != URZ)
            write_word(warp, parts->to->index + 1, lanes, high);
    }
    if (parts->results)
        write_predicate(warp, parts->to_predicates[0]->index, lanes, carry);
    return true;
}

bool multiply_add(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    if (has(it, ".WIDE") || has(it, ".HI"))
        return multiply_wide(warp, it, parts, lanes);
    uint32_t a[LANES], b[LANES];
    uint64_t sums[LANES];
    read_integer(warp, parts->from[0], a);
    read_integer(warp, parts->from[1], b);
    read_carrying(warp, parts->from[2], sums);
    for (int i = 0; i < LANES; i++)
        sums[i] += a[i] * b[i];
    if (has(it, ".X"))
        add_carries(warp, parts, sums);
    write_sums(warp, parts, lanes, sums);
    return true;
}

bool shift_add(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t a[LANES], high[LANES], shift[LANES];
    uint64_t sums[LANES];
    bool upper = has(it, ".HI");
    bool own = has(it, "SX32") || parts->sources < 4; // no register with the upper half
    read_word(warp, parts->from[0], 0, a);
    read_carrying(warp, parts->from[1], sums);
    read_integer(warp, own ? NULL : parts->from[2], high);
    read_integer(warp, parts->from[parts->sources - 1], shift);
    for (int i = 0; i < LANES; i++) {
        uint64_t whole =
            own && upper && has(it, "SX32") ? (uint64_t)(int64_t)(int32_t)a[i] : (uint64_t)high[i] << 32 | a[i];
        uint64_t moved = whole << (shift[i] & 31);
        uint32_t term = upper ? (uint32_t)(moved >> 32) : (uint32_t)moved;
        sums[i] += parts->from[0]->negative ? (uint64_t)(uint32_t)~term + 1 : term;
    }
    if (has(it, ".X"))
        add_carries(warp, parts, sums);
    write_sums(warp, parts, lanes, sums);
    return true;
}

bool logic3(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    (void)it;
    uint32_t a[LANES], b[LANES], c[LANES], result[LANES], nonzero = 0;
    read_integer(warp, parts->from[0], a);
    read_integer(warp, parts->from[1], b);
    read_integer(warp, parts->from[2], c);
    uint32_t table = parts->sources > 3 ? (uint32_t)parts->from[3]->value : 0;
    for (int i = 0; i < LANES; i++) {
        uint32_t value = 0;
        for (int k = 0; k < 8; k++)
            if (table >> k & 1)
                value |= (k & 4 ? a[i] : ~a[i]) & (k & 2 ? b[i] : ~b[i]) & (k & 1 ? c[i] : ~c[i]);
        result[i] = value;
        nonzero |= (uint32_t)(value != 0) << i;
    }
    if (parts->to)
        write_word(warp, parts->to->index, lanes, result);
    if (parts->results)
        write_predicate(warp, parts->to_predicates[0]->index, lanes, nonzero);
    return true;
}

bool funnel_shift(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t low[LANES], shift[LANES], high[LANES], result[LANES];
    bool left = has(it, ".L"), wrap = has(it, ".W"), upper = has(it, ".HI"), sign = has(it, ".S32") || has(it, ".S64");
    uint32_t most = has(it, "64") ? 63 : 32;
    read_integer(warp, parts->from[0], low);
    read_integer(warp, parts->from[1], shift);
    read_integer(warp, parts->from[2], high);
    for (int i = 0; i < LANES; i++) {
        uint64_t whole = (uint64_t)high[i] << 32 | low[i];
        uint32_t by = wrap ? shift[i] & (most == 63 ? 63 : 31) : shift[i] > most ? most : shift[i];
        uint64_t moved = left ? whole << by : sign ? (uint64_t)((int64_t)whole >> by) : whole >> by;
        bool rotated = left && wrap && !has(it, "64"); // the upper word of a 64-bit shift
        result[i] = (uint32_t)(upper || rotated ? moved >> 32 : moved);
    }
    write_word(warp, parts->to->index, lanes, result);
    return true;
}

static bool compare_pairs(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint64_t a[LANES], b[LANES];
    uint32_t held = 0;
    read_wide(warp, parts->from[0], a);
    read_wide(warp, parts->from[1], b);
    for (int i = 0; i < LANES; i++) {
        bool less = has(it, ".U64") ? a[i] < b[i] : (int64_t)a[i] < (int64_t)b[i];
        held |= (uint32_t)compare_as(it->name, a[i] == b[i] ? 0 : less ? -1 : 1) << i;
    }
    write_tests(warp, it, parts, lanes, held);
    return true;
}

bool compare_integers(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    if (it->pairs)
        return compare_pairs(warp, it, parts, lanes);
    uint32_t a[LANES], b[LANES], held = 0;
    bool plain = has(it, ".U32"), extended = has(it, ".EX");
    uint32_t lower = extended && parts->tests > 1 ? read_predicate(warp, parts->predicates[1]) : 0;
    read_integer(warp, parts->from[0], a);
    read_integer(warp, parts->from[1], b);
    for (int i = 0; i < LANES; i++) {
        int order =
            plain ? (a[i] > b[i]) - (a[i] < b[i]) : ((int32_t)a[i] > (int32_t)b[i]) - ((int32_t)a[i] < (int32_t)b[i]);
        bool holds = extended && order == 0 ? lower >> i & 1 : compare_as(it->name, order);
        held |= (uint32_t)holds << i;
    }
    write_tests(warp, it, parts, lanes, held);
    return true;
}

static uint32_t reverse_bits(uint32_t x)
{
    uint32_t result = 0;
    for (int i = 0; i < 32; i++)
        result |= (x >> i & 1) << (31 - i);
    return result;
}

static uint32_t highest_bit(const struct instruction *it, uint32_t x)
{
    if (!has(it, ".U32") && x >> 31)
        x = ~x;
    if (!x)
        return ~0u;
    uint32_t place = 31 - (uint32_t)__builtin_clz(x);
    return has(it, ".SH") ? 31 - place : place;
}

static uint32_t one_integer(const struct instruction *it, uint32_t a, uint32_t b)
{
    switch (it->base[it->base[0] == 'U']) {
    case 'P':
        return (uint32_t)__builtin_popcount(a);
    case 'F':
        return highest_bit(it, a);
    case 'I':
        return (int32_t)a < 0 ? -a : a;
    case 'S': // SGXT: the low b bits, with their sign
        if (b >= 32)
            return a;
        a &= (1u << b) - 1;
        return !has(it, ".U32") && b && a >> (b - 1) & 1 ? a | ~((1u << b) - 1) : a;
    default: // BREV or BMSK: b bits from bit a on
        if (it->base[it->base[0] == 'U'] == 'B' && strstr(it->base, "BREV"))
            return reverse_bits(a);
        return (uint32_t)((b >= 32 ? ~0ull : (1ull << b) - 1) << (a & 31));
    }
}

bool single(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t a[LANES], b[LANES], result[LANES];
    read_integer(warp, parts->from[0], a);
    read_integer(warp, parts->sources > 1 ? parts->from[1] : NULL, b);
    for (int i = 0; i < LANES; i++)
        result[i] = one_integer(it, a[i], b[i]);
    write_word(warp, parts->to->index, lanes, result);
    return true;
}
