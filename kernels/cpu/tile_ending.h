/*
 * tile_ending.h - how the results of a register tile leave it: c (+)= alpha acc, then max(0, c) if asked.
 *
 * A tile of few steps has as many vectors to write as steps, so that a question asked of each of them is felt. What is
 * usual is asked once and then known to the compiler.
 */
#ifndef GRADUS_CPU_TILE_ENDING_H
#define GRADUS_CPU_TILE_ENDING_H

#include "kernels/cpu/cpu.h"

typedef struct {
    float *c; /* [rows][width], pitch c_row */
    int64_t c_row, width;
    float alpha;
    bool accumulate, relu;
    bool stream; /* past the caches: whole aligned vectors, no other wish */
} tile_ending;

/* One vector, of which n (1..VL) elements are written. */
INLINE void tile_end_vector(float *c, vec v, int64_t n, const bool accumulate, const bool relu)
{
    if (n == VL) {
        if (accumulate)
            v += vec_load(c);
        vec_store(c, relu ? vec_relu(v) : v);
    } else {
        if (accumulate)
            v += vec_load_n(c, n);
        vec_store_n(c, relu ? vec_relu(v) : v, n);
    }
}

INLINE void tile_end_as(const tile_ending *e, vec acc[TILE_ROWS][2], const int rows, const int vecs, const bool whole,
                        const bool accumulate, const bool relu, const bool stream)
{
    UNROLL
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < vecs; v++) {
            float *c = e->c + i * e->c_row + v * VL;
            if (stream)
                vec_stream(c, e->alpha * acc[i][v]);
            else
                tile_end_vector(c, e->alpha * acc[i][v], whole || v < vecs - 1 ? VL : e->width - v * VL, accumulate,
                                relu);
        }
}

/* rows x vecs vectors of a tile of that height. */
INLINE void tile_end(const tile_ending *e, vec acc[TILE_ROWS][2], const int rows, const int vecs)
{
    const bool usual = e->width == vecs * VL && !e->relu;
    if (e->stream)
        tile_end_as(e, acc, rows, vecs, true, false, false, true);
    else if (usual && e->accumulate)
        tile_end_as(e, acc, rows, vecs, true, true, false, false);
    else if (usual)
        tile_end_as(e, acc, rows, vecs, true, false, false, false);
    else
        tile_end_as(e, acc, rows, vecs, false, e->accumulate, e->relu, false);
}

#endif
