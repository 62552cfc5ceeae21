// Parts of groups, copies by a group, lengths and small products: prints "all right", or what is wrong.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <stdio.h>

namespace cg = cooperative_groups;

static int wrong;
#define EXPECT(what, is, should)                                                                                       \
    do {                                                                                                               \
        if (!((is) == (should)))                                                                                       \
            wrong++, printf("%s (line %d): %.9g, not %.9g\n", what, __LINE__, (double)(is), (double)(should));         \
    } while (0)

template <class Group> __device__ int place(const Group &g)
{
    return g.size() + 100 * (g.thread_rank() + 100 * (g.meta_group_rank() + 100 * g.meta_group_size()));
}

enum { BY_LABEL, BY_BOOL, BY_BIT, BY_ONE, BY_TILE, BY_ODD, BY_POINTER, SUMS, KINDS };
__global__ void parts(int *out)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int lane = warp.thread_rank();
    auto by_label = cg::labeled_partition(warp, 7 - lane % 3);
    out[32 * BY_LABEL + lane] = place(by_label);
    out[32 * SUMS + lane] = cg::reduce(by_label, lane, cg::plus<int>());
    out[32 * BY_BOOL + lane] = place(cg::labeled_partition(warp, lane < 20));
    out[32 * BY_BIT + lane] = place(cg::binary_partition(warp, lane & 4));
    out[32 * BY_ONE + lane] = place(cg::binary_partition(warp, true));
    out[32 * BY_TILE + lane] = place(cg::labeled_partition(tile, lane / 12));
    out[32 * BY_POINTER + lane] = place(cg::labeled_partition(warp, out + lane / 16));
    if (lane % 2) {
        cg::coalesced_group odd = cg::coalesced_threads();
        out[32 * BY_ODD + lane] = place(cg::labeled_partition(odd, lane / 8ll));
    }
}

static int placed(int size, int rank, int group, int groups)
{
    return size + 100 * (rank + 100 * (group + 100 * groups));
}

static void partitions(int *device)
{
    static const int sums[] = {165, 176, 155};
    int h[32 * KINDS];
    parts<<<1, 32>>>(device);
    cudaMemcpy(h, device, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) {
        EXPECT("labels", h[32 * BY_LABEL + i], placed(i % 3 == 2 ? 10 : 11, i / 3, i % 3, 3));
        EXPECT("sums of parts", h[32 * SUMS + i], sums[i % 3]);
        EXPECT("bool", h[32 * BY_BOOL + i], i < 20 ? placed(20, i, 1, 2) : placed(12, i - 20, 0, 2));
        EXPECT("a bit", h[32 * BY_BIT + i], placed(16, i / 8 * 4 + i % 4, i / 4 % 2, 2));
        EXPECT("all", h[32 * BY_ONE + i], placed(32, i, 0, 1));
        const int in = i % 16;
        EXPECT("a tile's", h[32 * BY_TILE + i],
               i < 16 ? (in < 12 ? placed(12, in, 0, 2) : placed(4, in - 12, 1, 2))
                      : (in < 8 ? placed(8, in, 0, 2) : placed(8, in - 8, 1, 2)));
        EXPECT("pointers", h[32 * BY_POINTER + i], placed(16, i % 16, i / 16, 2));
        if (i % 2)
            EXPECT("of threads together", h[32 * BY_ODD + i], placed(4, i % 8 / 2, i / 8, 4));
    }
}

__global__ void copies(int *out, const int *x)
{
    __shared__ int part[2][64], by_tile[64];
    __shared__ char bytes[32], others[32];
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    const int i = threadIdx.x;
    cg::memcpy_async(block, part[0], x, sizeof part[0]);
    cg::memcpy_async(block, part[1], 64, x + 64, 60);
    cg::wait_prior<1>(block);
    out[i] = part[0][63 - i];
    cg::wait(block);
    out[64 + i] = i < 60 ? part[1][59 - i] : 0;
    const int first = 16 * tile.meta_group_rank();
    cg::memcpy_async(tile, by_tile + first, x + first, 16 * sizeof(int));
    cg::wait(tile);
    out[128 + i] = by_tile[i ^ 15];
    cg::memcpy_async(block, bytes + 1, (const char *)x + 1, 22);
    cg::memcpy_async(block, others, (const char *)x + 1, 22);
    cg::wait(block);
    if (i < 22)
        out[192 + i] = bytes[22 - i] + 256 * others[21 - i];
    cg::memcpy_async(block, out + 256, part[0], sizeof part[0]);
    cg::wait(block);
}

