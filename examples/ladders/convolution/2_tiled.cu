/*
 * 2_tiled.cu - a block brings pixels and filters into shared memory, tap by tap.
 *
 * Changed   a block makes 16 pixels by 16 filters. For one tap after another and 16 channels at a time it brings the 16
 *           pixels that the tap sees, and that tap of the 16 filters; then each thread multiplies a row of the one by a
 *           row of the other. A tap alone is a product of matrices, and this is its rung 3.
 * Faster    because what is brought is read by 16 threads, and lanes bring neighbouring channels.
 * Shared    rows of the filters are 17 floats long: with 16, those of 16 filters would begin in 2 banks.
 * Slow      still, because a thread reads 8 bytes of shared memory for 2 operations, and there are two barriers for 16
 *           of each thread's multiply-adds.
 * Counted   barriers 1152; shared requests 156672, conflicts 0.03 each; global requests 9536, sectors 37408; lanes 32.0
 */
#include "convolution.h"

static const int TILE = 16;

/* y[n,h,w,k], x[n,h,w,c], filters[k,3,3,c] */
__global__ void tiled(float *y, const float *x, const float *filters, shape s)
{
    __shared__ float pixels[TILE][TILE], weights[TILE][TILE + 1];
    const int column = threadIdx.x, row = threadIdx.y; /* a filter and a pixel; when bringing, a channel and either */
    const int i = blockIdx.x * TILE + row, q = i % s.w, p = i / s.w % s.h, n = i / s.w / s.h;
    const int first_k = blockIdx.y * TILE;
    const bool is_pixel = n < s.n;
    float sum = 0;
    for (int tap = 0; tap < TAPS; tap++)
        for (int first_c = 0; first_c < s.c; first_c += TILE) {
            const int c = first_c + column, k = first_k + row;
            pixels[row][column] = is_pixel && c < s.c ? pixel(x, s, n, p + tap / 3 - 1, q + tap % 3 - 1, c) : 0;
            weights[row][column] = k < s.k && c < s.c ? filters[(k * TAPS + tap) * s.c + c] : 0;
            __syncthreads();
            for (int l = 0; l < TILE; l++)
                sum += pixels[row][l] * weights[column][l];
            __syncthreads();
        }
    if (is_pixel && first_k + column < s.k)
        y[i * s.k + first_k + column] = sum;
}

static void convolve(float *y, const float *x, const float *filters, shape s)
{
    const dim3 grid((s.n * s.h * s.w + TILE - 1) / TILE, (s.k + TILE - 1) / TILE);
    tiled<<<grid, dim3(TILE, TILE)>>>(y, x, filters, s);
}
