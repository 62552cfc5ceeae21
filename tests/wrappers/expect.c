/* expect.c - what each kernel of kernels.cu makes of its input, in plain C, from the words of the PTX manual. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "tests/wrappers/wrappers.h"

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* --- cp.async ----------------------------------------------------------------------------------------------------- */

void expect_cp_async16(uint32_t *out, const uint32_t *in)
{
    for (int i = 0; i < 32; i++) {
        uint32_t piece[4] = {0};
        memcpy(piece, in + 4 * i, (size_t)(i % 17));
        memcpy(out + 4 * (31 - i), piece, sizeof piece);
    }
}

void expect_cp_async4(uint32_t *out, const uint32_t *in)
{
    for (int i = 0; i < 32; i++)
        out[31 - i] = i % 3 ? in[3 * i] : 0;
}

void expect_cp_async_groups(uint32_t *out, const uint32_t *in)
{
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < 4; j++) {
            const int from = 4 * (31 - i) + j;
            out[4 * i + j] = in[from] ^ in[128 + from];
            out[128 + 4 * i + j] = in[256 + from];
        }
}

/* --- matrices ----------------------------------------------------------------------------------------------------- */

/* Element (r, c) of matrix m: row 8 m + r of the input has 8 elements. */
static uint32_t element(const uint32_t *in, int m, int r, int c)
{
    return in[4 * (8 * m + r) + c / 2] >> 16 * (c % 2) & 0xFFFF;
}

void expect_ldmatrix(uint32_t *out, const uint32_t *in)
{
    for (int lane = 0; lane < 32; lane++)
        for (int m = 0; m < 4; m++)
            out[4 * lane + m] = element(in, m, lane / 4, 2 * (lane % 4)) | element(in, m, lane / 4, 2 * (lane % 4) + 1)
                                                                               << 16;
}

void expect_ldmatrix_trans(uint32_t *out, const uint32_t *in)
{
    for (int lane = 0; lane < 32; lane++)
        for (int m = 0; m < 4; m++)
            out[4 * lane + m] = element(in, m, 2 * (lane % 4), lane / 4) | element(in, m, 2 * (lane % 4) + 1, lane / 4)
                                                                               << 16;
}

/* The value of a finite 16-bit float. */
static double value(uint32_t h, int exponent_bits, int fraction_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1, power = (int)(h >> fraction_bits & ((1u << exponent_bits) - 1));
    const double fraction = h & ((1u << fraction_bits) - 1);
    const double magnitude = power ? ldexp(fraction + (1 << fraction_bits), power - bias - fraction_bits)
                                   : ldexp(fraction, 1 - bias - fraction_bits);
    return h & 0x8000 ? -magnitude : magnitude;
}

typedef double factor(uint32_t word, int i); /* i: which half of the word; 0 for whole words */

static double f16_factor(uint32_t word, int i)
{
    return value(word >> 16 * i & 0xFFFF, 5, 10);
}
static double bf16_factor(uint32_t word, int i)
{
    return value(word >> 16 * i & 0xFFFF, 8, 7);
}
static double tf32_factor(uint32_t word, int i)
{
    (void)i;
    return (double)float_of(word & ~UINT32_C(0x1FFF));
}

/*
 * d[16,8] += a[16,K] b[K,8], K = 16 in pairs or 8 in words: figures "MMA fragments" of the PTX ISA. Where a thread
 * holds row r, column c of a matrix is solved for the thread here, and not the other way round.
 */
static void mma(uint32_t *out, const uint32_t *in, int k_end, factor *of)
{
    const int pair = k_end / 8; /* elements in a word */
    for (int r = 0; r < 16; r++)
        for (int c = 0; c < 8; c++) {
            const int holder = 4 * (r % 8) + c / 2, place = 2 * (r / 8) + c % 2;
            double sum = (double)float_of(in[192 + 4 * holder + place]);
            for (int k = 0; k < k_end; k++) {
                const int quarter = k % (4 * pair) / pair, upper = k / (4 * pair);
                const double a = of(in[4 * (4 * (r % 8) + quarter) + r / 8 + 2 * upper], k % pair);
                const double b = of(in[128 + 2 * (4 * c + quarter) + upper], k % pair);
                sum += a * b;
            }
            out[4 * holder + place] = bits_of((float)sum);
        }
}

