/*
 * simd.h - vectors of floats, as long as the instruction set has them: 4 (any processor), 8 (AVX2), 16 (AVX-512).
 *
 * One source text serves all: arithmetic is written with the operators that GCC and clang define on vectors (a scalar
 * operand is broadcast), products and sums contract to fused multiply-adds where the instruction set has them. Only
 * what has no operator is spelled per instruction set here, and nowhere else.
 */
#ifndef GRADUS_CPU_SIMD_H
#define GRADUS_CPU_SIMD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__x86_64__)
#include <xmmintrin.h> /* a twentieth of the other's text, which is most of a small file's compile time */
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/*
 * VL: floats in a vector. TILE_ROWS: rows of the register tile (tile.h), as many as 16 or 32 registers hold;
 * EACH_HEIGHT(X): X(1) X(2) .. X(TILE_ROWS), for one function of each height.
 */
#if defined(__AVX512F__)
enum { VL = 16 };
#elif defined(__AVX2__)
enum { VL = 8 };
#else
enum { VL = 4 };
#endif
#if defined(__AVX512F__) || defined(__aarch64__)
#define TALL_TILES
#define EACH_HEIGHT(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
enum { TILE_ROWS = 14 };
#else
#define EACH_HEIGHT(X) X(1) X(2) X(3) X(4) X(5) X(6)
enum { TILE_ROWS = 6 };
#endif

typedef float vec __attribute__((vector_size(VL * sizeof(float))));
typedef int32_t ivec __attribute__((vector_size(VL * sizeof(int32_t))));
typedef uint8_t bvec __attribute__((vector_size(VL)));
typedef uint64_t lvec __attribute__((vector_size(VL * sizeof(float)))); /* half as many numbers, twice as long */

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

INLINE vec vec_load(const float *p)
{
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void vec_store(float *p, vec v)
{
    memcpy(p, &v, sizeof v);
}

/* A store past the caches, where the instruction set has one; p is aligned to a whole vector. */
INLINE void vec_stream(float *p, vec v)
{
#if defined(__AVX512F__)
    _mm512_stream_ps(p, (__m512)v);
#elif defined(__AVX2__)
    _mm256_stream_ps(p, (__m256)v);
#elif defined(__x86_64__)
    _mm_stream_ps(p, (__m128)v);
#else
    vec_store(p, v);
#endif
}

INLINE vec vec_all(float x)
{
    return x - (vec){0}; /* x + 0 would turn -0 into 0 */
}

#if defined(__AVX2__) && !defined(__AVX512F__)
INLINE vec vec_load_part(const float *p, int64_t n)
{
    static const int32_t first[2 * VL] = {-1, -1, -1, -1, -1, -1, -1, -1}; /* as many as VL, then as many zeros */
    return _mm256_maskload_ps(p, _mm256_loadu_si256((const __m256i *)(first + VL - n)));
}

/* By pieces: masked stores are slow on some processors (Fog's instruction tables). */
INLINE void vec_store_part(float *p, vec v, int64_t n)
{
    __m128 rest = _mm256_castps256_ps128(v);
    if (n & 4) {
        _mm_storeu_ps(p, rest);
        rest = _mm256_extractf128_ps(v, 1);
        p += 4;
    }
    if (n & 2) {
        _mm_storel_pi((__m64 *)p, rest);
        rest = _mm_movehl_ps(rest, rest);
        p += 2;
    }
    if (n & 1)
        _mm_store_ss(p, rest);
}
#else
INLINE vec vec_load_part(const float *p, int64_t n)
{
    vec v = {0};
    memcpy(&v, p, (size_t)n * sizeof *p);
    return v;
}

INLINE void vec_store_part(float *p, vec v, int64_t n)
{
    memcpy(p, &v, (size_t)n * sizeof *p);
}
#endif

/* The first n (1..VL) elements at p; zeros behind. Nearly always n is VL. */
INLINE vec vec_load_n(const float *p, int64_t n)
{
#if defined(__AVX512F__)
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#else
    return n == VL ? vec_load(p) : vec_load_part(p, n);
#endif
}

INLINE void vec_store_n(float *p, vec v, int64_t n)
{
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), v);
#else
    if (n == VL)
        vec_store(p, v);
    else
        vec_store_part(p, v, n);
#endif
}