static void copying(int *device)
{
    int x[128], h[320];
    for (int i = 0; i < 128; i++)
        x[i] = i * 0x01000001 + 3;
    cudaMemcpy(device, x, sizeof x, cudaMemcpyHostToDevice);
    copies<<<1, 64>>>(device + 128, device);
    cudaMemcpy(h, device + 128, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++) {
        EXPECT("the first of two copies", h[i], x[63 - i]);
        EXPECT("the second", h[64 + i], i < 60 ? x[64 + 59 - i] : 0);
        EXPECT("a tile's copy", h[128 + i], x[i ^ 15]);
        EXPECT("from shared memory", h[256 + i], x[i]);
        if (i < 22)
            EXPECT("bytes", h[192 + i], ((char *)x)[22 - i] * 257);
    }
}

__global__ void small_products(int *out)
{
    const int a = 0x01ff7f80, b = 0x02fe8001, two = 0xfffe0003, four = 0x04030201;
    out[0] = __dp4a(a, b, 5), out[1] = __dp4a((unsigned)a, (unsigned)b, 5u);
    out[2] = __dp4a(make_char4(-128, 127, -1, 1), make_char4(1, -128, -2, 2), 5);
    out[3] = __dp4a(make_uchar4(128, 127, 255, 1), make_uchar4(1, 128, 254, 2), 5u);
    out[4] = __dp2a_lo(two, four, 10), out[5] = __dp2a_hi(two, four, 10);
    out[6] = __dp2a_lo((unsigned)two, (unsigned)four, 10u), out[7] = __dp2a_hi((unsigned)two, (unsigned)four, 10u);
    out[8] = __dp2a_lo(make_short2(3, -2), make_char4(1, 2, 3, -4), 10);
    out[9] = __dp2a_hi(make_short2(3, -2), make_char4(1, 2, 3, -4), 10);
    out[10] = __dp2a_hi(make_ushort2(3, 65534), make_uchar4(1, 2, 3, 4), 10u);
    out[11] = __dp4a(0x7f7f7f7f, 0x7f7f7f7f, 0x7fffffff) == (int)(0x7fffffffu + 4 * 127 * 127); // wraps
}

__global__ void lengths(double *out, float inf)
{
    const float f[] = {2e30f, 3e30f, 6e30f};
    const double d[] = {1e200, 1e200, 1e200, 1e200};
    out[0] = normf(3, f) / 7e30f, out[1] = rnormf(3, f) * 7e30f, out[2] = norm3df(2e30f, 3e30f, 6e30f) / 7e30f;
    out[3] = norm(4, d) / 2e200, out[4] = rnorm(4, d) * 2e200, out[5] = norm3d(2e200, 3e200, 6e200) / 7e200;
    out[6] = norm4d(1e200, 1e200, 1e200, 1e200) / 2e200, out[7] = rnorm4d(1e200, 1e200, 1e200, 1e200) * 2e200;
    out[8] = norm4df(1, 1, 1, 1) / 2, out[9] = rnorm4df(1, 1, 1, 1) * 2, out[10] = rnorm3d(2, 3, 6) * 7;
    out[11] = rnorm3df(2, 3, 6) * 7, out[12] = rhypotf(3e30f, 4e30f) * 5e30f, out[13] = rhypot(3e200, 4e200) * 5e200;
    out[14] = 1 + rhypotf(inf, nanf("")), out[15] = 1 + rnorm3d(nan(""), 0, -inf);
}

static void numbers(int *device)
{
    static const int should[] = {-16375, 81161, -16375, 81161, 9, 11, 131081, 262155, 9, 27, 262155, 1};
    int h[12];
    double hd[16];
    small_products<<<1, 1>>>(device);
    cudaMemcpy(h, device, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 12; i++)
        EXPECT("sums of small products", h[i], should[i]);
    lengths<<<1, 1>>>((double *)device, INFINITY);
    cudaMemcpy(hd, device, sizeof hd, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 16; i++)
        EXPECT("lengths", fabs(hd[i] - 1) < 1e-6, true);
}

__global__ void turn_round(int4 *x, double3 *y)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int me = threadIdx.x;
    x[me] = tile.shfl_xor(make_int4(me, 10 * me, 100 * me, 1000 * me), 7);
    y[me] = tile.shfl_down(make_double3(me, 10 * me, 100 * me), 2);
}

static void wide(int *device)
{
    int4 x[16];
    double3 y[16];
    turn_round<<<1, 16>>>((int4 *)device, (double3 *)(device + 64));
    cudaMemcpy(x, device, sizeof x, cudaMemcpyDeviceToHost);
    cudaMemcpy(y, device + 64, sizeof y, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 16; i++) {
        const int to = i % 8 < 6 ? i + 2 : i;
        EXPECT("four ints from the other end of a tile", x[i].w, 1000 * (i ^ 7));
        EXPECT("three doubles from two further on", y[i].x + y[i].z, 101 * to);
    }
}

int main()
{
    int *device;
    cudaMalloc(&device, 4096);
    partitions(device);
    wide(device);
    copying(device);
    numbers(device);
    EXPECT("last error", cudaGetLastError(), cudaSuccess);
    cudaFree(device);
    puts(wrong ? "wrong" : "all right");
    return wrong != 0;
}
