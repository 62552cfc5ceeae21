/*
 * probes.cu - work of known size, to find what the device can do: multiply-adds in registers, a copy and a read of
 * memory.
 */
#include "kernels/cuda/quad.cuh"
#include "kernels/cuda/reduce.cuh"

enum { CHAINS = 16, ROUNDS = 1024, PROBE_BLOCKS = 132 * 8, PROBE_THREADS = 256 };

/* CHAINS independent multiply-adds a round: enough to fill the pipeline of every scheduler. */
static __global__ void multiply_add(float *result, float factor)
{
    float sum[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        sum[i] = (float)(threadIdx.x + i);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < CHAINS; i++)
            sum[i] = sum[i] * factor + 1;
    float total = 0;
    for (int i = 0; i < CHAINS; i++)
        total += sum[i];
    if (total == 0.5f) /* never, but the compiler cannot know */
        result[threadIdx.x] = total;
}

static __global__ void read_all(float *result, const float *src, int64_t count)
{
    float total = 0;
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        const quad v = quad_load(src, i, count);
        total += v.at[0] + v.at[1] + v.at[2] + v.at[3];
    }
    total = block_sum(total);
    if (threadIdx.x == 0)
        result[blockIdx.x] = total;
}

static __global__ void copy_all(float *dst, const float *src, int64_t count)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride())
        quad_store(dst, i, count, quad_load(src, i, count), false);
}

static double arithmetic(const gr_exec *exec, void *result)
{
    GR_LAUNCH(multiply_add, PROBE_BLOCKS, PROBE_THREADS, 0, exec->queue, (float *)result, 0.999f);
    GR_WAIT(exec->queue);
    return 2.0 * CHAINS * ROUNDS * PROBE_BLOCKS * PROBE_THREADS;
}

static void read(const gr_exec *exec, const void *src, size_t bytes, int times, void *result)
{
    for (int turn = 0; turn < times; turn++)
        GR_LAUNCH(read_all, PROBE_BLOCKS, PROBE_THREADS, 0, exec->queue, (float *)result, (const float *)src,
                  (int64_t)(bytes / sizeof(float)));
    GR_WAIT(exec->queue);
}

static void copy(const gr_exec *exec, void *dst, const void *src, size_t bytes, int times)
{
    const int64_t count = (int64_t)(bytes / sizeof(float));
    for (int turn = 0; turn < times; turn++)
        GR_LAUNCH(copy_all, quad_blocks(count), QUAD_THREADS, 0, exec->queue, (float *)dst, (const float *)src, count);
    GR_WAIT(exec->queue);
}

extern "C" {
extern const gr_probes GR_CUDA(probes) = {arithmetic, read, copy, NULL};
}
