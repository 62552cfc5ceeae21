/*
 * ladder.h - what the rungs of these ladders share: drawn inputs, the comparison with a plain loop, and the time where
 * there is a GPU (--time; on the emulator it says nothing of one).
 */
#ifndef GRADUS_LADDERS_H
#define GRADUS_LADDERS_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

/* Whole numbers from 0 to 7 that look like chance: sums of them are exact in any order. */
static inline std::vector<float> numbers(size_t count, unsigned seed)
{
    std::vector<float> v(count);
    for (size_t i = 0; i < count; i++)
        v[i] = (float)(((unsigned)i + 1000 * seed + 1) * 2654435761u >> 29);
    return v;
}

static inline float *space(size_t count)
{
    float *p;
    cudaMalloc(&p, count * sizeof *p);
    return p;
}

static inline float *on_device(const std::vector<float> &v)
{
    float *p = space(v.size());
    cudaMemcpy(p, v.data(), v.size() * sizeof *p, cudaMemcpyHostToDevice);
    return p;
}

/* How many of p[wanted.size()], the device's, are farther from what is wanted than tolerance. Frees p. */
static inline size_t mistakes(float *p, const std::vector<float> &wanted, double tolerance)
{
    std::vector<float> is(wanted.size());
    cudaMemcpy(is.data(), p, is.size() * sizeof *p, cudaMemcpyDeviceToHost);
    cudaFree(p);
    size_t wrong = 0;
    for (size_t i = 0; i < is.size(); i++) {
        const double error = (double)is[i] - (double)wanted[i];
        wrong += !(error <= tolerance && -error <= tolerance); /* NaN is wrong */
    }
    printf("%zu of %zu results wrong\n", wrong, is.size());
    return wrong;
}

/* Runs work() once; with --time 20 times more, between two events. flops and bytes: what it needs at least. */
template <class WORK> static inline void measure(int argc, char **argv, double flops, double bytes, WORK work)
{
    work();
    if (argc < 2 || strcmp(argv[argc - 1], "--time") != 0)
        return;
    enum { TIMES = 20 };
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin);
    for (int i = 0; i < TIMES; i++)
        work();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    ms /= TIMES;
    printf("%.4f ms, %.1f GFLOP/s, %.1f GB/s\n", ms, 1e-6 * flops / ms, 1e-6 * bytes / ms);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
}

/* The n-th argument as a number, if there is one. */
static inline int argument(int argc, char **argv, int n, int otherwise)
{
    return argc > n && argv[n][0] != '-' ? atoi(argv[n]) : otherwise;
}

#endif
