// Operands: their words, signs, carries and predicates.
#include "operands.h"

#include <math.h>

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

void write_predicate(struct warp *warp, int index, uint32_t lanes, uint32_t values)
{
    if (index == PT || index == UPT)
        return;
    if (index >= UNIFORM_PREDICATE)
        lanes = ~0u;
    warp->predicates[index] = (warp->predicates[index] & ~lanes) | (values & lanes);
}

uint32_t read_predicate(const struct warp *warp, const struct operand *operand)
{
    uint32_t bits = warp->predicates[operand->index];
    return operand->inverted ? ~bits : bits;
}

struct parts take_apart(const struct instruction *it)
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

bool has(const struct instruction *it, const char *suffix)
{
    return strstr(it->name, suffix) != NULL;
}

void read_integer(const struct warp *warp, const struct operand *operand, uint32_t to[LANES])
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

void read_carrying(const struct warp *warp, const struct operand *operand, uint64_t to[LANES])
{
    uint32_t words[LANES] = {0};
    if (operand)
        read_word(warp, operand, 0, words);
    bool negative = operand && operand->negative, inverted = operand && operand->inverted;
    for (int i = 0; i < LANES; i++)
        to[i] = negative ? (uint64_t)(uint32_t)~words[i] + 1 : inverted ? (uint32_t)~words[i] : words[i];
}

void add_carries(const struct warp *warp, const struct parts *parts, uint64_t sums[LANES])
{
    for (int k = 0; k < parts->tests; k++) {
        uint32_t carry = read_predicate(warp, parts->predicates[k]);
        for (int i = 0; i < LANES; i++)
            sums[i] += carry >> i & 1;
    }
}

void write_sums(struct warp *warp, const struct parts *parts, uint32_t lanes, const uint64_t sums[LANES])
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

bool compare_as(const char *name, int order)
{
    return strstr(name, ".LT")   ? order < 0
           : strstr(name, ".LE") ? order <= 0
           : strstr(name, ".GT") ? order > 0
           : strstr(name, ".GE") ? order >= 0
           : strstr(name, ".NE") ? order != 0
           : strstr(name, ".EQ") ? order == 0
                                 : strstr(name, ".T.") != NULL;
}

void write_tests(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes,
                 uint32_t held)
{
    uint32_t other = parts->tests ? read_predicate(warp, parts->predicates[0]) : ~0u;
    for (int k = 0; k < parts->results; k++) {
        uint32_t test = k ? ~held : held;
        uint32_t result = has(it, ".OR") ? test | other : has(it, ".XOR") ? test ^ other : test & other;
        write_predicate(warp, parts->to_predicates[k]->index, lanes, result);
    }
}

static float read_sign(const struct operand *operand, uint32_t word)
{
    float value = float_of(word);
    value = operand->absolute ? fabsf(value) : value;
    return operand->negative && operand->kind != IMMEDIATE ? -value : value;
}

void read_floats(const struct warp *warp, const struct operand *operand, float to[LANES])
{
    uint32_t words[LANES];
    read_word(warp, operand, 0, words);
    bool whole = operand->kind == IMMEDIATE && !strpbrk(operand->text, ".eINx"); // printed as 1, 2, -3
    for (int i = 0; i < LANES; i++)
        to[i] = whole ? (float)(int32_t)words[i] : read_sign(operand, words[i]);
}

void read_wide(const struct warp *warp, const struct operand *operand, uint64_t to[LANES])
{
    uint32_t low[LANES], high[LANES];
    read_word(warp, operand, 0, low);
    read_word(warp, operand, 1, high);
    for (int i = 0; i < LANES; i++) {
        to[i] = (uint64_t)high[i] << 32 | low[i];
        to[i] = operand->negative && operand->kind != IMMEDIATE ? -to[i] : to[i];
    }
}

void write_wide(struct warp *warp, const struct operand *operand, uint32_t lanes, const uint64_t values[LANES])
{
    uint32_t low[LANES], high[LANES];
    for (int i = 0; i < LANES; i++) {
        low[i] = (uint32_t)values[i];
        high[i] = (uint32_t)(values[i] >> 32);
    }
    if (!operand || operand->index == RZ || operand->index == URZ)
        return;
    write_word(warp, operand->index, lanes, low);
    write_word(warp, operand->index + 1, lanes, high);
}

void read_pair(const struct warp *warp, const struct operand *operand, uint64_t to[LANES])
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
