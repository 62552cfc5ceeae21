// What programs for learners are written with, in one: prints "all right", or what is wrong.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuComplex.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <stdio.h>

#include "shared part.cuh"

namespace cg = cooperative_groups;

#define LAUNCH(kernel, ...) kernel<<<1, 64>>>(__VA_ARGS__) // a launch within a macro
static int wrong;
#define EXPECT(what, is, should)                                                                \
    do {                                                                                        \
        if (!((is) == (should)))                                                                \
            wrong++, printf("%s (line %d): %g, not %g\n", what, __LINE__, (double)(is), (double)(should)); \
    } while (0)

extern __shared__ float at_file_scope[];
__constant__ float factor[2];
__device__ int tally;
__device__ unsigned long long tally64;
static const char *const text = R"(a <<< b >>> c __shared__ "quoted")"; // no launch
struct pair { int a; float b; };

template <typename T, int N> __global__ void block_sum(T *out, const T *x)
{
    __shared__ T part[N], *unused, twice[2][N];
    __shared__ struct { int lanes; float2 v; } odd;
    part[threadIdx.x] = x[blockIdx.x * N + threadIdx.x];
    if (threadIdx.x == 0) {
        odd.lanes = warpSize;
        odd.v = make_float2(1, 2);
        unused = part;
        twice[1][0] = 2;
    }
    __syncthreads();
    for (int d = N >> 1; d > 0; d >>= 1) {
        if (threadIdx.x < d)
            part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = unused[0] * twice[1][0] / 2 + (odd.lanes - 32) + (odd.v.y - 2);
}

__global__ void dynamic(float *out, pair p, float scale)
{
    extern volatile __shared__ float mine[];
    mine[threadIdx.x] = p.a + p.b;
    __syncthreads();
    out[threadIdx.x] = at_file_scope[blockDim.x - 1 - threadIdx.x] * scale;
}

__global__ void atomics(int *i, unsigned *u, float *f, double *d, unsigned long long *l)
{
    atomicAdd(i, 1), atomicMax(i + 1, (int)threadIdx.x - 5), atomicMin(i + 2, -(int)threadIdx.x), atomicSub(i + 3, 2);
    atomicInc(u, 9), atomicOr(u + 1, 1u << threadIdx.x % 32), atomicAnd(u + 2, ~(1u << threadIdx.x % 32));
    atomicExch(u + 3, 7u);
    atomicAdd(f, 0.5f), atomicAdd(d, 0.25), atomicAdd(l, 1ull), atomicMax(l + 1, (unsigned long long)threadIdx.x);
    atomicAdd(&tally, 1), atomicAdd(&tally64, 2ull);
    int old = i[4], seen;
    do { // a compare-and-swap loop
        seen = old;
        old = atomicCAS(i + 4, seen, seen + 3);
    } while (old != seen);
}

__global__ void warps(float *out)
{
    const int lane = threadIdx.x % 32;
    float v = lane;
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    v = __shfl_sync(0xffffffff, v, 0);
    const unsigned odd = __ballot_sync(0xffffffff, lane & 1);
    unsigned active = 0;
    if (lane < 8)
        active = __activemask();
    const int votes = __syncthreads_count(lane < 3);
    const unsigned like = __match_any_sync(0xffffffff, lane / 8);
    if (threadIdx.x == 0)
        out[0] = v, out[1] = odd == 0xaaaaaaaau, out[2] = active == 0xff, out[3] = votes, out[4] = like == 0xff;
}

__global__ void groups(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int v = tile.thread_rank();
    for (int d = tile.size() / 2; d > 0; d /= 2)
        v += tile.shfl_down(v, d);
    if (tile.thread_rank() == 0)
        out[tile.meta_group_rank()] = v;
    block.sync();
    if (block.thread_rank() % 2) {
        cg::coalesced_group odd = cg::coalesced_threads();
        if (odd.thread_rank() == 0)
            out[4 + block.thread_rank() / 32] = odd.size();
    }
    out[8 + block.thread_rank()] = cg::reduce(tile, 1, cg::plus<int>());
    const int rank = tile.thread_rank(), before = cg::exclusive_scan(tile, rank);
    out[72 + block.thread_rank()] = before + 1000 * cg::inclusive_scan(tile, 20 - rank, cg::less<int>());
}

__global__ void halves(half *out, const float *x)
{
    half a = __float2half(x[threadIdx.x]), b = a + a;
    half2 two = __hadd2(__halves2half2(a, b), __float2half2_rn(1.0f));
    out[threadIdx.x] = __hfma(__low2half(two), __high2half(two), __float2half(0.5f));
}

__global__ void tensor(float *d, const half *a, const half *b)
{
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 1.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(sum, fa, fb, sum);
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}

__global__ void mathematics(float *out, float x)
{
    out[0] = __expf(x) - expf(x), out[1] = rsqrtf(4), out[2] = fmaf(2, 3, 4);
    out[3] = __popc(255) + __clz(1) + __ffs(8);
    out[4] = max(3, 4) + min(2.0f, 1.0f) + max(1u, 2u);
    out[5] = __float2int_rn(2.5f), out[6] = __int_as_float(0x3f800000);
    out[7] = factor[1] + __fdividef(6, 3) + saturate_like(7);
}

__global__ void complex_numbers(cuFloatComplex *z, cuDoubleComplex *w)
{
    const cuFloatComplex a = make_cuFloatComplex(3, 4), b = make_cuComplex(1, -2);
    z[0] = cuCmulf(a, b), z[1] = cuCdivf(a, b), z[2] = cuCsubf(cuConjf(a), b);
    z[3] = make_cuFloatComplex(cuCabsf(a), cuCrealf(a) + cuCimagf(b));
    w[0] = cuCdiv(make_cuDoubleComplex(1e200, 1e200), make_cuDoubleComplex(2e200, 0));
    w[1] = cuCfma(cuComplexFloatToDouble(a), make_cuDoubleComplex(0, 1), make_cuDoubleComplex(1, 1));
}

template <class T> __global__ void by_reference(T *out, int, T &sum);
__global__ void fields(pair &p, const int &by) { p.a += by; }

__global__ void may_be_null(int *out, const int *nothing) { *out = nothing ? 1 : 2; }
template <class T> __global__ void sum_of_any(T *out, const T *nothing, T v) { *out = v + (nothing ? *nothing : 5); }
template <class T> __global__ void put(T *out, T v) { *out = v; }
__global__ void add_one(int *x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] += 1;
}

