/*
 * reduction.h - the ladder of reductions: total = x[0] + ... + x[n-1], with a rung to a file.
 *
 *   1_atomic       every thread adds its number to the total
 *   2_tree         a block adds up its numbers in shared memory first
 *   3_neighbours   the same tree, folded so that neighbours meet neighbouring banks
 *   4_shuffle      a warp's lanes pass numbers from register to register
 *   5_many_each    a thread adds many numbers, four at a read, before it meets the others
 *
 * gradus cuda 3_neighbours.cu --check --counters [-- N [--time]]; with a GPU: nvcc 3_neighbours.cu
 */
#ifndef GRADUS_REDUCTION_H
#define GRADUS_REDUCTION_H

#include "../ladder.h"

/* What a rung defines: *total of x[n]. part has room for n / 128 + 8 numbers. The arrays are the device's. */
static void reduce(float *total, const float *x, int n, float *part);

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 65536);
    const std::vector<float> x = numbers((size_t)n, 1);
    double wanted = 0; /* exact, up to 2^24 */
    for (float v : x)
        wanted += (double)v;
    float *on = on_device(x), *part = space((size_t)n / 128 + 8), *total = space(1);
    measure(argc, argv, n, 4.0 * n, [=] { reduce(total, on, n, part); });
    const size_t wrong = mistakes(total, {(float)wanted}, 0);
    cudaFree(on);
    cudaFree(part);
    return wrong ? 1 : 0;
}

#endif
