/*
 * ladder.h - one matrix product, written again and again, each time with one idea more: c[m,n] = a[m,k] b[k,n],
 * row-major.
 *
 *   1_naive          a thread for a result, the way one first writes it
 *   2_coalesced      the same threads, turned so that neighbours read neighbours
 *   3_shared_tile    a block loads what its threads share once
 *   4_register_tile  a thread makes 16 results from what it reads
 *
 * Read them in this order, each against the one before. The next steps, 16-byte reads and two buffers, are
 * gemm_tile.cuh, which the operations use. For C and C++; no header of CUDA.
 */
#ifndef GRADUS_LADDER_H
#define GRADUS_LADDER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Launches one rung; the arrays are the device's. */
typedef void gr__ladder_rung(float *c, const float *a, const float *b, int64_t m, int64_t n, int64_t k, void *queue);

#define GR__LADDER(RUNG) RUNG(naive) RUNG(coalesced) RUNG(shared_tile) RUNG(register_tile)

/* A rung by its name; a device's table ends with one that has no name. */
typedef struct gr_rung {
    const char *name;
    gr__ladder_rung *run;
} gr_rung;
extern const gr_rung gr__cuda_ladder[], gr__simt_ladder[];

/* gr__cuda_ladder_naive, gr__simt_ladder_naive, ... */
#define GR__DECLARE_RUNG(name) gr__ladder_rung gr__cuda_ladder_##name, gr__simt_ladder_##name;
GR__LADDER(GR__DECLARE_RUNG)
#undef GR__DECLARE_RUNG

#ifdef __cplusplus
}
#endif
#endif
