/* random_bits.c - the generators XORWOW and Philox4x32-10, as cuRAND seeds and advances them. */
#include <pthread.h>
#include <string.h>

#include "kernels/simt/cuda/curand_numbers.h"

/* Found in what cuRAND makes of seeds: it documents none of these numbers; Marsaglia's are in the second half. */
void gr__cuda_xorwow_seed(uint64_t seed, uint32_t *d, uint32_t v[5])
{
    const uint32_t a = 1099087573u * ((uint32_t)seed ^ 0xAAD26B49u);
    const uint32_t b = 2591861531u * ((uint32_t)(seed >> 32) ^ 0xF7DCEFDDu);
    *d = 6615241 + a + b;
    v[0] = 123456789 + a, v[1] = 362436069 ^ a, v[2] = 521288629 + b, v[3] = 88675123 ^ b, v[4] = 5783321 + a;
}

/*
 * The five words of XORWOW's state but d are 160 bits, of which a step is a matrix over GF(2). Its powers, by repeated
 * squaring, go 1, 2, 4, ... 2^130 steps at once.
 */
enum { WORDS = 5, BITS = 32 * WORDS, POWERS = 67 + 64 };
typedef struct {
    uint32_t of[BITS][WORDS]; /* what becomes of each bit alone */
} matrix;
static matrix power[POWERS];

static void apply(const matrix *a, uint32_t v[WORDS])
{
    uint32_t sum[WORDS] = {0};
    for (int i = 0; i < BITS; i++)
        if (v[i / 32] >> i % 32 & 1)
            for (int k = 0; k < WORDS; k++)
                sum[k] ^= a->of[i][k];
    memcpy(v, sum, sizeof sum);
}

static void make_powers(void)
{
    for (int i = 0; i < BITS; i++) {
        uint32_t d = 0, *v = power[0].of[i];
        v[i / 32] = 1u << i % 32;
        gr__curand_xorwow(&d, v);
    }
    for (int p = 1; p < POWERS; p++) {
        power[p] = power[p - 1];
        for (int i = 0; i < BITS; i++)
            apply(&power[p - 1], power[p].of[i]);
    }
}

void gr__cuda_xorwow_jump(uint32_t v[5], int p, uint64_t times)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (times)
        pthread_once(&once, make_powers);
    for (; times; times /= 2, p++)
        if (times % 2)
            apply(&power[p], v);
}

void gr__cuda_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
        c[0] = (uint32_t)(b >> 32) ^ c[1] ^ k[0], c[1] = (uint32_t)b;
        c[2] = (uint32_t)(a >> 32) ^ c[3] ^ k[1], c[3] = (uint32_t)a;
        k[0] += 0x9E3779B9u, k[1] += 0xBB67AE85u;
    }
    memcpy(out, c, sizeof c);
}
