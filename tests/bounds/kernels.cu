// Kernels whose time on a chip is known on paper: products alone, copies, words that meet in one bank of shared memory.
#define PRODUCTS 4096

// Eight sums that do not wait for each other: the multiply-add pipe is what binds.
__global__ void products(float *out, float a, float b)
{
    float sums[8] = {0, 1, 2, 3, 4, 5, 6, 7};
#pragma unroll 1
    for (int i = 0; i < PRODUCTS / 64; i++)
#pragma unroll
        for (int k = 0; k < 64; k++)
            sums[k % 8] = sums[k % 8] * a + b;
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += sums[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void copy(const float4 *in, float4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

// Lanes a stride of words apart: 1 reads a row in one pass, 32 reads a column of 32 words in one bank.
template <int stride> __global__ void columns(float *out)
{
    __shared__ float words[32 * 32];
    for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x)
        words[i] = i;
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < 64; i++)
#pragma unroll
        for (int k = 0; k < 16; k++)
            sum += ((volatile float *)words)[(threadIdx.x * stride + i + k) % 1024];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
template __global__ void columns<1>(float *);
template __global__ void columns<32>(float *);

// A copy of lines, side by side or each in a page of the memory of its own.
template <int apart> __global__ void lines(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[(size_t)(i / 32) * apart * 32 + i % 32] = in[i];
}
template __global__ void lines<1>(const float *, float *);
template __global__ void lines<32>(const float *, float *);

// Lanes a stride of words apart, about 4 KiB, read one word of each of 32 lines; then the next words of these.
template <int stride> __global__ void scattered(const float *in, float *out)
{
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < 1024; i++)
        sum += in[threadIdx.x * stride + i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
template __global__ void scattered<1024>(const float *, float *);
template __global__ void scattered<1020>(const float *, float *);
template __global__ void scattered<1040>(const float *, float *);

// As many steps as the block finds in a table.
__constant__ int steps[3] = {1, 10, 100};
__global__ void by_number(float *out)
{
    float sum = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < steps[blockIdx.x]; i++)
        sum = sum * sum + 1;
    out[threadIdx.x] = sum;
}

template <int count> __device__ float chain(float sum)
{
#pragma unroll
    for (int i = 0; i < count; i++)
        sum = sum * sum + count;
    return sum;
}

// 8 products in the first block, twice as many in each one that follows: by a table of jumps.
__global__ void by_jump(float *out)
{
    float sum = threadIdx.x;
    switch (blockIdx.x) {
    case 0:
        sum = chain<8>(sum);
        break;
    case 1:
        sum = chain<16>(sum);
        break;
    case 2:
        sum = chain<32>(sum);
        break;
    case 3:
        sum = chain<64>(sum);
        break;
    case 4:
        sum = chain<128>(sum);
        break;
    case 5:
        sum = chain<256>(sum);
        break;
    case 6:
        sum = chain<512>(sum);
        break;
    case 7:
        sum = chain<1024>(sum);
        break;
    }
    out[threadIdx.x] = sum;
}

// A row of floats for each block: read whole, then written whole.
__global__ void read_then_write(const float *in, float *out, int cols)
{
    size_t row = (size_t)blockIdx.x * cols;
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        sum += in[row + i];
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        out[row + i] = sum;
}

// Words of a row of floats for each block, times those of a row that all blocks share.
__global__ void weighted(const float *in, const float *weights, float *out, int cols)
{
    size_t row = (size_t)blockIdx.x * cols;
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        sum += in[row + i] * weights[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// A sum of what the blocks before have left, block by block, back to one that has left the sum of all before it: by
// atomics that add nothing or by volatile loads.
template <bool atomics> __global__ void look_back(unsigned long long *left, unsigned long long *out)
{
    unsigned long long sum = 0;
    for (int i = blockIdx.x - 1; i >= 0; i--) {
        const unsigned long long of = atomics ? atomicAdd(left + i, 0ull) : *(volatile unsigned long long *)(left + i);
        sum += of & 0xffffffff;
        if (of >> 32 == 2)
            break;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
template __global__ void look_back<true>(unsigned long long *, unsigned long long *);
template __global__ void look_back<false>(unsigned long long *, unsigned long long *);

// 16 KiB for each block, there and back by copies of TMA, which a barrier and a group wait for.
__global__ void through_shared_memory(float *data)
{
#if __CUDA_ARCH__ >= 900
    constexpr int bytes = 16384;
    __shared__ alignas(128) float words[bytes / 4];
    __shared__ alignas(8) unsigned long long barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(words), arrivals = (unsigned)__cvta_generic_to_shared(&barrier);
    float *mine = data + blockIdx.x * (size_t)(bytes / 4);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(arrivals));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(arrivals), "r"(bytes) : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at),
            "l"(mine), "r"(bytes), "r"(arrivals)
            : "memory");
    }
    __syncthreads();
    asm volatile(
        "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n@!p bra again;\n}" ::"r"(arrivals)
        : "memory");
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
        words[i] += 1;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(mine), "r"(at), "r"(bytes)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
#endif
}

// Atomics on words of a tensor: one for all threads, one for each of a thread's own place, side by side or far apart.
__global__ void add_to_one(float *out)
{
    atomicAdd(out, (float)threadIdx.x);
}

__global__ void add_side_by_side(float *out)
{
    atomicAdd(out + blockIdx.x * blockDim.x + threadIdx.x, (float)threadIdx.x);
}

__global__ void add_apart(float *out)
{
    atomicAdd(out + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * 8, (float)threadIdx.x);
}

__global__ void count_in_one(int *out)
{
    atomicAdd(out, (int)threadIdx.x);
}

// Counts bytes in 256 words.
__global__ void count_bytes(const unsigned char *in, int *out)
{
    atomicAdd(out + in[blockIdx.x * blockDim.x + threadIdx.x], 1);
}

// Each thread in turn puts its own number where another's stands.
__global__ void swap_in_one(unsigned *out)
{
    unsigned before = threadIdx.x, seen;
    while ((seen = atomicCAS(out, before, before + 1)) != before)
        before = seen;
}
