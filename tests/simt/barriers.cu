/* barriers.cu - barriers that are missing, that not everybody reaches, or that are not the same one. */
#include "kernels/cuda/reduce.cuh"
#include "tests/simt/planted.h"

BEGINS(missing_barrier)
/* out[i] = x[n - 1 - i] of a block of n, through shared memory */
template <bool right> static __global__ void missing_barrier(float *out, const float *x)
{
    GR_SHARED(float, turned, [256]);
    turned[blockDim.x - 1 - threadIdx.x] = x[threadIdx.x];
    if (right)
        __syncthreads();
    out[threadIdx.x] = turned[threadIdx.x];
}
ENDS(missing_barrier)

static bool run_missing_barrier(bool right)
{
    float *out = floats(256), *x = floats(256);
    RUN(missing_barrier, right, 1, 256, out, x);
    return out[0] == 255 && out[255] == 0;
}

BEGINS(early_return)
/* out = sum of x[n] */
template <bool right> static __global__ void early_return(float *out, const float *x, int n)
{
    if (!right && (int)threadIdx.x >= n)
        return;
    GR_SHARED(float, s, [128]);
    s[threadIdx.x] = (int)threadIdx.x < n ? x[threadIdx.x] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < n; i++)
            sum += s[i];
        *out = sum;
    }
}
ENDS(early_return)

static bool run_early_return(bool right)
{
    float *out = floats(1), *x = floats(100);
    RUN(early_return, right, 1, 128, out, x, 100);
    return *out == 4950;
}

BEGINS(barrier_in_branch)
template <bool right> static __global__ void barrier_in_branch(float *out, const float *x)
{
    GR_SHARED(float, s, [64]);
    s[threadIdx.x] = x[threadIdx.x];
    if (right || threadIdx.x < 48)
        __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
ENDS(barrier_in_branch)

static bool run_barrier_in_branch(bool right)
{
    float *out = floats(64), *x = floats(64);
    RUN(barrier_in_branch, right, 1, 64, out, x);
    return out[63] == 63;
}

BEGINS(two_barriers)
/* Both halves come to a barrier, but not to the same one. */
template <bool right> static __global__ void two_barriers(float *out, const float *x)
{
    GR_SHARED(float, s, [64]);
    if (right || threadIdx.x < 32) {
        s[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
    } else {
        s[threadIdx.x] = 2 * x[threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = s[63 - threadIdx.x];
}
ENDS(two_barriers)

static bool run_two_barriers(bool right)
{
    float *out = floats(64), *x = floats(64);
    RUN(two_barriers, right, 1, 64, out, x);
    return out[63] == 0;
}

BEGINS(missing_partner)
/* Warp 0 produces, warp 1 consumes; 1: full, 2: empty. */
template <bool right> static __global__ void missing_partner(float *out, const float *x, int rounds)
{
    GR_SHARED(float, s, [32]);
    const int lane = threadIdx.x % 32;
    for (int i = 0; i < rounds; i++) {
        if (threadIdx.x < 32) {
            s[lane] = x[lane] + i;
            gr_named_barrier(1, 64);
            gr_named_barrier(2, 64);
        } else {
            gr_named_barrier(1, 64);
            out[lane] = s[31 - lane];
            if (right || i == 0)
                gr_named_barrier(2, 64);
        }
    }
}
ENDS(missing_partner)

static bool run_missing_partner(bool right)
{
    float *out = floats(32), *x = floats(32);
    RUN(missing_partner, right, 1, 64, out, x, 3);
    return out[0] == 33;
}

BEGINS(miscounted_barrier)
template <bool right> static __global__ void miscounted_barrier(float *out)
{
    if (threadIdx.x < 64)
        gr_named_barrier(3, right ? 64 : threadIdx.x < 32 ? 64 : 96);
    out[threadIdx.x] = 1;
}
ENDS(miscounted_barrier)

static bool run_miscounted_barrier(bool right)
{
    float *out = floats(96);
    RUN(miscounted_barrier, right, 1, 96, out);
    return out[0] == 1 && out[95] == 1;
}

BEGINS(waits_for_a_later_block)
/* Of two blocks the first to begin leaves a number for the second, or waits for one that the second will leave. */
template <bool right> static __global__ void waits_for_a_later_block(float *out, unsigned *words)
{
    const bool first = atomicAdd(&words[0], 1) == 0;
    if (first == right) {
        out[0] = 7;
        __threadfence();
        atomicAdd(&words[1], 1);
        return;
    }
    while (atomicAdd(&words[1], 0) == 0)
        continue;
    __threadfence();
    out[1] = out[0];
}
ENDS(waits_for_a_later_block)

static bool run_waits_for_a_later_block(bool right)
{
    float *out = floats(2);
    unsigned *words = (unsigned *)floats(2);
    words[0] = words[1] = 0;
    RUN(waits_for_a_later_block, right, 2, 1, out, words);
    return out[1] == 7;
}

BEGINS(all_wait_for_a_later_block)
/* The same, but all threads of the block ask: none of them is at a barrier, and yet none goes on. */
template <bool right> static __global__ void all_wait_for_a_later_block(float *out, unsigned *words)
{
    const bool first = atomicAdd(&words[0], 1) < blockDim.x;
    if (first == right) {
        atomicExch(&words[1], 1);
        return;
    }
    while (atomicAdd(&words[1], 0) == 0)
        continue;
    out[threadIdx.x] = 7;
}
ENDS(all_wait_for_a_later_block)

static bool run_all_wait_for_a_later_block(bool right)
{
    float *out = floats(64);
    unsigned *words = (unsigned *)floats(2);
    words[0] = words[1] = 0;
    RUN(all_wait_for_a_later_block, right, 2, 64, out, words);
    return out[0] == 7 && out[63] == 7;
}

const planted of_barriers[] = {
    PLANT(missing_barrier, IN_CHECK, ""), /* a race, or a read before the write */
    PLANT(early_return, EVERYWHERE, "barrier divergence"),
    PLANT(barrier_in_branch, EVERYWHERE, "barrier divergence"),
    PLANT(two_barriers, EVERYWHERE, "barrier divergence"),
    PLANT(missing_partner, EVERYWHERE, "deadlock"),
    PLANT(miscounted_barrier, EVERYWHERE, "barrier: named barrier 3"),
    PLANT(waits_for_a_later_block, EVERYWHERE, "deadlock: "),
    PLANT(all_wait_for_a_later_block, EVERYWHERE, "deadlock: "),
    NO_MORE,
};
