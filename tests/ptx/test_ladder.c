/*
 * test_ladder.c - every rung of kernels/cuda/ladder, interpreted as the code of a GPU of compute capability 9.0,
 * against a plain loop in double.
 */
#include <cuda_runtime_api.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/half.h"
#include "kernels/cuda/ladder/ladder.h"

static const gr_rung rungs[] = {
#define RUNG(name, halves, tile, step, hopper) {#name, gr__cuda_ladder_##name, halves, tile, step, hopper},
    GR__LADDER(RUNG)
#undef RUNG
};

/* Numbers from -1 to 1, exact as halves. The caller's to free. */
static float *drawn(uint32_t seed, int64_t count)
{
    float *x = malloc((size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)(int)(((uint32_t)i + seed) * 2654435761u >> 24) / 128 - 1;
    return x;
}

/* The same on the device, as a rung takes them. */
static void *sent(const gr_rung *r, const float *x, int64_t count)
{
    const size_t each = r->halves ? sizeof(uint16_t) : sizeof *x;
    uint16_t *halves = malloc((size_t)count * sizeof *halves);
    void *to = NULL;
    for (int64_t i = 0; i < count; i++)
        halves[i] = gr__f16_of((double)x[i]);
    cudaMalloc(&to, (size_t)count * each);
    cudaMemcpyAsync(to, r->halves ? (const void *)halves : x, (size_t)count * each, cudaMemcpyHostToDevice, NULL);
    cudaStreamSynchronize(NULL);
    free(halves);
    return to;
}

/* Whether c = a b within the rounding of k products and sums. */
static bool is_right(const gr_rung *r, const float *c, const float *a, const float *b, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0, magnitude = 0;
            for (int64_t l = 0; l < k; l++) {
                const double product = (double)a[i * k + l] * (double)b[l * n + j];
                sum += product;
                magnitude += fabs(product);
            }
            if (fabs((double)c[i * n + j] - sum) <= (double)FLT_EPSILON * sqrt((double)k) * magnitude)
                continue;
            printf("%s, m %lld, n %lld, k %lld: c[%lld,%lld] is %g, should be %g\n", r->name, (long long)m,
                   (long long)n, (long long)k, (long long)i, (long long)j, (double)c[i * n + j], sum);
            return false;
        }
    return true;
}

/* What a rung reports stands on stderr. */
static bool run(const gr_rung *r, int64_t m, int64_t n, int64_t k)
{
    float *a = drawn(1, m * k), *b = drawn(2, k * n), *c = malloc((size_t)(m * n) * sizeof *c), *to = NULL;
    void *left = sent(r, a, m * k), *right = sent(r, b, k * n);
    cudaMalloc((void **)&to, (size_t)(m * n) * sizeof *to);
    r->run(to, left, right, m, n, k, NULL);
    cudaMemcpyAsync(c, to, (size_t)(m * n) * sizeof *c, cudaMemcpyDeviceToHost, NULL);
    const bool done = cudaStreamSynchronize(NULL) == cudaSuccess;
    const bool good = done && is_right(r, c, a, b, m, n, k);
    if (!done)
        printf("%s, m %lld, n %lld, k %lld: failed\n", r->name, (long long)m, (long long)n, (long long)k);
    cudaFree(left);
    cudaFree(right);
    cudaFree(to);
    free(a);
    free(b);
    free(c);
    return good;
}

int main(void)
{
    int failures = 0;
    for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++) {
        failures += !run(&rungs[i], 128, 128, 64);
        if (rungs[i].hopper) /* several tiles, more steps than there are stages */
            failures += !run(&rungs[i], 128, 256, 320);
    }
    printf("%d failures\n", failures);
    return failures != 0;
}
