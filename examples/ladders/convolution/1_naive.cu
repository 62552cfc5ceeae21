/*
 * 1_naive.cu - a thread for a result.
 *
 * Idea      the formula as it stands. Neighbouring lanes make neighbouring filters' results of one pixel.
 * Slow      because the lanes read filters that are 9 c floats apart, a sector of its own for each; x is one float for
 *           all of them. And a thread reads 8 bytes for 2 operations.
 * Counted   barriers 0; shared requests 0, conflicts 0.00 each; global requests 141952, sectors 2429056; lanes 32.0
 */
#include "convolution.h"

static const int THREADS = 128;

/* y[n,h,w,k], x[n,h,w,c], filters[k,3,3,c] */
__global__ void naive(float *y, const float *x, const float *filters, shape s)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.n * s.h * s.w * s.k)
        return;
    const int k = i % s.k, q = i / s.k % s.w, p = i / s.k / s.w % s.h, n = i / s.k / s.w / s.h;
    float sum = 0;
    for (int tap = 0; tap < TAPS; tap++)
        for (int c = 0; c < s.c; c++)
            sum += pixel(x, s, n, p + tap / 3 - 1, q + tap % 3 - 1, c) * filters[(k * TAPS + tap) * s.c + c];
    y[i] = sum;
}

static void convolve(float *y, const float *x, const float *filters, shape s)
{
    naive<<<(s.n * s.h * s.w * s.k + THREADS - 1) / THREADS, THREADS>>>(y, x, filters, s);
}
