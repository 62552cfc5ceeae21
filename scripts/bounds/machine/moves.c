// What is chosen, copied, or comes from other lanes and special registers.
#include "meanings.h"

// SEL.64, IMNMX.U64 and IMNMX.S64: of the two predicates of an extreme the first tells the least from the most.
static bool choose_pairs(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint64_t a[LANES], b[LANES];
    uint32_t first = parts->tests ? read_predicate(warp, parts->predicates[0]) : ~0u;
    read_wide(warp, parts->from[0], a);
    read_wide(warp, parts->from[1], b);
    for (int i = 0; i < LANES; i++) {
        bool less = has(it, ".U64") ? a[i] < b[i] : (int64_t)a[i] < (int64_t)b[i], take = first >> i & 1;
        a[i] = (has(it, "MNMX") ? less == take : take) ? a[i] : b[i];
    }
    write_wide(warp, parts->to, lanes, a);
    return true;
}

// SEL, FSEL, IMNMX and FMNMX: one of two, by a predicate; VIADDMNMX: of a sum and another.
bool choose(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t a[LANES], b[LANES], result[LANES];
    float x[LANES], y[LANES];
    uint32_t first = parts->tests ? read_predicate(warp, parts->predicates[parts->tests - 1]) : ~0u;
    bool extreme = has(it, "MNMX"), real = it->base[0] == 'F', plain = has(it, ".U32");
    if (it->pairs)
        return choose_pairs(warp, it, parts, lanes);
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
    if (!strcmp(it->base, "VIADDMNMX")) {
        for (int i = 0; i < LANES; i++)
            a[i] += b[i];
        read_integer(warp, parts->from[2], b);
    }
    for (int i = 0; i < LANES; i++) {
        bool less = real ? x[i] < y[i] : plain ? a[i] < b[i] : (int32_t)a[i] < (int32_t)b[i];
        bool take_first = extreme ? less == (first >> i & 1) : first >> i & 1;
        result[i] = take_first ? a[i] : b[i];
    }
    write_word(warp, parts->to->index, lanes, result);
    return true;
}

bool permute_bytes(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

// The bytes of a word that an instruction takes, LDC.U8 and its like, with their sign.
static uint32_t taken_of(const struct instruction *it, uint32_t word)
{
    if (it->bytes >= 4)
        return word;
    uint32_t sign = 1u << (8 * it->bytes - 1), low = word & (2 * sign - 1);
    return has(it, ".S8") || has(it, ".S16") ? (low ^ sign) - sign : low;
}

// R2UR: all have the first lane's word. Its predicate says which lanes had another and have to come again; of several
// words, R2UR.OR's, any of them.
static void give_firsts(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes,
                        uint32_t words[LANES])
{
    int first = lanes ? __builtin_ctz(lanes) : 0;
    uint32_t word = words[first], others = 0;
    for (int i = 0; i < LANES; i++) {
        others |= (words[i] != word ? 1u : 0) << i;
        words[i] = word;
    }
    if (!parts->results)
        return;
    uint32_t before = has(it, ".OR") ? read_predicate(warp, parts->to_predicates[0]) : 0;
    write_predicate(warp, parts->to_predicates[0]->index, lanes, before | others);
}

bool copy(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t words[LANES];
    if (!parts->sources)
        return false;
    for (int k = 0; k < it->result_registers; k++) {
        read_word(warp, parts->from[0], k, words);
        if (!strcmp(it->base, "R2UR"))
            give_firsts(warp, it, parts, lanes, words);
        for (int i = 0; i < LANES; i++)
            words[i] = taken_of(it, words[i]);
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

bool read_special(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t words[LANES], zero[LANES] = {0};
    for (int i = 0; i < LANES; i++)
        words[i] = special_value(warp, parts->from[0]->text, i);
    write_word(warp, parts->to->index, lanes, words);
    if (it->result_registers > 1 && parts->to->index != RZ)
        write_word(warp, parts->to->index + 1, lanes, zero);
    return true;
}

bool shuffle(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

bool reduce(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

// MATCH.ANY: for each lane, which lanes have its number; MATCH.ALL: all of them where there is one number, else none.
bool match(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t value[LANES], words[LANES], all = 0;
    if (!parts->to || has(it, ".U64"))
        return false;
    read_integer(warp, parts->from[0], value);
    for (int i = 0; i < LANES; i++) {
        words[i] = 0;
        for (int k = 0; k < LANES; k++)
            words[i] |= (lanes >> k & 1 && value[k] == value[i] ? 1u : 0) << k;
        all |= (words[i] == lanes ? 1u : 0) << i;
        if (has(it, ".ALL") && words[i] != lanes)
            words[i] = 0;
    }
    write_word(warp, parts->to->index, lanes, words);
    if (parts->results)
        write_predicate(warp, parts->to_predicates[0]->index, lanes, all);
    return true;
}

// MOVM.16.MT88: 8 x 8 halves, a row in four lanes, two in each, are transposed.
bool transpose(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t value[LANES], words[LANES];
    if (!parts->to || !has(it, ".16.MT88"))
        return false;
    read_integer(warp, parts->from[0], value);
    for (int i = 0; i < LANES; i++) {
        int column = i / 4, row = i % 4 * 2;
        uint32_t low = value[row * 4 + column / 2] >> column % 2 * 16;
        uint32_t high = value[(row + 1) * 4 + column / 2] >> column % 2 * 16;
        words[i] = (low & 0xFFFF) | high << 16;
    }
    write_word(warp, parts->to->index, lanes, words);
    return true;
}
