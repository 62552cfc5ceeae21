// What instructions do, by the names in execute.c: results are written for these lanes. False: not understood.
#ifndef BOUNDS_MEANINGS_H
#define BOUNDS_MEANINGS_H

#include "operands.h"

typedef bool meaning(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes);

// integers.c
meaning add3, multiply_add, shift_add, logic3, funnel_shift, compare_integers, single;

// floats.c, halves.c
meaning compare_floats, float_arithmetic, special, integer_to_float, float_to_integer, no_check, half_arithmetic;

// predicates.c
meaning predicate_logic, vote, elect, predicates_to_register, register_to_predicates, is_global;

// moves.c
meaning choose, permute_bytes, copy, read_special, shuffle, reduce, match, transpose;

#endif