void expect_mma_f16(uint32_t *out, const uint32_t *in)
{
    mma(out, in, 16, f16_factor);
}
void expect_mma_bf16(uint32_t *out, const uint32_t *in)
{
    mma(out, in, 16, bf16_factor);
}
void expect_mma_tf32(uint32_t *out, const uint32_t *in)
{
    mma(out, in, 8, tf32_factor);
}
void expect_mma_f16_exact(uint32_t *out, const uint32_t *in)
{
    mma(out, in, 16, f16_factor);
}
void expect_mma_bf16_exact(uint32_t *out, const uint32_t *in)
{
    mma(out, in, 16, bf16_factor);
}
void expect_mma_tf32_exact(uint32_t *out, const uint32_t *in)
{
    mma(out, in, 8, tf32_factor);
}

/* --- Hopper ------------------------------------------------------------------------------------------------------- */

/* The half at (row, column) of in as [128][64]; 0 outside. */
static uint32_t half_at(const uint32_t *in, int row, int column)
{
    const int i = 64 * row + column;
    return row < 0 || row > 127 || column < 0 || column > 63 ? 0 : in[i / 2] >> 16 * (i % 2) & 0xFFFF;
}

/* CUDA's guide, "Swizzle": of 8 pieces of 16 bytes in a row of 128, number p of row r is put at p xor r % 8. */
void expect_tma(uint32_t *out, const uint32_t *in)
{
    for (int time = 0; time < 2; time++)
        for (int r = 0; r < 32; r++)
            for (int w = 0; w < 32; w++) {
                const int row = (time ? 12 : 112) + r, column = (time ? 8 : -8) + 2 * w;
                const int place = 32 * r + 4 * ((w / 4) ^ (r % 8)) + w % 4;
                out[1024 * time + place] = half_at(in, row, column) | half_at(in, row, column + 1) << 16;
            }
}

/* The half at (n, h, w, c) of in as [3][5][7][72]; 0 outside. */
static uint32_t half_of(const uint32_t *in, int n, int h, int w, int c)
{
    const int i = ((5 * n + h) * 7 + w) * 72 + c;
    const int inside = n >= 0 && n < 3 && h >= 0 && h < 5 && w >= 0 && w < 7 && c >= 0 && c < 72;
    return inside ? in[i / 2] >> 16 * (i % 2) & 0xFFFF : 0;
}

/* The driver's manual of elementStrides: an iteration step along each dimension; PTX: what is out of bounds is 0. */
static void expect_box(uint32_t *out, const uint32_t *in, int every_h, int every_w, const int from[4])
{
    for (int r = 0; r < 24; r++)
        for (int i = 0; i < 32; i++) {
            const int n = from[0] + r / 12, h = from[1] + r / 4 % 3 * every_h, w = from[2] + r % 4 * every_w;
            const int c = from[3] + 2 * i, place = 32 * r + 4 * ((i / 4) ^ (r % 8)) + i % 4;
            out[place] = half_of(in, n, h, w, c) | half_of(in, n, h, w, c + 1) << 16;
        }
}

void expect_tma_4d(uint32_t *out, const uint32_t *in)
{
#define BOX(number, every_h, every_w, n, h, w, c) \
    expect_box(out + 24 * 32 * number, in, every_h, every_w, (const int[4]){n, h, w, c});
    TMA_BOXES(BOX)
#undef BOX
}

static void product(uint32_t *out, const uint32_t *in, factor *of)
{
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) {
            double sum = 0;
            for (int k = 0; k < 16; k++) {
                const int a = 16 * i + k, b = 64 * 16 + 128 * k + j;
                sum += 2 * of(in[a / 2], a % 2) * (of(in[b / 2], b % 2) + 8192 * of(in[b / 2 + 32], b % 2));
            }
            out[64 * i + j] = bits_of((float)sum);
        }
}
void expect_wgmma_boxes(uint32_t *out, const uint32_t *in)
{
    product(out, in, f16_factor);
}
void expect_wgmma_cores(uint32_t *out, const uint32_t *in)
{
    product(out, in, f16_factor);
}
void expect_wgmma_64(uint32_t *out, const uint32_t *in)
{
    product(out, in, f16_factor);
}
void expect_wgmma_32(uint32_t *out, const uint32_t *in)
{
    product(out, in, f16_factor);
}
void expect_wgmma_rows(uint32_t *out, const uint32_t *in)
{
    product(out, in, f16_factor);
}
void expect_wgmma_bf16(uint32_t *out, const uint32_t *in)
{
    product(out, in, bf16_factor);
}

