// Predicates: their logic, to and from registers, over a warp.
#include "meanings.h"

bool predicate_logic(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

bool vote(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

// The first lane of those that are here.
bool elect(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    (void)it;
    if (parts->results)
        write_predicate(warp, parts->to_predicates[0]->index, lanes, lanes & -lanes);
    return parts->results > 0;
}

bool predicates_to_register(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

bool register_to_predicates(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
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

bool is_global(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    write_predicate(warp, parts->to_predicates[0]->index, lanes, has(it, ".G") ? ~0u : 0); // QSPC: of which memory
    return parts->results > 0;
}
