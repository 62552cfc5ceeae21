/*
 * philox.cuh - Philox4x32-10 on the device: the same numbers as core/philox.c, from table 2 and section 3.4 of the
 * paper (Salmon, Moraes, Dror and Shaw, SC'11). Twenty multiplications give four words; nothing is stored between
 * draws.
 */
#ifndef GRADUS_PHILOX_CUH
#define GRADUS_PHILOX_CUH

#include "kernels/cuda/gpu.h"

/* Four words from a counter and a 64-bit key. */
GR_DEVICE uint4 philox(uint4 counter, uint64_t key)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int i = 0; i < 10; i++) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * counter.x, p1 = (uint64_t)0xCD9E8D57u * counter.z;
        counter = make_uint4((uint32_t)(p1 >> 32) ^ counter.y ^ k0, (uint32_t)p1, (uint32_t)(p0 >> 32) ^ counter.w ^ k1,
                             (uint32_t)p0);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return counter;
}

#endif
