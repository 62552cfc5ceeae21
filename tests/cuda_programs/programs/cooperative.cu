// Barriers of a whole grid: a sum over all blocks, heat that spreads in a rod, what stays as it was over the barrier.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

static int wrong;
#define EXPECT(x) ((x) ? (void)0 : (void)(printf("line %d: %s\n", __LINE__, #x), wrong++))
#define OK(call) EXPECT((call) == cudaSuccess)

// Each block adds up its share in shared memory, the first one adds up what the others left, and all divide by it.
__global__ void normalise(float *x, float *part, int n)
{
    extern __shared__ float sum[];
    cg::grid_group grid = cg::this_grid();
    float mine = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        mine += x[i];
    sum[threadIdx.x] = mine;
    for (int half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sum[threadIdx.x] += sum[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum[0];
    grid.sync();
    if (grid.thread_rank() == 0)
        for (int b = 1; b < gridDim.x; b++)
            part[0] += part[b];
    cg::sync(grid);
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        x[i] /= part[0];
}

static void test_normalise(cudaStream_t stream)
{
    enum { N = 10000 };
    float *x, *part;
    int n = N, threads = 128, bytes = 4 * threads, each = 0, can = 0, sms = 0;
    cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, normalise, threads, bytes);
    EXPECT(can == 1 && each == 16 && sms == 108);
    cudaMallocManaged(&x, 4 * n), cudaMallocManaged(&part, 4 * sms);
    for (int i = 0; i < n; i++)
        x[i] = i % 4;
    void *arguments[] = {&x, &part, &n};
    OK(cudaLaunchCooperativeKernel((void *)normalise, sms, threads, arguments, bytes, stream));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(x[i] == i % 4 / 15000.f);
    cudaFree(x), cudaFree(part);
}

// A rod whose ends are held at 0 and 1: every step needs the neighbours' last, in whichever block they are.
__global__ void heat(float *a, float *b, int n, int steps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 0; s < steps; s++) {
        if (i > 0 && i < n - 1)
            b[i] = 0.5f * (a[i - 1] + a[i + 1]);
        float *const t = a;
        a = b, b = t;
        cg::this_grid().sync();
    }
}

static void test_heat()
{
    int n = 300, steps = 41;
    std::vector<float> a(n), b;
    a[n / 2] = a[n - 1] = 1;
    b = a;
    float *x, *y;
    cudaMalloc(&x, 4 * n), cudaMalloc(&y, 4 * n);
    cudaMemcpy(x, a.data(), 4 * n, cudaMemcpyHostToDevice), cudaMemcpy(y, x, 4 * n, cudaMemcpyDeviceToDevice);
    void *arguments[] = {&x, &y, &n, &steps};
    OK(cudaLaunchCooperativeKernel((void *)heat, dim3(10), dim3(32), arguments, 0, 0));
    for (int s = 0; s < steps; s++, a.swap(b))
        for (int i = 1; i < n - 1; i++)
            b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    cudaMemcpy(b.data(), y, 4 * n, cudaMemcpyDeviceToHost);
    EXPECT(a == b);
    cudaFree(x), cudaFree(y);
}

__device__ int *place()
{
    __shared__ int words[4];
    return words;
}

// On the stack, in shared memory, in copies under way; threads and blocks that wait for others in between.
template <int SIZE> __global__ void keep(int *y, const int *from)
{
    __shared__ int tile[64], fetched[64];
    __shared__ char odd[3];
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    int local[SIZE], sum = 0;
    for (int i = 0; i < SIZE; i++)
        local[i] = grid.thread_rank() * SIZE + i;
    tile[threadIdx.x] = 100 * blockIdx.x + threadIdx.x;
    if (threadIdx.x < 4)
        place()[threadIdx.x] = blockIdx.x;
    if (threadIdx.x < 3)
        odd[threadIdx.x] = 'a' + blockIdx.x;
    cg::memcpy_async(block, fetched, from + 64 * blockIdx.x, sizeof fetched);
    for (int turn = 0; turn < 3; turn++) {
        grid.sync();
        sum += __shfl_xor_sync(~0u, tile[63 - threadIdx.x], 1);
        if (turn == 1)
            cg::wait(block);
        __syncthreads();
    }
    for (int i = 0; i < SIZE; i++)
        sum += local[i] - (int)(grid.thread_rank() * SIZE) - i;
    sum += place()[threadIdx.x % 4] - (int)blockIdx.x + fetched[63 - threadIdx.x] + odd[threadIdx.x % 3] - 'a';
    y[grid.thread_rank()] = sum;
    if (grid.thread_rank() == 0)
        y[384] = grid.is_valid() && grid.num_blocks() == 6 && grid.size() == 384 && grid.block_rank() == 0 &&
                            grid.group_dim().x == 3 && grid.group_dim().y == 2;
}

static void test_keep()
{
    int *y, *from;
    cudaMallocManaged(&y, 4 * 385), cudaMallocManaged(&from, 4 * 384);
    for (int i = 0; i < 384; i++)
        from[i] = 1000 * i;
    const int *there = from;
    void *arguments[] = {&y, &there};
    OK(cudaLaunchCooperativeKernel(keep<300>, dim3(3, 2), 64, arguments));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 384; i++) {
        const int x = i / 64 % 3, t = i % 64;
        EXPECT(y[i] == 3 * (100 * x + (63 - (t ^ 1))) + 1000 * (64 * x + 63 - t) + x);
    }
    EXPECT(y[384] == 1);
    cudaFree(y), cudaFree(from);
}

__global__ void valid(int *y) { y[0] = cg::this_grid().is_valid(); }

static void test_who_may_wait()
{
    int *y, most = 108 * 2, threads = 1024;
    cudaMallocManaged(&y, 4);
    y[0] = 1;
    valid<<<1, 1>>>(y);
    cudaDeviceSynchronize();
    EXPECT(y[0] == 0);
    float *a = (float *)y, *b = a;
    int n = 0, steps = 2;
    void *arguments[] = {&a, &b, &n, &steps};
    OK(cudaLaunchCooperativeKernel((const void *)heat, most, threads, arguments, 0, 0));
    OK(cudaDeviceSynchronize());
    cudaFree(y);
}

int main()
{
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    test_normalise(0);
    test_normalise(stream);
    test_heat();
    test_keep();
    test_who_may_wait();
    cudaStreamDestroy(stream);
    if (!wrong)
        printf("all right\n");
    return wrong;
}
