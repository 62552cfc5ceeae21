/* dense_few_pairs.c - see dense_few.h. */
#include "kernels/cpu/amx/dense_few.h"
#include "kernels/cpu/amx/pairs.h"

/* TILE columns from w and c on. */
INLINE void columns_run(const few_product *p, const float *w, float *c)
{
    lanes sums[TILE];
    UNROLL
    for (int i = 0; i < TILE; i++)
        sums[i] = p->accumulate ? lanes_load(c + i * p->c_row) : (lanes){0};
    for (int64_t pair = 0; pair < p->pairs; pair++, w += 2 * p->w_row) {
        const lanes y = lanes_round(w, w + p->w_row);
        if (pair % 2)
            ahead_ask(p->ahead);
        UNROLL
        for (int i = 0; i < TILE; i++)
            sums[i] = lanes_dot(sums[i], lanes_pair(p->x + i * p->x_row + 2 * pair), y);
    }
    UNROLL
    for (int i = 0; i < TILE; i++)
        lanes_store(c + i * p->c_row, sums[i]);
}

void few_product_run(const few_product *p)
{
    const few_product own = *p; /* which no store of a sum can change */
    for (int64_t j = 0; j < own.columns; j += TILE)
        columns_run(&own, own.w + j, own.c + j);
}