/* What a comparison of vectors gives: one truth value an element. AVX-512 has registers of its own for them. */
#if defined(__AVX512F__)
typedef __mmask16 mask;
#else
typedef ivec mask; /* 0 or -1 */
#endif

INLINE mask vec_less(vec a, vec b)
{
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
#else
    return a < b;
#endif
}

/* a > b, or one of them is a NaN. */
INLINE mask vec_not_at_most(vec a, vec b)
{
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask(a, b, _CMP_NLE_UQ);
#else
    return ~(a <= b);
#endif
}

/* a > b, or a alone is a NaN. */
INLINE mask vec_beats(vec a, vec b)
{
#if defined(__AVX512F__)
    return _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(b, b, _CMP_ORD_Q), a, b, _CMP_NLE_UQ);
#else
    return ~(a <= b) & (b == b);
#endif
}

INLINE mask ivec_equal(ivec a, int b)
{
#if defined(__AVX512F__)
    return _mm512_cmpeq_epi32_mask((__m512i)a, _mm512_set1_epi32(b));
#else
    return a == b;
#endif
}

INLINE mask ivec_less(ivec a, int b)
{
#if defined(__AVX512F__)
    return _mm512_cmplt_epi32_mask((__m512i)a, _mm512_set1_epi32(b));
#else
    return a < b;
#endif
}

INLINE ivec ivec_all(int x)
{
    return x - (ivec){0};
}

#if defined(__AVX512F__)
/*
 * Eight numbers at each of two places, and a look-up among them: each element is place[index + t], of the upper place
 * by the indices 0..3, of the lower by the indices VEC_PICK_LOWER and on; t lies in 0..4.
 */
enum { VEC_PICK_LOWER = 8 };

INLINE vec vec_eights_at(const float *upper, const float *lower)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(upper)), _mm256_loadu_ps(lower), 1);
}

INLINE vec vec_pick(vec from, ivec index, int t)
{
    return _mm512_permutexvar_ps((__m512i)(index + t), from);
}
#endif

/* table[index] of each element. */
INLINE vec vec_look_up(const float *table, ivec index)
{
#if defined(__AVX512F__)
    return (vec)_mm512_i32gather_ps((__m512i)index, table, sizeof *table);
#elif defined(__AVX2__)
    return (vec)_mm256_i32gather_ps(table, (__m256i)index, sizeof *table);
#else
    vec v;
    for (int i = 0; i < VL; i++)
        v[i] = table[index[i]];
    return v;
#endif
}

/* Whole products of the lower halves of a's and b's numbers; the upper halves are not looked at. */
INLINE lvec lvec_product(lvec a, lvec b)
{
#if defined(__AVX512F__)
    return (lvec)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (lvec)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
    return (a & UINT32_MAX) * (b & UINT32_MAX);
#endif
}

INLINE ivec ivec_select(mask m, ivec yes, ivec no)
{
#if defined(__AVX512F__)
    return (ivec)_mm512_mask_blend_epi32(m, (__m512i)no, (__m512i)yes);
#else
    return (m & yes) | (~m & no);
#endif
}

INLINE vec vec_select(mask m, vec yes, vec no)
{
    return (vec)ivec_select(m, (ivec)yes, (ivec)no);
}

/* max(0, v), where NaN stays NaN. */
INLINE vec vec_relu(vec v)
{
    return vec_select(vec_less(v, (vec){0}), (vec){0}, v);
}

/* v where gate > 0 or NaN, else 0: the gradient of a ReLU, as PyTorch's. */
INLINE vec vec_gate(vec gate, vec v)
{
    return vec_select(vec_not_at_most(gate, (vec){0}), v, (vec){0});
}

INLINE vec vec_sqrt(vec v)
{
#if defined(__AVX512F__)
    return _mm512_sqrt_ps(v);
#elif defined(__AVX2__)
    return _mm256_sqrt_ps(v);
#elif defined(__x86_64__)
    return _mm_sqrt_ps(v);
#elif defined(__aarch64__)
    return (vec)vsqrtq_f32((float32x4_t)v);
#else
    for (int i = 0; i < VL; i++)
        v[i] = sqrtf(v[i]);
    return v;
#endif
}

/* VL bytes as integers and back (0..255). */
INLINE ivec ivec_from_bytes(const uint8_t *p)
{
    bvec b;
    memcpy(&b, p, sizeof b);
#if defined(__AVX512F__)
    return (ivec)_mm512_cvtepu8_epi32((__m128i)b);
#elif defined(__AVX2__)
    return (ivec)_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)b));
