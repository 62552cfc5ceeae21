/* tile.c - the register tile. */
#include "kernels/cpu/tile.h"
#include "kernels/cpu/tile_ending.h"

/* acc[i][v] += sum_k a[i a_row + k a_step] b[k b_step + v VL] over one segment. */
INLINE void segment(const tile *t, vec acc[TILE_ROWS][2], const float *a, const float *b, const int rows,
                    const int vecs)
{
    const int64_t row = t->a_row, a_step = t->a_step, b_step = t->b_step;
    /* Every third row has its own pointer, the two behind it are one and two strides away: fewer registers. */
    const float *group[(TILE_ROWS + 2) / 3];
    UNROLL
    for (int g = 0; g < (rows + 2) / 3; g++)
        group[g] = a + 3 * g * row;
    for (int64_t k = t->depth; k > 0; k--) {
        vec b0 = vec_load(b), b1 = vecs == 2 ? vec_load(b + VL) : b0;
        UNROLL
        for (int i = 0; i < rows; i++) {
            float x = group[i / 3][i % 3 * row];
            acc[i][0] += x * b0;
            if (vecs == 2)
                acc[i][1] += x * b1;
        }
        UNROLL
        for (int g = 0; g < (rows + 2) / 3; g++)
            group[g] += a_step;
        b += b_step;
    }
}

/* rows x vecs VL elements from a to c: t but for where it begins. */
INLINE void run(const tile *t, const float *a, float *c, const int rows, const int vecs)
{
    vec acc[TILE_ROWS][2];
    UNROLL
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < vecs; v++)
            acc[i][v] = t->bias ? vec_load(t->bias + v * VL) : (vec){0};
    for (int64_t s = 0; s < t->segments; s++)
        segment(t, acc, a + s * t->a_segment, t->b + s * t->b_segment, rows, vecs);
    const tile_ending end = {
        .c = c, .c_row = t->c_row, .width = t->width, .alpha = t->alpha, .accumulate = t->accumulate, .relu = t->relu};
    tile_end(&end, acc, rows, vecs);
}

/* One function for each height, so that the tile lies in registers whatever its height. */
#define TILES_OF_HEIGHT(rows)                                          \
    static void narrow_##rows(const tile *t, const float *a, float *c) \
    {                                                                  \
        run(t, a, c, rows, 1);                                         \
    }                                                                  \
    static void wide_##rows(const tile *t, const float *a, float *c)   \
    {                                                                  \
        run(t, a, c, rows, 2);                                         \
    }
EACH_HEIGHT(TILES_OF_HEIGHT)

#define ENTRY(rows) {narrow_##rows, wide_##rows},
typedef void (*tile_fn)(const tile *, const float *, float *);
static const tile_fn tiles[TILE_ROWS][2] = {EACH_HEIGHT(ENTRY)};

void tile_rows(const tile *t, int64_t rows)
{
    const int64_t cuts = ceil_div(rows, TILE_ROWS);
    for (int64_t i = 0; i < cuts; i++) {
        const span part = part_of(rows, i, cuts);
        tiles[part.end - part.begin - 1][t->width > VL](t, t->a + part.begin * t->a_row, t->c + part.begin * t->c_row);
    }
}