/* Channel c of pixel p of 8 x 8, which a tap of 3 x 3 shifts, in as [16][8][64]; 0 outside. */
static double shifted_pixel(const uint32_t *in, int shift, int p, int c, factor *of)
{
    const int h = shift / 9 * 8 + p / 8 + shift % 9 / 3 - 1, w = p % 8 + shift % 3 - 1, i = (8 * h + w) * 64 + c;
    return h < 0 || h > 15 || w < 0 || w > 7 ? 0 : of(in[i / 2], i % 2);
}

/* Channel c of row r of those that belong to a shift, in as [128][64]. */
static double shifted_row(const uint32_t *in, int shift, int r, int c, factor *of)
{
    const int i = (3 * shift + r) * 64 + c;
    return of(in[i / 2], i % 2);
}

void expect_wgmma_shifted(uint32_t *out, const uint32_t *in)
{
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) {
            double sum = 0;
            for (int shift = 0; shift < SHIFTS; shift++)
                for (int c = 0; c < 64; c++)
                    sum += shifted_pixel(in, shift, i, c, f16_factor) * shifted_row(in, shift, j, c, f16_factor);
            out[64 * i + j] = bits_of((float)sum);
        }
}

void expect_wgmma_shifted_mn(uint32_t *out, const uint32_t *in)
{
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) {
            double sum = 0;
            for (int shift = 0; shift < SHIFTS; shift++)
                for (int p = 0; p < 64; p++)
                    sum += shifted_row(in, shift, p, i, bf16_factor) * shifted_pixel(in, shift, p, j, bf16_factor);
            out[64 * i + j] = bits_of((float)sum);
        }
}

/* --- barriers ----------------------------------------------------------------------------------------------------- */

void expect_named_barrier(uint32_t *out, const uint32_t *in)
{
    for (int i = 0; i < 64; i++) {
        out[i] = in[(i + 33) % 64];
        out[64 + i] = in[64 + (i + 66) % 64] + 1;
    }
}

/* --- 16-bit floats ------------------------------------------------------------------------------------------------ */

/* The nearest number of the type, ties to the even one, found by bisection among the positive ones. */
static uint32_t nearest(float f, int exponent_bits, int fraction_bits)
{
    const uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits, sign = bits_of(f) >> 31 << 15;
    const double magnitude = fabs((double)f), largest = value(infinity - 1, exponent_bits, fraction_bits);
    if (isnan(f))
        return 0x7FFF;
    if (magnitude >= largest + (largest - value(infinity - 2, exponent_bits, fraction_bits)) / 2)
        return sign | infinity;
    uint32_t low = 0, high = infinity; /* value(low) <= magnitude */
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        *(value(middle, exponent_bits, fraction_bits) <= magnitude ? &low : &high) = middle;
    }
    if (low == infinity - 1)
        return sign | low;
    const double below = magnitude - value(low, exponent_bits, fraction_bits);
    const double above = value(low + 1, exponent_bits, fraction_bits) - magnitude;
    return sign | (below < above || (below == above && low % 2 == 0) ? low : low + 1);
}

void expect_to_f16(uint32_t *out, const uint32_t *in)
{
    for (int i = 0; i < WORDS; i++)
        out[i] = nearest(float_of(in[i]), 5, 10);
}

void expect_to_bf16(uint32_t *out, const uint32_t *in)
{
    for (int i = 0; i < WORDS; i++)
        out[i] = nearest(float_of(in[i]), 8, 7);
}

