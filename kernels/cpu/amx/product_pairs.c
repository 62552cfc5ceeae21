/*
 * product_pairs.c - the blocks of product.h by vdpbf16ps, in 16 vectors of sums at a time: 8 rows of 32 columns, or 16
 * of 16. A pair of halves of a is broadcast and meets one or two vectors of pairs of b.
 */
#include "kernels/cpu/amx/pairs.h"
#include "kernels/cpu/amx/product.h"

enum { SUMS = 16, B_TILE = B_STEP / 2, PAIR = 2 * TILE /* halves of b's row of pairs */ };

/* So many pairs of a step: rows of a at a distance, with vectors of columns of b. */
INLINE void step_run(const uint16_t *a, int64_t a_row, const uint16_t *b, lanes c[SUMS], int pairs, const int vectors)
{
    for (int pair = 0; pair < pairs; pair++) {
        const lanes y[2] = {lanes_load(b + pair * PAIR), lanes_load(b + B_TILE + pair * PAIR)};
        UNROLL
        for (int i = 0; i < SUMS; i++)
            c[i] = lanes_dot(c[i], lanes_pair(a + i / vectors * a_row + 2 * pair), y[i % vectors]);
    }
}

/* All taps and steps of pieces that lie so far on. */
INLINE void steps_run(const tile_product *p, const uint16_t *a, const uint16_t *b, lanes c[SUMS], const int vectors)
{
    for (int64_t tap = 0; tap < p->taps; tap++)
        for (int64_t step = 0; step < p->steps; step++, b += B_STEP) {
            const uint16_t *from = a + p->offsets[tap] + step * p->a_step;
            if (step + 1 < p->steps || p->zeros == 0)
                step_run(from, p->a_row, b, c, TILE, vectors);
            else
                step_run(from, p->a_row, b, c, TILE - (int)p->zeros, vectors);
        }
}

/* SUMS / vectors rows. */
INLINE void rows_run(const tile_product *p, const uint16_t *a, float *c, const int vectors)
{
    lanes sums[SUMS];
    UNROLL
    for (int i = 0; i < SUMS; i++)
        sums[i] = p->accumulate ? lanes_load(c + i / vectors * p->c_row + i % vectors * TILE) : (lanes){0};
    const piece_products *products = products_of(p->pieces);
    for (int i = 0; i < products->terms; i++)
        steps_run(p, a + products->of[i].a * p->a_piece, p->b + products->of[i].b * p->b_piece, sums, vectors);
    UNROLL
    for (int i = 0; i < SUMS; i++)
        lanes_store(c + i / vectors * p->c_row + i % vectors * TILE, sums[i]);
}

INLINE void columns_run(const tile_product *p, const int vectors)
{
    const tile_product own = *p; /* which no store of a sum can change */
    for (int64_t tile = 0; tile < 2 && own.a[tile]; tile++)
        for (int64_t i = 0; i < TILE; i += SUMS / vectors)
            rows_run(&own, own.a[tile] + i * own.a_row, own.c + (tile * TILE + i) * own.c_row, vectors);
}

INLINE void product_run(const tile_product *p)
{
    if (p->narrow)
        columns_run(p, 1);
    else
        columns_run(p, 2);
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
