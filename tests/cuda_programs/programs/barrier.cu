// cuda::barrier, and copies that it or a pipeline waits for: prints "all right", or what is wrong.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <stdio.h>

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

static int wrong;
#define EXPECT(what, is, should)                                                                                       \
    do {                                                                                                               \
        if (!((is) == (should)))                                                                                       \
            wrong++, printf("%s (line %d): %d, not %d\n", what, __LINE__, (int)(is), (int)(should));                   \
    } while (0)
enum { N = 64 };

/* Phase after phase: arrive, do something else, wait; a thread that arrives for others. */
__global__ void phases(int *out)
{
    __shared__ barrier all;
    __shared__ int part[N];
    const int me = threadIdx.x;
    if (me == 0)
        init(&all, N);
    __syncthreads();
    int sum = 0;
    for (int round = 0; round < 3; round++) {
        part[me] = me + 100 * round;
        barrier::arrival_token token = all.arrive();
        const int beside = me * 2;
        all.wait(std::move(token));
        sum += part[N - 1 - me] + beside;
        all.arrive_and_wait();
    }
    __syncthreads(); // a token is good for one phase behind
    if (me < 2)
        all.wait(all.arrive(N / 2));
    out[me] = sum;
}

/* A whole grid's barrier between two uses of a block's. */
__global__ void grid(int *out)
{
    __shared__ barrier all;
    __shared__ int last;
    if (threadIdx.x == 0)
        init(&all, blockDim.x);
    __syncthreads();
    all.arrive_and_wait();
    cg::this_grid().sync();
    if (threadIdx.x == blockDim.x - 1)
        last = 7 + blockIdx.x;
    all.arrive_and_wait();
    out[blockIdx.x * blockDim.x + threadIdx.x] = last;
}

__global__ void copies(int *out, const int *x)
{
    __shared__ barrier all;
    __shared__ __align__(16) int by_block[N], by_thread[N], two[2][N], c[N], own[N];
    cg::thread_block block = cg::this_thread_block();
    const int me = threadIdx.x;
    if (me == 0)
        init(&all, N);
    block.sync();
    cuda::memcpy_async(block, by_block, x, sizeof by_block, all);
    cuda::memcpy_async(by_thread + me, x + me, cuda::aligned_size_t<4>(4), all);
    all.arrive_and_wait();
    int sum = by_block[N - 1 - me] + by_thread[N - 1 - me];

    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    for (int stage = 0; stage < 2; stage++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&two[stage][me], &x[N * stage + me], sizeof(int), pipe);
        pipe.producer_commit();
    }
    for (int stage = 0; stage < 2; stage++) {
        pipe.consumer_wait();
        sum += two[stage][me];
        pipe.consumer_release();
    }
    __pipeline_memcpy_async(&c[me], &x[me], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (me < N / 4) { // each of its own
        cuda::memcpy_async(&own[4 * me], &x[4 * me], cuda::aligned_size_t<16>(16), pipe);
        pipe.producer_commit();
        cuda::pipeline_consumer_wait_prior<0>(pipe);
        sum += own[4 * me + 3] - x[4 * me + 3];
    }
    out[me] = sum + c[me];
}

int main()
{
    int *d, h[2 * N];
    cudaMalloc(&d, 4 * N * sizeof *d);
    phases<<<1, N>>>(d);
    cudaMemcpy(h, d, N * sizeof *h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++)
        EXPECT("phases", h[i], 3 * (N - 1 - i) + 300 + 6 * i);
    void *arguments[] = {&d};
    cudaLaunchCooperativeKernel((void *)grid, 2, N, arguments);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 2 * N; i++)
        EXPECT("a grid", h[i], 7 + i / N);
    for (int i = 0; i < 2 * N; i++)
        h[i] = i * i;
    cudaMemcpy(d + 2 * N, h, sizeof h, cudaMemcpyHostToDevice);
    copies<<<1, N>>>(d, d + 2 * N);
    int out[N];
    cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++)
        EXPECT("copies", out[i], 2 * h[N - 1 - i] + 2 * h[i] + h[N + i]);
    cudaFree(d);
    if (!wrong && cudaGetLastError() == cudaSuccess)
        puts("all right");
    return wrong > 0;
}