#else
    return __builtin_convertvector(b, ivec);
#endif
}

/* table[b] of VL bytes b below 16; of bytes from 128 on 0. */
INLINE ivec ivec_from_table(const uint8_t *p, const uint8_t table[16])
{
#if defined(__AVX2__)
    const __m128i all = _mm_loadu_si128((const __m128i *)table);
#endif
#if defined(__AVX512F__)
    return (ivec)_mm512_cvtepu8_epi32(_mm_shuffle_epi8(all, _mm_loadu_si128((const __m128i *)p)));
#elif defined(__AVX2__)
    return (ivec)_mm256_cvtepu8_epi32(_mm_shuffle_epi8(all, _mm_loadl_epi64((const __m128i *)p)));
#else
    ivec v;
    for (int i = 0; i < VL; i++)
        v[i] = p[i] < 128 ? table[p[i]] : 0;
    return v;
#endif
}

/* Which of VL bytes are below n. */
INLINE mask bytes_less(const uint8_t *p, int n)
{
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    return _mm_cmplt_epu8_mask(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi8((char)n));
#else
    return ivec_less(ivec_from_bytes(p), n);
#endif
}

/* slope i + offset of VL bytes i, in double, rounded to float at the end; slope[VL], offset[VL]. */
INLINE vec vec_on_lines(const uint8_t *i, const double *slope, const double *offset)
{
#if defined(__AVX512F__)
    __m256 half[2];
    for (int h = 0; h < 2; h++) {
        const __m512d x = _mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(i + 8 * h))));
        half[h] = _mm512_cvtpd_ps(_mm512_fmadd_pd(x, _mm512_loadu_pd(slope + 8 * h), _mm512_loadu_pd(offset + 8 * h)));
    }
    return _mm512_insertf32x8(_mm512_castps256_ps512(half[0]), half[1], 1);
#elif defined(__AVX2__)
    __m128 half[2];
    for (int h = 0; h < 2; h++) {
        const __m256d x = _mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_loadu_si32(i + 4 * h)));
        half[h] = _mm256_cvtpd_ps(_mm256_fmadd_pd(x, _mm256_loadu_pd(slope + 4 * h), _mm256_loadu_pd(offset + 4 * h)));
    }
    return _mm256_set_m128(half[1], half[0]);
#else
    vec v;
    for (int k = 0; k < VL; k++)
        v[k] = (float)(slope[k] * i[k] + offset[k]);
    return v;
#endif
}

INLINE void ivec_to_bytes(uint8_t *p, ivec v)
{
#if defined(__AVX512F__)
    const bvec b = (bvec)_mm512_cvtepi32_epi8((__m512i)v);
#elif defined(__AVX2__) /* GCC takes the numbers out one by one */
    const __m256i low = (__m256i)(v & UINT8_MAX);
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    const int64_t b = _mm_cvtsi128_si64(_mm_packus_epi16(words, words));
#else
    const bvec b = __builtin_convertvector(v, bvec);
#endif
    memcpy(p, &b, sizeof b);
}

/* a0 b0 a1 b1 ... of the lower halves, and of the upper halves. */
#if defined(__AVX512F__)
INLINE vec vec_zip_low(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
INLINE vec vec_zip_high(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
/* Pairs a[i], b[i] of the elements that m names to p, which has room for VL of them; returns how many. */
INLINE int vec_store_pairs(float *p, mask m, vec a, vec b)
{
    const vec first = _mm512_maskz_compress_ps(m, a), second = _mm512_maskz_compress_ps(m, b);
    vec_store(p, vec_zip_low(first, second));
    vec_store(p + VL, vec_zip_high(first, second));
    return __builtin_popcount(m);
}
#elif defined(__AVX2__)
INLINE vec vec_zip_low(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
INLINE vec vec_zip_high(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
#else
INLINE vec vec_zip_low(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
}
INLINE vec vec_zip_high(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
}
#endif

/* Asks for the cache line at p. */
INLINE void prefetch(const void *p)
{
    __builtin_prefetch(p, 0, 3);
}

/* The same into the second-level cache: for more than the first one can hold beside what is at work. */
INLINE void prefetch_second(const void *p)
{
    __builtin_prefetch(p, 0, 2);
}

#endif
