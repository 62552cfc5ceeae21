/*
 * kernels.cu - one kernel for each wrapper, for either device. One block; in[WORDS] and out[WORDS] are words of 32
 * bits.
 */
#include "kernels/cuda/hopper.h"
#include "tests/wrappers/wrappers.h"

#define RUN(name, threads)                                                               \
    extern "C" void GR_CUDA(run_##name)(uint32_t * out, const uint32_t *in, void *queue) \
    {                                                                                    \
        GR_LAUNCH(name, 1, threads, 0, queue, out, in);                                  \
    }

/* --- cp.async: the thread's number of bytes, the rest zero -------------------------------------------------------- */

static __global__ void cp_async16(uint32_t *out, const uint32_t *in)
{
    GR_SHARED(uint32_t, s, [4 * 32]);
    const int i = threadIdx.x;
    gr_cp_async16(&s[4 * i], in + 4 * i, i % 17);
    gr_cp_async_commit();
    gr_cp_async_wait<0>();
    __syncthreads();
    for (int j = 0; j < 4; j++)
        out[4 * i + j] = s[4 * (31 - i) + j];
}
RUN(cp_async16, 32)

static __global__ void cp_async4(uint32_t *out, const uint32_t *in)
{
    GR_SHARED(uint32_t, s, [32]);
    const int i = threadIdx.x;
    gr_cp_async4(&s[i], in + 3 * i, i % 3 ? 4 : 0);
    gr_cp_async_commit();
    gr_cp_async_wait<0>();
    __syncthreads();
    out[i] = s[31 - i];
}
RUN(cp_async4, 32)

/* Three groups; the first two are used while the third is on its way. */
static __global__ void cp_async_groups(uint32_t *out, const uint32_t *in)
{
    GR_SHARED(uint32_t, s, [3][4 * 32]);
    const int i = threadIdx.x;
    for (int group = 0; group < 3; group++) {
        gr_cp_async16(&s[group][4 * i], in + 128 * group + 4 * i, 16);
        gr_cp_async_commit();
    }
    gr_cp_async_wait<1>();
    __syncthreads();
    for (int j = 0; j < 4; j++)
        out[4 * i + j] = s[0][4 * (31 - i) + j] ^ s[1][4 * (31 - i) + j];
    gr_cp_async_wait<0>();
    __syncthreads();
    for (int j = 0; j < 4; j++)
        out[128 + 4 * i + j] = s[2][4 * (31 - i) + j];
}
RUN(cp_async_groups, 32)

/* --- matrices ----------------------------------------------------------------------------------------------------- */

/* Four 8x8 matrices of 16-bit elements, their rows in an order of their own, 16 bytes apart by 5 rows. */
static __device__ void fill_rows(uint32_t (*s)[4], const uint32_t *in)
{
    for (int j = 0; j < 4; j++)
        s[threadIdx.x * 5 % 32][j] = in[4 * threadIdx.x + j];
    __syncthreads();
}

static __global__ void ldmatrix(uint32_t *out, const uint32_t *in)
{
    GR_SHARED(uint32_t, s, [32][4]);
    fill_rows(s, in);
    uint32_t r[4];
    gr_ldmatrix_x4(r, s[threadIdx.x * 5 % 32]);
    for (int j = 0; j < 4; j++)
        out[4 * threadIdx.x + j] = r[j];
}
RUN(ldmatrix, 32)

static __global__ void ldmatrix_trans(uint32_t *out, const uint32_t *in)
{
    GR_SHARED(uint32_t, s, [32][4]);
    fill_rows(s, in);
    uint32_t r[4];
    gr_ldmatrix_x4_trans(r, s[threadIdx.x * 5 % 32]);
    for (int j = 0; j < 4; j++)
        out[4 * threadIdx.x + j] = r[j];
}
RUN(ldmatrix_trans, 32)

/* a: in[4 lane + i], b: in[128 + 2 lane + i], d: floats in[192 + 4 lane + i], out[4 lane + i] */
#define MMA(name, wrapper, guard)                                  \
    static __global__ void name(uint32_t *out, const uint32_t *in) \
    {                                                              \
        const int lane = threadIdx.x;                              \
        float d[4];                                                \
        for (int i = 0; i < 4; i++)                                \
            d[i] = __uint_as_float(in[192 + 4 * lane + i]);        \
        guard(wrapper(d, in + 4 * lane, in + 128 + 2 * lane));     \
        for (int i = 0; i < 4; i++)                                \
            out[4 * lane + i] = __float_as_uint(d[i]);             \
    }                                                              \
    RUN(name, 32)
#define ALWAYS(call) call
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define SM_80(call)
#else
#define SM_80(call) call
#endif
MMA(mma_f16, gr_mma_f16, ALWAYS)
MMA(mma_bf16, gr_mma_bf16, SM_80)
MMA(mma_tf32, gr_mma_tf32, SM_80)
MMA(mma_f16_exact, gr_mma_f16, ALWAYS)
MMA(mma_bf16_exact, gr_mma_bf16, SM_80)
MMA(mma_tf32_exact, gr_mma_tf32, SM_80)

/* --- barriers ----------------------------------------------------------------------------------------------------- */

/* Two halves of the block, each with a barrier of its own; the second half meets once more often. */
static __global__ void named_barrier(uint32_t *out, const uint32_t *in)
{
    GR_SHARED(uint32_t, s, [128]);
    const int i = threadIdx.x, half = i / 64, other = 64 * half + (i + 33) % 64;
    s[i] = in[i];
    gr_named_barrier(1 + half, 64);
    uint32_t v = s[other];
    if (half) {
        gr_named_barrier(2, 64);
        s[i] = v + 1;
        gr_named_barrier(2, 64);
        v = s[other];
    }
    out[i] = v;
}
RUN(named_barrier, 128)

/* --- Hopper ------------------------------------------------------------------------------------------------------- */

/* A box of 32 x 64 halves of in as [128][64], which begins at row 112, column -8: half of its rows lie outside. */
static __global__ void tma(uint32_t *out, const __grid_constant__ gr_tensor_map map)
{
    GR_DYN_SHARED(uint32_t, s);
    GR_SHARED(uint64_t, full, [1]);
    if (threadIdx.x == 0) {
        gr_mbarrier_init(full, 1);
        gr_fence_async();
    }
    __syncthreads();
    for (int time = 0; time < 2; time++) { /* two phases */
        if (threadIdx.x == 0) {
            gr_mbarrier_expect(full, 32 * 128);
            gr_tma_load(s, &map, 112 - 100 * time, -8 + 16 * time, full);
        }
        gr_mbarrier_wait(full, time);
        for (int i = threadIdx.x; i < 1024; i += 64)
            out[1024 * time + i] = s[i];
        __syncthreads();
    }
}
extern "C" void GR_CUDA(run_tma)(uint32_t *out, const uint32_t *in, void *queue)
{
    GR_LAUNCH(tma, 1, 64, 32 * 128, queue, out, gr_tensor_map_of(in, 128, 64, 32, 64));
}

/* A box of 2 x 3 x 4 x 64 halves. */
static __global__ void tma_4d(uint32_t *out, const __grid_constant__ gr_tensor_map map, int n, int h, int w, int c)
{
    GR_DYN_SHARED(uint32_t, s);
    GR_SHARED(uint64_t, full, [1]);
    if (threadIdx.x == 0) {
        gr_mbarrier_init(full, 1);
        gr_fence_async();
        gr_mbarrier_expect(full, 24 * 128);
        gr_tma_load_4d(s, &map, n, h, w, c, full);
    }
    __syncthreads();
    gr_mbarrier_wait(full, 0);
    for (int i = threadIdx.x; i < 24 * 32; i += 64)
        out[i] = s[i];
}
extern "C" void GR_CUDA(run_tma_4d)(uint32_t *out, const uint32_t *in, void *queue)
{
    const int64_t size[4] = {3, 5, 7, 72};
    const int box[4] = {2, 3, 4, 64};
#define BOX(number, every_h, every_w, n, h, w, c)                     \
    GR_LAUNCH(tma_4d, 1, 64, 24 * 128, queue, out + 24 * 32 * number, \
              gr_tensor_map_4d(in, size, box, every_h, every_w), n, h, w, c);
    TMA_BOXES(BOX)
#undef BOX
}

/*
 * A product of a [64][16], the halves of in, and b [16][128], those behind it, laid out for wgmma by place_a and
 * place_b (bytes of element (i, k) and (k, j)), twice added. out[row][column] = d[row][column] + 8192
 * d[row][column + 64].
 */
template <int (*place_a)(int, int), int (*place_b)(int, int)>
static __device__ uint8_t *lay_out(uint8_t *s, const uint32_t *in)
{
    const uint16_t *a = (const uint16_t *)in, *b = a + 64 * 16;
    uint8_t *behind = s + 64 * 128;
    for (int e = threadIdx.x; e < 64 * 16; e += 128)
        *(uint16_t *)(s + place_a(e / 16, e % 16)) = a[e];
    for (int e = threadIdx.x; e < 16 * 128; e += 128)
        *(uint16_t *)(behind + place_b(e / 128, e % 128)) = b[e];
    gr_fence_async();
    __syncthreads();
    return behind;
}

static __device__ void put_sums(uint32_t *out, const float sum[64])
{
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    for (int i = 0; i < 32; i++)
        out[(row + i / 2 % 2 * 8) * 64 + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] =
            __float_as_uint(sum[i] + 8192 * sum[32 + i]);
}

/* a at depth 32 of rows of 64, swizzled, K-major; b as two boxes of 64 columns, swizzled, MN-major. */
static __device__ int in_rows(int i, int k)
{
    return i * 128 + (((32 + k) / 8 ^ i % 8) * 16 + k % 8 * 2);
}
static __device__ int in_boxes(int k, int j)
{
    return j / 64 * (16 * 128) + k * 128 + ((j % 64 / 8 ^ k % 8) * 16 + j % 8 * 2);
}
static __global__ void wgmma_boxes(uint32_t *out, const uint32_t *in)
{
    GR_DYN_SHARED(uint8_t, s);
    const uint8_t *b = lay_out<in_rows, in_boxes>(s, in);
    float sum[64] = {};
    gr_wgmma_fence<128>(sum);
    for (int time = 0; time < 2; time++)
        gr_wgmma_f16<128, GR_K_MAJOR, GR_MN_MAJOR>(sum, gr_wgmma_operand(s + 32 * 2, 0, 1024, GR_SWIZZLE_128),
                                                   gr_wgmma_operand(b, 16 * 128, 1024, GR_SWIZZLE_128));
    gr_wgmma_commit();
    gr_wgmma_wait<0, 128>(sum);
    put_sums(out, sum);
}

/* Both K-major and straight: cores of 8 rows of 16 bytes; a's two of a depth lie side by side, b's 4 KiB apart. */
static __device__ int in_cores(int i, int k)
{
    return i / 8 * 256 + k / 8 * 128 + i % 8 * 16 + k % 8 * 2;
}
static __device__ int in_halves(int k, int j)
{
    return j / 8 * 128 + k / 8 * 2048 + j % 8 * 16 + k % 8 * 2;
}
static __global__ void wgmma_cores(uint32_t *out, const uint32_t *in)
{
    GR_DYN_SHARED(uint8_t, s);
    const uint8_t *b = lay_out<in_cores, in_halves>(s, in);
    float sum[64] = {};
    for (int time = 0; time < 2; time++) {
        gr_wgmma_fence<128>(sum);
        gr_wgmma_f16<128, GR_K_MAJOR, GR_K_MAJOR>(sum, gr_wgmma_operand(s, 128, 256, GR_STRAIGHT),
                                                  gr_wgmma_operand(b, 2048, 128, GR_STRAIGHT));
        gr_wgmma_commit();
        gr_wgmma_wait<0, 128>(sum);
    }
    put_sums(out, sum);
}

/*
 * Swizzled within 64 bytes, pieces by half the row's number: a at depth 16 of rows of 32, K-major; b as four boxes of
 * 32 columns, MN-major.
 */
static __device__ int in_rows_64(int i, int k)
{
    return i * 64 + (((16 + k) / 8 ^ i / 2 % 4) * 16 + k % 8 * 2);
}
static __device__ int in_boxes_64(int k, int j)
{
    return j / 32 * (16 * 64) + k * 64 + ((j % 32 / 8 ^ k / 2 % 4) * 16 + j % 8 * 2);
}
static __global__ void wgmma_64(uint32_t *out, const uint32_t *in)
{
    GR_DYN_SHARED(uint8_t, s);
    const uint8_t *b = lay_out<in_rows_64, in_boxes_64>(s, in);
    float sum[64] = {};
    gr_wgmma_fence<128>(sum);
    for (int time = 0; time < 2; time++)
        gr_wgmma_f16<128, GR_K_MAJOR, GR_MN_MAJOR>(sum, gr_wgmma_operand(s + 16 * 2, 0, 512, GR_SWIZZLE_64),
                                                   gr_wgmma_operand(b, 16 * 64, 512, GR_SWIZZLE_64));
    gr_wgmma_commit();
    gr_wgmma_wait<0, 128>(sum);
    put_sums(out, sum);
}

/* Within 32 bytes, by a quarter of it: a as four boxes of 16 rows, MN-major; b in rows of 16, K-major. */
static __device__ int in_boxes_32(int i, int k)
{
    return i / 16 * (16 * 32) + k * 32 + ((i % 16 / 8 ^ k / 4 % 2) * 16 + i % 8 * 2);
}
static __device__ int in_rows_32(int k, int j)
{
    return j * 32 + ((k / 8 ^ j / 4 % 2) * 16 + k % 8 * 2);
}
static __global__ void wgmma_32(uint32_t *out, const uint32_t *in)
{
    GR_DYN_SHARED(uint8_t, s);
    const uint8_t *b = lay_out<in_boxes_32, in_rows_32>(s, in);
    float sum[64] = {};
    gr_wgmma_fence<128>(sum);
    for (int time = 0; time < 2; time++)
        gr_wgmma_f16<128, GR_MN_MAJOR, GR_K_MAJOR>(sum, gr_wgmma_operand(s, 16 * 32, 256, GR_SWIZZLE_32),
                                                   gr_wgmma_operand(b, 0, 256, GR_SWIZZLE_32));
    gr_wgmma_commit();
    gr_wgmma_wait<0, 128>(sum);
    put_sums(out, sum);
}

/* As a product's operands lie: both in rows of 32, K-major, swizzled within 64 bytes; 64 columns at a time. */
static __device__ int in_columns_64(int k, int j)
{
    return j * 64 + ((k / 8 ^ j / 2 % 4) * 16 + k % 8 * 2);
}
static __global__ void wgmma_rows(uint32_t *out, const uint32_t *in)
{
    GR_DYN_SHARED(uint8_t, s);
    const uint8_t *b = lay_out<in_rows_64, in_columns_64>(s, in);
    float sum[64] = {};
    for (int half = 0; half < 2; half++) {
        gr_wgmma_fence<64>(sum + 32 * half);
        for (int time = 0; time < 2; time++)
            gr_wgmma_f16<64, GR_K_MAJOR, GR_K_MAJOR>(sum + 32 * half,
                                                     gr_wgmma_operand(s + 16 * 2, 0, 512, GR_SWIZZLE_64),
                                                     gr_wgmma_operand(b + 64 * 64 * half, 0, 512, GR_SWIZZLE_64));
        gr_wgmma_commit();
        gr_wgmma_wait<0, 64>(sum + 32 * half);
    }
    put_sums(out, sum);
}

/* bf16, both MN-major in boxes of 64, swizzled within 128 bytes: all columns at once, then 64 and 64. */
static __device__ int in_box(int i, int k)
{
    return k * 128 + ((i / 8 ^ k % 8) * 16 + i % 8 * 2);
}
static __global__ void wgmma_bf16(uint32_t *out, const uint32_t *in)
{
    GR_DYN_SHARED(uint8_t, s);
    const uint8_t *b = lay_out<in_box, in_boxes>(s, in);
    const uint64_t left = gr_wgmma_operand(s, 0, 1024, GR_SWIZZLE_128);
    float sum[64] = {};
    gr_wgmma_fence<128>(sum);
    gr_wgmma_bf16<128, GR_MN_MAJOR, GR_MN_MAJOR>(sum, left, gr_wgmma_operand(b, 16 * 128, 1024, GR_SWIZZLE_128));
    gr_wgmma_commit();
    gr_wgmma_wait<0, 128>(sum);
    for (int half = 0; half < 2; half++) {
        gr_wgmma_fence<64>(sum + 32 * half);
        gr_wgmma_bf16<64, GR_MN_MAJOR, GR_MN_MAJOR>(sum + 32 * half, left,
                                                    gr_wgmma_operand(b + 16 * 128 * half, 0, 1024, GR_SWIZZLE_128));
        gr_wgmma_commit();
        gr_wgmma_wait<0, 64>(sum + 32 * half);
    }
    put_sums(out, sum);
}

#define RUN_PRODUCT(name)                                                                \
    extern "C" void GR_CUDA(run_##name)(uint32_t * out, const uint32_t *in, void *queue) \
    {                                                                                    \
        GR_LAUNCH(name, 1, 128, 64 * 128 + 128 * 64, queue, out, in);                    \
    }
RUN_PRODUCT(wgmma_boxes)
RUN_PRODUCT(wgmma_cores)
RUN_PRODUCT(wgmma_64)
RUN_PRODUCT(wgmma_32)
RUN_PRODUCT(wgmma_rows)
RUN_PRODUCT(wgmma_bf16)

/*
 * Operands that begin in the midst of a swizzled pattern: of in as pixels [16][8][64], with a halo of one pixel that
 * TMA makes of zeros, and of in as rows [128][64]. A shift is one of nine taps for one of two groups of 8 x 8 pixels,
 * with rows from 3 * shift on; the products of all shifts are added up.
 */
enum { PATCH_H = 18, PATCH_W = 10, CHANNELS = 64, ROWS = 128, SHIFTED_BYTES = (PATCH_H * PATCH_W + ROWS) * 128 };
struct shifted_operands {
    uint16_t x[PATCH_H * PATCH_W * CHANNELS];
    alignas(1024) uint16_t y[ROWS * CHANNELS];
};

static __device__ void bring_operands(shifted_operands *s, const gr_tensor_map *x, const gr_tensor_map *y)
{
    GR_SHARED(uint64_t, full, [1]);
    if (threadIdx.x == 0) {
        gr_mbarrier_init(full, 1);
        gr_fence_async();
        gr_mbarrier_expect(full, SHIFTED_BYTES);
        gr_tma_load_4d(s->x, x, 0, -1, -1, 0, full);
        gr_tma_load(s->y, y, 0, 0, full);
    }
    __syncthreads();
    gr_mbarrier_wait(full, 0);
}

/* The pixels are rows of a, 8 to a row of the picture, the rows columns of b; the depth is that of channels. */
static __device__ void add_product(float *sum, const uint16_t *x, const uint16_t *y)
{
    for (int k = 0; k < CHANNELS; k += 16)
        gr_wgmma_f16<64, GR_K_MAJOR, GR_K_MAJOR>(sum, gr_wgmma_operand(x + k, 0, PATCH_W * 128, GR_SWIZZLE_128),
                                                 gr_wgmma_operand(y + k, 0, 8 * 128, GR_SWIZZLE_128));
}

/* Pixels and rows are the depth; a has the rows' channels, b the pixels'. */
static __device__ void add_product_mn(float *sum, const uint16_t *x, const uint16_t *y)
{
    for (int k = 0; k < 64; k += 16)
        gr_wgmma_bf16<64, GR_MN_MAJOR, GR_MN_MAJOR>(
            sum, gr_wgmma_operand(y + k * CHANNELS, 0, 8 * 128, GR_SWIZZLE_128),
            gr_wgmma_operand(x + k / 8 * PATCH_W * CHANNELS, 0, PATCH_W * 128, GR_SWIZZLE_128));
}

template <void (*add)(float *, const uint16_t *, const uint16_t *)>
static __global__ void shifted(uint32_t *out, const __grid_constant__ gr_tensor_map x,
                               const __grid_constant__ gr_tensor_map y)
{
    GR_DYN_SHARED(shifted_operands, s);
    bring_operands(s, &x, &y);
    float sum[64] = {}; /* the second half is not used */
    gr_wgmma_fence<64>(sum);
    for (int shift = 0; shift < SHIFTS; shift++) {
        const int corner = (shift / 9 * 8 + shift % 9 / 3) * PATCH_W + shift % 3;
        add(sum, s->x + corner * CHANNELS, s->y + 3 * shift * CHANNELS);
    }
    gr_wgmma_commit();
    gr_wgmma_wait<0, 64>(sum);
    put_sums(out, sum);
}

#define RUN_SHIFTED(name, add)                                                                                       \
    extern "C" void GR_CUDA(run_##name)(uint32_t * out, const uint32_t *in, void *queue)                             \
    {                                                                                                                \
        const int64_t size[4] = {1, 16, 8, CHANNELS};                                                                \
        const int box[4] = {1, PATCH_H, PATCH_W, CHANNELS};                                                          \
        GR_LAUNCH(shifted<add>, 1, 128, sizeof(shifted_operands), queue, out, gr_tensor_map_4d(in, size, box, 1, 1), \
                  gr_tensor_map_of(in, ROWS, CHANNELS, ROWS, CHANNELS));                                             \
    }
RUN_SHIFTED(wgmma_shifted, add_product)
RUN_SHIFTED(wgmma_shifted_mn, add_product_mn)

/* --- 16-bit floats ------------------------------------------------------------------------------------------------ */

static __global__ void to_f16(uint32_t *out, const uint32_t *in)
{
    for (int i = threadIdx.x; i < WORDS; i += 256)
        out[i] = gr_f16_bits(__uint_as_float(in[i]));
}
RUN(to_f16, 256)

static __global__ void to_bf16(uint32_t *out, const uint32_t *in)
{
    for (int i = threadIdx.x; i < WORDS; i += 256)
        out[i] = gr_bf16_bits(__uint_as_float(in[i]));
}
RUN(to_bf16, 256)

/* What a tensor core looks at: the bits behind the tenth of the fraction are nobody's. */
static __global__ void to_tf32(uint32_t *out, const uint32_t *in)
{
    for (int i = threadIdx.x; i < WORDS; i += 256) {
        const uint32_t bits = gr_tf32_bits(__uint_as_float(in[i])) & 0xFFFFE000;
        out[i] = isnan(__uint_as_float(bits)) ? 1 : bits; /* one NaN is as good as another */
    }
}
RUN(to_tf32, 256)

/* Every sixteenth number there is, and what infinities and NaN are. */
static __global__ void from_f16(uint32_t *out, const uint32_t *in)
{
    for (int i = threadIdx.x; i < WORDS; i += 256)
        out[i] = __float_as_uint(gr_f16_float((uint16_t)(in[i] & 0xFFFF)));
}
RUN(from_f16, 256)

static __global__ void from_bf16(uint32_t *out, const uint32_t *in)
{
    for (int i = threadIdx.x; i < WORDS; i += 256)
        out[i] = __float_as_uint(gr_bf16_float((uint16_t)(in[i] & 0xFFFF)));
}
RUN(from_bf16, 256)

/* --- a warp's collectives ----------------------------------------------------------------------------------------- */

static __global__ void shuffle(uint32_t *out, const uint32_t *in)
{
    const int i = threadIdx.x;
    const uint32_t v = in[i];
    for (int k = 0; k < 8; k++) {
        out[64 * k + i] = __shfl_sync(0xFFFFFFFF, v, (int)(in[64 + k] % 40), 32);
        out[64 * k + 32 + i] = __shfl_sync(0xFFFFFFFF, v, (int)(in[64 + k] % 40), 8);
    }
}
RUN(shuffle, 32)

static __global__ void shuffle_up(uint32_t *out, const uint32_t *in)
{
    const int i = threadIdx.x;
    for (int k = 0; k < 32; k++) {
        out[64 * k + i] = __shfl_up_sync(0xFFFFFFFF, in[i], k, 32);
        out[64 * k + 32 + i] = __shfl_up_sync(0xFFFFFFFF, in[i], k % 16, 16);
    }
}
RUN(shuffle_up, 32)

static __global__ void shuffle_down(uint32_t *out, const uint32_t *in)
{
    const int i = threadIdx.x;
    for (int k = 0; k < 32; k++) {
        out[64 * k + i] = __shfl_down_sync(0xFFFFFFFF, in[i], k, 32);
        out[64 * k + 32 + i] = __shfl_down_sync(0xFFFFFFFF, in[i], k % 16, 16);
    }
}
RUN(shuffle_down, 32)

static __global__ void shuffle_xor(uint32_t *out, const uint32_t *in)
{
    const int i = threadIdx.x;
    for (int k = 0; k < 32; k++) {
        out[64 * k + i] = __shfl_xor_sync(0xFFFFFFFF, in[i], k, 32);
        out[64 * k + 32 + i] = __shfl_xor_sync(0xFFFFFFFF, in[i], k % 16, 16);
    }
}
RUN(shuffle_xor, 32)

/* By all lanes, and by the even and the odd ones among themselves. */
static __global__ void votes(uint32_t *out, const uint32_t *in)
{
    const int i = threadIdx.x;
    for (int k = 0; k < 8; k++) {
        const int v = in[i] >> k & 1;
        uint32_t *row = out + 160 * k + i;
        row[0] = __ballot_sync(0xFFFFFFFF, v);
        row[32] = __all_sync(0xFFFFFFFF, v | (k & 1)) != 0;
        row[64] = __any_sync(0xFFFFFFFF, v & (k & 1)) != 0;
        if (i % 2)
            row[96] = __ballot_sync(0xAAAAAAAA, v);
        else
            row[96] = __ballot_sync(0x55555555, v);
        row[128] = __any_sync(0xFFFFFFFF, in[i] == in[k]) != 0;
    }
}
RUN(votes, 32)

static __global__ void reductions(uint32_t *out, const uint32_t *in)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const int i = threadIdx.x, v = (int)in[i] >> 8; /* signed, and no sum of 32 overflows */
    out[i] = (uint32_t)__reduce_add_sync(0xFFFFFFFF, v);
    out[32 + i] = (uint32_t)__reduce_min_sync(0xFFFFFFFF, v);
    out[64 + i] = (uint32_t)__reduce_max_sync(0xFFFFFFFF, v);
#else
    (void)out, (void)in;
#endif
}
RUN(reductions, 32)