template <class T> T *device(int count)
{
    T *p;
    cudaMalloc(&p, count * sizeof(T));
    cudaMemset(p, 0, count * sizeof(T));
    return p;
}
template <class T> T *back(T *host, T *p, int count)
{
    cudaMemcpy(host, p, count * sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(p);
    return host;
}

static void references(void)
{
    pair *p;
    int *x;
    cudaMallocManaged(&p, sizeof *p);
    cudaMallocManaged(&x, 2 * sizeof *x);
    *p = {1, 0.5f}, x[0] = 0, x[1] = 10;
    fields<<<1, 1>>>(*p, x[1]);
    by_reference<int><<<1, 32>>>(x + 1, 3, *x);
    by_reference<<<1, 32>>>(x + 1, 3, *x);
    cudaDeviceSynchronize();
    EXPECT("a reference to managed memory", p->a, 11);
    EXPECT("a template's reference", x[0], 64);
    EXPECT("a value beside a reference", x[1], 64);
    cudaFree(p);
    cudaFree(x);
}
template <class T> __global__ void by_reference(T *out, int, T &sum)
{
    const T before = atomicAdd(&sum, 1);
    if (before % 32 == 31)
        *out = before + 1;
}

static void language(void)
{
    float h[256], *x = device<float>(256), *out = device<float>(64);
    for (int i = 0; i < 256; i++)
        h[i] = i;
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    dim3 grid(2), block = 128;
    block_sum<float, 128><<<grid, block>>>(out, x);
    cudaMemcpy(h, out, 2 * sizeof(float), cudaMemcpyDeviceToHost);
    EXPECT("first sum", h[0], 127 * 64);
    EXPECT("second sum", h[1], 127 * 64 + 128 * 128);
    dynamic<<<1, 64,
              64 * sizeof(float)>>>(out, pair{1, 0.5f},
                                    2); // an int for a float, over several lines
    back(h, out, 64);
    EXPECT("dynamic shared memory", h[3], 3);
    may_be_null<<<1, 1>>>((int *)x, NULL);
    back(h, x, 1);
    EXPECT("NULL as an argument", *(int *)h, 2);
    int zeros[3], *z = device<int>(3);
    may_be_null<<<1, 1>>>(z, 0);
    sum_of_any<int><<<1, 1>>>(z + 1, 0, 0);
    put<<<1, 1>>>(z + 2, 0);
    back(zeros, z, 3);
    EXPECT("0 as a pointer", zeros[0], 2);
    EXPECT("0 as a pointer of a template, and as a number", zeros[1], 5);
    EXPECT("0 by which a template knows its type", zeros[2], 0);
    EXPECT("text is left alone", text[2], '<');
}

static void numbers(void)
{
    int hi[5], *i = device<int>(5);
    unsigned hu[4], *u = device<unsigned>(4);
    float hf[8], *f = device<float>(8), constants[2] = {1, 40};
    double hd[1], *d = device<double>(1);
    unsigned long long hl[2], *l = device<unsigned long long>(2);
    LAUNCH(atomics, i, u, f, d, l);
    back(hi, i, 5), back(hu, u, 4), back(hd, d, 1), back(hl, l, 2);
    EXPECT("add", hi[0], 64);
    EXPECT("max", hi[1], 58);
    EXPECT("min", hi[2], -63);
    EXPECT("sub", hi[3], -128);
    EXPECT("compare and swap", hi[4], 192);
    EXPECT("inc", hu[0], 4);
    EXPECT("or", hu[1], 0xffffffffu);
    EXPECT("and", hu[2], 0);
    EXPECT("exchange", hu[3], 7);
    EXPECT("double", hd[0], 16);
    EXPECT("64 bits", hl[0] + hl[1], 64 + 63);
    cudaMemcpyFromSymbol(hi, tally, sizeof tally);
    EXPECT("symbol", hi[0], 64);
    cudaMemcpyToSymbol(factor, constants, sizeof constants);
    mathematics<<<1, 1>>>(f, 1.5f);
    back(hf, f, 8);
    EXPECT("exp", hf[0], 0);
    EXPECT("rsqrt", hf[1], 0.5f);
    EXPECT("fma", hf[2], 10);
    EXPECT("bits", hf[3], 8 + 31 + 4);
    EXPECT("extremes", hf[4], 7);
    EXPECT("rounding", hf[5], 2);
    EXPECT("bits of a float", hf[6], 1);
    EXPECT("constant memory", hf[7], 43);
}

static void complex(void)
{
    static const float should[4][2] = {{11, -2}, {-1, 2}, {2, -2}, {5, 1}};
    cuFloatComplex hz[4], *z = device<cuFloatComplex>(4);
    cuDoubleComplex hw[2], *w = device<cuDoubleComplex>(2);
    complex_numbers<<<1, 1>>>(z, w);
    back(hz, z, 4), back(hw, w, 2);
    for (int i = 0; i < 4; i++) {
        EXPECT("real part", hz[i].x, should[i][0]);
        EXPECT("imaginary part", hz[i].y, should[i][1]);
    }
    EXPECT("a quotient whose squares are too large", hw[0].x + hw[0].y, 1);
    EXPECT("product and sum", hw[1].x * 100 + hw[1].y, -300 + 4);
}

static void cooperation(void)
{
    float h[8], *out = device<float>(8);
    int hi[136], *i = device<int>(136);
    warps<<<1, 64>>>(out);
    groups<<<1, 64>>>(i);
    back(h, out, 8), back(hi, i, 136);
    EXPECT("shuffles", h[0], 31 * 16);
    EXPECT("ballot", h[1], 1);
    EXPECT("activemask", h[2], 1);
    EXPECT("count", h[3], 6);
    EXPECT("match", h[4], 1);
    EXPECT("tile", hi[3], 120);
    EXPECT("coalesced", hi[4], 16);
    EXPECT("reduce", hi[8 + 63], 16);
    EXPECT("scans of a tile's first", hi[72 + 48], 20000);
    EXPECT("scans of a tile's last", hi[72 + 63], 5105);
}

static void small_numbers(void)
{
    float x[256], d[256], *dx = device<float>(256), *dd = device<float>(256);
    half h[256], *dh = device<half>(256), *eye = device<half>(256);
    for (int i = 0; i < 256; i++)
        x[i] = i % 17, h[i] = __float2half(i / 16 == i % 16 ? 2.0f : 0.0f);
    cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemcpy(eye, h, sizeof h, cudaMemcpyHostToDevice);
    halves<<<1, 256>>>(dh, dx);
    cudaMemcpy(h, dh, sizeof h, cudaMemcpyDeviceToHost);
    EXPECT("halves", __half2float(h[3]), 4 * 7 + 0.5f);
    tensor<<<1, 32>>>(dd, dh, eye);
    back(d, dd, 256);
    EXPECT("tensor cores", d[3], 2 * __half2float(h[3]) + 1);
    cudaFree(dx), cudaFree(dh), cudaFree(eye);
}

struct numbers_of_two { int first, second; };
__device__ numbers_of_two *kept; /* by a kernel for the next ones */
__global__ void keep(int x)
{
    kept = new numbers_of_two[2];
    kept[1] = {x, x + 1};
}
__global__ void sum_of_kept(int *out)
{
    int *const sum = (int *)malloc(sizeof(int));
    *sum = kept[1].first + kept[1].second;
    *out = *sum;
    free(sum);
}
__global__ void drop_kept() { delete[] kept; }

static void memory_of_kernels(void)
{
    int sum = 0, *out = device<int>(1);
    keep<<<1, 1>>>(20);
    sum_of_kept<<<1, 1>>>(out);
    drop_kept<<<1, 1>>>();
    back(&sum, out, 1);
    EXPECT("malloc and new in kernels", sum, 41);
}

static void streams(void)
{
    const int n = 1000;
    int *pinned, *managed, *p = device<int>(n);
    float time = -1;
    cudaStream_t a, b;
    cudaEvent_t begin, done;
    cudaMallocHost(&pinned, n * sizeof(int));
    cudaMallocManaged(&managed, n * sizeof(int));
    cudaStreamCreate(&a), cudaStreamCreate(&b), cudaEventCreate(&begin), cudaEventCreate(&done);
    for (int i = 0; i < n; i++)
        pinned[i] = managed[i] = i;
    cudaEventRecord(begin, a);
    cudaMemcpyAsync(p, pinned, n * sizeof(int), cudaMemcpyHostToDevice, a);
    add_one<<<4, 64, 0, a>>>(p, n);
    cudaEventRecord(done, a);
    cudaStreamWaitEvent(b, done, 0);
    add_one<<<4, 64, 0, b>>>(p, n);
    cudaMemcpyAsync(pinned, p, n * sizeof(int), cudaMemcpyDeviceToHost, b);
    cudaStreamSynchronize(b);
    EXPECT("streams and events", pinned[n - 1], n + 1);
    EXPECT("elapsed time", cudaEventElapsedTime(&time, begin, done) == cudaSuccess && time >= 0, 1);
    add_one<<<1, 32>>>(managed, n);
    EXPECT("synchronize", cudaDeviceSynchronize(), cudaSuccess);
    EXPECT("managed memory", managed[7], 8);
    cudaStreamDestroy(a), cudaStreamDestroy(b), cudaEventDestroy(begin), cudaEventDestroy(done);
    cudaFreeHost(pinned), cudaFree(managed), cudaFree(p);
}

int main(int argc, char **argv)
{
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    EXPECT("warp size", p.warpSize, 32);
    language();
    references();
    numbers();
    complex();
    cooperation();
    small_numbers();
    memory_of_kernels();
    streams();
    EXPECT("last error", cudaGetLastError(), cudaSuccess);
    puts(wrong ? "wrong" : "all right");
    for (int i = 1; i < argc; i++)
        puts(argv[i]);
    return wrong != 0;
}
