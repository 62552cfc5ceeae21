// What instructions compute, for all lanes of a warp.
#ifndef BOUNDS_EXECUTE_H
#define BOUNDS_EXECUTE_H

#include "warp.h"

// Writes the results of an instruction that reads no memory for these lanes. False: not understood.
bool compute(struct warp *warp, struct instruction *instruction, uint32_t lanes);

// The 32-bit word of an operand, a lane each; `word` counts from the operand's register on.
void read_word(const struct warp *warp, const struct operand *operand, int word, uint32_t to[LANES]);

void write_word(struct warp *warp, int index, uint32_t lanes, const uint32_t values[LANES]);

#endif
