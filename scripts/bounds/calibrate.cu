/*
 * calibrate.cu - what a GPU does where chips.py has constants of it, measured on the GPU at hand:
 *
 *   calibrate [MIB [MILLISECONDS]]    memory to read, 1,024 MiB if not said; how long each rate is measured, 50
 *
 * prints a line of JSON: clock in GHz; read and copied, GB/s of memory; l2 and l2_port, bytes a cycle that all
 * multiprocessors together and one alone read of L2; shared, l1, l2_latency and memory, cycles from a load to its use.
 * What was read is checked. A CUDA program like any other: `gradus cuda` runs it without a GPU, and its times mean
 * nothing there.
 */
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { THREADS = 1024, AT_ONCE = 4 /* loads of a thread */, STEPS = 2048 /* of a chain */ };
enum { SHARED_WORDS = 1024, L1_BYTES = 8 << 10, L2_PART = 4 /* of L2 that is read again and again */ };
enum { APART = 512 /* bytes from one link of a chain in memory to the next */ };

static void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static void check_result(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "%s: what was read is wrong\n", what);
    exit(1);
}

template <class T> static T *memory(size_t count)
{
    void *p;
    check(cudaMalloc(&p, count * sizeof(T)), "cudaMalloc");
    return (T *)p;
}

/* --- rates -------------------------------------------------------------------------------------------------------- */

/* Multiply-adds without end; cycles: of block 0. */
static __global__ void __launch_bounds__(THREADS) busy(float *result, int rounds, long long *cycles)
{
    const long long begin = clock64();
    float a = (float)threadIdx.x, b = 1, c = 2, d = 3;
    for (int i = 0; i < rounds; i++)
        a = a * 0.5f + 1, b = b * 0.5f + 1, c = c * 0.5f + 1, d = d * 0.5f + 1;
    if (a + b + c + d == 0.5f) /* never, but the compiler cannot know */
        *result = a;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *cycles = clock64() - begin;
}

