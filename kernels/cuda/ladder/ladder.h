/*
 * ladder.h - one matrix product, written again and again, each time with one idea more: c[m,n] = a[m,k] b[k,n],
 * row-major.
 *
 *   1_naive          a thread for a result, the way one first writes it
 *   2_coalesced      the same threads, turned so that neighbours read neighbours
 *   3_shared_tile    a block loads what its threads share once
 *   4_register_tile  a thread makes 16 results from what it reads
 *   5_wide_loads     a read brings 16 bytes
 *   6_double_buffer  the next step is on its way while this one is multiplied
 *   7_warp_tile      a warp makes a tile of its own, its lanes interleaved
 *   8_tensor_cores   a warp multiplies small matrices of halves as a whole
 *   9_ldmatrix       their fragments are loaded as matrices, from swizzled pieces
 *   10_async_stages  copies go to shared memory by themselves, two steps ahead
 *   11_tma           one thread orders whole tiles, and barriers in memory count them
 *   12_wgmma         four warps multiply straight from shared memory
 *
 * Read them in this order, each against the one before; docs/ladders.md has their counters. gemm_tile.cuh and
 * tensor_tile.cuh, which the operations use, are 6 and 10 for any shape. For C and C++; no header of CUDA.
 */
#ifndef GRADUS_LADDER_H
#define GRADUS_LADDER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Launches one rung; the arrays are the device's: c of floats, a and b of what the rung takes. */
typedef void gr__ladder_rung(float *c, const void *a, const void *b, int64_t m, int64_t n, int64_t k, void *queue);

/*
 * RUNG(name, whether a and b are halves, what m and n, and what k must be multiples of, and whether
 * it is for GPUs of compute capability 9.0 alone, as code for sm_90a)
 */
#define GR__LADDER(RUNG)              \
    RUNG(naive, 0, 1, 1, 0)           \
    RUNG(coalesced, 0, 1, 1, 0)       \
    RUNG(shared_tile, 0, 1, 1, 0)     \
    RUNG(register_tile, 0, 1, 1, 0)   \
    RUNG(wide_loads, 0, 64, 16, 0)    \
    RUNG(double_buffer, 0, 64, 16, 0) \
    RUNG(warp_tile, 0, 128, 16, 0)    \
    RUNG(tensor_cores, 1, 128, 32, 0) \
    RUNG(ldmatrix, 1, 128, 32, 0)     \
    RUNG(async_stages, 1, 128, 32, 0) \
    RUNG(tma, 1, 128, 64, 1)          \
    RUNG(wgmma, 1, 128, 64, 1)

/* A rung by its name; a device's table ends with one that has no name. run NULL: this build has no code for it. */
typedef struct gr_rung {
    const char *name;
    gr__ladder_rung *run;
    int halves, tile, step, hopper;
} gr_rung;
extern const gr_rung gr__cuda_ladder[], gr__simt_ladder[];

/* gr__cuda_ladder_naive, gr__simt_ladder_naive, ... */
#define GR__DECLARE_RUNG(name, halves, tile, step, hopper) \
    gr__ladder_rung gr__cuda_ladder_##name, gr__simt_ladder_##name;
GR__LADDER(GR__DECLARE_RUNG)
#undef GR__DECLARE_RUNG

#ifdef __cplusplus
}
#endif
#endif
