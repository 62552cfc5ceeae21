/* dense_tile.c - the register tile of dense layers. */
#include "kernels/cpu/dense_tile.h"
#include "kernels/cpu/tile_ending.h"

/*
 * Steps one behind the other would be mixed by the compiler and want more registers than there are: a sum would go to
 * memory and back in each of them.
 */
#if defined(__clang__)
#define STEPS _Pragma("clang loop unroll(disable)")
#else
#define STEPS _Pragma("GCC unroll 1")
#endif

typedef struct {
    const float *group[(TILE_ROWS + 2) / 3]; /* every third row; the two behind it are one and two strides away */
    const float *b;
} place;

/* acc[i][v] += a[i] b[v VL] of one step of depth. */
INLINE void step(const dense_tile *t, vec acc[TILE_ROWS][2], place *p, const int rows, const int vecs)
{
    const vec b0 = vec_load(p->b), b1 = vecs == 2 ? vec_load(p->b + VL) : b0;
    UNROLL
    for (int i = 0; i < rows; i++) {
        const float x = p->group[i / 3][i % 3 * t->a_row];
        acc[i][0] += x * b0;
        if (vecs == 2)
            acc[i][1] += x * b1;
    }
    UNROLL
    for (int g = 0; g < (rows + 2) / 3; g++)
        p->group[g] += t->a_step;
    p->b += t->b_step;
}

/* rows x vecs VL elements from a to c: t but for where it begins. */
INLINE void run(const dense_tile *t, const float *a, float *c, const int rows, const int vecs)
{
    vec acc[TILE_ROWS][2];
    UNROLL
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < vecs; v++)
            acc[i][v] = t->bias ? vec_load(t->bias + v * VL) : (vec){0};
    place p = {.b = t->b};
    UNROLL
    for (int g = 0; g < (rows + 2) / 3; g++)
        p.group[g] = a + 3 * g * t->a_row;
    for (int64_t k = t->depth; k > 0; k -= SPELL) {
        ahead_ask(t->ahead);
        STEPS
        for (int64_t u = min64(k, SPELL); u > 0; u--)
            step(t, acc, &p, rows, vecs);
    }
    const tile_ending end = {.c = c,
                             .c_row = t->c_row,
                             .width = t->width,
                             .alpha = t->alpha,
                             .accumulate = t->accumulate,
                             .relu = t->relu,
                             .stream = t->stream};
    tile_end(&end, acc, rows, vecs);
}

/* One function for each height, so that the tile lies in registers whatever its height. */
#define TILES_OF_HEIGHT(rows)                                                \
    static void narrow_##rows(const dense_tile *t, const float *a, float *c) \
    {                                                                        \
        run(t, a, c, rows, 1);                                               \
    }                                                                        \
    static void wide_##rows(const dense_tile *t, const float *a, float *c)   \
    {                                                                        \
        run(t, a, c, rows, 2);                                               \
    }
EACH_HEIGHT(TILES_OF_HEIGHT)

#define ENTRY(rows) {narrow_##rows, wide_##rows},
typedef void (*tile_fn)(const dense_tile *, const float *, float *);
static const tile_fn tiles[TILE_ROWS][2] = {EACH_HEIGHT(ENTRY)};

void dense_tile_rows(const dense_tile *t, int64_t rows)
{
    const int64_t cuts = ceil_div(rows, TILE_ROWS);
    for (int64_t i = 0; i < cuts; i++) {
        const span part = part_of(rows, i, cuts);
        tiles[part.end - part.begin - 1][t->width > VL](t, t->a + part.begin * t->a_row, t->c + part.begin * t->c_row);
    }
}