/* Adds up x, which has ones alone, rounds times past L1; cycles: of block 0. */
static __global__ void __launch_bounds__(THREADS)
    read_all(float *sum_of_all, const float4 *x, int count, int rounds, long long *cycles)
{
    const long long begin = clock64();
    const int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    float sum = 0;
    for (int round = 0; round < rounds; round++)
        for (int i = first; i < count; i += AT_ONCE * stride) {
            float4 v[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                v[k] = i + k * stride < count ? __ldcg(x + i + k * stride) : make_float4(0, 0, 0, 0);
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                sum += v[k].x + v[k].y + v[k].z + v[k].w;
        }
    atomicAdd(sum_of_all, sum / (float)rounds);
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *cycles = clock64() - begin;
}

static __global__ void __launch_bounds__(THREADS) copy_all(float4 *y, const float4 *x, int count)
{
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        y[i] = x[i];
}

static __global__ void fill(float4 *x, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        x[i] = make_float4(1, 1, 1, 1);
}

/* Milliseconds of what is launched. */
template <class LAUNCH> static float time_of(const LAUNCH &launch)
{
    cudaEvent_t begin, end;
    float time;
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
    cudaEventRecord(begin);
    launch();
    check(cudaGetLastError(), "a launch");
    cudaEventRecord(end);
    check(cudaEventSynchronize(end), "a kernel");
    cudaEventElapsedTime(&time, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return time;
}

/* Of a kernel that takes so many rounds: enough of them for the time, found by doubling. */
template <class LAUNCH> static int rounds_for(float milliseconds, const LAUNCH &launch)
{
    int rounds = 1;
    while (rounds < 1 << 29 && time_of([&] { launch(rounds); }) < milliseconds)
        rounds *= 2;
    return rounds;
}

/* The shortest of seven. */
template <class LAUNCH> static float best_time(const LAUNCH &launch)
{
    float best = time_of(launch);
    for (int i = 0; i < 6; i++) {
        const float time = time_of(launch);
        best = time < best ? time : best;
    }
    return best;
}

template <class T> static T brought(const T *from)
{
    T value;
    check(cudaMemcpy(&value, from, sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return value;
}

/* --- latencies ---------------------------------------------------------------------------------------------------- */

/* Each link has the address of the next one, so that a load waits for the one before. */
struct link {
    const link *next;
};

/* Cycles of STEPS loads from first on; PAST_L1: out of L2. Once before, unless cold. */
template <bool PAST_L1> static __global__ void chase(const link *first, bool cold, const link **last, long long *cycles)
{
    const link *at = first;
    long long begin = 0;
    for (int pass = cold ? 1 : 0; pass < 2; pass++) {
        at = first;
        begin = clock64();
        for (int i = 0; i < STEPS; i++)
            at = PAST_L1 ? (const link *)__ldcg((const unsigned long long *)&at->next) : at->next;
        *last = at; /* it is waited for before the clock is read */
        __threadfence_block();
        *cycles = clock64() - begin;
    }
}

static __global__ void chase_shared(unsigned *last, long long *cycles)
{
    __shared__ unsigned next[SHARED_WORDS];
    for (int i = 0; i < SHARED_WORDS; i++)
        next[i] = (unsigned)((i + 1) % SHARED_WORDS * sizeof *next);
    unsigned at = 0;
    const long long begin = clock64();
    for (int i = 0; i < STEPS; i++)
        at = *(const unsigned *)((const char *)next + at);
    *last = at;
    __threadfence_block();
    *cycles = clock64() - begin;
}

/* A ring of links in p, so far apart. */
static void make_ring(char *p, size_t bytes, size_t apart)
{
    std::vector<char> ring(bytes);
    for (size_t i = 0; i < bytes; i += apart)
        ((link *)&ring[i])->next = (const link *)(p + (i + apart) % bytes);
    check(cudaMemcpy(p, ring.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}

struct notes {
    long long *cycles;
    const link **last;
    float *sum;
};

/* Cycles of a load in a ring of so many bytes. */
template <bool PAST_L1> static double latency(char *p, size_t bytes, size_t apart, bool cold, const notes &n)
{
    chase<PAST_L1><<<1, 1>>>((const link *)p, cold, n.last, n.cycles);
    check(cudaDeviceSynchronize(), "a chain of loads");
    check_result(brought(n.last) == (const link *)(p + STEPS * apart % bytes), "a chain of loads");
    return (double)brought(n.cycles) / STEPS;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

struct gpu {
    cudaDeviceProp is;
    int blocks; /* one for each multiprocessor: all run at once on any GPU, so block 0's cycles are those of all */
    float milliseconds;
};

/* GHz while it is busy. */
static double clock_of(const gpu &g, const notes &n)
{
    const auto work = [&](int rounds) { busy<<<g.blocks, THREADS>>>(n.sum, rounds, n.cycles); };
    const int rounds = rounds_for(g.milliseconds, work);
    const float time = time_of([&] { work(rounds); });
    return (double)brought(n.cycles) / time / 1e6;
}

/* Bytes a cycle of count quads that stay in L2, by so many blocks. */
static double l2_rate(const gpu &g, const float4 *x, int count, int blocks, const notes &n)
{
    const auto work = [&](int rounds) {
        cudaMemset(n.sum, 0, sizeof *n.sum);
        read_all<<<blocks, THREADS>>>(n.sum, x, count, rounds, n.cycles);
    };
    const int rounds = rounds_for(g.milliseconds, work);
    work(rounds);
    check(cudaDeviceSynchronize(), "reading of L2");
    check_result(brought(n.sum) == 4.0f * (float)count, "reading of L2");
    return (double)count * sizeof *x * rounds / (double)brought(n.cycles);
}

/* GB/s read. */
static double read_rate(const gpu &g, const float4 *x, int count, const notes &n)
{
    const float time = best_time([&] {
        cudaMemset(n.sum, 0, sizeof *n.sum);
        read_all<<<g.blocks, THREADS>>>(n.sum, x, count, 1, n.cycles);
    });
    return (double)count * sizeof *x / time / 1e6;
}

/* GB/s read and written. */
static double copy_rate(const gpu &g, float4 *y, const float4 *x, int count)
{
    const float time = best_time([&] { copy_all<<<g.blocks, THREADS>>>(y, x, count); });
    check_result(brought(y + count - 1).w == 1, "a copy");
    return 2.0 * count * sizeof *x / time / 1e6;
}

int main(int argc, char **argv)
{
    const size_t bytes = (size_t)(argc > 1 ? atoi(argv[1]) : 1024) << 20;
    gpu g;
    check(cudaGetDeviceProperties(&g.is, 0), "cudaGetDeviceProperties");
    g.blocks = g.is.multiProcessorCount;
    g.milliseconds = argc > 2 ? (float)atof(argv[2]) : 50;
    const notes n = {memory<long long>(1), memory<const link *>(1), memory<float>(1)};
    const int count = (int)(bytes / sizeof(float4));
    float4 *x = memory<float4>(count), *y = memory<float4>(count);
    char *ring = memory<char>(STEPS * APART);

    fill<<<g.blocks, THREADS>>>(x, count);
    const double clock = clock_of(g, n), read = read_rate(g, x, count, n), copied = copy_rate(g, y, x, count);
    const size_t part = (size_t)g.is.l2CacheSize / L2_PART;
    const int near = (int)((part < bytes ? part : bytes) / sizeof(float4));
    const double l2 = l2_rate(g, x, near, g.blocks, n), l2_port = l2_rate(g, x, near / 16, 1, n);

    chase_shared<<<1, 1>>>((unsigned *)n.last, n.cycles);
    check(cudaDeviceSynchronize(), "a chain in shared memory");
    check_result(brought((unsigned *)n.last) == STEPS % SHARED_WORDS * sizeof(unsigned), "a chain in shared memory");
    const double shared = (double)brought(n.cycles) / STEPS;
    make_ring(ring, L1_BYTES, sizeof(link));
    const double l1 = latency<false>(ring, L1_BYTES, sizeof(link), false, n);
    make_ring(ring, STEPS * APART, APART);
    const double l2_latency = latency<true>(ring, STEPS * APART, APART, false, n);
    fill<<<g.blocks, THREADS>>>(x, count); /* what L2 has is put out */
    const double far = latency<true>(ring, STEPS * APART, APART, true, n);
    for (void *p : {(void *)n.cycles, (void *)n.last, (void *)n.sum, (void *)x, (void *)y, (void *)ring})
        cudaFree(p);

    printf(
        "{\"gpu\": \"%s\", \"multiprocessors\": %d, \"clock\": %.6g, \"read\": %.6g, \"copied\": %.6g, \"l2\": %.6g, "
        "\"l2_port\": %.6g, \"shared\": %.6g, \"l1\": %.6g, \"l2_latency\": %.6g, \"memory\": %.6g}\n",
        g.is.name, g.is.multiProcessorCount, clock, read, copied, l2, l2_port, shared, l1, l2_latency, far);
    return 0;
}
