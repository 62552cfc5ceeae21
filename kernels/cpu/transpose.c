/* transpose.c - rows into columns. */
#include "kernels/cpu/cpu.h"

/*
 * VL x VL in registers. One round zips row i with row i + VL/2, which moves the top bit of the row number to the bottom
 * of the column number; after log2(VL) rounds the two have changed places.
 */
INLINE void block(const float *src, int64_t src_pitch, float *dst, int64_t dst_pitch, const bool stream)
{
    vec v[VL], w[VL];
    UNROLL
    for (int i = 0; i < VL; i++)
        v[i] = vec_load(src + i * src_pitch);
    UNROLL
    for (int round = VL; round > 1; round /= 2) {
        UNROLL
        for (int i = 0; i < VL / 2; i++) {
            w[2 * i] = vec_zip_low(v[i], v[i + VL / 2]);
            w[2 * i + 1] = vec_zip_high(v[i], v[i + VL / 2]);
        }
        UNROLL
        for (int i = 0; i < VL; i++)
            v[i] = w[i];
    }
    UNROLL
    for (int i = 0; i < VL; i++)
        if (stream)
            vec_stream(dst + i * dst_pitch, v[i]);
        else
            vec_store(dst + i * dst_pitch, v[i]);
}

/* A block of VL x VL, or less at the ends: rows of the source from i on, columns from j on. */
INLINE void block_at(const float *src, int64_t src_pitch, int64_t rows, int64_t cols, float *dst, int64_t dst_pitch,
                     int64_t i, int64_t j, const bool stream)
{
    const float *s = src + i * src_pitch + j;
    float *d = dst + j * dst_pitch + i;
    if (rows - i >= VL && cols - j >= VL) {
        block(s, src_pitch, d, dst_pitch, stream);
        return;
    }
    for (int64_t u = 0; u < min64(VL, rows - i); u++)
        for (int64_t v = 0; v < min64(VL, cols - j); v++)
            d[v * dst_pitch + u] = s[u * src_pitch + v];
}

/*
 * Along the rows that are further apart: they are those of the larger matrix, in memory, which gives and takes runs of
 * four cache lines at three times the pace of lines by themselves.
 */
INLINE void blocks(const float *src, int64_t src_pitch, int64_t rows, int64_t cols, float *dst, int64_t dst_pitch,
                   const bool stream)
{
    if (src_pitch >= dst_pitch)
        for (int64_t i = 0; i < rows; i += VL)
            for (int64_t j = 0; j < cols; j += VL)
                block_at(src, src_pitch, rows, cols, dst, dst_pitch, i, j, stream);
    else
        for (int64_t j = 0; j < cols; j += VL)
            for (int64_t i = 0; i < rows; i += VL)
                block_at(src, src_pitch, rows, cols, dst, dst_pitch, i, j, stream);
}

void transpose(const float *src, int64_t src_pitch, int64_t rows, int64_t cols, float *dst, int64_t dst_pitch)
{
    blocks(src, src_pitch, rows, cols, dst, dst_pitch, false);
}

void transpose_past_caches(const float *src, int64_t src_pitch, int64_t rows, int64_t cols, float *dst,
                           int64_t dst_pitch)
{
    blocks(src, src_pitch, rows, cols, dst, dst_pitch, true);
}
