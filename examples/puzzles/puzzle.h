/*
 * puzzle.h - what the checks of the puzzles are written with. A check makes inputs, launches the reader's kernel,
 * compares with plain loops, and counts what the kernel asked of the memories.
 */
#ifndef GRADUS_PUZZLE_H
#define GRADUS_PUZZLE_H

#include <cuda_runtime.h>
#include <vector>

static int gr__puzzle_mistakes;

/* Small whole numbers that look like chance: sums of them are exact. */
static inline float number(int i)
{
    return (float)((unsigned)(i + 1) * 2654435761u >> 29);
}

/* count numbers on the device, other ones for another seed; and space for as many that holds nothing yet. */
static inline std::vector<float> numbers(int count, int seed = 0)
{
    std::vector<float> v((size_t)count);
    for (int i = 0; i < count; i++)
        v[(size_t)i] = number(i + 1000 * seed);
    return v;
}
template <class T> static inline T *on_device(const std::vector<T> &v)
{
    T *p;
    cudaMalloc(&p, v.size() * sizeof(T));
    cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}
template <class T> static inline T *space(size_t count)
{
    T *p;
    cudaMalloc(&p, count * sizeof(T));
    return p;
}

/* Compares name[0 .. wanted.size()) on the device with what it should be, says where it differs first, and frees it. */
template <class T>
static inline void compare(const char *name, T *p, const std::vector<T> &wanted, double tolerance = 0)
{
    std::vector<T> is(wanted.size());
    if (cudaDeviceSynchronize() || cudaMemcpy(is.data(), p, is.size() * sizeof(T), cudaMemcpyDeviceToHost))
        return; /* the emulator has said why */
    cudaFree(p);
    size_t wrong = 0, first = 0;
    for (size_t i = is.size(); i-- > 0;)
        if (!(fabs((double)is[i] - (double)wanted[i]) <= tolerance))
            wrong++, first = i;
    if (!wrong)
        return;
    gr__puzzle_mistakes++;
    printf("wrong result: %s[%zu] is ", name, first);
    if (is[first] != is[first])
        printf("what nobody wrote (NaN)");
    else
        printf("%g", (double)is[first]);
    printf(", should be %g (%zu of %zu are wrong)\n", (double)wanted[first], wrong, is.size());
}

/* What the kernels between the two asked for. */
static inline void count_begin(void)
{
    cudaDeviceSynchronize();
    gr__simt_count_begin();
}
static inline gr__simt_counters count_end(void)
{
    cudaDeviceSynchronize();
    return gr__simt_count_end();
}

/* Says so when a kernel took more than it needs. why: what costs so much, as a rule. */
static inline void budget(const char *what, uint64_t used, uint64_t most, const char *why)
{
    if (used <= most || cudaPeekAtLastError())
        return;
    gr__puzzle_mistakes++;
    printf("over budget: %llu %s, %llu are enough: %s\n", (unsigned long long)used, what, (unsigned long long)most,
           why);
}

/* The end of a check: what main returns. */
static inline int verdict(void)
{
    if (cudaDeviceSynchronize())
        return 7;
    if (!gr__puzzle_mistakes)
        puts("solved");
    return gr__puzzle_mistakes != 0;
}

#endif
