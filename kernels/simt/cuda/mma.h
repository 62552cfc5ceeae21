/*
 * mma.h - matrix tiles on tensor cores, nvcuda::wmma: 16x16x16 of halves with float or half sums. Which lane has which
 * element is not said by CUDA; here lane l has elements 8 l to 8 l + 7, row by row.
 */
#ifndef GRADUS_CUDA_MMA_H
#define GRADUS_CUDA_MMA_H

#include "kernels/simt/cuda/cuda_fp16.h"

namespace nvcuda
{
namespace wmma
{

struct row_major {
};
struct col_major {
};
struct matrix_a {
};
struct matrix_b {
};
struct accumulator {
};
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
    static_assert(M == 16 && N == 16 && K == 16, "the emulator's tiles are 16x16x16");
    enum { num_elements = 8 };
    T x[num_elements];
};

template <class F, class T> static inline void fill_fragment(F &f, T v)
{
    for (auto &x : f.x)
        x = v;
}

/* Row and column of element i of this lane. */
static inline void gr__place(int i, int *row, int *column)
{
    const int element = (int)(gr__linear_thread() % 32) * 8 + i;
    *row = element / 16, *column = element % 16;
}

template <class F, class T>
static inline void gr__load(F &f, const T *p, unsigned pitch, bool by_rows, const char *file, int line)
{
    for (int i = 0; i < 8; i++) {
        int row, column;
        gr__place(i, &row, &column);
        f.x[i] = p[by_rows ? row * pitch + column : column * pitch + row];
    }
    __syncwarp(0xFFFFFFFF, file, line);
}
template <class Use, int M, int N, int K, class T, class Layout, class U>
static inline void load_matrix_sync(fragment<Use, M, N, K, T, Layout> &f, const U *p, unsigned pitch, GR__HERE)
{
    gr__load(f, p, pitch, __is_same(Layout, row_major), file, line);
}
template <int M, int N, int K, class T>
static inline void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const T *p, unsigned pitch, layout_t layout,
                                    GR__HERE)
{
    gr__load(f, p, pitch, layout == mem_row_major, file, line);
}
template <int M, int N, int K, class T>
static inline void store_matrix_sync(T *p, const fragment<accumulator, M, N, K, T> &f, unsigned pitch, layout_t layout,
                                     GR__HERE)
{
    for (int i = 0; i < 8; i++) {
        int row, column;
        gr__place(i, &row, &column);
        p[layout == mem_row_major ? row * pitch + column : column * pitch + row] = f.x[i];
    }
    __syncwarp(0xFFFFFFFF, file, line);
}

/* What a lane brings: d = a b + c. */
template <class S> struct gr__product {
    gr__simt_together together;
    S *d;
    const half *a, *b;
    const S *c;
};
template <class S> static void gr__multiply(gr__simt_together *const all[32], unsigned)
{
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 16; column++) {
            const int at = row * 16 + column;
            const gr__product<S> *out = (const gr__product<S> *)all[at / 8];
            float sum = 0;
            for (int k = 0; k < 16; k++) {
                const int in_a = row * 16 + k, in_b = k * 16 + column;
                sum += (float)((const gr__product<S> *)all[in_a / 8])->a[in_a % 8] *
                       (float)((const gr__product<S> *)all[in_b / 8])->b[in_b % 8];
            }
            out->d[at % 8] = (S)(sum + (float)out->c[at % 8]);
        }
}
template <int M, int N, int K, class S, class LA, class LB>
static inline void mma_sync(fragment<accumulator, M, N, K, S> &d, const fragment<matrix_a, M, N, K, half, LA> &a,
                            const fragment<matrix_b, M, N, K, half, LB> &b, const fragment<accumulator, M, N, K, S> &c,
                            GR__HERE)
{
    gr__product<S> lane = {{gr__multiply<S>}, d.x, a.x, b.x, c.x};
    gr__simt_warp(0xFFFFFFFF, GR__SIMT_TOGETHER, &lane, file, line);
}

} /* namespace wmma */
} /* namespace nvcuda */

#endif
