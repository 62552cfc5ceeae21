/*
 * product_pairs.c - the blocks of product.h by vdpbf16ps: ROWS x 32 sums in 16 vectors at a time. A pair of halves of a
 * is broadcast and meets two vectors of pairs of b, so that there are two products for each of its loads.
 */
#include "kernels/cpu/amx/pairs.h"
#include "kernels/cpu/amx/product.h"

enum { ROWS = 8, B_TILE = B_STEP / 2, PAIR = 2 * TILE /* halves of b's row of pairs */ };

/* A step: the rows of a at a distance, with 32 columns of b. */
INLINE void step_run(const uint16_t *a, int64_t a_row, const uint16_t *b, lanes c[ROWS][2])
{
    for (int pair = 0; pair < TILE; pair++) {
        const lanes left = lanes_load(b + pair * PAIR), right = lanes_load(b + B_TILE + pair * PAIR);
        UNROLL
        for (int i = 0; i < ROWS; i++) {
            const lanes x = lanes_pair(a + i * a_row + 2 * pair);
            c[i][0] = lanes_dot(c[i][0], x, left);
            c[i][1] = lanes_dot(c[i][1], x, right);
        }
    }
}

INLINE void rows_run(const tile_product *p, const uint16_t *a, float *c)
{
    lanes sums[ROWS][2];
    UNROLL
    for (int i = 0; i < ROWS; i++)
        for (int v = 0; v < 2; v++)
            sums[i][v] = p->accumulate ? lanes_load(c + i * p->c_row + v * TILE) : (lanes){0};
    const piece_products *products = products_of(p->pieces);
    for (int i = 0; i < products->terms; i++) {
        const uint16_t *b = p->b + products->of[i].b * p->b_piece;
        for (int64_t tap = 0; tap < p->taps; tap++)
            for (int64_t step = 0; step < p->steps; step++, b += B_STEP)
                step_run(a + products->of[i].a * p->a_piece + p->offsets[tap] + step * p->a_step, p->a_row, b, sums);
    }
    UNROLL
    for (int i = 0; i < ROWS; i++)
        for (int v = 0; v < 2; v++)
            lanes_store(c + i * p->c_row + v * TILE, sums[i][v]);
}

INLINE void product_run(const tile_product *p)
{
    for (int64_t tile = 0; tile < 2 && p->a[tile]; tile++)
        for (int64_t i = 0; i < TILE; i += ROWS)
            rows_run(p, p->a[tile] + i * p->a_row, p->c + (tile * TILE + i) * p->c_row);
}

#if defined(GR_TILES_EMULATED) && defined(__x86_64__)
/* The same, where fmaf is an instruction and no call: tens of times as fast. */
static __attribute__((target("avx2,fma"))) void product_run_fma(const tile_product *p)
{
    product_run(p);
}
#endif

void tile_product_run(const tile_product *p)
{
#if defined(GR_TILES_EMULATED) && defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        product_run_fma(p);
        return;
    }
#endif
    product_run(p);
}
