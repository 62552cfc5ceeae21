/* products.cu - wgmma: operands and sums that are touched while a product is under way, and what its order wants. */
#include "kernels/cuda/hopper.h"
#include "tests/simt/planted.h"

/*
 * c[64,128] = a[64,16] b[16,128]; a is K-major and straight, b is MN-major and swizzled. a[i,k] = i % 7 where k = 3,
 * else 0; b[k,j] = j % 5 where k = 3, else 7: the product is i % 7 * (j % 5).
 */
enum { M = 64, N = 128, K = 16, THREADS = 128, A_BYTES = M * K * 2, BOX = 64, B_BYTES = K * N * 2 };
enum { BYTES = A_BYTES + B_BYTES + BOX * 2 /* a row to spare */ };

static uint16_t half_of(int v)
{
    return gr_f16_bits((float)v);
}

/* a; and b, as one at a multiple of 1024 bytes lies. */
static __device__ void fill(uint16_t *s, uint16_t *b)
{
    for (int e = threadIdx.x; e < M * K; e += THREADS) { /* cores of 8 rows of 8: along the depth, then down */
        const int i = e / K, k = e % K;
        s[i / 8 * 128 + k / 8 * 64 + i % 8 * 8 + k % 8] = half_of(k == 3 ? i % 7 : 0);
    }
    for (int e = threadIdx.x; e < K * N; e += THREADS) { /* boxes of 64 columns, rows of 128 bytes */
        const int k = e / N, j = e % N, piece = j % BOX / 8 ^ k % 8;
        b[j / BOX * (K * BOX) + k * BOX + piece * 8 + j % 8] = half_of(k == 3 ? j % 5 : 7);
    }
}

static __device__ void multiply(float sum[64], const uint16_t *s, const uint16_t *b)
{
    gr_wgmma_f16<128, GR_K_MAJOR, GR_MN_MAJOR>(sum, gr_wgmma_operand(s, 128, 256, GR_STRAIGHT),
                                               gr_wgmma_operand(b, K * BOX * 2, 1024, GR_SWIZZLE_128));
}

static __device__ void store(float *c, const float sum[64], float factor)
{
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    for (int i = 0; i < 64; i++)
        c[(row + i / 2 % 2 * 8) * N + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = factor * sum[i];
}

/* Who slips: one of them is false. */
typedef enum {
    NOTHING,
    PROXY_FENCE,
    FENCE,
    COMMIT,
    WAIT,
    SUMS,
    SUMS_BETWEEN,
    OPERAND,
    WARP_MISSING,
    LANE,
    STRIDE,
    SWIZZLE,
    OUTSIDE,
    PATTERN
} slip_of;

BEGINS(product)
/* Twice the product, in two groups. */
template <slip_of slip> static __global__ void product(float *c)
{
    GR_DYN_SHARED(uint16_t, s);
    uint16_t *b = s + A_BYTES / 2 + (slip == PATTERN ? BOX : 0);
    float sum[64] = {};
    fill(s, b);
    if (slip != PROXY_FENCE)
        gr_fence_async();
    __syncthreads();
    if (slip == WARP_MISSING && threadIdx.x >= 96)
        return;
    if (slip != FENCE)
        gr_wgmma_fence<128>(sum);
    if (slip == SUMS)
        sum[63] = 1;
    if (slip == LANE)
        b += threadIdx.x == 40 ? K * BOX : 0;
    if (slip == OUTSIDE)
        b += 2 * BOX;
    if (slip == STRIDE || slip == SWIZZLE)
        gr_wgmma_f16<128, GR_K_MAJOR, GR_MN_MAJOR>(
            sum, gr_wgmma_operand(s, 128, slip == STRIDE ? 128 : 256, GR_STRAIGHT),
            gr_wgmma_operand(b, K * BOX * 2, 1024, slip == SWIZZLE ? GR_SWIZZLE_64 : GR_SWIZZLE_128));
    else
        multiply(sum, s, b);
    gr_wgmma_commit();
    if (slip == SUMS_BETWEEN)
        sum[1] += 1;
    multiply(sum, s, b);
    if (slip != COMMIT)
        gr_wgmma_commit();
    if (slip == OPERAND && threadIdx.x == 7)
        s[9] = 0;
    if (slip != WAIT)
        gr_wgmma_wait<0, 128>(sum);
    store(c, sum, 0.5f);
}
ENDS(product)

template <slip_of slip> static bool run(bool right)
{
    float *c = floats(M * N);
    GR_LAUNCH((product<NOTHING>), 1, THREADS, BYTES, NULL, c);
    if (!right)
        GR_LAUNCH((product<slip>), 1, THREADS, BYTES, NULL, c);
    bool same = true;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            same &= c[i * N + j] == (float)(i % 7 * (j % 5));
    return same;
}

#define PLANT_SLIP(name, slip, seen, report)                                                        \
    {                                                                                               \
        name, __FILE__, product_begins - 60, product_ends, "product<slip>", run<slip>, seen, report \
    }

const planted of_products[] = {
    PLANT_SLIP("proxy_fence", PROXY_FENCE, IN_CHECK, "missing fence: no gr_fence_async"),
    PLANT_SLIP("wgmma_fence", FENCE, EVERYWHERE, "missing fence: no wgmma.fence"),
    PLANT_SLIP("wgmma_commit", COMMIT, EVERYWHERE, "missing commit: "),
    PLANT_SLIP("wgmma_wait", WAIT, EVERYWHERE, "missing wait: exits"),
    PLANT_SLIP("sums_after_fence", SUMS, EVERYWHERE, "missing fence: no wgmma.fence"),
    PLANT_SLIP("sums_under_way", SUMS_BETWEEN, EVERYWHERE, "missing wait: the sums of wgmma"),
    PLANT_SLIP("operand_under_way", OPERAND, IN_CHECK, "race: write after read"),
    PLANT_SLIP("three_warps", WARP_MISSING, EVERYWHERE, "wgmma: of four warps"),
    PLANT_SLIP("lane_of_its_own", LANE, EVERYWHERE, "wgmma: lanes 0 and"),
    PLANT_SLIP("stride", STRIDE, IN_RESULT, ""),
    PLANT_SLIP("other_swizzle", SWIZZLE, EVERYWHERE, "out of bounds: wgmma"),
    PLANT_SLIP("operand_outside", OUTSIDE, EVERYWHERE, "out of bounds: wgmma"),
    PLANT_SLIP("midst_of_pattern", PATTERN, IN_RESULT, ""),
    NO_MORE,
};
