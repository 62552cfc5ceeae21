/* philox.c - Philox4x32-10; see philox.h. Constants from table 2 and section 3.4 of the paper. */
#include "core/philox.h"

void gr__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3], k0 = key[0], k1 = key[1];
    for (int i = 0; i < 10; i++) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * a, p1 = (uint64_t)0xCD9E8D57u * c;
        a = (uint32_t)(p1 >> 32) ^ b ^ k0;
        b = (uint32_t)p1;
        c = (uint32_t)(p0 >> 32) ^ d ^ k1;
        d = (uint32_t)p0;
        k0 += 0x9E3779B9u; /* golden ratio */
        k1 += 0xBB67AE85u; /* sqrt(3) - 1 */
    }
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
}

void gr__random_block(uint64_t seed, gr_rng_purpose purpose, uint32_t a, uint64_t i, uint32_t out[4])
{
    uint32_t counter[4] = {(uint32_t)i, (uint32_t)(i >> 32), a, (uint32_t)purpose};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    gr__philox(counter, key, out);
}

uint32_t gr__random_bits(uint64_t seed, gr_rng_purpose purpose, uint32_t a, uint64_t i)
{
    uint32_t block[4];
    gr__random_block(seed, purpose, a, i / 4, block);
    return block[i % 4];
}

float gr__random_uniform(uint64_t seed, gr_rng_purpose purpose, uint32_t a, uint64_t i)
{
    return (float)(gr__random_bits(seed, purpose, a, i) >> 8) * 0x1p-24f;
}

void gr__random_order(uint64_t seed, gr_rng_purpose purpose, uint32_t a, int64_t n, int64_t *order)
{
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) { /* 0..i by the upper half of a 64-bit product */
        uint64_t bits = gr__random_bits(seed, purpose, a, (uint64_t)i);
        int64_t j = (int64_t)(bits * (uint64_t)(i + 1) >> 32);
        int64_t swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}
