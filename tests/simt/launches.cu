/* launches.cu - launches that a real GPU refuses. */
#include "kernels/cuda/gpu.h"
#include "tests/simt/planted.h"

BEGINS(grid_too_tall)
template <bool right> static __global__ void grid_too_tall(float *out)
{
    if (blockIdx.x == 1 && blockIdx.y == 2)
        *out = 1;
}

static bool run_grid_too_tall(bool right)
{
    float *out = floats(1);
    RUN(grid_too_tall, right, right ? dim3(70000, 3) : dim3(3, 70000), 1, out);
    return *out == 1;
}
ENDS(grid_too_tall)

BEGINS(block_too_large)
template <bool right> static __global__ void block_too_large(float *out)
{
    out[threadIdx.y * blockDim.x + threadIdx.x] = 1;
}

static bool run_block_too_large(bool right)
{
    float *out = floats(2048);
    RUN(block_too_large, right, 1, right ? dim3(32, 32) : dim3(64, 32), out);
    return out[1023] == 1;
}
ENDS(block_too_large)

BEGINS(shared_not_allowed)
template <bool right> static __global__ void shared_not_allowed(float *out)
{
    GR_DYN_SHARED(float, s);
    for (int i = threadIdx.x; i < 64 * 256; i += 32)
        s[i] = i;
    out[threadIdx.x] = s[64 * 256 - 32 + threadIdx.x];
}

static bool run_shared_not_allowed(bool right)
{
    float *out = floats(32);
    if (right)
        GR_ALLOW_SHARED(shared_not_allowed<true>, 64 * 1024);
    if (right)
        GR_LAUNCH((shared_not_allowed<true>), 1, 32, 64 * 1024, NULL, out);
    else
        GR_LAUNCH((shared_not_allowed<false>), 1, 32, 64 * 1024, NULL, out);
    return out[31] == 64 * 256 - 1;
}
ENDS(shared_not_allowed)

BEGINS(variables_too_large)
template <bool right> static __global__ void variables_too_large(float *out)
{
    GR_SHARED(float, a, [8 * 1024]);
    GR_SHARED(float, b, [right ? 4 * 1024 : 5 * 1024]);
    a[threadIdx.x] = b[threadIdx.x] = 1;
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

static bool run_variables_too_large(bool right)
{
    float *out = floats(32);
    RUN(variables_too_large, right, 1, 32, out);
    return out[31] == 2;
}
ENDS(variables_too_large)

const planted of_launches[] = {
    PLANT(grid_too_tall, EVERYWHERE, "launch: grid (3,70000,1)"),
    PLANT(block_too_large, EVERYWHERE, "launch: "),
    PLANT(shared_not_allowed, EVERYWHERE, "shared memory: "),
    PLANT(variables_too_large, EVERYWHERE, "shared memory: "),
    NO_MORE,
};
