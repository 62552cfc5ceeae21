// What instructions compute. The meanings are those of the CUDA Binary Utilities' instruction set reference, as far as
// it goes; carries, high halves and .EX follow what nvcc makes of 64-bit arithmetic.
#include "execute.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void read_word(const struct warp *warp, const struct operand *operand, int word, uint32_t to[LANES])
{
    uint32_t same = 0;
    int index = operand->index + word;
    switch (operand->kind) {
    case REGISTER:
        if (operand->index != RZ && operand->index != URZ) {
            memcpy(to, warp->registers[index], sizeof warp->registers[index]);
            return;
        }
        break;
    case IMMEDIATE:
        same = word ? (uint32_t)(operand->value >> 32) : (uint32_t)operand->value;
        break;
    case CONSTANT:
        if (operand->index != RZ || operand->uniform != URZ) {
            int row = operand->index != RZ ? operand->index : operand->uniform;
            for (int i = 0; i < LANES; i++)
                to[i] = constant_word(warp->program, operand->bank,
                                      operand->value + (int32_t)warp->registers[row][i] + 4 * word);
            return;
        }
        same = constant_word(warp->program, operand->bank, operand->value + 4 * word);
        break;
    default:
        break;
    }
    for (int i = 0; i < LANES; i++)
        to[i] = same;
}

void write_word(struct warp *warp, int index, uint32_t lanes, const uint32_t values[LANES])
{
    if (index == RZ || index == URZ)
        return;
    uint32_t *to = warp->registers[index];
    if (lanes == ~0u || index >= UNIFORM) {
        memcpy(to, values, LANES * sizeof *to);
        return;
    }
    for (int i = 0; i < LANES; i++)
        to[i] = lanes >> i & 1 ? values[i] : to[i];
}

static void write_predicate(struct warp *warp, int index, uint32_t lanes, uint32_t values)
{
    if (index == PT || index == UPT)
        return;
    if (index >= UNIFORM_PREDICATE)
        lanes = ~0u;
    warp->predicates[index] = (warp->predicates[index] & ~lanes) | (values & lanes);
}

static uint32_t read_predicate(const struct warp *warp, const struct operand *operand)
{
    uint32_t bits = warp->predicates[operand->index];
    return operand->inverted ? ~bits : bits;
}

// An instruction taken apart: the register written, carries, sources, predicates read.
struct parts {
    const struct operand *to, *to_predicates[2], *from[5], *predicates[3];
    int results, sources, tests;
};

static struct parts take_apart(const struct instruction *it)
{
    struct parts parts = {0};
    for (int i = 0; i < it->count; i++) {
        const struct operand *operand = &it->operands[i];
        if (i < it->results && operand->kind == PREDICATE && parts.results < 2)
            parts.to_predicates[parts.results++] = operand;
        else if (i < it->results)
            parts.to = operand;
        else if (operand->kind == PREDICATE && parts.tests < 3)
            parts.predicates[parts.tests++] = operand;
        else if (parts.sources < 5)
            parts.from[parts.sources++] = operand;
    }
    return parts;
}

static bool has(const struct instruction *it, const char *suffix)
{
    return strstr(it->name, suffix) != NULL;
}

// An integer operand with its sign or complement.
static void read_integer(const struct warp *warp, const struct operand *operand, uint32_t to[LANES])
{
    if (!operand) {
        memset(to, 0, LANES * sizeof *to);
        return;
    }
    read_word(warp, operand, 0, to);
    for (int i = 0; i < LANES && operand->inverted; i++)
        to[i] = ~to[i];
    for (int i = 0; i < LANES && operand->negative; i++)
        to[i] = -to[i];
}

// As 33 bits and more: -x is ~x + 1 in 32 bits, so that its carry comes out.
static void read_carrying(const struct warp *warp, const struct operand *operand, uint64_t to[LANES])
{
    uint32_t words[LANES] = {0};
    if (operand)
        read_word(warp, operand, 0, words);
    bool negative = operand && operand->negative, inverted = operand && operand->inverted;
    for (int i = 0; i < LANES; i++)
        to[i] = negative ? (uint64_t)(uint32_t)~words[i] + 1 : inverted ? (uint32_t)~words[i] : words[i];
}

