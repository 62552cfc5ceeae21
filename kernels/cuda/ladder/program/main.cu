/*
 * main.cu - a rung of the ladder as a program of its own, on two matrices of 128 x 128; in the folder of the project:
 *
 *   gradus cuda kernels/cuda/ladder/3_shared_tile.cu kernels/cuda/ladder/program/main.cu --include . --counters
 *   gradus theatre kernels/cuda/ladder/3_shared_tile.cu kernels/cuda/ladder/program/main.cu --include . --out tile.html
 */
#include <stdio.h>

#include <cuda_fp16.h>

#include "kernels/cuda/hooks.h"
#include "kernels/cuda/ladder/ladder.h"

enum { SIDE = 128, COUNT = SIDE * SIDE };

/* The rungs, of which those are there that were compiled along. */
#define RUNG(name, halves, tile, step, hopper) extern "C" __attribute__((weak)) gr__ladder_rung GR_CUDA(ladder_##name);
GR__LADDER(RUNG)
#undef RUNG

static float a[COUNT], b[COUNT], c[COUNT];
static half half_a[COUNT], half_b[COUNT]; /* the same numbers */

/* Whole numbers, so that the sums are exact in any order. */
static void fill(void)
{
    for (int i = 0; i < COUNT; i++) {
        a[i] = i % 7 - 3, b[i] = i % 5 - 2;
        half_a[i] = __float2half(a[i]), half_b[i] = __float2half(b[i]);
    }
}

static int count_mistakes(void)
{
    int mistakes = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            float sum = 0;
            for (int l = 0; l < SIDE; l++)
                sum += a[i * SIDE + l] * b[l * SIDE + j];
            mistakes += c[i * SIDE + j] != sum;
        }
    return mistakes;
}

/* Whether the GPU is one that the rung is for; the emulator is. */
static bool is_there(const char *name, bool hopper)
{
#if !defined(GRADUS_SIMT_LANGUAGE_H)
    cudaDeviceProp gpu;
    cudaGetDeviceProperties(&gpu, 0);
    if (hopper && gpu.major != 9) {
        printf("%s: not on this GPU: it needs compute capability 9.0, this has %d.%d\n", name, gpu.major, gpu.minor);
        return false;
    }
#endif
    (void)name, (void)hopper;
    return true;
}

static int run(const char *name, gr__ladder_rung *rung, bool halves)
{
    const size_t bytes = halves ? sizeof half_a : sizeof a;
    void *device_a, *device_b;
    float *device_c;
    cudaMalloc(&device_a, bytes);
    cudaMalloc(&device_b, bytes);
    cudaMalloc(&device_c, sizeof c);
    cudaMemcpy(device_a, halves ? (void *)half_a : a, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(device_b, halves ? (void *)half_b : b, bytes, cudaMemcpyHostToDevice);
    rung(device_c, device_a, device_b, SIDE, SIDE, SIDE, NULL);
    cudaMemcpy(c, device_c, sizeof c, cudaMemcpyDeviceToHost);
    cudaFree(device_a);
    cudaFree(device_b);
    cudaFree(device_c);
    const int mistakes = count_mistakes();
    printf("%s: %d of %d results wrong\n", name, mistakes, COUNT);
    return mistakes;
}

int main()
{
    int mistakes = 0;
    fill();
#define RUNG(name, halves, tile, step, hopper)             \
    if (GR_CUDA(ladder_##name) && is_there(#name, hopper)) \
        mistakes += run(#name, GR_CUDA(ladder_##name), halves);
    GR__LADDER(RUNG)
#undef RUNG
    return mistakes ? 1 : 0;
}
