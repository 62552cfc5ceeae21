/*
 * looks.h - whether a program looks at what a call of the runtime returns. Only who wrote "if (cudaMalloc(...))" knows
 * of the error; the runtime itself cannot tell it from a call whose value is dropped.
 */
#ifndef GRADUS_SIMT_LOOKS_H
#define GRADUS_SIMT_LOOKS_H

#include "kernels/simt/compiler/tokens.h"

/* Of cudaSomething(...), its name at i: whether the value is compared, passed on or kept in what is read later. */
bool gr__is_looked_at(const tokens *t, int i);

#endif
