/* bounds.cu - accesses beside a buffer, a variable or a multiple of their size. */
#include "tests/simt/included.cuh"

static bool run_in_a_header(bool right)
{
    float *y = floats(32), *x = floats(32);
    RUN(in_a_header, right, 1, 32, y, x);
    return y[31] == 31;
}

BEGINS(one_too_many)
/* y[n] = x[n] */
template <bool right> static __global__ void one_too_many(float *y, const float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (right ? i < n : i <= n)
        y[i] = x[i];
}
ENDS(one_too_many)

static bool run_one_too_many(bool right)
{
    float *y = floats(100), *x = floats(100);
    RUN(one_too_many, right, 4, 32, y, x, 100);
    return y[99] == 99;
}

BEGINS(shared_index)
/* out = sum of s[8][32] by columns */
template <bool right> static __global__ void shared_index(float *out, const float *x)
{
    GR_SHARED(float, s, [8][32]);
    for (int r = 0; r < 8; r++)
        s[r][threadIdx.x] = x[r * 32 + threadIdx.x];
    float sum = 0;
    for (int r = 0; right ? r < 8 : r <= 8; r++)
        sum += s[r][threadIdx.x];
    out[threadIdx.x] = sum;
}
ENDS(shared_index)

static bool run_shared_index(bool right)
{
    float *out = floats(32), *x = floats(256);
    RUN(shared_index, right, 1, 32, out, x);
    return out[0] == 32 * 28;
}

BEGINS(dynamic_too_small)
/* a tile that the host counted without its padding */
template <bool right> static __global__ void dynamic_too_small(float *out, int pitch)
{
    GR_DYN_SHARED(float, tile);
    for (int r = 0; r < 4; r++)
        tile[r * pitch + threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[3 * pitch + threadIdx.x];
}
ENDS(dynamic_too_small)

static bool run_dynamic_too_small(bool right)
{
    float *out = floats(32);
    const int pitch = 33;
    if (right)
        GR_LAUNCH((dynamic_too_small<true>), 1, 32, 4 * pitch * sizeof(float), NULL, out, pitch);
    else
        GR_LAUNCH((dynamic_too_small<false>), 1, 32, 4 * 32 * sizeof(float), NULL, out, pitch);
    return out[31] == 31;
}

BEGINS(misaligned_quad)
/* y[n] = x[n] in quads; x begins where no quad may */
template <bool right> static __global__ void misaligned_quad(float *y, const float *x, int n)
{
    const int i = 4 * threadIdx.x;
    if (i + 4 <= n)
        *(float4 *)(y + i) = *(const float4 *)(x + i);
}
ENDS(misaligned_quad)

static bool run_misaligned_quad(bool right)
{
    float *y = floats(32), *x = floats(36);
    RUN(misaligned_quad, right, 1, 8, y, x + (right ? 4 : 1), 32);
    return y[0] == 4;
}

const planted of_bounds[] = {
    PLANT_IN("included.cuh", in_a_header, IN_CHECK | BY_ASAN, "out of bounds: "),
    PLANT(one_too_many, IN_CHECK | BY_ASAN, "out of bounds: "),
    PLANT(shared_index, IN_CHECK | BY_ASAN, "out of bounds: "),
    PLANT(dynamic_too_small, IN_CHECK | BY_ASAN, "out of bounds: write of 4 bytes on shared dynamic + "),
    PLANT(misaligned_quad, IN_CHECK | BY_ASAN, "misaligned: "),
    NO_MORE,
};