static void add_carries(const struct warp *warp, const struct parts *parts, uint64_t sums[LANES])
{
    for (int k = 0; k < parts->tests; k++) {
        uint32_t carry = read_predicate(warp, parts->predicates[k]);
        for (int i = 0; i < LANES; i++)
            sums[i] += carry >> i & 1;
    }
}

static void write_sums(struct warp *warp, const struct parts *parts, uint32_t lanes, const uint64_t sums[LANES])
{
    uint32_t words[LANES], carries[2] = {0};
    for (int i = 0; i < LANES; i++) {
        words[i] = (uint32_t)sums[i];
        carries[0] |= (uint32_t)(sums[i] >> 32 >= 1) << i;
        carries[1] |= (uint32_t)(sums[i] >> 32 >= 2) << i;
    }
    if (parts->to)
        write_word(warp, parts->to->index, lanes, words);
    for (int k = 0; k < parts->results; k++)
        write_predicate(warp, parts->to_predicates[k]->index, lanes, carries[k]);
}

static bool add3(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
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

static void read_pair(const struct warp *warp, const struct operand *operand, uint64_t to[LANES])
{
    uint32_t low[LANES], high[LANES] = {0};
    read_word(warp, operand, 0, low);
    if (operand->kind == REGISTER)
        read_word(warp, operand, 1, high);
    for (int i = 0; i < LANES; i++) {
        to[i] = (uint64_t)high[i] << 32 | low[i];
        if (operand->kind == CONSTANT)
            to[i] |= (uint64_t)constant_word(warp->program, operand->bank, operand->value + 4) << 32;
        to[i] = operand->negative ? -to[i] : to[i];
    }
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

static bool multiply_add(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

static bool shift_add(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

static bool logic3(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

static bool predicate_logic(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    (void)it;
    for (int k = 0; k < parts->results && k < parts->sources; k++) {
        uint32_t result = 0, table = (uint32_t)parts->from[k]->value, tests[3];
        for (int i = 0; i < 3; i++)
            tests[i] = i < parts->tests ? read_predicate(warp, parts->predicates[i]) : ~0u;
        for (int i = 0; i < 8; i++)
            if (table >> i & 1)
                result |=
                    (i & 4 ? tests[0] : ~tests[0]) & (i & 2 ? tests[1] : ~tests[1]) & (i & 1 ? tests[2] : ~tests[2]);
        write_predicate(warp, parts->to_predicates[k]->index, lanes, result);
    }
    return true;
}

static bool funnel_shift(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

static bool compare_as(const char *name, int order)
{
    return strstr(name, ".LT")   ? order < 0
           : strstr(name, ".LE") ? order <= 0
           : strstr(name, ".GT") ? order > 0
           : strstr(name, ".GE") ? order >= 0
           : strstr(name, ".NE") ? order != 0
           : strstr(name, ".EQ") ? order == 0
                                 : strstr(name, ".T.") != NULL;
}

static void write_tests(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes,
                        uint32_t held)
{
    uint32_t other = parts->tests ? read_predicate(warp, parts->predicates[0]) : ~0u;
    for (int k = 0; k < parts->results; k++) {
        uint32_t test = k ? ~held : held;
        uint32_t result = has(it, ".OR") ? test | other : has(it, ".XOR") ? test ^ other : test & other;
        write_predicate(warp, parts->to_predicates[k]->index, lanes, result);
    }
}

static bool compare_integers(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
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

static float read_sign(const struct operand *operand, uint32_t word)
{
    float value = float_of(word);
    value = operand->absolute ? fabsf(value) : value;
    return operand->negative && operand->kind != IMMEDIATE ? -value : value;
}

static void read_floats(const struct warp *warp, const struct operand *operand, float to[LANES])
{
    uint32_t words[LANES];
    read_word(warp, operand, 0, words);
    bool whole = operand->kind == IMMEDIATE && !strpbrk(operand->text, ".eINx"); // printed as 1, 2, -3
    for (int i = 0; i < LANES; i++)
        to[i] = whole ? (float)(int32_t)words[i] : read_sign(operand, words[i]);
}

static bool compare_floats(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

static bool float_arithmetic(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

// SEL, FSEL, IMNMX and FMNMX: one of two, by a predicate.
static bool choose(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t a[LANES], b[LANES], result[LANES];
    float x[LANES], y[LANES];
    uint32_t first = parts->tests ? read_predicate(warp, parts->predicates[parts->tests - 1]) : ~0u;
    bool extreme = has(it, "MNMX"), real = it->base[0] == 'F', plain = has(it, ".U32");
    if (real) {
        read_floats(warp, parts->from[0], x);
        read_floats(warp, parts->from[1], y);
        for (int i = 0; i < LANES; i++) {
            a[i] = bits_of(x[i]);
            b[i] = bits_of(y[i]);
        }
    } else {
        read_integer(warp, parts->from[0], a);
        read_integer(warp, parts->from[1], b);
    }
    for (int i = 0; i < LANES; i++) {
        bool less = real ? x[i] < y[i] : plain ? a[i] < b[i] : (int32_t)a[i] < (int32_t)b[i];
        bool take_first = extreme ? less == (first >> i & 1) : first >> i & 1;
        result[i] = take_first ? a[i] : b[i];
    }
    write_word(warp, parts->to->index, lanes, result);
    return true;
}

static bool permute_bytes(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    (void)it;
    uint32_t a[LANES], selector[LANES], b[LANES], result[LANES];
    read_integer(warp, parts->from[0], a);
    read_integer(warp, parts->from[1], selector);
    read_integer(warp, parts->from[2], b);
    for (int i = 0; i < LANES; i++) {
        uint64_t bytes = (uint64_t)b[i] << 32 | a[i];
        result[i] = 0;
        for (int k = 0; k < 4; k++) {
            uint32_t which = selector[i] >> 4 * k & 15, byte = (uint32_t)(bytes >> 8 * (which & 7)) & 255;
            if (which & 8)
                byte = byte & 128 ? 255 : 0;
            result[i] |= byte << 8 * k;
        }
    }
    write_word(warp, parts->to->index, lanes, result);
    return true;
}

static bool copy(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t words[LANES];
    if (!parts->sources)
        return false;
    for (int k = 0; k < it->result_registers; k++) {
        read_word(warp, parts->from[0], k, words);
        if (!strcmp(it->base, "R2UR")) { // the first lane's
            int first = lanes ? __builtin_ctz(lanes) : 0;
            for (int i = LANES - 1; i >= 0; i--)
                words[i] = words[first];
        }
        if (parts->to->index != RZ && parts->to->index != URZ)
            write_word(warp, parts->to->index + k, lanes, words);
    }
    return true;
}

static uint32_t special_value(const struct warp *warp, const char *name, int lane)
{
    const struct launch *launch = &warp->program->launch;
    int thread = warp->first_thread + lane, axis = name[strlen(name) - 1] - 'X';
    int place[3] = {thread % launch->block[0], thread / launch->block[0] % launch->block[1],
                    thread / (launch->block[0] * launch->block[1])};
    if (strstr(name, "NCTAID") && axis >= 0 && axis < 3)
        return (uint32_t)launch->grid[axis];
    if (strstr(name, "CTAID") && axis >= 0 && axis < 3)
        return (uint32_t)warp->block->position[axis];
    if (strstr(name, "NTID") && axis >= 0 && axis < 3)
        return (uint32_t)launch->block[axis];
    if (strstr(name, "TID") && axis >= 0 && axis < 3)
        return (uint32_t)place[axis];
    if (strstr(name, "LANEID"))
        return (uint32_t)lane;
    if (strstr(name, "LTMASK"))
        return (1u << lane) - 1;
    if (strstr(name, "LEMASK"))
        return (2u << lane) - 1;
    if (strstr(name, "GTMASK"))
        return ~((2u << lane) - 1);
    if (strstr(name, "GEMASK"))
        return ~((1u << lane) - 1);
    return strstr(name, "EQMASK") ? 1u << lane : 0; // clocks, numbers of multiprocessors, SRZ
}

static bool read_special(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t words[LANES], zero[LANES] = {0};
    for (int i = 0; i < LANES; i++)
        words[i] = special_value(warp, parts->from[0]->text, i);
    write_word(warp, parts->to->index, lanes, words);
    if (it->result_registers > 1 && parts->to->index != RZ)
        write_word(warp, parts->to->index + 1, lanes, zero);
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

static bool single(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t a[LANES], b[LANES], result[LANES];
    read_integer(warp, parts->from[0], a);
    read_integer(warp, parts->sources > 1 ? parts->from[1] : NULL, b);
    for (int i = 0; i < LANES; i++)
        result[i] = one_integer(it, a[i], b[i]);
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

static bool special(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

static bool integer_to_float(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

static bool float_to_integer(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

static bool vote(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t test = (parts->tests ? read_predicate(warp, parts->predicates[0]) : ~0u) & lanes, words[LANES];
    bool holds = has(it, ".ANY") ? test != 0 : has(it, ".EQ") ? test == 0 || test == lanes : test == lanes;
    for (int i = 0; i < LANES; i++)
        words[i] = test;
    if (parts->to)
        write_word(warp, parts->to->index, lanes, words);
    if (parts->results)
        write_predicate(warp, parts->to_predicates[0]->index, lanes, holds ? ~0u : 0);
    return true;
}

static bool shuffle(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t value[LANES], by[LANES], clamp[LANES], result[LANES], inside = 0;
    read_integer(warp, parts->from[0], value);
    read_integer(warp, parts->from[1], by);
    read_integer(warp, parts->from[2], clamp);
    for (int i = 0; i < LANES; i++) {
        int segment = (int)(clamp[i] >> 8 & 31), least = i & segment;
        int most = least | ((int)(clamp[i] & 31) & ~segment), b = (int)(by[i] & 31);
        int from = has(it, ".IDX") ? least | (b & ~segment) : has(it, ".UP") ? i - b : has(it, ".DOWN") ? i + b : i ^ b;
        bool in = has(it, ".UP") ? from >= most : from <= most;
        inside |= (uint32_t)in << i;
        result[i] = value[in ? from & 31 : i];
    }
    if (parts->to)
        write_word(warp, parts->to->index, lanes, result);
    if (parts->results)
        write_predicate(warp, parts->to_predicates[0]->index, lanes, inside);
    return true;
}

static bool predicates_to_register(struct warp *warp, const struct instruction *it, const struct parts *parts,
                                   uint32_t lanes)
{
    uint32_t result[LANES], base[LANES], mask[LANES];
    int first = it->base[0] == 'U' ? UNIFORM_PREDICATE : 0, last = parts->sources - 1;
    read_integer(warp, parts->from[last - 1], base);
    read_integer(warp, parts->from[last], mask);
    for (int i = 0; i < LANES; i++) {
        uint32_t packed = 0;
        for (int k = 0; k < 7; k++)
            packed |= (warp->predicates[first + k] >> i & 1) << k;
        result[i] = (base[i] & ~mask[i]) | (packed & mask[i]);
    }
    write_word(warp, parts->to->index, lanes, result);
    return true;
}

static bool register_to_predicates(struct warp *warp, const struct instruction *it, const struct parts *parts,
                                   uint32_t lanes)
{
    uint32_t value[LANES], mask = (uint32_t)parts->from[parts->sources - 1]->value;
    int shift = has(it, ".B1") ? 8 : has(it, ".B2") ? 16 : has(it, ".B3") ? 24 : 0;
    read_integer(warp, parts->from[parts->sources - 2], value);
    for (int k = 0; k < 7; k++) {
        uint32_t bits = 0;
        for (int i = 0; i < LANES; i++)
            bits |= (value[i] >> (shift + k) & 1) << i;
        if (mask >> k & 1)
            write_predicate(warp, k, lanes, bits);
    }
    return true;
}

static float float_of_half(uint32_t half)
{
    uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
    float value = exponent == 31  ? fraction ? NAN : INFINITY
                  : exponent == 0 ? ldexpf((float)fraction, -24)
                                  : ldexpf((float)(fraction | 1024), (int)exponent - 25);
    return half & 0x8000 ? -value : value;
}

// To the nearest; what lies between two that are equally near goes either way, which no address shows.
static uint32_t half_of_float(float value)
{
    uint32_t sign = signbit(value) ? 0x8000 : 0;
    float size = fabsf(value);
    int exponent;
    if (isnan(value))
        return 0x7fff;
    if (size >= 65520)
        return sign | 0x7c00;
    if (size < 0x1p-14f)
        return sign | (uint32_t)lrintf(ldexpf(size, 24));
    frexpf(size, &exponent);
    return sign + (uint32_t)lrintf(ldexpf(size, 11 - exponent)) + ((uint32_t)(exponent + 13) << 10);
}

// Two halves of an operand as floats, upper first; immediates are written as two operands. Returns operands taken.
static int read_halves(const struct warp *warp, const struct parts *parts, int at, float to[2][LANES])
{
    const struct operand *operand = parts->from[at];
    uint32_t words[LANES];
    if (operand->kind == IMMEDIATE && at + 1 < parts->sources && parts->from[at + 1]->kind == IMMEDIATE) {
        read_floats(warp, operand, to[0]);
        read_floats(warp, parts->from[at + 1], to[1]);
        return 2;
    }
    read_word(warp, operand, 0, words);
    for (int i = 0; i < LANES; i++) {
        uint32_t high = operand->half == 1 ? words[i] : words[i] >> 16,
                 low = operand->half == 2 ? words[i] >> 16 : words[i];
        to[0][i] = float_of_half(high & 0xffff);
        to[1][i] = float_of_half(low & 0xffff);
        for (int k = 0; k < 2; k++) {
            to[k][i] = operand->absolute ? fabsf(to[k][i]) : to[k][i];
            to[k][i] = operand->negative ? -to[k][i] : to[k][i];
        }
    }
    return 1;
}

// nvcc makes constants of integers by it, too: the halves of R3 = -0 * 0 + {0, 16 * 2^-24}.
static bool half_arithmetic(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    float terms[3][2][LANES] = {0};
    uint32_t result[LANES];
    if (has(it, ".BF16"))
        return false;
    for (int k = 0, at = 0; k < 3 && at < parts->sources; k++)
        at += read_halves(warp, parts, at, terms[k]);
    for (int i = 0; i < LANES; i++) {
        float sums[2];
        for (int k = 0; k < 2; k++) {
            float a = terms[0][k][i], b = terms[1][k][i];
            sums[k] = it->base[1] == 'A' ? a + b : it->base[1] == 'M' ? a * b : fmaf(a, b, terms[2][k][i]);
        }
        result[i] = has(it, ".F32") ? bits_of(sums[1]) : half_of_float(sums[0]) << 16 | half_of_float(sums[1]);
    }
    write_word(warp, parts->to->index, lanes, result);
    return true;
}

static bool reduce(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t value[LANES], words[LANES], result = 0;
    bool first = true, sign = has(it, ".S32");
    read_integer(warp, parts->from[0], value);
    for (int i = 0; i < LANES; i++) {
        if (!(lanes >> i & 1))
            continue;
        bool less = sign ? (int32_t)value[i] < (int32_t)result : value[i] < result;
        result = first             ? value[i]
                 : has(it, ".SUM") ? result + value[i]
                 : has(it, ".MIN") ? less ? value[i] : result
                 : has(it, ".MAX") ? less ? result : value[i]
                 : has(it, ".AND") ? result & value[i]
                 : has(it, ".XOR") ? result ^ value[i]
                                   : result | value[i];
        first = false;
    }
    for (int i = 0; i < LANES; i++)
        words[i] = result;
    write_word(warp, parts->to->index, lanes, words);
    return true;
}

static bool is_global(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    write_predicate(warp, parts->to_predicates[0]->index, lanes, has(it, ".G") ? ~0u : 0); // QSPC: of which memory
    return parts->results > 0;
}

static bool no_check(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    (void)it; // FCHK: whether a division needs its slow path; ordinary numbers do not
    write_predicate(warp, parts->to_predicates[0]->index, lanes, 0);
    return true;
}

// Arithmetic of halves and doubles decides no address in practice; where it does, ones stand for the values.
static bool stand_in(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t words[LANES], zero[LANES] = {0};
    bool wide = it->pipe == PIPE_DOUBLE || has(it, "F64");
    for (int i = 0; i < LANES; i++)
        words[i] = wide ? 0x3ff00000u : it->base[0] == 'H' && !has(it, "F32") ? 0x3c003c00u : 0x3f800000u;
    for (int k = 0; k < parts->results; k++)
        write_predicate(warp, parts->to_predicates[k]->index, lanes, ~0u);
    if (!parts->to || parts->to->index == RZ)
        return true;
    for (int k = 0; k < it->result_registers; k++)
        write_word(warp, parts->to->index + k, lanes, wide && k == 0 ? zero : words);
    return true;
}

static const struct {
    const char *base;
    bool (*run)(struct warp *, const struct instruction *, const struct parts *, uint32_t);
} meanings[] = {
    {"IADD3", add3},
    {"VIADD", add3},
    {"IADD", add3},
    {"IADD2", add3},
    {"HFMA2", half_arithmetic},
    {"HADD2", half_arithmetic},
    {"HMUL2", half_arithmetic},
    {"IMAD", multiply_add},
    {"LEA", shift_add},
    {"LOP3", logic3},
    {"PLOP3", predicate_logic},
    {"SHF", funnel_shift},
    {"ISETP", compare_integers},
    {"FSETP", compare_floats},
    {"FADD", float_arithmetic},
    {"FMUL", float_arithmetic},
    {"FFMA", float_arithmetic},
    {"SEL", choose},
    {"FSEL", choose},
    {"IMNMX", choose},
    {"VIMNMX", choose},
    {"FMNMX", choose},
    {"PRMT", permute_bytes},
    {"MOV", copy},
    {"R2UR", copy},
    {"LDC", copy},
    {"LDCU", copy},
    {"S2R", read_special},
    {"CS2R", read_special},
    {"S2UR", read_special},
    {"POPC", single},
    {"FLO", single},
    {"IABS", single},
    {"SGXT", single},
    {"BREV", single},
    {"BMSK", single},
    {"MUFU", special},
    {"I2F", integer_to_float},
    {"I2FP", integer_to_float},
    {"F2I", float_to_integer},
    {"VOTE", vote},
    {"VOTEU", vote},
    {"SHFL", shuffle},
    {"P2R", predicates_to_register},
    {"R2P", register_to_predicates},
    {"FCHK", no_check},
    {"QSPC", is_global},
    {"REDUX", reduce},
};

// 1 + place in `meanings`, 1 + their number for what gets stand-ins, -1 for what is not understood.
static int operation_of(const struct instruction *it)
{
    const int count = (int)(sizeof meanings / sizeof *meanings);
    const char *base = it->base;
    if (!strcmp(base, "ULDC"))
        base = "LDC";
    else if (base[0] == 'U' && base[1])
        base++; // the uniform twin
    for (int i = 0; i < count; i++)
        if (!strcmp(meanings[i].base, base))
            return i + 1;
    return strchr("HDF", base[0]) || it->pipe == PIPE_TENSOR ? count + 1 : -1;
}

bool compute(struct warp *warp, struct instruction *it, uint32_t lanes)
{
    const int count = (int)(sizeof meanings / sizeof *meanings);
    if (!it->operation)
        it->operation = operation_of(it);
    if (it->operation < 0)
        return false;
    struct parts parts = take_apart(it);
    if (it->operation <= count && meanings[it->operation - 1].run(warp, it, &parts, lanes))
        return true;
    return strchr("HDFI", it->base[0]) && stand_in(warp, it, &parts, lanes);
}
