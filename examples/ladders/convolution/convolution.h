/*
 * convolution.h - the ladder of convolutions: y[n,p,q,k] = sum over r, s, c of x[n,p+r-1,q+s-1,c] w[k,r,s,c], windows
 * of 3 x 3, zeros around the image, with a rung to a file.
 *
 *   1_naive          a thread for a result
 *   2_tiled          a block brings pixels and filters into shared memory, tap by tap
 *   3_implicit_gemm  a product of matrices, one of which is never stored; 16 results a thread
 *   4_halo           a patch of the image is brought once for all nine taps
 *
 * gradus cuda 2_tiled.cu --check --counters [-- N H W C K [--time]]; with a GPU: nvcc 2_tiled.cu
 */
#ifndef GRADUS_CONVOLUTION_H
#define GRADUS_CONVOLUTION_H

#include "../ladder.h"

enum { TAPS = 9 };

/* Images x[n,h,w,c], filters[k,3,3,c] */
struct shape {
    int n, h, w, c, k;
};

/* What a rung defines: y[n,h,w,k] of x and filters. The arrays are the device's. */
static void convolve(float *y, const float *x, const float *filters, shape s);

/* x[n,p,q,c], 0 outside the image */
static inline __host__ __device__ float pixel(const float *x, shape s, int n, int p, int q, int c)
{
    return p >= 0 && p < s.h && q >= 0 && q < s.w ? x[((n * s.h + p) * s.w + q) * s.c + c] : 0;
}

static std::vector<float> convolution_of(const std::vector<float> &x, const std::vector<float> &filters, shape s)
{
    std::vector<float> y((size_t)s.n * s.h * s.w * s.k);
    for (int i = 0; i < (int)y.size(); i++) {
        const int k = i % s.k, q = i / s.k % s.w, p = i / s.k / s.w % s.h, n = i / s.k / s.w / s.h;
        for (int tap = 0; tap < TAPS; tap++)
            for (int c = 0; c < s.c; c++)
                y[i] +=
                    pixel(x.data(), s, n, p + tap / 3 - 1, q + tap % 3 - 1, c) * filters[(k * TAPS + tap) * s.c + c];
    }
    return y;
}

int main(int argc, char **argv)
{
    const shape s = {argument(argc, argv, 1, 1), argument(argc, argv, 2, 16), argument(argc, argv, 3, 16),
                     argument(argc, argv, 4, 16), argument(argc, argv, 5, 64)};
    const size_t pixels = (size_t)s.n * s.h * s.w;
    const std::vector<float> x = numbers(pixels * s.c, 1), filters = numbers((size_t)s.k * TAPS * s.c, 2);
    float *on = on_device(x), *w = on_device(filters), *y = space(pixels * s.k);
    measure(argc, argv, 2.0 * TAPS * s.c * s.k * pixels, 4.0 * (x.size() + filters.size() + pixels * s.k),
            [=] { convolve(y, on, w, s); });
    const size_t wrong = mistakes(y, convolution_of(x, filters, s), 0);
    cudaFree(on);
    cudaFree(w);
    return wrong ? 1 : 0;
}

#endif
