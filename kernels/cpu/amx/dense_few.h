/*
 * dense_few.h - x w for few samples by vdpbf16ps: rows of w are rounded in pairs in registers, where TILE samples meet
 * them, and stored nowhere. To pack them first, as is worth it for many samples, moves as much again, and products
 * would wait while w comes from memory.
 */
#ifndef GRADUS_CPU_AMX_DENSE_FEW_H
#define GRADUS_CPU_AMX_DENSE_FEW_H

#include "kernels/cpu/ahead.h"
#include "kernels/cpu/amx/amx.h"

enum { FEW_DEPTH = 128 /* rows of w at a time */ };

/* c[TILE][columns] (+)= x w */
typedef struct {
    const uint16_t *x; /* [TILE][2 pairs], pitch x_row */
    int64_t x_row;
    const float *w; /* [2 pairs][columns], pitch w_row; columns: a multiple of TILE */
    int64_t w_row, pairs, columns;
    float *c; /* pitch c_row */
    int64_t c_row;
    bool accumulate;
    ahead *ahead; /* what is read next */
} few_product;

/* Chances to ask for it: two pairs of rows and TILE columns. */
INLINE int64_t few_product_chances(const few_product *p)
{
    return p->pairs / 2 * (p->columns / TILE);
}

#if defined(GR_TILES_PAIRS)
enum { FEW = 2 * TILE /* samples, at most */ };
void GR_TILED(few_product_run)(const few_product *p);
#define few_product_run GR_TILED(few_product_run)
#else
enum { FEW = 0 /* tiles are loaded from memory, so w must be packed */ };
INLINE void few_product_run(const few_product *p)
{
    (void)p;
}
#endif

#endif
