/* product.c - see product.h. Registers 0 to 3: c; 4, 5: the rows of a; 6, 7: the columns of b. */
#include "kernels/cpu/amx/product.h"

#include "kernels/cpu/amx/tiles.h"

enum { B_TILE = B_STEP / 2, B_BYTES = 64 /* of a row of b */ };

/* A tile of b. */
#define LOAD_B(i, from)                          \
    do {                                         \
        if (passing)                             \
            tile_load_passing(i, from, B_BYTES); \
        else                                     \
            tile_load(i, from, B_BYTES);         \
    } while (0)

/*
 * All taps and steps of 32 rows, with pieces that lie so far on: each tile that is loaded is used twice, and the next
 * step's is asked for as soon as both products with it are under way.
 */
INLINE void add_two(const tile_product *p, int64_t a_piece, int64_t b_piece, bool passing)
{
    if (p->taps == 0) /* a phase of a stride that no tap reaches */
        return;
    const int64_t a_bytes = p->a_row * 2, low = p->a[1] - p->a[0];
    const int64_t *offset = p->offsets;
    const uint16_t *a = p->a[0] + a_piece + *offset, *b = p->b + b_piece;
    tile_load(4, a, a_bytes);
    LOAD_B(6, b);
    tile_load(5, a + low, a_bytes);
    LOAD_B(7, b + B_TILE);
    for (int64_t left = p->taps * p->steps, step = 1; left > 1; left--, step++) {
        if (step == p->steps) {
            step = 0;
            a = p->a[0] + a_piece + *++offset;
        } else {
            a += p->a_step;
        }
        b += B_STEP;
        tile_dot(0, 4, 6);
        tile_dot(1, 4, 7);
        tile_load(4, a, a_bytes);
        tile_dot(2, 5, 6);
        LOAD_B(6, b);
        tile_dot(3, 5, 7);
        tile_load(5, a + low, a_bytes);
        LOAD_B(7, b + B_TILE);
    }
    tile_dot(0, 4, 6);
    tile_dot(1, 4, 7);
    tile_dot(2, 5, 6);
    tile_dot(3, 5, 7);
}

static void run_two(const tile_product *p)
{
    const int64_t c_bytes = p->c_row * 4;
    float *low = p->c + TILE * p->c_row;
    if (p->accumulate) {
        tile_load(0, p->c, c_bytes);
        tile_load(1, p->c + TILE, c_bytes);
        tile_load(2, low, c_bytes);
        tile_load(3, low + TILE, c_bytes);
    } else {
        tile_zero(0);
        tile_zero(1);
        tile_zero(2);
        tile_zero(3);
    }
    const piece_products *products = products_of(p->pieces);
    for (int i = 0; i < products->terms; i++) {
        const int64_t a_piece = products->of[i].a * p->a_piece, b_piece = products->of[i].b * p->b_piece;
        if (p->passing)
            add_two(p, a_piece, b_piece, true);
        else
            add_two(p, a_piece, b_piece, false);
    }
    tile_store(0, p->c, c_bytes);
    tile_store(1, p->c + TILE, c_bytes);
    tile_store(2, low, c_bytes);
    tile_store(3, low + TILE, c_bytes);
}

/* The same of 16 rows. */
INLINE void add_one(const tile_product *p, int64_t a_piece, int64_t b_piece)
{
    const int64_t a_bytes = p->a_row * 2;
    const uint16_t *b = p->b + b_piece;
    for (int64_t tap = 0; tap < p->taps; tap++) {
        const uint16_t *a = p->a[0] + a_piece + p->offsets[tap];
        for (int64_t step = 0; step < p->steps; step++, a += p->a_step, b += B_STEP) {
            tile_load(4, a, a_bytes);
            tile_load(6, b, B_BYTES);
            tile_dot(0, 4, 6);
            tile_load(7, b + B_TILE, B_BYTES);
            tile_dot(1, 4, 7);
        }
    }
}

static void run_one(const tile_product *p)
{
    const int64_t c_bytes = p->c_row * 4;
    if (p->accumulate) {
        tile_load(0, p->c, c_bytes);
        tile_load(1, p->c + TILE, c_bytes);
    } else {
        tile_zero(0);
        tile_zero(1);
    }
    const piece_products *products = products_of(p->pieces);
    for (int i = 0; i < products->terms; i++)
        add_one(p, products->of[i].a * p->a_piece, products->of[i].b * p->b_piece);
    tile_store(0, p->c, c_bytes);
    tile_store(1, p->c + TILE, c_bytes);
}

void tile_product_run(const tile_product *p)
{
    (p->a[1] ? run_two : run_one)(p);
}
