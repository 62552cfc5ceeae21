/* copies.cu - cp.async not waited for, and stages refilled while they are in use. */
#include "kernels/cuda/gpu.h"
#include "tests/simt/planted.h"

BEGINS(missing_wait)
/* out[i] = x[n - 1 - i] of 128 */
template <bool right> static __global__ void missing_wait(float *out, const float *x)
{
    GR_SHARED(float, s, [128]);
    gr_cp_async16(&s[4 * threadIdx.x], x + 4 * threadIdx.x, 16);
    gr_cp_async_commit();
    if (right)
        gr_cp_async_wait<0>();
    __syncthreads();
    for (int i = threadIdx.x; i < 128; i += 32)
        out[i] = s[127 - i];
    if (!right)
        gr_cp_async_wait<0>();
}
ENDS(missing_wait)

static bool run_missing_wait(bool right)
{
    float *out = floats(128), *x = floats(128);
    RUN(missing_wait, right, 1, 32, out, x);
    return out[0] == 127;
}

BEGINS(wait_without_barrier)
/* A wait is for the thread's own copies; the others' need a barrier. */
template <bool right> static __global__ void wait_without_barrier(float *out, const float *x)
{
    GR_SHARED(float, s, [256]);
    gr_cp_async16(&s[4 * threadIdx.x], x + 4 * threadIdx.x, 16);
    gr_cp_async_commit();
    gr_cp_async_wait<0>();
    if (right)
        __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 64)
        out[i] = s[255 - i];
}
ENDS(wait_without_barrier)

static bool run_wait_without_barrier(bool right)
{
    float *out = floats(256), *x = floats(256);
    RUN(wait_without_barrier, right, 1, 64, out, x);
    return out[0] == 255;
}

BEGINS(never_waited)
template <bool right> static __global__ void never_waited(float *out, const float *x)
{
    GR_SHARED(float, s, [32]);
    gr_cp_async4(&s[threadIdx.x], x + threadIdx.x, 4);
    gr_cp_async_commit();
    if (right)
        gr_cp_async_wait<0>();
    out[threadIdx.x] = right ? s[threadIdx.x] : 0;
}
ENDS(never_waited)

static bool run_never_waited(bool right)
{
    float *out = floats(32), *x = floats(32);
    RUN(never_waited, right, 1, 32, out, x);
    return out[31] == 31;
}

BEGINS(stage_refilled)
/* out[i] = sum of the rows of x[rows][256] at 255 - i; a row is on its way while the one before is summed */
template <bool right> static __global__ void stage_refilled(float *out, const float *x, int rows)
{
    GR_SHARED(float, stage, [2][256]);
    float sum = 0;
    gr_cp_async16(&stage[0][4 * threadIdx.x], x + 4 * threadIdx.x, 16);
    gr_cp_async_commit();
    for (int r = 0; r < rows; r++) {
        if (r + 1 < rows)
            gr_cp_async16(&stage[(r + 1) % 2][4 * threadIdx.x], x + (r + 1) * 256 + 4 * threadIdx.x, 16);
        gr_cp_async_commit();
        gr_cp_async_wait<1>();
        __syncthreads();
        for (int i = 0; i < 4; i++)
            sum += stage[r % 2][255 - 4 * threadIdx.x - i];
        if (right) /* the next turn fills this stage again */
            __syncthreads();
    }
    gr_cp_async_wait<0>();
    out[threadIdx.x] = sum;
}
ENDS(stage_refilled)

static bool run_stage_refilled(bool right)
{
    float *out = floats(64), *x = floats(3 * 256);
    RUN(stage_refilled, right, 1, 64, out, x, 3);
    return out[63] == 3 * 6 + 4 * (256 + 512);
}

BEGINS(misaligned_copy)
template <bool right> static __global__ void misaligned_copy(float *out, const float *x)
{
    GR_SHARED(float, s, [128]);
    gr_cp_async16(&s[4 * threadIdx.x], x + 4 * threadIdx.x, 16);
    gr_cp_async_commit();
    gr_cp_async_wait<0>();
    out[threadIdx.x] = s[4 * threadIdx.x];
}
ENDS(misaligned_copy)

static bool run_misaligned_copy(bool right)
{
    float *out = floats(32), *x = floats(132);
    RUN(misaligned_copy, right, 1, 32, out, x + (right ? 0 : 2));
    return out[31] == 124;
}

const planted of_copies[] = {
    PLANT(missing_wait, IN_CHECK, "missing wait: "),
    PLANT(wait_without_barrier, IN_CHECK, ""), /* a race, or a read before the write */
    PLANT(never_waited, EVERYWHERE, "missing wait: "),
    PLANT(stage_refilled, IN_CHECK, "missing wait: "),
    PLANT(misaligned_copy, EVERYWHERE, "misaligned: cp.async"),
    NO_MORE,
};
