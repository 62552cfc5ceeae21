// What instructions read and write: words, floats and predicates of all lanes.
#ifndef BOUNDS_OPERANDS_H
#define BOUNDS_OPERANDS_H

#include <string.h>

#include "execute.h"

// An instruction taken apart: the register written, carries, sources, predicates read.
struct parts {
    const struct operand *to, *to_predicates[2], *from[5], *predicates[3];
    int results, sources, tests;
};

struct parts take_apart(const struct instruction *it);

// Whether its name has a suffix.
bool has(const struct instruction *it, const char *suffix);

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// An integer operand with its sign or complement; none is 0.
void read_integer(const struct warp *warp, const struct operand *operand, uint32_t to[LANES]);

// As 33 bits and more: -x is ~x + 1 in 32 bits, so that its carry comes out.
void read_carrying(const struct warp *warp, const struct operand *operand, uint64_t to[LANES]);

// A register and the one after it as 64 bits.
void read_pair(const struct warp *warp, const struct operand *operand, uint64_t to[LANES]);

// A 64-bit integer of two registers or of an immediate with its sign, and to where one goes.
void read_wide(const struct warp *warp, const struct operand *operand, uint64_t to[LANES]);
void write_wide(struct warp *warp, const struct operand *operand, uint32_t lanes, const uint64_t values[LANES]);

// Adds the predicates that are read.
void add_carries(const struct warp *warp, const struct parts *parts, uint64_t sums[LANES]);

// The low words, and the carries where an instruction has predicates for them.
void write_sums(struct warp *warp, const struct parts *parts, uint32_t lanes, const uint64_t sums[LANES]);

void read_floats(const struct warp *warp, const struct operand *operand, float to[LANES]);

// Predicates, a bit a lane.
uint32_t read_predicate(const struct warp *warp, const struct operand *operand);
void write_predicate(struct warp *warp, int index, uint32_t lanes, uint32_t values);

// Whether a comparison of that name holds; order: below 0, 0 or above, as the first is to the second.
bool compare_as(const char *name, int order);

// What a comparison found, joined with another predicate as the name says.
void write_tests(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes,
                 uint32_t held);

#endif
