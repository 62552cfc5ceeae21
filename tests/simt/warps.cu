/* warps.cu - lanes that do not come, lanes that rely on lockstep, fragments in the wrong layout. */
#include "kernels/cuda/gpu.h"
#include "tests/simt/planted.h"

BEGINS(shuffle_in_branch)
template <bool right> static __global__ void shuffle_in_branch(float *out, const float *x, int n)
{
    const int i = threadIdx.x;
    float v = x[i];
    if (right) {
        const float next = __shfl_down_sync(0xFFFFFFFF, v, 1);
        v += i < n ? next : 0;
    } else if (i < n) {
        v += __shfl_down_sync(0xFFFFFFFF, v, 1);
    }
    out[i] = v;
}
ENDS(shuffle_in_branch)

static bool run_shuffle_in_branch(bool right)
{
    float *out = floats(32), *x = floats(32);
    RUN(shuffle_in_branch, right, 1, 32, out, x, 20);
    return out[19] == 39 && out[20] == 20;
}

BEGINS(absent_lane)
/* Sum over the lower half of a warp. */
template <bool right> static __global__ void absent_lane(float *out, const float *x)
{
    if (threadIdx.x < 16) {
        float v = x[threadIdx.x];
        for (int distance = right ? 8 : 16; distance > 0; distance /= 2)
            v += __shfl_xor_sync(0xFFFF, v, distance);
        out[threadIdx.x] = v;
    }
}
ENDS(absent_lane)

static bool run_absent_lane(bool right)
{
    float *out = floats(16), *x = floats(32);
    RUN(absent_lane, right, 1, 32, out, x);
    return out[3] == 120;
}

BEGINS(not_in_mask)
template <bool right> static __global__ void not_in_mask(unsigned *out)
{
    const unsigned all = right ? 0xFFFFFFFF : 0xFFFF;
    out[threadIdx.x] = __ballot_sync(all, threadIdx.x % 2);
}
ENDS(not_in_mask)

static bool run_not_in_mask(bool right)
{
    unsigned *out = (unsigned *)floats(32);
    RUN(not_in_mask, right, 1, 32, out);
    return out[0] == 0xAAAAAAAA;
}

BEGINS(masks_overlap)
/* Even and odd lanes vote among themselves, then all of them: those that are done first wait for the others. */
template <bool right> static __global__ void masks_overlap(unsigned *out)
{
    const int i = threadIdx.x;
    unsigned votes;
    if (i % 2)
        votes = __ballot_sync(right ? 0xAAAAAAAA : 0xAAAAAAAB, i > 7);
    else
        votes = __ballot_sync(0x55555555, i > 7);
    out[i] = __any_sync(0xFFFFFFFF, i == 5) ? votes : 0;
}
ENDS(masks_overlap)

static bool run_masks_overlap(bool right)
{
    unsigned *out = (unsigned *)floats(32);
    RUN(masks_overlap, right, 1, 32, out);
    return out[0] == 0x55555500 && out[31] == 0xAAAAAA00;
}

BEGINS(lockstep)
/* Sum in shared memory by one warp, as it was written when warps ran in lockstep. */
template <bool right> static __global__ void lockstep(float *out, const float *x)
{
    GR_SHARED(float, s, [32]);
    const int i = threadIdx.x;
    s[i] = x[i];
    if (right)
        __syncwarp();
    for (int distance = 16; distance > 0; distance /= 2) {
        const float v = i < distance ? s[i + distance] : 0;
        if (right)
            __syncwarp();
        if (i < distance)
            s[i] += v;
        if (right)
            __syncwarp();
    }
    if (i == 0)
        *out = s[0];
}
ENDS(lockstep)

static bool run_lockstep(bool right)
{
    float *out = floats(1), *x = floats(32);
    RUN(lockstep, right, 1, 32, out, x);
    return *out == 496;
}

BEGINS(fragment_not_transposed)
/* c[16x8] = a[16x16] b[16x8], all row-major; b's fragments must be transposed on their way */
template <bool right> static __global__ void fragment_not_transposed(float *c, const float *a, const float *b)
{
    GR_SHARED(half, as, [16][24]);
    GR_SHARED(half, bs, [16][24]);
    const int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) {
        as[i / 16][i % 16] = __float2half(a[i]);
        bs[i / 16][i % 16] = __float2half(i % 16 < 8 ? b[i / 16 * 8 + i % 16] : 0);
    }
    __syncthreads();
    uint32_t fa[4], fb[4];
    float d[4] = {0, 0, 0, 0};
    gr_ldmatrix_x4(fa, &as[lane % 16][lane / 16 * 8]);
    if (right)
        gr_ldmatrix_x4_trans(fb, &bs[lane % 16][lane / 16 * 8]);
    else
        gr_ldmatrix_x4(fb, &bs[lane % 16][lane / 16 * 8]);
    gr_mma_f16(d, fa, fb);
    for (int i = 0; i < 4; i++)
        c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}
ENDS(fragment_not_transposed)

static bool run_fragment_not_transposed(bool right)
{
    float *c = floats(128), *a = floats(256), *b = floats(128);
    for (int i = 0; i < 256; i++)
        a[i] = i * 7 % 13 - 6;
    for (int i = 0; i < 128; i++)
        b[i] = i * 5 % 11 - 5;
    RUN(fragment_not_transposed, right, 1, 32, c, a, b);
    for (int i = 0; i < 128; i++) {
        float sum = 0;
        for (int k = 0; k < 16; k++)
            sum += a[i / 8 * 16 + k] * b[k * 8 + i % 8];
        if (sum != c[i])
            return false;
    }
    return true;
}

BEGINS(misaligned_row)
/* Rows of 20 halves are 40 bytes apart: not all are multiples of 16. */
template <bool right> static __global__ void misaligned_row(uint32_t *out)
{
    enum { PITCH = right ? 24 : 20 };
    GR_SHARED(half, tile, [16][PITCH]);
    for (int i = threadIdx.x; i < 16 * PITCH; i += 32)
        tile[i / PITCH][i % PITCH].bits = (uint16_t)i;
    __syncwarp();
    uint32_t r[4];
    gr_ldmatrix_x4(r, &tile[threadIdx.x % 16][threadIdx.x / 16 * 8]);
    out[threadIdx.x] = r[0];
}
ENDS(misaligned_row)

static bool run_misaligned_row(bool right)
{
    uint32_t *out = (uint32_t *)floats(32);
    RUN(misaligned_row, right, 1, 32, out);
    return out[1] == (2 | 3 << 16);
}

const planted of_warps[] = {
    PLANT(shuffle_in_branch, EVERYWHERE, "warp divergence"),
    PLANT(absent_lane, EVERYWHERE, "shuffle: "),
    PLANT(not_in_mask, EVERYWHERE, "warp divergence"),
    PLANT(masks_overlap, EVERYWHERE, "deadlock: "),
    PLANT(lockstep, IN_CHECK, ""), /* a race, or a read before the write */
    PLANT(fragment_not_transposed, IN_RESULT, ""),
    PLANT(misaligned_row, EVERYWHERE, "misaligned: ldmatrix"),
    NO_MORE,
};
