/* probes.c - the limits of plain loops on one thread: what no reference kernel can exceed. */
#include <string.h>

#include "kernels/ref/ref.h"

typedef wide pair __attribute__((vector_size(2 * sizeof(wide)))); /* what any processor of the family has */

enum { ROUNDS = 1 << 18 };

static double arithmetic(const gr_exec *exec, void *result)
{
    (void)exec;
    volatile wide half = 0.5, one = 1;
    const wide a = half, b = one;                                  /* towards 2: never too large, never denormal */
    pair s = {0}, t = s, u = s, v = s, w = s, x = s, y = s, z = s; /* eight sums that do not wait for each other */
    for (int round = 0; round < ROUNDS; round++) {
        s = s * a + b, t = t * a + b, u = u * a + b, v = v * a + b;
        w = w * a + b, x = x * a + b, y = y * a + b, z = z * a + b;
    }
    s += t + u + v + w + x + y + z;
    memcpy(result, &s, sizeof s);
    return 2.0 * 8 * 2 * ROUNDS;
}

static void read_all(const gr_exec *exec, const void *src, size_t bytes, int times, void *result)
{
    enum { LOADS = 8 };
    const uint64_t *p = src; /* [bytes / 8] */
    uint64_t *v = result, sum[LOADS] = {0};
    (void)exec;
    for (int turn = 0; turn < times; turn++)
        for (size_t i = 0; i + LOADS <= bytes / sizeof *p; i += LOADS)
            for (int k = 0; k < LOADS; k++)
                sum[k] += p[i + (size_t)k];
    for (int k = 0; k < LOADS; k++)
        v[k] = sum[k];
}

static void copy_all(const gr_exec *exec, void *dst, const void *src, size_t bytes, int times)
{
    (void)exec;
    for (int turn = 0; turn < times; turn++)
        memcpy(dst, src, bytes);
}

const gr_probes GR_REF(probes) = {arithmetic, read_all, copy_all, NULL};