/* Of the two neighbours the nearer, of two as near the one farther from 0; 2^128, which there is not, is infinite. */
void expect_to_tf32(uint32_t *out, const uint32_t *in)
{
    for (int i = 0; i < WORDS; i++) {
        const double v = fabs((double)float_of(in[i]));
        int exponent;
        frexp(v, &exponent);
        const double unit = ldexp(1, (exponent > -125 ? exponent : -125) - 11), nearest = floor(v / unit + 0.5) * unit;
        const uint32_t magnitude = bits_of(v > (double)FLT_MAX || nearest >= 0x1p128 ? INFINITY : (float)nearest);
        out[i] = isnan(v) ? 1 : magnitude | (in[i] & 0x80000000);
    }
}

static uint32_t widened(uint32_t h, int exponent_bits, int fraction_bits)
{
    const uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits, magnitude = h & 0x7FFF;
    if (magnitude > infinity)
        return bits_of(NAN);
    if (magnitude == infinity)
        return bits_of(h & 0x8000 ? -INFINITY : INFINITY);
    return bits_of((float)value(h, exponent_bits, fraction_bits)) | (h & 0x8000) << 16; /* -0 */
}

void expect_from_f16(uint32_t *out, const uint32_t *in)
{
    for (int i = 0; i < WORDS; i++)
        out[i] = widened(in[i] & 0xFFFF, 5, 10);
}

void expect_from_bf16(uint32_t *out, const uint32_t *in)
{
    for (int i = 0; i < WORDS; i++)
        out[i] = widened(in[i] & 0xFFFF, 8, 7);
}

/* --- a warp's collectives ----------------------------------------------------------------------------------------- */

void expect_shuffle(uint32_t *out, const uint32_t *in)
{
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 32; i++) {
            const uint32_t lane = in[64 + k] % 40; /* taken modulo the width */
            out[64 * k + i] = in[lane % 32];
            out[64 * k + 32 + i] = in[i / 8 * 8 + (int)(lane % 8)];
        }
}

/* A lane that would look outside its part of the warp keeps its own. */
void expect_shuffle_up(uint32_t *out, const uint32_t *in)
{
    for (int k = 0; k < 32; k++)
        for (int i = 0; i < 32; i++) {
            out[64 * k + i] = i >= k ? in[i - k] : in[i];
            out[64 * k + 32 + i] = i % 16 >= k % 16 ? in[i - k % 16] : in[i];
        }
}

void expect_shuffle_down(uint32_t *out, const uint32_t *in)
{
    for (int k = 0; k < 32; k++)
        for (int i = 0; i < 32; i++) {
            out[64 * k + i] = i + k < 32 ? in[i + k] : in[i];
            out[64 * k + 32 + i] = i % 16 + k % 16 < 16 ? in[i + k % 16] : in[i];
        }
}

void expect_shuffle_xor(uint32_t *out, const uint32_t *in)
{
    for (int k = 0; k < 32; k++)
        for (int i = 0; i < 32; i++) {
            out[64 * k + i] = in[i ^ k];
            out[64 * k + 32 + i] = in[i ^ k % 16];
        }
}

void expect_votes(uint32_t *out, const uint32_t *in)
{
    for (int k = 0; k < 8; k++) {
        uint32_t ballot = 0, equal = 0;
        for (int i = 0; i < 32; i++) {
            ballot |= (in[i] >> k & 1) << i;
            equal |= in[i] == in[k];
        }
        for (int i = 0; i < 32; i++) {
            uint32_t *row = out + 160 * k + i;
            row[0] = ballot;
            row[32] = k % 2 || ballot == 0xFFFFFFFF;
            row[64] = k % 2 && ballot;
            row[96] = ballot & (i % 2 ? 0xAAAAAAAA : 0x55555555);
            row[128] = equal;
        }
    }
}

void expect_reductions(uint32_t *out, const uint32_t *in)
{
    int32_t sum = 0, smallest = INT32_MAX, largest = INT32_MIN;
    for (int i = 0; i < 32; i++) {
        const int32_t v = (int32_t)in[i] >> 8;
        sum += v;
        smallest = v < smallest ? v : smallest;
        largest = v > largest ? v : largest;
    }
    for (int i = 0; i < 32; i++) {
        out[i] = (uint32_t)sum;
        out[32 + i] = (uint32_t)smallest;
        out[64 + i] = (uint32_t)largest;
    }
}
